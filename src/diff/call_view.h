/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call_view.h: two traces of calls side by side: a row for each function, or for each call path.
 */
#ifndef IOSONAR_DIFF_CALL_VIEW_H
#define IOSONAR_DIFF_CALL_VIEW_H

#include "diff/call_pair.h"
#include "diff/view.h"

extern const struct object diff_function_object, diff_path_object;

int call_view__show(const struct call_pair *pair, const struct diff_show *show);

#endif
