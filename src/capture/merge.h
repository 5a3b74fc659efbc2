/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * merge.h: several captures as one, by time. Each file keeps its own order; the earliest of their
 * next records comes first, on ties that of the file named first. Files of one boot share a clock;
 * the times of others are shifted so that their wall clocks agree with the first file's, as they
 * were at the first reading of the clocks. A merged file counts as the files that were merged.
 */
#ifndef IOSONAR_CAPTURE_MERGE_H
#define IOSONAR_CAPTURE_MERGE_H

#include "capture/alias.h"
#include "capture/hosts.h"
#include "capture/read.h"

struct capture_merge;

/* Prints a message on error. A single path is allowed. */
int capture_merge__open(const char *const *paths, size_t nr, struct capture_merge **merge);
void capture_merge__free(struct capture_merge *merge);

/* As capture_reader__bound, on the first file's clock; before the first __next. */
void capture_merge__bound(struct capture_merge *merge, uint64_t from_ns, uint64_t to_ns);
/* As capture_reader__rewind: __bound and __next may follow. */
void capture_merge__rewind(struct capture_merge *merge);
/* As capture_reader__next; device numbers are those of __about. */
const struct io_record *capture_merge__next(struct capture_merge *merge, int *err);
/* The file of the record returned last. */
size_t capture_merge__from(const struct capture_merge *merge);
uint16_t capture_merge__host(const struct capture_merge *merge); /* its machine, from 1 on */
/* The wall clock of a time here, by the clocks of that file. 0: it has none. */
uint64_t capture_merge__wall_ns(const struct capture_merge *merge, uint64_t mono_ns);
/*
 * Devices of all files, one per identity; their cgroups, one per path; their clocks; info and names
 * of the first file that has them. Ledgers do not add up: query each __reader for its own.
 */
const struct capture_about *capture_merge__about(const struct capture_merge *merge);
/* Replaces names, before the first __next; -ENOMEM. Names in records stay. */
int capture_merge__alias(struct capture_merge *merge, const struct alias *alias);
size_t capture_merge__nr(const struct capture_merge *merge);
const struct capture_reader *capture_merge__reader(const struct capture_merge *merge, size_t nr);
/* As capture_reader__next_cache, of that file; times are on its own clock. */
int capture_merge__next_cache(struct capture_merge *merge, size_t nr, struct capture_cache *cache);
/* The reader of a merge of one file, whose records __next returns; NULL: there are several. */
struct capture_reader *capture_merge__only_reader(struct capture_merge *merge);
/* The machines of the files; their devices name them if there are several. */
const struct capture_hosts *capture_merge__hosts(const struct capture_merge *merge);
/* For what is not records: the reader of a file; its ids as __about has them, without a text as
 * they were; that of a file together with its disk, whose number is part of it. */
struct capture_reader *capture_merge__reads(struct capture_merge *merge, size_t nr);
struct glossary_id capture_merge__rename(struct capture_merge *merge, size_t nr,
					 enum glossary_kind kind, struct glossary_id id);
struct glossary_id capture_merge__rename_file(const struct capture_merge *merge, size_t nr,
					      struct glossary_id id);
bool capture_merge__has_stages(const struct capture_merge *merge); /* true if any file has */
/* The amount added to the times of that file. */
uint64_t capture_merge__shift_ns(const struct capture_merge *merge, size_t nr);

#endif
