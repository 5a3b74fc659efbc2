/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/session.h"

#include <errno.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "capture/ring.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/log.h"
#include "session/origin.h"
#include "session/source.h"

/* ---- output ---- */

/*
 * A trace prints millions of lines a second: one write per 64 KiB, not per page. A terminal still
 * gets single lines. Without the memory it is only slower.
 */
static void session_buffer_output(struct session *s)
{
	enum { SIZE = 1 << 16 };

	if (isatty(fileno(s->out)))
		return;
	s->inside->buffer = malloc(SIZE);
	if (s->inside->buffer && setvbuf(s->out, s->inside->buffer, _IOFBF, SIZE)) {
		free(s->inside->buffer);
		s->inside->buffer = NULL;
	}
}

/* A live run drops its privileges: processes that keep them handle files later. */
static int session_keep_rights(struct session *s)
{
	const struct file_options *f = &s->options->file;
	int err = output__keep_rights(&s->inside->output);

	if (!err && f->write && (f->size_bytes.given || f->last_ns.given))
		err = maker__fork(&s->inside->maker, f);
	return err;
}

static int session_open_output(struct session *s)
{
	const struct output_options *o = &s->options->output;
	const struct file_options *f = &s->options->file;
	const struct option_list kept = { (const char **)&f->write, 1 };
	struct output *output = &s->inside->output;
	int err = output__open(output, o->path, f->write ? &kept : &f->read);

	if (!err && !f->read.nr && !s->options->run.keep_privileges) {
		err = session_keep_rights(s);
		err = err ? output__finish(output, err) : 0;
	}
	if (err)
		return err;
	s->format = o->format > OUTPUT_CSV ? TABLE_TEXT : (enum table_format)o->format;
	s->out = output->file;
	session_buffer_output(s);
	return 0;
}

/* The failure was said; stdio must not retry, nor main report it again. */
static int session_close_output(struct session *s, int err)
{
	int flush_err = s->inside->output_failed ? 0 : session_flush(s);

	if (s->inside->output_failed)
		__fpurge(s->out);
	clearerr(s->out);
	if (s->out == stdout && s->inside->buffer)
		setvbuf(stdout, NULL, _IONBF, 0); /* it is empty; main still flushes it */
	err = err ?: flush_err;
	if (!err && s->inside->interrupted)
		output__finish(&s->inside->output, -EINTR);
	else
		err = output__finish(&s->inside->output, err);
	free(s->inside->buffer);
	s->out = NULL;
	return err;
}

/* ---- the run ---- */

/* Priority of the exit codes: --fail-if, the view's finding, the COMMAND's status, losses. */
static int session_verdict(const struct session *s)
{
	int child = loop__child_status(s->inside->loop);
	bool whole = !s->inside->lost && !s->incomplete &&
		     (!s->ledger_known || ledger__is_whole(&s->ledger));

	if (s->ledger_known && !s->inside->interrupted)
		ledger__print(&s->ledger);
	if (s->came_true)
		return EXIT_CAME_TRUE;
	if (s->found)
		return EXIT_FOUND;
	if (child)
		return child;
	if (s->inside->interrupted)
		return EXIT_LOST;
	return whole || s->options->run.allow_loss ? EXIT_DONE : EXIT_LOST;
}

/* Options that only one of the two sources supports. */
static int session_check_options(const struct session_view *view, const struct options *options,
				 char **argv)
{
	const struct file_options *f = &options->file;

	if (f->read.nr && argv && argv[0])
		return log_err(-EINVAL, "-r takes no COMMAND (got '%s')", argv[0]);
	if (options->filter.follow && !(argv && argv[0]))
		return log_err(-EINVAL, "--follow requires -- COMMAND");
	if (!f->read.nr && (f->from_ns.given || f->to_ns.given))
		return log_err(-EINVAL, "--%s requires -r FILE", f->from_ns.given ? "from" : "to");
	if (!f->read.nr && f->jobs.given)
		return log_err(-EINVAL, "-j requires -r FILE");
	if (f->from_ns.given && f->to_ns.given && f->to_ns.value <= f->from_ns.value)
		return log_err(-EINVAL, "--to must be later than --from");
	if (f->anonymous && !f->read.nr && !view->only_keeps)
		return log_err(-EINVAL, "--anonymous requires -r FILE");
	if (f->key && !f->anonymous)
		return log_err(-EINVAL, "--key requires --anonymous");
	if ((f->zstd || f->mode || f->host) && !f->write && !f->ring)
		return log_err(-EINVAL, "--%s requires -w FILE",
			       f->zstd	 ? "zstd"
			       : f->mode ? "mode"
					 : "host");
	if (f->host && !origin__is_name(f->host))
		return log_err(-EINVAL, "--host: expected a name of 1 to %d bytes",
			       ORIGIN_HOST - 1);
	if (!options__mode(f))
		return log_err(-EINVAL, "--mode %s: expected octal permissions, e.g. 0640",
			       f->mode);
	return 0;
}

static const struct session_source *session_source_of(const struct session_view *view,
						      const struct options *options)
{
	if (view->asks)
		return options->file.read.nr ? &session_calls_replay : &session_probe_live;
	if (view->wants_async)
		return options->file.read.nr ? &session_async_replay : &session_async_live;
	if (view->wants_waits)
		return options->file.read.nr ? &session_waits_replay : &session_waits_live;
	if (view->wants_cache)
		return options->file.read.nr ? &session_cache_replay : &session_cache_live;
	return options->file.read.nr ? &session_io_replay : &session_io_live;
}

static int session_make_alias(struct session *s)
{
	struct alias *alias;

	if (!s->options->file.anonymous)
		return 0;
	alias = s->inside->alias = calloc(1, sizeof(*alias));
	return alias ? alias__init(alias, s->options->file.key) : log_err(-ENOMEM, "out of memory");
}

int session__run(const struct session_view *view, void *state, const struct options *options,
		 char **argv)
{
	struct session_inside inside = {
		.view = view,
		.state = state,
		.source = session_source_of(view, options),
	};
	struct session s = { .options = options, .inside = &inside };
	int err = session_check_options(view, options, argv);

	if (!err && !options->file.read.nr)
		err = clock__look();
	err = err ?: session_open_output(&s);
	if (err)
		return err;
	if (view->wants)
		inside.wants = view->wants(state, options);
	err = session_make_alias(&s);
	inside.loop = loop__new();
	if (!err && !inside.loop)
		err = log_err(-errno, "cannot create an event loop: %s", strerror(errno));
	if (!err && !options->file.read.nr)
		err = session_live(&s, argv);
	else if (!err)
		err = view->browses && view->browses(state, options) ? session_browse(&s)
								     : session_replay(&s);
	err = session_close_output(&s, err);
	err = err ?: session_verdict(&s);
	inside.source->free(&s);
	capture_about__free(&inside.about);
	for (int kind = 0; kind < NR_GLOSSARIES; kind++)
		glossary__free(&inside.known[kind]);
	recorder__free(inside.recorder);
	deputy__end(&inside.maker.deputy);
	scout__end(&inside.scout);
	ring__end(inside.ring);
	loop__free(inside.loop);
	free(inside.alias);
	return err;
}
