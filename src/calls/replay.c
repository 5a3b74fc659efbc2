/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/replay.h"

#include <errno.h>
#include "base/log.h"
#include "calls/capture.h"
#include "session/probe_source.h"
#include "session/session.h"

struct calls_replay {
	struct session *session;
	struct call_trace trace;
	struct tree_view *view;
	struct call_trace_reader reader;
	uint64_t trees, most; /* most: 0: all */
	uint32_t pid;	      /* 0: all */
};

int calls_replay__ask(const char *path, bool *has_calls)
{
	struct capture_reader *reader;
	int err = capture_reader__open(path, &reader);

	if (err) /* the file is at fault, not the command line or privileges */
		return err == -ENOMEM || err == -EOPNOTSUPP ? err : -EIO;
	*has_calls = capture_reader__has_calls(reader);
	capture_reader__free(reader);
	return 0;
}

static int replay_on_tree(void *arg, const struct call *root)
{
	struct calls_replay *c = arg;

	if ((c->most && c->trees >= c->most) || !call__is_within(root, &c->view->limits) ||
	    (c->pid && root->pid != c->pid))
		return 0;
	if (++c->trees == c->most)
		session__stop(c->session);
	return tree_view__tree(c->view, root);
}

static int replay_on_known(void *arg)
{
	struct calls_replay *c = arg;
	int err = call_trace__start(&c->trace, NULL);

	call_trace__tell_returns(&c->trace);
	return err ?: tree_view__start(c->view, c->session, &c->trace);
}

static int replay_on_part(void *state, struct session *s, struct capture_part *part)
{
	struct calls_replay *c = state;

	c->session = s;
	return call_trace_reader__follow(&c->reader, s, part);
}

static int replay_on_end(void *state, struct session *s)
{
	struct calls_replay *c = state;
	const struct run_counts *counts = c->reader.has_counts ? &c->reader.counts : NULL;
	int err = call_trace_reader__check(&c->reader);

	err = err ?: call_trace__finish(&c->trace);
	s->incomplete |= !err && call_trace__tell_unkept(&c->trace);
	err = err ?: tree_view__end(c->view, counts);
	if (!err && counts)
		probe_source__tell_hits(s, counts);
	return err;
}

static struct request *replay_asks(void *state)
{
	return &((struct calls_replay *)state)->trace.request;
}

static const struct session_view replay_session = {
	.asks = replay_asks,
	.on_part = replay_on_part,
	.on_end = replay_on_end,
	.counts_records = true,
};

int calls_replay__run(struct tree_view *view, const struct options *options, char **argv)
{
	struct calls_replay c = {
		.view = view,
		.most = options->run.count.value,
		.pid = (uint32_t)options->filter.pid.value,
		.reader = { .trace = &c.trace, .on_known = replay_on_known, .arg = &c },
		.trace = { .on_tree = replay_on_tree, .arg = &c },
	};
	int err = tree_view__prepare(view, options, &c.trace);

	err = err ?: session__run(&replay_session, &c, options, argv);
	tree_view__free(view);
	call_trace_reader__free(&c.reader);
	call_trace__free(&c.trace);
	return err;
}
