/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/wait_row.h"

#include <string.h>
#include "session/host_source.h"

enum { WAIT_TAIL = 9900 };

#define FIELD(name) offsetof(struct wait_row, name)
const struct column wait_row_when[] = {
	{ "span", "span", CELL_TEXT, 0, "interval, or total for the whole run", .at = FIELD(span),
	  .not_in_text = true },
	{ "time_s", "time", CELL_SECONDS, 5, "time of the end of the span, since the start",
	  .at = FIELD(time_s) },
	{ 0 },
};

const struct column wait_row_whose[] = {
	{ "fs", "fs", CELL_TEXT, 5,
	  "type of the file system, e.g. ext4; bdev: a block device itself; null without --by fs",
	  .at = FIELD(whose.fs) },
	{ "dev", "dev", CELL_TEXT, 7, "device of the file system; null without --by dev",
	  .at = FIELD(whose.dev) },
	{ "file", "file", CELL_TEXT, 10, "path of the file; null without --by file",
	  .at = FIELD(whose.file) },
	{ "comm", "comm", CELL_TEXT, 8, "name of the task; null without --by comm",
	  .at = FIELD(whose.comm) },
	{ "pid", "pid", CELL_COUNT, 7, "process; null without --by pid", .at = FIELD(pid) },
	{ "cgroup", "cgroup", CELL_TEXT, 10, "cgroup of the task; null without --by cgroup",
	  .at = FIELD(whose.cgroup) },
	{ 0 },
};

const struct column wait_row_measures[] = {
	{ "count", "count", CELL_COUNT, 7, "how many have it", .at = FIELD(count) },
	{ "p50_ns", "p50", CELL_DURATION, 6, "median of its time", .at = FIELD(p50_ns), .drop = 4 },
	{ "p99_ns", "p99", CELL_DURATION, 6, "99th percentile of its time", .at = FIELD(p99_ns) },
	{ "max_ns", "max", CELL_DURATION, 6, "maximum of its time, exact", .at = FIELD(max_ns),
	  .drop = 3 },
	{ "sum_ns", "sum", CELL_DURATION, 6, "sum of its time over all, exact", .at = FIELD(sum_ns),
	  .not_in_text = true },
	{ "share_percent", "share", CELL_PERCENT, 6, "its share of the time of all",
	  .at = FIELD(share) },
	{ "tail_percent", "tail", CELL_PERCENT, 6, "its share of the time of the slowest 1 %",
	  .at = FIELD(tail), .drop = 2 },
	{ 0 },
};

/* ---- keys ---- */

void wait_row__mask(struct wait_key *key, uint32_t by)
{
	if (!(by >> WAITS_BY_DEV & 1) && !(by >> WAITS_BY_FILE & 1))
		key->dev = 0;
	if (!(by >> WAITS_BY_FILE & 1))
		key->inode = key->nth = 0;
	if (!(by >> WAITS_BY_COMM & 1))
		memset(key->comm, 0, sizeof(key->comm));
	if (!(by >> WAITS_BY_PID & 1))
		key->pid = 0;
	if (!(by >> WAITS_BY_CGROUP & 1))
		key->cgroup = 0;
	if (!(by >> WAITS_BY_FS & 1))
		memset(key->fs, 0, sizeof(key->fs));
}

void wait_whose__fill(struct wait_whose *w, const struct session *s, const struct wait_key *key)
{
	w->host = host_source__label(s, key->host);
	memcpy(w->fs_text, key->fs, sizeof(key->fs));
	if (key->fs[0])
		w->fs = w->fs_text;
	if (key->dev)
		w->dev =
			host_source__disk(s, key->host, key->dev, w->dev_text, sizeof(w->dev_text));
	if (key->inode)
		w->file = session__file(s, key->inode, io_file_place(key->dev, key->nth));
	memcpy(w->comm_text, key->comm, sizeof(key->comm));
	if (key->comm[0])
		w->comm = w->comm_text;
	if (key->cgroup)
		w->cgroup = session__cgroup_path(s, key->cgroup, w->cgroup_text,
						 sizeof(w->cgroup_text));
}

static bool wait_row_shows(const void *view, const struct column *column)
{
	static const char *const keys[] = { "dev", "file", "comm", "pid", "cgroup", "host", "fs" };
	const uint32_t by = *(const uint32_t *)view;

	for (uint32_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(column->key, keys[i]))
			return by >> i & 1;
	return true;
}

struct table *wait_row__table(const struct session *s, const struct object *rows, uint32_t *by)
{
	return session__table(s, rows, s->format == TABLE_TEXT ? wait_row_shows : NULL, by);
}

/* ---- rows ---- */

static void wait_row_measure(struct wait_row *row, const struct hist *h)
{
	row->count = h->count;
	row->p50_ns = hist__percentile(h, 5000);
	row->p99_ns = hist__percentile(h, 9900);
	row->max_ns = h->max_ns;
	row->sum_ns = h->sum_ns;
}

static void wait_row_admit(const struct wait_row *row, struct table *table, struct session *s,
			   const struct row_conditions *conditions)
{
	if (row_conditions__admit(conditions, s, row))
		table__row(table, row);
}

void wait_row__put(struct table *table, struct session *s, const struct wait_words *words,
		   const struct wait_group *group, const char *span,
		   const struct row_conditions *conditions)
{
	struct wait_row row = { .span = span, .time_s = s->elapsed_s };

	row.name = words->call(group->key.call, row.name_text, sizeof(row.name_text));
	row.pid = group->key.pid ? group->key.pid : CELL_NO_NUMBER;
	wait_whose__fill(&row.whose, s, &group->key);
	for (int i = 0; i < words->nr; i++) {
		if (!group->parts[i])
			continue;
		row.part = words->name(i);
		row.what = words->words(i);
		row.share = wait_group__share(group, (enum wait_part)i);
		row.tail = wait_group__tail_share(group, (enum wait_part)i, WAIT_TAIL);
		wait_row_measure(&row, group->parts[i]);
		wait_row_admit(&row, table, s, conditions);
	}
	row.part = "total";
	row.what = words->whole;
	row.share = row.tail = 100;
	wait_row_measure(&row, &group->total);
	wait_row_admit(&row, table, s, conditions);
}
