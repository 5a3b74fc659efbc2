/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/class_trace.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>
#include "base/log.h"
#include "session/probe_source.h"

enum { CLASS_RING_BYTES = 8 << 20 /* of each CPU */, CLASS_MAX_RATE = 500000 };

static int trace_on_tree(void *arg, const struct call *root)
{
	struct class_trace *t = arg;

	if (!t->calls || !lives_view__wants_tree(&t->lives, root))
		return 0;
	return tree_view__tree(&t->tree, root);
}

static int trace_on_life(void *arg, const struct life *life)
{
	struct class_trace *t = arg;
	const uint64_t shown = t->lives.objects;
	int err = lives_view__life(&t->lives, life);

	return err ?: tree_view__life(&t->tree, life, t->lives.objects > shown);
}

static int trace_start_views(struct class_trace *t, struct session *s)
{
	int err = lives_view__start(&t->lives, s);

	return err || !t->calls ? err : tree_view__start(&t->tree, s, &t->trace);
}

static int trace_on_start(void *state, struct session *s)
{
	struct class_trace *t = state;
	int err = call_trace__start(&t->trace, probe_source__run(s));

	call_trace__tell_returns(&t->trace);
	if (!t->all && t->class.preset && t->class.nr_attachable > t->trace.nr)
		log_note("tracing %zu of %zu functions that can be attached; --all traces all",
			 t->trace.nr, t->class.nr_attachable);
	err = err ?: call_trace_writer__begin(&t->writer, &t->trace, s, t->addresses);
	return err ?: trace_start_views(t, s);
}

static int trace_on_hit(void *state, struct session *s, const struct probe_record *r,
			const void *values)
{
	struct class_trace *t = state;
	int err = session__recorder(s) ? call_trace_writer__put(&t->writer, r, values) : 0;

	return err ?: call_trace__take(&t->trace, r, values);
}

/* Keeps the counts of the run before its open objects are ended. */
static int trace_on_keep(void *state, struct session *s)
{
	struct class_trace *t = state;
	struct run_counts counts;

	if (!session__recorder(s))
		return 0;
	run__counts(probe_source__run(s), &counts);
	return call_trace_writer__finish(&t->writer, &counts);
}

static int trace_end_tree(struct class_trace *t, struct session *s)
{
	struct run_counts counts = t->reader.counts;

	if (probe_source__run(s))
		run__counts(probe_source__run(s), &counts);
	return tree_view__end(&t->tree,
			      probe_source__run(s) || t->reader.has_counts ? &counts : NULL);
}

static int trace_on_end(void *state, struct session *s)
{
	struct class_trace *t = state;
	int err = s->options->file.read.nr ? call_trace_reader__check(&t->reader)
					   : trace_on_keep(t, s);

	if (err)
		return err;
	err = call_trace__finish(&t->trace);
	s->incomplete |= t->lives.dropped > 0;
	if (!err && t->calls)
		err = trace_end_tree(t, s);
	err = err ?: lives_view__end(&t->lives);
	if (!err && t->reader.has_counts)
		probe_source__tell_hits(s, &t->reader.counts);
	return err;
}

/* ---- of a capture ---- */

static int trace_on_known(void *arg)
{
	struct class_trace *t = arg;
	int err = call_trace__choose_functions(&t->trace, t->wants);

	err = err ?: call_trace__choose_fields(&t->trace, &t->fields);
	err = err ?: call_trace__check_disk(&t->trace, &t->devices);
	err = err ?: call_trace__start(&t->trace, NULL);
	if (err)
		return err;
	call_trace__tell_returns(&t->trace);
	t->lives.name = t->trace.name;
	err = lives_view__prepare(&t->lives, &t->trace);
	return err ?: trace_start_views(t, t->session);
}

static int trace_on_part(void *state, struct session *s, struct capture_part *part)
{
	struct class_trace *t = state;

	t->session = s;
	return call_trace_reader__follow(&t->reader, s, part);
}

static struct request *trace_asks(void *state)
{
	return &((struct class_trace *)state)->trace.request;
}

static const struct session_view trace_session = {
	.asks = trace_asks,
	.on_start = trace_on_start,
	.on_hit = trace_on_hit,
	.on_end = trace_on_end,
	.on_keep = trace_on_keep,
	.on_part = trace_on_part,
	.counts_records = true,
};

/* Members hold a disk's name: -d must name a disk that exists here. */
static int trace_check_devices(const struct class_trace *t)
{
	for (size_t i = 0; i < t->devices.nr; i++) {
		const char *name = lives_view__disk(t->devices.words[i]);
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "/sys/block/%s", name);
		if (access(path, F_OK))
			return log_err(-ENODEV, "-d: unknown disk '%s'; /sys/block lists the disks",
				       name);
	}
	return 0;
}

static int trace_find(struct class_trace *t, const struct class_wants *wants)
{
	const struct call_trace_class class = {
		.class = &t->class,
		.all = t->all || wants->nr_only,
		.fields = &t->fields,
		.reads_disk = t->devices.nr,
	};
	int err = trace_check_devices(t);

	if (err)
		return err;
	t->trace.request.finder = finder__new();
	if (!t->trace.request.finder)
		return log_no_memory();
	err = class__find(&t->class, t->trace.request.finder, wants);
	return err ?: call_trace__of_class(&t->trace, &class);
}

static void trace_set_up(struct class_trace *t, const struct class_wants *wants,
			 const struct options *options)
{
	struct run_wants *run = &t->trace.request.wants;

	run->emit = t->emit;
	run->insists = t->returns;
	run->max_rate = t->max_rate.given ? t->max_rate.value : CLASS_MAX_RATE;
	run->ring_bytes = t->buffer.value;
	run->ring_default_bytes = CLASS_RING_BYTES;
	t->trace.on_tree = trace_on_tree;
	t->trace.on_life = trace_on_life;
	t->trace.arg = t;
	t->wants = wants;
	t->reader.trace = &t->trace;
	t->reader.on_known = trace_on_known;
	t->reader.arg = t;
	t->calls |= t->graph || tree_view__needs_calls(options);
	t->tree.limits = (struct call_limits){ t->depth.value, t->min_ns.value };
	t->tree.is_graph = t->graph;
	t->tree.page.command = "class";
	t->tree.page.source_dir = t->source;
	t->lives.name = wants->name;
	t->lives.devices = &t->devices;
	t->lives.pid = (uint32_t)t->pid.value;
	t->lives.condition_text = t->condition;
	t->lives.most = options->run.count.value;
	t->lives.is_silent = t->summary || t->calls || options->output.format > OUTPUT_CSV;
	t->lives.has_summary = !t->graph && options->output.format <= OUTPUT_CSV;
	t->lives.is_dot = !t->calls && options->output.format == OUTPUT_DOT;
}

int class_trace__run(struct class_trace *t, const struct class_wants *wants,
		     const struct options *options, char **argv)
{
	int err;

	trace_set_up(t, wants, options);
	err = options->file.read.nr ? 0 : trace_find(t, wants);
	if (!err && !options->file.read.nr)
		err = lives_view__prepare(&t->lives, &t->trace);
	err = err ?: tree_view__prepare(&t->tree, options, &t->trace);
	t->trace.name = wants->name;
	err = err ?: session__run(&trace_session, t, options, argv);
	lives_view__free(&t->lives);
	tree_view__free(&t->tree);
	call_trace_writer__free(&t->writer);
	call_trace_reader__free(&t->reader);
	call_trace__free(&t->trace);
	class__free(&t->class);
	return err;
}
