/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sizes.h: how large are the accesses? Counts by power of two, which is always complete, and exact
 * sizes as long as there are not too many different ones.
 */
#ifndef IOSONAR_ANALYSE_SIZES_H
#define IOSONAR_ANALYSE_SIZES_H

#include <stddef.h>
#include <stdint.h>

enum {
	SIZES = 48,	    /* different sizes with exact counts; fio takes 64 */
	SIZES_CLASSES = 34, /* io_size_class of wire/io_tables.h: "up to 4 KiB" */
};

struct size_count {
	uint32_t bytes;
	uint64_t count;
};

struct sizes {
	struct size_count exact[SIZES];
	size_t nr;
	uint64_t others; /* accesses whose size did not fit */
	uint64_t classes[SIZES_CLASSES];
};

void sizes__add(struct sizes *sizes, uint32_t bytes);
void sizes__sort(struct sizes *sizes); /* the smallest first */

#endif
