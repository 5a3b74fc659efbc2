/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * why.c: why is I/O slow? At most five findings, the most costly first: what it is, how much of the
 * time it explains, the numbers that show it, and the command that shows more. The records are
 * those of `record --stages`, and so is the cost; it cannot see waits above the block layer.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "decode/op.h"
#include "session/io_source.h"
#include "session/loop.h"
#include "session/session.h"
#include "session/table.h"
#include "view/records.h"
#include "view/why_rows.h"

static const uint64_t why_duration_ns = 10000000000;

#define VIEW(field) offsetof(struct why_view, field)
static const struct option_def why_options[] = {
	{ "pid", 'p', OPTION_NUMBER, VIEW(whose.asked.pid), "PID",
	  "explain only I/O that this process submits; it may wait for that of others", .min = 1,
	  .max = 4194304, .completes = "pid" },
	{ "comm", 0, OPTION_STRING, VIEW(whose.asked.comm), "NAME",
	  "explain only I/O that tasks of this name submit", .max = 15, .not_with = "anonymous" },
	{ "cgroup", 0, OPTION_STRING, VIEW(whose.asked.cgroup), "PATH",
	  "explain only I/O from this cgroup and the cgroups below it", .not_with = "anonymous",
	  .completes = "file" },
	{ "top", 0, OPTION_NUMBER, VIEW(top), "N", "findings that are shown (default: 5)", .min = 1,
	  .max = WHY_MOST },
	{ "at-least", 0, OPTION_SHARE, VIEW(at_least), "SHARE",
	  "findings that explain at least this share of the time (default: 20%)", .min = 10000,
	  .max = 1000000 },
	{ "watch", 0, OPTION_DURATION, VIEW(watch_ns), "DURATION",
	  "judge windows of this length, one after the other; exit with 6 at the first finding",
	  .min = 100000000 },
	ROW_IF_OPTION(VIEW(conditions), "'finding != small'"),
	ROW_FAIL_IF_OPTION(VIEW(conditions), "'finding == errors'"),
	RECORDS_BUFFER_OPTION(VIEW(buffer)),
	{ 0 },
};

static const struct option_group why_group = { "What is shown", why_options };

static int why_run(void *state, const struct options *options, char **argv);
static const struct cmd_part why_part;

const struct cmd cmd_why = {
	.name = "why",
	.group = "I/O",
	.brief = "why I/O is slow: causes, with evidence",
	.synopsis = "[options] [-- COMMAND...]",
	.groups = CMD_GROUPS(&device_group, &lasting_group, OUTPUT_IN(OUTPUT_TABLES), &write_group,
			     &read_group, &alias_group),
	.own = &why_group,
	.view_size = sizeof(struct why_view),
	.objects = CMD_OBJECTS(&why_rows, &session_ledger),
	.run = why_run,
	.part = &why_part,
	.needs = NEED_IO | NEED_RINGS | NEED_STAGES | NEED_FILES | NEED_WAITS,
};

/* ---- devices ---- */

static void why_describe(const void *arg, int32_t number, struct fact_place *place)
{
	const struct why_view *v = arg;
	const struct device_list *list = io_source__devices(v->session);
	const struct device *device;

	if (number < 0 || (size_t)number >= list->nr)
		return;
	device = &list->devices[number];
	*place = (struct fact_place){
		.station = device_list__station(list, number),
		.head = device_list__head(list, number),
		.is_path = device__is_leg(device),
		.is_nvme = device->kind == DEVICE_NVME_NS,
		.limit = device->depth * (device->nr_queues ? device->nr_queues : 1),
		.unit_bytes = device->unit_bytes >= 4096 ? 4096 : 0,
		.block_bytes = device->block_size,
		.number = device->major << 20 | device->minor,
		.host = device->host_number,
		.has_poll_queues = device->has_poll_queues,
	};
}

/* ---- one command ---- */

