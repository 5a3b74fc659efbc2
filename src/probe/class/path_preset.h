/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * path_preset.h: which functions matter on the path of a read, a write, or a command to an NVMe
 * drive and back? Lists names for all kernels and selects those that this kernel has and allows to
 * attach. Functions that the compiler changed or inlined here are left out.
 */
#ifndef IOSONAR_PROBE_CLASS_PATH_PRESET_H
#define IOSONAR_PROBE_CLASS_PATH_PRESET_H

#include "probe/find/find.h"

extern const char *const path_preset__words[]; /* "read", ...; the last is NULL */

/*
 * The functions of a preset that this kernel has; lower layers come after their callers. Owned by
 * the caller. -EOPNOTSUPP if there are none; errors are said in one line.
 */
int path_preset__find(struct finder *finder, const char *word, char ***names, size_t *nr);

#endif
