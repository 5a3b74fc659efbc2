/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * option_inside.h: what option.c, which takes a command line apart, and option_value.c, which reads
 * the values, share.
 */
#ifndef IOSONAR_BASE_OPTION_INSIDE_H
#define IOSONAR_BASE_OPTION_INSIDE_H

#include "base/option.h"

/* An option of this command line's tables, the field it fills, and whether it was given. */
struct option_slot {
	const struct option_def *def;
	void *field;
	bool given, by_letter;
};

/* One option as given on the command line. */
struct option_use {
	const struct option_slot *slot;
	bool by_letter;
	const char *value;
};

/* -EINVAL, after one line: "-i 5: write a unit, 5s or 5ms". */
__attribute__((format(printf, 2, 3))) int option_use__refuse(const struct option_use *use,
							     const char *fmt, ...);
/* Checks the value and stores it. 0, or a negative errno, logged. */
int option_use__store(const struct option_use *use);

#endif