static enum fact_class why_class_of(const char *word)
{
	static const struct {
		const char *word;
		enum fact_class class;
	} words[] = {
		{ "read", FACT_READ },
		{ "write", FACT_WRITE },
		{ "zone-append", FACT_WRITE },
		{ "flush", FACT_FLUSH },
		{ "discard", FACT_DISCARD },
		{ "dsm", FACT_DISCARD },
		{ "write-zeroes", FACT_DISCARD },
		{ "secure-erase", FACT_DISCARD },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(word, words[i].word))
			return words[i].class;
	return FACT_OTHER;
}

static enum fact_class why_class(struct why_view *v, const struct session *s,
				 const struct io_record *r)
{
	uint8_t *class = &v->classes[r->kind == IO_BLOCK][r->op];
	char buf[32];

	if (!*class)
		*class = (uint8_t)(1 + why_class_of(op__word(r->kind, r->op, io_source__op_names(s),
							     buf, sizeof(buf))));
	return (enum fact_class)(*class - 1);
}

static int why_on_record(void *state, struct session *s, const struct io_record *r)
{
	struct why_view *v = state;
	int err;

	if (r->kind != IO_NVME && r->kind != IO_BLOCK)
		return 0;
	if (!v->cpu_ns) /* the start is over */
		v->cpu_ns = clock__cpu_ns();
	if (why_whose__is(&v->whose, s, r))
		err = facts__add(&v->facts, records__device(s, r), why_class(v, s, r), r);
	else
		err = facts__add_bystander(&v->facts, records__device(s, r), why_class(v, s, r), r);
	return err ? log_no_memory() : 0;
}

/* ---- the run ---- */

static struct io_wants why_wants(void *state, const struct options *options)
{
	const struct why_view *v = state;

	return (struct io_wants){
		.filter = &options->filter,
		.kinds = 1 << IO_NVME | 1 << IO_BLOCK,
		.owners = true,
		.records = true,
		.troubles = true,
		.stages = true,
		.details = true,
		.depths = true,
		.waits = true,
		.files = true,
		.buffer_bytes = v->buffer.given ? v->buffer.value : 0,
	};
}

/* What only a run on this machine knows. */
static int why_start_live(struct why_view *v)
{
	v->facts.mounts = &v->mounts;
	v->nr_cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	return mounts__read(&v->mounts, "/proc/self/mountinfo");
}

static int why_on_start(void *state, struct session *s)
{
	struct why_view *v = state;

	v->session = s;
	v->facts.describe = why_describe;
	v->facts.arg = v;
	v->facts.whose = why_whose__words(&v->whose);
	if (io_source__collector(s) && why_start_live(v))
		return log_no_memory();
	v->table = session__table(s, &why_rows, NULL, NULL);
	return v->table && !facts__init(&v->facts) ? 0 : log_no_memory();
}

static int why_judge(struct why_view *v)
{
	facts__finish(&v->facts);
	if (why__judge(&v->why, &v->facts, why_rows__least(v)))
		return log_no_memory();
	v->stageless += v->why.stageless;
	v->left_out += v->facts.left_out;
	return 0;
}

/* A window of --watch ends. */
static int why_on_tick(void *state, struct session *s)
{
	struct why_view *v = state;
	int err;

	if (!v->watch_ns.given || s->found)
		return 0;
	err = why_judge(v);
	if (err)
		return err;
	if (v->why.nr || s->format != TABLE_TEXT)
		err = why_rows__show(v, s);
	if (err)
		return err;
	s->found = v->why.nr != 0;
	if (s->found) {
		session__stop(s);
		session__stop_loop(s);
		return 0;
	}
	facts__free(&v->facts);
	return facts__init(&v->facts) ? log_no_memory() : 0;
}

