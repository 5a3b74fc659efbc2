/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pairs.h: which device of one run is which of another? By serial number, else by name, else the
 * one that is left over in each. A name is no identity, only the next best thing: who pairs says
 * how.
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
	PAIR_LEFT, /* each run has one disk that no other fits */
};

struct pair_end {
	const char *name;
	const char *serial; /* "": not known */
	uint32_t nsid;
	bool is_ctrl; /* a controller is no disk, and none is like it */
	/* found */
	enum pair_by by;
	size_t other; /* its place in the other run, unless by is PAIR_NONE */
};

struct pair_ends {
	struct pair_end *ends;
	size_t nr;
};

/* Two names that belong together. 0, or -ENODEV: one of the runs has none of that name, or both
 * have a partner. */
int pairs__ask(struct pair_ends *a, struct pair_ends *b, const char *name_a, const char *name_b);
/* Those without a partner get one, if there is one. */
void pairs__match(struct pair_ends *a, struct pair_ends *b);

#endif
