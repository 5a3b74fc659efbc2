/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blame_rows.h: the rows of `blame`: for each victim what it waited because of each culprit and
 * because of the device itself, what its latency would be without a culprit, and a ledger for each
 * device. Used only by that command; remove it with that command.
 */
#ifndef IOSONAR_VIEW_BLAME_ROWS_H
#define IOSONAR_VIEW_BLAME_ROWS_H

#include "analyse/blame.h"
#include "session/session.h"
#include "view/blame_matrix.h"
#include "view/blame_names.h"
#include "view/blame_page.h"
#include "view/cgroup_groups.h"
#include "view/row_conditions.h"

extern const struct object blame_rows, blame_without, blame_device;

struct blame_view {
	/* options */
	struct option_list by;
	const char *victim, *culprit, *without;
	bool same_queue;
	struct option_number top, buffer;
	struct row_conditions conditions;
	/* state */
	uint32_t by_mask;
	struct blame blame;
	struct cgroup_groups groups;
	bool is_page; /* -o html: */
	struct blame_page page;
	bool is_matrix; /* -o matrix: */
	struct blame_matrix matrix;
	const struct session *session; /* for names of cgroups */
	struct table *table;
	table_put_fn put;
	uint64_t stageless; /* commands without a time of submission */
};

/* Does --without name this party? For struct blame; arg is the view. */
bool blame_rows__leaves_out(const void *view, const struct blame_tags *tags);
/* "postgres read"; returns buf. Hostile. */
char *blame_rows__label(const struct blame_view *view, const struct blame_tags *tags, char *buf,
			size_t size);
/* Rows as JSON, told apart by this mask of enum blame_by, without a ledger. -ENOMEM. */
int blame_rows__put(struct blame_view *view, struct session *session, FILE *out, uint32_t by_mask);
/* All rows, at the end. 0 or a negative errno, said. */
int blame_rows__show(struct blame_view *view, struct session *session);

#endif