static void why_tell_losses(const struct why_view *v, const struct session *s)
{
	if (v->stageless)
		log_note("%" PRIu64 " commands have no times of stages: throttled, wbt, frozen, "
			 "tags, scheduler, "
			 "slow-alone, swap, completion and polling are not found in them; record "
			 "--stages keeps these",
			 v->stageless);
	why_beside__tell(&v->beside);
	if (v->watch_ns.given && io_source__has_beside(s))
		log_note("--watch does not judge the page cache and waits: evicted, readahead and "
			 "dirty are not found; without it they are");
	if (v->left_out)
		log_warn("%" PRIu64 " commands are not judged: there are too many devices or kinds "
			 "of commands",
			 v->left_out);
}

static void why_tell_whose(const struct why_view *v)
{
	if (v->facts.whose && !v->watch_ns.given && !why__busiest(&v->facts))
		log_warn("no command of %s was seen", v->facts.whose);
	if (v->whose.unknown)
		log_note("%" PRIu64 " commands have no cgroup: they are not explained",
			 v->whose.unknown);
}

/* Of a whole run: a window of --watch ends for what others do. */
static void why_count_own(struct why_view *v, const struct session *s)
{
	if (v->facts.mounts)
		v->facts.own = (struct fact_own){ .elapsed_ns = (uint64_t)(1e9 * s->elapsed_s),
						  .cpu_ns = clock__cpu_ns() - v->cpu_ns,
						  .nr_cpus = v->nr_cpus };
}

static int why_show(struct why_view *v, struct session *s)
{
	int err = 0;

	why_count_own(v, s);
	err = why_beside__read(&v->beside, s, &v->whose, &v->facts) ?: why_judge(v);
	return err ?: why_rows__show(v, s);
}

static int why_on_end(void *state, struct session *s)
{
	struct why_view *v = state;
	int err = 0;

	if (!v->watch_ns.given)
		err = why_show(v, s);
	else if (!s->found && s->format == TABLE_TEXT)
		fputs("no window has a finding\n", s->out);
	why_tell_losses(v, s);
	why_tell_whose(v);
	return err;
}

static const struct session_view why_session = {
	.wants = why_wants,
	.on_start = why_on_start,
	.on_record = why_on_record,
	.on_end = why_on_end,
	.only_at_end = true,
};

static const struct session_view why_watch_session = {
	.wants = why_wants,
	.on_start = why_on_start,
	.on_record = why_on_record,
	.on_tick = why_on_tick,
	.on_end = why_on_end,
};

/* A report says itself what its capture lacks. */
static int why_on_end_of_part(void *state, struct session *s)
{
	return why_show(state, s);
}

static const struct session_view why_part_session = {
	.on_start = why_on_start,
	.on_record = why_on_record,
	.on_end = why_on_end_of_part,
};

static void why_end(void *state)
{
	struct why_view *v = state;

	facts__free(&v->facts);
	why_beside__free(&v->beside);
	mounts__free(&v->mounts);
	table__free(v->table);
	row_conditions__free(&v->conditions);
}

static const struct cmd_part why_part = { &why_part_session, NULL, why_end };

/* Without a COMMAND, a window or a time of its own, a live run looks for 10 s. */
static void why_plan(struct why_view *v, const struct options *options, char **argv)
{
	struct run_options *run = &v->options.run;

	v->options = *options;
	if (v->watch_ns.given)
		run->interval_ns = v->watch_ns;
	else if (!options->file.read.nr && !(argv && argv[0]) && !run->duration_ns.given)
		run->duration_ns = (struct option_number){ why_duration_ns, true };
}

static int why_run(void *state, const struct options *options, char **argv)
{
	struct why_view *v = state;
	int err;

	why_plan(v, options, argv);
	if (!options->file.read.nr && (err = why_whose__check(&v->whose)))
		return err;
	err = row_conditions__parse(&v->conditions, &why_rows, NULL, NULL);
	err = err
		      ?: session__run(v->watch_ns.given ? &why_watch_session : &why_session, v,
				      &v->options, argv);
	why_end(v);
	return err;
}
