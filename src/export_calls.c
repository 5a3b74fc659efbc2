/* SPDX-License-Identifier: BSD-2-Clause */
#include "export_calls.h"

#include <errno.h>
#include <stdlib.h>
#include "capture/read.h"
#include "log.h"
#include "session.h"
#include "traced_capture.h"
#include "tree_view.h"

struct export_calls {
	struct session *session;
	struct traced traced;
	struct tree_view view;
	struct traced_reader reader;
	uint64_t trees, most; /* most: 0: all */
};

int export_calls__ask(const char *path, bool *has_calls)
{
	struct capture_reader *reader;
	int err = capture_reader__open(path, &reader);

	if (err) /* the file's fault, not that of the command line or of privileges */
		return err == -ENOMEM || err == -EOPNOTSUPP ? err : -EIO;
	*has_calls = capture_reader__has_calls(reader);
	capture_reader__free(reader);
	return 0;
}

static int calls_on_tree(void *arg, const struct call *root)
{
	struct export_calls *c = arg;

	if (c->most && c->trees >= c->most)
		return 0;
	c->trees++;
	return tree_view__tree(&c->view, root);
}

static int calls_on_known(void *arg)
{
	struct export_calls *c = arg;
	int err = traced__start(&c->traced, NULL);

	return err ?: tree_view__start(&c->view, c->session, &c->traced);
}

static int calls_on_part(void *state, struct session *s, struct capture_part *part)
{
	struct export_calls *c = state;

	c->session = s;
	c->reader.traced = &c->traced;
	c->reader.on_known = calls_on_known;
	c->reader.arg = c;
	session__set_reader(s, &c->reader);
	return traced_reader__take(&c->reader, part);
}

static int calls_on_end(void *state, struct session *s)
{
	struct export_calls *c = state;
	int err = traced_reader__check(&c->reader);

	err = err ?: traced__finish(&c->traced);
	err = err ?: tree_view__end(&c->view, c->reader.has_counts ? &c->reader.counts : NULL);
	if (!err && c->reader.has_counts)
		session__tell_hits(s, &c->reader.counts);
	return err;
}

static struct asked *calls_asks(void *state)
{
	return &((struct export_calls *)state)->traced.asked;
}

static const struct session_view calls_session = {
	.asks = calls_asks,
	.on_part = calls_on_part,
	.on_end = calls_on_end,
	.counts_records = true,
};

int export_calls__run(const struct options *options)
{
	struct export_calls *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return log_err(-ENOMEM, "out of memory");
	c->most = options->run.count.value;
	c->traced.on_tree = calls_on_tree;
	c->traced.arg = c;
	err = session__run(&calls_session, c, options, NULL);
	tree_view__free(&c->view);
	traced_reader__free(&c->reader);
	traced__free(&c->traced);
	free(c);
	return err;
}
