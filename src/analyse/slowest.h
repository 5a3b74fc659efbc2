/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slowest.h: which I/Os took longest? Keeps a fixed number, over all devices or per device, slowest
 * first; ties keep the order of arrival.
 */
#ifndef IOSONAR_ANALYSE_SLOWEST_H
#define IOSONAR_ANALYSE_SLOWEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "wire/io_stages.h"

struct slow_io {
	uint64_t ns;
	int32_t device; /* the caller's number for it */
	struct io_record record;
	struct io_stages stages;	       /* those after the record, if any; otherwise zeros */
	const char *kernel_stack, *user_stack; /* the caller's, or NULL */
	char *below;			       /* what became of it below; freed with it, or NULL */
};

struct slowest {
	size_t most;
	bool each_device;
	struct slow_io *ios; /* slowest first */
	size_t nr, room;
};

/* Its entry, where the caller may fill in the stacks; NULL: it is not kept, or *err is -ENOMEM. */
struct slow_io *slowest__add(struct slowest *slowest, uint64_t ns, int32_t device,
			     const struct io_record *record, int *err);
void slowest__clear(struct slowest *slowest); /* empties, keeps the memory */
void slowest__free(struct slowest *slowest);

#endif
