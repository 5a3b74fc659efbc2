/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * view.h: the differences between two runs as rows: one for each number of a device and operation,
 * as text, JSON or CSV; and the shifts as fields of --fail-if.
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
/* "  +20.0%", padded to a fixed width; returns buf, or a constant text for NaN. */
const char *diff_view__percent(double value, char *buf, size_t size);

/* The condition uses columns of one row per pair. NULL text: no condition, never true. */
int diff_view__parse(const char *text, struct condition **condition);
/*
 * Conditions that are false but might be true with longer runs: an interval holds both answers, or
 * there is no interval. Says for what, and why, once for each pair.
 */
bool diff_view__is_unsure(const struct diff *diff, const char *text,
			  const struct condition *condition);
/* Is the condition true? Says for which pair, once. */
bool diff_view__came_true(const struct diff *diff, const char *text,
			  const struct condition *condition);

#endif
