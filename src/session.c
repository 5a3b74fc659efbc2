/* SPDX-License-Identifier: BSD-2-Clause */
#include "session.h"

#include <errno.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "cmd.h"
#include "log.h"
#include "loop.h"

static const uint64_t session_interval_ns = 1000000000; /* -i's default */

static uint64_t session_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/*
 * A trace prints millions of lines a second: a write a 64 KiB, not a page. Lines for a terminal
 * still go one by one. Without the memory it is only slower.
 */
static void session_buffer_output(struct session *s)
{
	enum { SIZE = 1 << 16 };

	if (isatty(fileno(s->out)))
		return;
	s->buffer = malloc(SIZE);
	if (s->buffer && setvbuf(s->out, s->buffer, _IOFBF, SIZE)) {
		free(s->buffer);
		s->buffer = NULL;
	}
}

static int session_open_output(struct session *s)
{
	const struct output_options *o = &s->options->output;

	s->format = (enum table_format)o->format;
	s->out = o->path ? fopen(o->path, "we") : stdout;
	if (s->out) {
		session_buffer_output(s);
		return 0;
	}
	return log_err(-errno == -EACCES ? -EIO : -errno, "cannot write %s: %s", o->path,
		       strerror(errno));
}

/* Whoever reads sees whole intervals. A reader that has gone ends the run without a word. */
static int session_flush(struct session *s)
{
	const char *where = s->options->output.path ? s->options->output.path : "the output";

	if (!fflush(s->out) && !ferror(s->out))
		return 0;
	s->output_failed = true;
	if (errno == EPIPE)
		return -EPIPE;
	return log_err(-EIO, "cannot write %s: %s", where, strerror(errno));
}

/* What failed was said; stdio must not try again, nor the door complain once more. */
static int session_close_output(struct session *s)
{
	int err = s->output_failed ? 0 : session_flush(s);

	if (s->output_failed)
		__fpurge(s->out);
	clearerr(s->out);
	if (s->out != stdout)
		fclose(s->out);
	else if (s->buffer)
		setvbuf(stdout, NULL, _IONBF, 0); /* it is empty; the door still flushes it */
	free(s->buffer);
	s->out = NULL;
	return err;
}

void session__status(const struct session *s, const char *text)
{
	if (isatty(STDERR_FILENO) && s->out)
		fprintf(stderr, "\r\033[K%s", text);
}

static void session_time(struct session *s)
{
	uint64_t now = session_now_ns();

	s->elapsed_s = (double)(now - s->start_ns) / 1e9;
	s->interval_s = (double)(now - s->last_ns) / 1e9;
	s->last_ns = now;
}

static int session_tick(void *arg)
{
	struct session *s = arg;
	int err;

	session_time(s);
	session__status(s, "");
	err = s->view->on_tick(s->state, s);
	err = err ?: session_flush(s);
	if (s->options->run.count.given && ++s->ticks >= s->options->run.count.value)
		loop__stop(s->loop);
	return err;
}

static int session_time_is_up(void *arg)
{
	loop__stop(((struct session *)arg)->loop);
	return 0;
}

static int session_arm(struct session *s)
{
	const struct run_options *run = &s->options->run;
	uint64_t interval = run->interval_ns.given ? run->interval_ns.value : session_interval_ns;
	int err = loop__every(s->loop, interval, session_tick, s);

	if (!err && run->duration_ns.given)
		err = loop__after(s->loop, run->duration_ns.value, session_time_is_up, s);
	if (!err && io__uevent_fd(s->io) >= 0)
		err = loop__add_fd(s->loop, io__uevent_fd(s->io), io__on_uevent, s->io);
	return err;
}

const struct object session_ledger = { "ledger", { ledger_columns } };

static void session_show_ledger(const struct session *s)
{
	const struct column *columns[OBJECT_COLUMNS];
	size_t nr = object__columns(&session_ledger, columns);
	struct table *table;

	if (s->format != TABLE_JSON)
		return;
	table = table__new(s->out, s->format, session_ledger.type, columns, nr);
	if (table)
		table__row(table, &s->ledger);
	table__free(table);
}

static int session_live(struct session *s, char **argv)
{
	struct io_wants wants = s->view->wants(s->state, s->options);
	int err = io__open(&s->io, &wants);

	if (!err && argv && argv[0])
		err = loop__start_child(s->loop, argv);
	if (err)
		return err;
	s->start_ns = s->last_ns = session_now_ns();
	err = s->view->on_start(s->state, s);
	err = err ?: session_arm(s);
	err = err ?: loop__run(s->loop);
	if (err)
		return err;
	session_time(s);
	session__status(s, "");
	io__detach(s->io);
	err = s->view->on_end(s->state, s);
	session_show_ledger(s);
	return err;
}

/* Which of several ends is told: a --fail-if, then the COMMAND's own, then loss. */
static int session_verdict(const struct session *s)
{
	int child = loop__child_status(s->loop);

	ledger__print(&s->ledger);
	if (s->came_true)
		return EXIT_CAME_TRUE;
	if (child)
		return child;
	if (!ledger__is_whole(&s->ledger) && !s->options->run.allow_loss)
		return EXIT_LOST;
	return EXIT_DONE;
}

int session__run(const struct session_view *view, void *state, const struct options *options,
		 char **argv)
{
	struct session s = { .options = options, .view = view, .state = state };
	int err = session_open_output(&s), closed;

	if (err)
		return err;
	s.loop = loop__new();
	err = s.loop ? session_live(&s, argv) : log_err(-errno, "cannot make an event loop");
	closed = session_close_output(&s);
	err = err ?: closed;
	err = err ?: session_verdict(&s);
	io__free(s.io);
	loop__free(s.loop);
	return err;
}
