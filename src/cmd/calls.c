/* SPDX-License-Identifier: BSD-2-Clause */
/* calls.c: what happened inside? Nested calls of the requested functions. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "base/log.h"
#include "calls/capture.h"
#include "calls/replay.h"
#include "capture/read.h"
#include "cmd/cmd.h"
#include "probe/class/path_preset.h"
#include "session/probe_source.h"

struct calls_cmd {
	/* options */
	struct option_list globs, paths;
	struct option_number depth, min_ns, buffer, args, functions_most;
	bool graph, returns, emit, addresses;
	/* state */
	struct option_list functions; /* globs, and those of paths */
	struct call_trace trace;
	struct tree_view view;
	struct session *session;
	uint64_t trees, most;		 /* most: 0: all */
	struct call_trace_writer writer; /* -w */
};

static const struct option_def calls_options[] = {
	{ "globs", 0, OPTION_OPERANDS, offsetof(struct calls_cmd, globs), "FUNCTION...",
	  "kernel functions, * and ? allowed; user:PATH:NAME: function of a program or library; "
	  "with -- COMMAND only calls in it and its children, as with --follow",
	  .completes = "function", .is_capture = capture__is_one },
	{ "path", 0, OPTION_LIST, offsetof(struct calls_cmd, paths), NULL,
	  "also the important functions of this path that this kernel has",
	  .choices = path_preset__words },
	{ "most", 0, OPTION_NUMBER, offsetof(struct calls_cmd, functions_most), "N",
	  "attach at most N functions (default 4096)", .min = 1, .max = 1000000 },
	{ "graph", 0, OPTION_FLAG, offsetof(struct calls_cmd, graph), NULL,
	  "sum up all calls at the end: counts and times by function and callers" },
	{ "depth", 0, OPTION_NUMBER, offsetof(struct calls_cmd, depth), "N",
	  "show calls at most N levels deep", .min = 1, .max = 1000 },
	{ "min", 0, OPTION_DURATION, offsetof(struct calls_cmd, min_ns), "TIME",
	  "leave out calls shorter than this, and the calls inside them" },
	{ "returns", 0, OPTION_FLAG, offsetof(struct calls_cmd, returns), NULL,
	  "trace returns even where the kernel may miss some without counting them" },
	{ "args", 0, OPTION_NUMBER, offsetof(struct calls_cmd, args), "N",
	  "show N arguments of user functions without debug information (default 0)", .min = 0,
	  .max = 8 },
	{ "addresses", 0, OPTION_FLAG, offsetof(struct calls_cmd, addresses), NULL,
	  "with -w: write real addresses instead of hashes" },
	{ "buffer", 0, OPTION_SIZE, offsetof(struct calls_cmd, buffer), "SIZE",
	  "size of each CPU's ring (default 4Mi); a full ring drops records and counts them",
	  .min = 4096, .max = 1 << 30 },
	{ "source", 0, OPTION_STRING, offsetof(struct calls_cmd, view.page.source_dir), "DIR",
	  "with -o html: show source code from this kernel tree", .completes = "file" },
	{ "emit", 0, OPTION_FLAG, offsetof(struct calls_cmd, emit), NULL,
	  "print the generated BPF instructions" },
	{ 0 },
};
static const struct option_group calls_group = { "What is shown", calls_options };

static int calls_run(void *state, const struct options *options, char **argv);

const struct cmd cmd_calls = {
	.name = "calls",
	.group = "any event",
	.brief = "nested calls of kernel and user functions, with durations",
	.synopsis = "[options] [FUNCTION...] [-- COMMAND...]",
	.groups = CMD_GROUPS(&task_group, &run_group, OUTPUT_IN(OUTPUT_CALLS), &write_group,
			     &read_group, &alias_group),
	.own = &calls_group,
	.view_size = sizeof(struct calls_cmd),
	.objects = CMD_OBJECTS(&calls_view_object, &graph_view_object, &probe_ledger_object),
	.run = calls_run,
	.needs = NEED_PROGRAMS | NEED_RINGS | NEED_CALLS | NEED_ANY_FUNCTION,
};

/* ---- the run ---- */

static int calls_on_tree(void *arg, const struct call *root)
{
	struct calls_cmd *c = arg;

	if ((c->most && c->trees >= c->most) || !call__is_within(root, &c->view.limits))
		return 0;
	c->trees++;
	if (c->trees == c->most)
		session__stop(c->session);
	return tree_view__tree(&c->view, root);
}

static int calls_on_start(void *state, struct session *s)
{
	struct calls_cmd *c = state;
	int err = call_trace__start(&c->trace, probe_source__run(s));

	c->session = s;
	call_trace__tell_returns(&c->trace);
	err = err ?: call_trace_writer__begin(&c->writer, &c->trace, s, c->addresses);
	return err ?: tree_view__start(&c->view, s, &c->trace);
}

static int calls_on_hit(void *state, struct session *s, const struct probe_record *r,
			const void *values)
{
	struct calls_cmd *c = state;
	int err = session__recorder(s) ? call_trace_writer__put(&c->writer, r, values) : 0;

	return err ?: call_trace__take(&c->trace, r, values);
}

static int calls_on_keep(void *state, struct session *s)
{
	struct calls_cmd *c = state;
	struct run_counts counts;

	run__counts(probe_source__run(s), &counts);
	return call_trace_writer__finish(&c->writer, &counts);
}

