/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wait_row.h: a row of `waits` or of `waits --async`: what tells calls or requests apart, one part
 * or step of their time, and its measures. Both have the same cells, under names of their own.
 */
#ifndef IOSONAR_VIEW_WAIT_ROW_H
#define IOSONAR_VIEW_WAIT_ROW_H

#include "analyse/waits.h"
#include "decode/column.h"
#include "session/session.h"
#include "session/table.h"
#include "view/row_conditions.h"

enum waits_by {
	WAITS_BY_DEV,
	WAITS_BY_FILE,
	WAITS_BY_COMM,
	WAITS_BY_PID,
	WAITS_BY_CGROUP,
	WAITS_BY_HOST,
	WAITS_BY_FS,
};

/* Whose it is. NULL: not known, or not told apart. */
struct wait_whose {
	const char *host, *fs, *dev, *file, *comm, *cgroup;
	char fs_text[WAIT_FS_LEN + 1], dev_text[384];
	char comm_text[WAIT_COMM_LEN + 1], cgroup_text[256];
};

/*
 *  time call  part     what                              count    p50    p99    max share  tail
 *   1.0 fsync journal  waiting for the file system's log    40 1.20ms 9.11ms 9.40ms  81.0  93.2
 */
struct wait_row {
	const char *span;
	double time_s;
	const char *name; /* of the call or operation */
	uint64_t pid;
	struct wait_whose whose;
	const char *part, *what;
	uint64_t count, p50_ns, p99_ns, max_ns, sum_ns;
	double share, tail;
	char name_text[16];
};

/* Columns that both have, around those for the call and the part. */
extern const struct column wait_row_when[], wait_row_whose[], wait_row_measures[];

/* What a command calls its parts. */
struct wait_words {
	int nr;
	const char *(*name)(int part);
	const char *(*words)(int part);
	const char *whole; /* all parts, in words */
	const char *(*call)(uint32_t call, char *buf, size_t size);
};

/* Keeps what is told apart, and the host. by: a mask of enum waits_by. */
void wait_row__mask(struct wait_key *key, uint32_t by);
void wait_whose__fill(struct wait_whose *whose, const struct session *s,
		      const struct wait_key *key);

/* Text has no columns of what is not told apart. by: as above, lives as long as the table. */
struct table *wait_row__table(const struct session *s, const struct object *rows, uint32_t *by);
/* A row for each part, and the total. span: "interval" or "total". */
void wait_row__put(struct table *table, struct session *s, const struct wait_words *words,
		   const struct wait_group *group, const char *span,
		   const struct row_conditions *conditions);

#endif
