/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * view.h: what differs between two runs, as rows: one for each number of a device and
 * operation, as text, JSON or CSV; and the shifts as fields of --fail-if.
 */
#ifndef IOSONAR_DIFF_VIEW_H
#define IOSONAR_DIFF_VIEW_H

#include "decode/column.h"
#include "diff/call_pair.h"
#include "diff/diff.h"

extern const struct object diff_object, diff_function_object, diff_path_object;

/* all: in text, counts of both sides and shares that are noise, too. -ENOMEM, said. */
struct diff_show {
	FILE *out;
	enum table_format format;
	bool all;
};
int diff_view__show(const struct diff *diff, const struct diff_show *show);
/* call_view.c: of two traces of calls, a row for each function, or for each call path. */
int call_view__show(const struct call_pair *pair, const struct diff_show *show);

const char *diff_view__verdict(const struct shift *shift); /* "slower", "noise", ... */
/* "  +20.0%", as wide as others; returns buf, or a text of its own for NaN. */
const char *diff_view__percent(double value, char *buf, size_t size);

/* The condition's columns and a row for each pair. NULL text: none, never true. */
int diff_view__parse(const char *text, struct condition **condition);
/*
 * What did not come true, but might with longer runs: an interval holds both answers, or there is
 * none. Says of what, and why, once for each pair.
 */
bool diff_view__is_unsure(const struct diff *diff, const char *text,
			  const struct condition *condition);
/* Did it come true? Says of what, once. */
bool diff_view__came_true(const struct diff *diff, const char *text,
			  const struct condition *condition);

#endif