static int calls_on_end(void *state, struct session *s)
{
	struct calls_cmd *c = state;
	struct run_counts counts;
	int err = 0;

	run__counts(probe_source__run(s), &counts);
	if (session__recorder(s))
		err = call_trace_writer__finish(&c->writer, &counts);
	err = err ?: call_trace__finish(&c->trace);
	if (!err && !counts.omitted) /* otherwise the ledger reports it, by the kernel's own rule */
		s->incomplete |= call_trace__tell_unkept(&c->trace);
	return err ?: tree_view__end(&c->view, &counts);
}

static struct request *calls_asks(void *state)
{
	return &((struct calls_cmd *)state)->trace.request;
}

static const struct session_view calls_session = {
	.asks = calls_asks,
	.on_start = calls_on_start,
	.on_hit = calls_on_hit,
	.on_end = calls_on_end,
	.on_keep = calls_on_keep,
	.counts_records = true,
	.follows_command = true,
};

/* ---- which functions ---- */

static int calls_add_function(struct calls_cmd *c, char *name)
{
	struct option_list *f = &c->functions;

	if (!name || GROW_BY_ONE(f->words, f->nr)) {
		free(name);
		return log_no_memory();
	}
	f->words[f->nr++] = name;
	return 0;
}

/* The list owns what was found, also after a failure. */
static int calls_add_path(struct calls_cmd *c, const char *path)
{
	char **names;
	size_t nr;
	int err = path_preset__find(c->trace.request.finder, path, &names, &nr);

	if (err)
		return err;
	log_verbose("--path %s: %zu functions", path, nr);
	for (size_t i = 0; i < nr; i++)
		if (err)
			free(names[i]);
		else
			err = calls_add_function(c, names[i]);
	free(names);
	return err;
}

static int calls_list_functions(struct calls_cmd *c)
{
	int err = 0;

	for (size_t i = 0; !err && i < c->globs.nr; i++)
		err = calls_add_function(c, strdup(c->globs.words[i]));
	if (err || !c->paths.nr)
		return err;
	c->trace.request.finder = finder__new();
	if (!c->trace.request.finder)
		return log_no_memory();
	for (size_t i = 0; !err && i < c->paths.nr; i++)
		err = calls_add_path(c, c->paths.words[i]);
	return err;
}

static void calls_set_up(struct calls_cmd *c, const struct options *options)
{
	enum { RING_BYTES = 4 << 20, FUNCTIONS_MOST = 4096 /* as without kprobe.multi */ };
	struct run_wants *run = &c->trace.request.wants;

	run->emit = c->emit;
	run->insists = c->returns;
	run->ring_bytes = c->buffer.value;
	run->ring_default_bytes = RING_BYTES;
	c->view.limits = (struct call_limits){ c->depth.value, c->min_ns.value };
	c->view.is_graph = c->graph;
	c->view.page.command = "calls";
	c->most = options->run.count.value;
	c->trace.on_tree = calls_on_tree;
	c->trace.arg = c;
	c->trace.nr_registers = (uint32_t)c->args.value;
	c->trace.most_functions =
		c->functions_most.given ? c->functions_most.value : FUNCTIONS_MOST;
}

static int calls_run_live(struct calls_cmd *c, const struct options *options, char **argv)
{
	int err;

	if (c->args.value > find_abi__nr_registers())
		return log_err(-EINVAL,
			       "--args %" PRIu64
			       ": this machine passes only %u arguments in registers",
			       c->args.value, find_abi__nr_registers());
	if (!c->globs.nr && !c->paths.nr)
		return log_err(-EINVAL,
			       "calls requires FUNCTION or --path, e.g. iosonar calls vfs_read "
			       "'ext4_*' -- cat FILE, or iosonar calls --path read");
	err = calls_list_functions(c);
	err = err ?: call_trace__of_globs(&c->trace, &c->functions, options);
	err = err ?: tree_view__prepare(&c->view, options, &c->trace);
	err = err ?: session__run(&calls_session, c, options, argv);
	tree_view__free(&c->view);
	call_trace_writer__free(&c->writer);
	call_trace__free(&c->trace);
	for (size_t i = 0; i < c->functions.nr; i++)
		free((char *)c->functions.words[i]);
	free(c->functions.words);
	return err;
}

/* What decides what is recorded: a capture holds the result. */
static int calls_check_replay(const struct calls_cmd *c, const struct options *options)
{
	const struct option_given recording[] = {
		{ options->filter.children, "--children" },
		{ options->filter.cgroup, "--cgroup" },
		{ c->functions_most.given, "--most" },
		{ c->returns, "--returns" },
		{ c->args.given, "--args" },
		{ c->addresses, "--addresses" },
		{ c->buffer.given, "--buffer" },
		{ c->emit, "--emit" },
	};
	const char *given =
		options__first_given(recording, sizeof(recording) / sizeof(recording[0]));

	if (c->globs.nr || c->paths.nr)
		return log_err(-EINVAL, "calls -r takes no FUNCTION or --path (got '%s')",
			       c->globs.nr ? c->globs.words[0] : "--path");
	return given ? log_err(-EINVAL, "calls -r does not support %s: it applies to recording",
			       given)
		     : 0;
}

static int calls_run(void *state, const struct options *options, char **argv)
{
	struct calls_cmd *c = state;
	int err;

	calls_set_up(c, options);
	if (!options->file.read.nr)
		return calls_run_live(c, options, argv);
	err = calls_check_replay(c, options);
	return err ?: calls_replay__run(&c->view, options, argv);
}
