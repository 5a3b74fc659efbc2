/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calls.h: two traces of calls side by side: which functions, how often, how long; by
 * function, or by the functions around it. Functions are the same if their names are: kernels may
 * differ. Time of a function whose return was not seen is not known.
 */
#ifndef IOSONAR_DIFF_CALLS_H
#define IOSONAR_DIFF_CALLS_H

#include "diff/view.h"

extern const struct object diff_function_object, diff_path_object;

struct diff_calls {
	const struct diff_file *files; /* two */
	const struct options *options;
	bool graph; /* by the functions around it */
};
/* Reads both and hands what there is to `show` after that. *lost: parts of a file. Negative errno,
 * said. */
struct diff_called;
int diff_calls__read(const struct diff_calls *calls, struct diff_called **called, bool *lost);
int diff_calls__show(const struct diff_called *called, const struct diff_show *show);
void diff_calls__free(struct diff_called *called);

#endif
