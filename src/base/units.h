/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * units.h: how much is 1.5ms, 64k or 2m? One list of units for options and expressions, and one
 * parser of whole texts.
 */
#ifndef IOSONAR_BASE_UNITS_H
#define IOSONAR_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

struct unit {
	const char *name; /* NULL: the end of the list */
	uint64_t scale;
};

/* From small to large; of several names with one scale we print the first. */
extern const struct unit units_plain[], units_duration[], units_size[], units_share[];

/* Finds a unit by the first len bytes of its name; NULL: not found. */
const struct unit *units__find(const struct unit *units, const char *name, size_t len);

/* Parses the whole text. -EINVAL: invalid; -ERANGE: it does not fit. *value is unchanged then. */
int units__read_number(const char *text, uint64_t *value); /* "16", "0x10" */
int units__read_duration(const char *text, uint64_t *ns);
int units__read_size(const char *text, uint64_t *bytes);
int units__read_share(const char *text, uint64_t *millionths); /* "0.5%" */

/* In the largest unit that divides it: 1000000 ns is "1ms". Returns buf. */
const char *units__format(char *buf, size_t size, uint64_t value, const struct unit *units);

#endif
