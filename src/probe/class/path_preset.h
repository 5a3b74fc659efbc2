/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * path_preset.h: which functions matter on the way of a read, of a write, of a command to an NVMe
 * drive and back? Names of all kernels that there are; which of them this one has, and lets be
 * attached, is asked of it. What the compiler changed or put inline here is not among them.
 */
#ifndef IOSONAR_PROBE_CLASS_PATH_PRESET_H
#define IOSONAR_PROBE_CLASS_PATH_PRESET_H

#include "probe/find/find.h"

extern const char *const path_preset__words[]; /* "read", ...; the last is NULL */

/*
 * The functions that are here of a preset, those of a lower layer behind those that call them. They
 * are the caller's. -EOPNOTSUPP if there is none, and others: one line is said.
 */
int path_preset__find(struct finder *finder, const char *word, char ***names, size_t *nr);

#endif
