/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * below.h: which bios did a volume make of this bio? Bios below end before the bio above: the last
 * few thousand are kept, and found by the time when the bio above was submitted. Older bios are not
 * found.
 */
#ifndef IOSONAR_ANALYSE_BELOW_H
#define IOSONAR_ANALYSE_BELOW_H

#include <stddef.h>
#include <stdint.h>
#include "wire/io_stages.h"

enum { BELOW_KEPT = 4096 };

struct below_bio {
	uint64_t above_ns; /* when the bio above was submitted */
	uint64_t end_ns, ns;
	uint64_t sector;
	uint32_t bytes;
	int32_t device; /* the caller's number for it */
};

struct below {
	struct below_bio *bios; /* a ring; NULL until the first came */
	size_t nr;		/* that ever came */
};

/* -ENOMEM. Ignores a record of a bio that no volume made. ns: how long the bio took. */
int below__add(struct below *below, const struct io_record *record, int32_t device, uint64_t ns);
/* The bios made of this record's bio, in the order in which they ended, at most `most`. */
size_t below__find(const struct below *below, const struct io_record *record,
		   const struct below_bio **found, size_t most);
void below__free(struct below *below);

#endif
