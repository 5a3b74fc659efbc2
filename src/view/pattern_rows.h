/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pattern_rows.h: the rows of `pattern`, each for a device and optionally a task: its labels, the
 * summary of its load at the end, and a fio job that makes such a load. render/load defines the
 * columns. Used only by that command; remove it with that command.
 */
#ifndef IOSONAR_VIEW_PATTERN_ROWS_H
#define IOSONAR_VIEW_PATTERN_ROWS_H

#include "analyse/pattern.h"
#include "render/load.h"
#include "session/session.h"

enum pattern_by {
	PATTERN_BY_PID,
	PATTERN_BY_COMM,
	PATTERN_BY_CGROUP,
	PATTERN_BY_HOST, /* a device has one */
	NR_PATTERN_BY
};
extern const char *const pattern_by_words[]; /* by enum pattern_by, NULL-terminated */

struct pattern_rows {
	struct pattern pattern;
	struct pattern_row **sorted;
	bool tells[NR_PATTERN_BY];
	struct chart_style style;
	/* labels of the current row */
	char comm_label[17], cgroup_label[256], left_label[128];
};

/* column_shown_fn of all tables: hides keys that --by did not name. */
bool pattern_rows__shows(const void *rows, const struct column *column);
int pattern_rows__sort(struct pattern_rows *rows); /* 0 or -ENOMEM, said */
void pattern_rows__label(struct pattern_rows *rows, const struct session *session,
			 const struct pattern_row *row, struct load_row *line);
/* "nvme0n1 pid 7 fio": the row's tags. Returns buf. */
const char *pattern_rows__title(const struct pattern_rows *rows, const struct load_row *line,
				char *buf, size_t size);
/* For the whole run: pictures in text, one object per bucket in JSON. 0 or -ENOMEM, said. */
int pattern_rows__show_whole(struct pattern_rows *rows, struct session *session,
			     const struct pattern_row *row);
int pattern_rows__write_job(struct pattern_rows *rows, struct session *session);

#endif
