/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blame.c: who made whom wait? The latency of each victim's commands, divided among the commands
 * that were served while they waited, and the device itself; and what it would be without a
 * culprit. One record per command, with the submission time of its bio; it cannot see waits above
 * the block layer.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "cmd/cmd.h"
#include "session/host_source.h"
#include "session/io_source.h"
#include "session/session.h"
#include "session/table.h"
#include "view/blame_rows.h"
#include "view/intervals.h"
#include "view/records.h"

#define VIEW(field) offsetof(struct blame_view, field)
static const struct option_def blame_options[] = {
	{ "by", 0, OPTION_LIST, VIEW(by), NULL,
	  "tell victims and culprits apart by these (default: comm)", .choices = blame_by_words },
	{ "victim", 0, OPTION_STRING, VIEW(victim), "NAME",
	  "only this victim: a name, pid, cgroup, unit, container, operation, path or queue, as "
	  "the rows have it" },
	{ "culprit", 0, OPTION_STRING, VIEW(culprit), "NAME", "only this culprit, likewise" },
	{ "without", 0, OPTION_STRING, VIEW(without), "NAME",
	  "predict the mean latencies without this culprit", .not_with = "culprit" },
	{ "same-queue", 0, OPTION_FLAG, VIEW(same_queue), NULL,
	  "name only culprits of the victim's own queue; the others are 'other queues'",
	  .not_with = "without" },
	{ "top", 0, OPTION_NUMBER, VIEW(top), "N",
	  "culprits of each victim that are shown (default: 5 in text, else all)", .min = 1 },
	ROW_IF_OPTION(VIEW(conditions), "'share > 10'"),
	ROW_FAIL_IF_OPTION(VIEW(conditions), "'culprit == backup && share > 20'"),
	RECORDS_BUFFER_OPTION(VIEW(buffer)),
	{ 0 },
};

static const struct option_group blame_group = { "What is shown", blame_options };

static int blame_run(void *state, const struct options *options, char **argv);

const struct cmd cmd_blame = {
	.name = "blame",
	.group = "I/O",
	.brief = "who made whom wait; what would be without a culprit",
	.synopsis = "[options] [-- COMMAND...]",
	.groups = CMD_GROUPS(
		&device_group, &lasting_group,
		OUTPUT_IN(OUTPUT_TABLES | OUTPUT_BIT(OUTPUT_HTML) | OUTPUT_BIT(OUTPUT_MATRIX)),
		&write_group, &read_group, &alias_group),
	.own = &blame_group,
	.view_size = sizeof(struct blame_view),
	.objects = CMD_OBJECTS(&blame_rows, &blame_without, &blame_device, &session_ledger),
	.run = blame_run,
	.needs = NEED_IO | NEED_RINGS | NEED_STAGES,
};

/* ---- one command ---- */

/* 0 or -ENOMEM. */
static int blame_tag(struct blame_view *v, const struct io_record *r, struct blame_tags *tags)
{
	struct cgroup_group group = { 0 };
	const struct io_stages *stages = io_record__stages(r);

	if (v->by_mask >> BLAME_BY_COMM & 1)
		memcpy(tags->comm, r->comm, strnlen(r->comm, sizeof(r->comm)));
	if (v->by_mask >> BLAME_BY_PID & 1)
		tags->pid = r->pid;
	if (v->by_mask >> BLAME_BY_CGROUP & 1 && stages)
		tags->cgroup = stages->cgroup;
	if (!(v->by_mask >> BLAME_BY_UNIT & 3) || !stages)
		return 0;
	if (cgroup_groups__find(&v->groups, v->session, stages->cgroup, &group))
		return -ENOMEM;
	tags->unit = v->by_mask >> BLAME_BY_UNIT & 1 ? group.unit : 0;
	tags->container = v->by_mask >> BLAME_BY_CONTAINER & 1 ? group.container : 0;
	return 0;
}

/* The disk, how the command got there, and who shares this way: a path is a controller. */
static int32_t blame_place(const struct blame_view *v, struct session *s, const struct io_record *r,
			   struct blame_tags *tags)
{
	const struct device_list *list = io_source__devices(s);
	const int32_t device = records__device(s, r);

