/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * merge_inside.h: what merge.c, which hands on the records of several captures in order of time,
 * and merge_about.c, which makes one of what they say about themselves, share.
 */
#ifndef IOSONAR_CAPTURE_MERGE_INSIDE_H
#define IOSONAR_CAPTURE_MERGE_INSIDE_H

#include "capture/merge.h"

enum { MERGE_NUMBERS = 65536 };

struct merge_file {
	struct capture_merge *merge;
	struct capture_reader *reader;
	uint64_t shift_ns;	      /* converts its times to the first file's clock */
	const struct io_record *next; /* its earliest record not returned yet, */
	uint64_t next_ns;	      /* and its time */
	uint16_t *renumber;	      /* device number here, plus 1; by its number in the file */
	struct glossary renamed[NR_GLOSSARIES]; /* ids with another id in the merge */
	struct glossary placed;			/* files likewise, together with their disks */
};

struct capture_merge {
	struct capture_about about;
	struct merge_file *files;
	size_t nr;
	struct capture_hosts hosts;
	struct merge_file **heap; /* the files with records left, the earliest first */
	size_t nr_heap;
	bool begun;  /* the heap exists, */
	bool handed; /* and its first file's record was returned */
	uint64_t nr_new_ids[NR_GLOSSARIES];
	bool used[MERGE_NUMBERS];
};

/* Converts the times of all files to the first one's clock; none is below 0. */
void merge_shift_all(struct capture_merge *merge);
/* Adds what a file says about itself, with numbers and ids that are free. -ENOMEM, -EOVERFLOW. */
int merge_add_file(struct capture_merge *merge, struct merge_file *file);
/* Of several machines, each device says whose it is. -ENOMEM. */
int merge_name_devices(struct capture_merge *merge);
/* arg: the file. */
struct glossary_id merge_rename(void *arg, enum glossary_kind kind, struct glossary_id id);

#endif
