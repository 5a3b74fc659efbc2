/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwind_table.h: how is the caller's frame found at every instruction of an ELF file? From its
 * section .eh_frame, which distributions leave in every file, of x86_64 or arm64. libc has 10,000
 * rows on arm64 and 23,000 on x86_64. The file is hostile: bytes, rows, rules and time are bounded,
 * and what is above the bounds is not in the table. Addresses above 4 GiB are not in it either.
 */
#ifndef IOSONAR_SYMBOL_UNWIND_TABLE_H
#define IOSONAR_SYMBOL_UNWIND_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/index.h"
#include "wire/unwind.h"

enum {
	UNWIND_SECTION_MAX = 128 << 20, /* bytes */
	UNWIND_RULES_MAX = 1 << 16,
};

struct unwind_table {
	struct unwind_row *rows; /* by address; the first rule is UNWIND_NOTHING */
	size_t nr_rows, room_rows;
	struct unwind_rule *rules;
	size_t nr_rules;
	struct index index; /* of the rules */
	/* Functions that save a return address, and those of them that keep a frame pointer. */
	uint32_t nr_frames, nr_with_fp;
	bool is_cut; /* a bound was met */
};

/* Empty, for a file without the section or one that is not ELF. 0 or -ENOMEM. fd stays the
 * caller's. */
int unwind_table__read(struct unwind_table *table, int fd);
/* The same from the section's bytes. */
int unwind_table__parse(struct unwind_table *table, unsigned elf_machine, const void *section,
			size_t size, uint64_t vaddr);
/* Do nearly all functions keep a frame pointer? Then it is a faster way to unwind. */
bool unwind_table__has_fp(const struct unwind_table *table);
size_t unwind_table__bytes(const struct unwind_table *table);
void unwind_table__free(struct unwind_table *table);

#endif
