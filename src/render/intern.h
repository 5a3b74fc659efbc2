/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * intern.h: was this byte sequence seen before? Each gets a number, from 0 in order of appearance,
 * the same every time; so a page writes each text once. Costs a hash lookup, and a copy of new
 * sequences.
 */
#ifndef IOSONAR_RENDER_INTERN_H
#define IOSONAR_RENDER_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/index.h"

struct intern {
	char *bytes;  /* of all sequences, without gaps */
	size_t *ends; /* end of each sequence in bytes */
	size_t len, size, nr;
	struct index index;
};

#define INTERN_NONE UINT32_MAX /* no memory, or more than 2^31 */

/* All zeros is an empty one. is_new: NULL, or set. */
uint32_t intern__number(struct intern *intern, const void *bytes, size_t len, bool *is_new);
const char *intern__bytes(const struct intern *intern, uint32_t number, size_t *len);
void intern__free(struct intern *intern);

#endif
