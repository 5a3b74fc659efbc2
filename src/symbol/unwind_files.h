/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwind_files.h: the unwind tables of files that processes run from, each file read once for all
 * processes, and known by its number from then on. A table is kept until it was fetched. What has
 * no room is not read: bytes of all tables at a time, and UNWIND_FILES files, are the bounds.
 */
#ifndef IOSONAR_SYMBOL_UNWIND_FILES_H
#define IOSONAR_SYMBOL_UNWIND_FILES_H

#include "symbol/elf_cache.h"
#include "symbol/symbols.h"
#include "symbol/unwind_table.h"

struct unwind_file {
	struct elf_file_id id;
	struct elf_image image; /* only its loads */
	uint32_t number;
	uint32_t nr_rows, nr_rules; /* also when the table is gone */
	bool has_fp;		    /* nearly all its functions keep a frame pointer */
	struct unwind_table table;
};

struct unwind_files;

struct unwind_files *unwind_files__new(size_t most_bytes);
/* NULL: not read yet. */
const struct unwind_file *unwind_files__find(const struct unwind_files *files,
					     const struct elf_file_id *id);
/* For a file without a table: one without rows. NULL: no room. */
const struct unwind_file *unwind_files__read(struct unwind_files *files,
					     const struct elf_file_id *id, int fd);
/* NULL: there is none of this number. */
const struct unwind_file *unwind_files__at(const struct unwind_files *files, uint32_t number);
void unwind_files__drop(struct unwind_files *files, uint32_t number); /* its table */
void unwind_files__forget(struct unwind_files *files);		      /* all, and their numbers */
void unwind_files__free(struct unwind_files *files);

#endif