	if (v->same_queue || v->by_mask >> BLAME_BY_QID & 1)
		tags->qid = r->qid;
	tags->device = device < 0 ? device : device_list__head(list, device);
	if (v->by_mask >> BLAME_BY_PATH & 1 && tags->device != device)
		tags->path = device + 1;
	return device < 0 ? device : device_list__station(list, device);
}

static int blame_on_record(void *state, struct session *s, const struct io_record *r)
{
	struct blame_view *v = state;
	const struct io_stages *stages = io_record__stages(r);
	struct blame_tags tags = { .kind = r->kind, .op = r->op };
	struct blame_times times = { r->first_ns, r->first_ns, r->end_ns };
	int32_t station;

	if (r->what != RECORD_END || (r->kind != IO_NVME && r->kind != IO_BLOCK))
		return 0;
	station = blame_place(v, s, r, &tags);
	tags.size_class = (uint8_t)io_size_class(r->bytes);
	if (blame_tag(v, r, &tags))
		return log_no_memory();
	/* Submission of its bio; issue if there was no bio or it was not seen. */
	if (stages && stages->queued_ns && stages->queued_ns < times.from_ns)
		times.from_ns = stages->queued_ns;
	v->stageless += !stages && !(r->flags & RECORD_PASSTHROUGH);
	if (v->is_page && blame_page__note(&v->page, s, &tags, &times, r))
		return log_no_memory();
	return blame__add(&v->blame, station, &tags, &times) ? log_no_memory() : 0;
}

/* ---- the run ---- */

static struct io_wants blame_wants(void *state, const struct options *options)
{
	const struct blame_view *v = state;

	return (struct io_wants){
		.filter = &options->filter,
		.kinds = 1 << IO_NVME | 1 << IO_BLOCK,
		.owners = true,
		.records = true,
		.stages = true,
		.details = true,
		.whole = !options->file.write, /* a capture has the steps, too */
		.buffer_bytes = v->buffer.given ? v->buffer.value : 0,
	};
}

static int blame_on_start(void *state, struct session *s)
{
	struct blame_view *v = state;

	v->session = s;
	v->table = session__table(s, v->without ? &blame_without : &blame_rows, NULL, NULL);
	if (v->without) {
		v->blame.leaves_out = blame_rows__leaves_out;
		v->blame.arg = v;
	}
	return v->table && !blame__init(&v->blame) ? 0 : log_no_memory();
}

static bool blame_leaves_out_any(const struct blame *b)
{
	for (size_t i = 0; i < b->nr; i++)
		if (b->sums[i].left_out)
			return true;
	return false;
}

static int blame_on_end(void *state, struct session *s)
{
	struct blame_view *v = state;

	blame__finish(&v->blame);
	if (v->stageless)
		log_note("%" PRIu64 " commands have no time of submission: they wait from their "
			 "issue on; record --stages keeps both",
			 v->stageless);
	if (v->without && !blame_leaves_out_any(&v->blame))
		return log_err(-ENOENT, "--without: no command of '%s' was seen", v->without);
	return v->is_page ? blame_page__put(v, s) : blame_rows__show(v, s);
}

static const struct session_view blame_session = {
	.wants = blame_wants,
	.on_start = blame_on_start,
	.on_record = blame_on_record,
	.on_end = blame_on_end,
	.only_at_end = true,
};

static int blame_run(void *state, const struct options *options, char **argv)
{
	struct blame_view *v = state;
	int err;

	v->is_page = options->output.format == OUTPUT_HTML;
	v->is_matrix = options->output.format == OUTPUT_MATRIX;
	if (v->is_page && v->without)
		return log_err(-EINVAL, "--without has no page; use another format than html");
	if (v->is_matrix && v->without)
		return log_err(-EINVAL, "--without has no matrix; use another format");
	v->by_mask = blame_by__mask(&v->by);
	err = host_source__check(options, v->by_mask >> BLAME_BY_HOST & 1);
	err = err
		      ?: row_conditions__parse(&v->conditions,
					       v->without ? &blame_without : &blame_rows, NULL,
					       NULL);
	err = err ?: session__run(&blame_session, v, options, argv);
	blame__free(&v->blame);
	blame_page__free(&v->page);
	blame_matrix__free(&v->matrix);
	cgroup_groups__free(&v->groups);
	table__free(v->table);
	row_conditions__free(&v->conditions);
	return err;
}
