/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nearest.h: which word was meant? For messages about a word that is misspelt or abbreviated.
 */
#ifndef IOSONAR_BASE_NEAREST_H
#define IOSONAR_BASE_NEAREST_H

#include <stddef.h>

/* The word among nr words that is most like this one, or NULL if none is near. */
const char *nearest__word(const char *word, const char *const *words, size_t nr);

#endif
