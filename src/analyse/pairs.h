/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pairs.h: which device of one run is which device of another? Matched by serial number, else by
 * name, else the only one left in each run. A name is not an identity, so each pair says how it was
 * matched.
 */
#ifndef IOSONAR_ANALYSE_PAIRS_H
#define IOSONAR_ANALYSE_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pair_by {
	PAIR_NONE,
	PAIR_ASKED,  /* the user said so */
	PAIR_SERIAL, /* serial number and namespace */
	PAIR_NAME,
	PAIR_LEFT, /* each run has one unmatched disk left */
};

struct pair_end {
	const char *name;
	const char *serial; /* "": not known */
	uint32_t nsid;
	bool is_ctrl; /* a controller is never matched with a disk */
	/* found */
	enum pair_by by;
	size_t other; /* its place in the other run, unless by is PAIR_NONE */
};

struct pair_ends {
	struct pair_end *ends;
	size_t nr;
};

/* Pairs two names. 0, or -ENODEV: one of the runs has no device of that name, or both have a
 * partner. */
int pairs__ask(struct pair_ends *a, struct pair_ends *b, const char *name_a, const char *name_b);
/* Finds partners for the devices without one. */
void pairs__match(struct pair_ends *a, struct pair_ends *b);

#endif
