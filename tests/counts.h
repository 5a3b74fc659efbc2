/* SPDX-License-Identifier: BSD-2-Clause */
/* counts.h: a count of a capture by its name: of its ledger, or of what was lost. */
#ifndef IOSONAR_COUNTS_H
#define IOSONAR_COUNTS_H

#include <string.h>
#include "capture/about.h"

/* 0: none. */
static inline uint64_t count_of(const struct capture_counts *counts, const char *name)
{
	for (size_t i = 0; i < counts->nr; i++)
		if (!strcmp(counts->counts[i].name, name))
			return counts->counts[i].value;
	return 0;
}

#endif
