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
#include "privilege.h"

static const uint64_t session_interval_ns = 1000000000; /* -i's default */

static uint64_t session_clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint64_t session_now_ns(void)
{
	return session_clock_ns(CLOCK_MONOTONIC);
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

void session__stop(struct session *s)
{
	s->stopped = true;
	loop__stop(s->loop);
}

const struct device *session__device(struct session *s, const struct io_record *record)
{
	int index = io__device_of(s->io, record);

	return index < 0 ? NULL : &io__devices(s->io)->devices[index];
}

uint64_t session__wall_ns(const struct session *s, uint64_t mono_ns)
{
	return capture_about__wall_ns(&s->about, mono_ns);
}

char *const *session__op_names(const struct session *s)
{
	return io__kernel(s->io)->op_names;
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

/* ---- records ---- */

static const uint64_t session_poll_ns = 20000000;   /* a line is seen within 50 ms */
static const uint64_t session_window_ns = 20000000; /* other CPUs' records may be so late */
static const uint64_t session_clock_every_ns = 1000000000;
static const uint64_t session_keep_clocks_ns = 10000000000ULL;

static void session_hold(void *arg, const struct io_record *record, enum io_record_from from)
{
	struct session *s = arg;

	s->ended += record->what == RECORD_END && from != IO_FROM_SLOT;
	if (from != IO_FROM_RING_AGAIN && order__add(&s->order, record))
		s->record_err = -ENOMEM;
}

static void session_hand_on(void *arg, const struct io_record *record)
{
	struct session *s = arg;

	if (!s->record_err && !s->stopped)
		s->record_err = s->view->on_record(s->state, s, record);
}

/* What the rings hold; what happened before until_ns goes on. */
static int session_fetch(struct session *s, uint64_t until_ns)
{
	int err = io__records(s->io, session_hold, s);

	order__take(&s->order, until_ns, session_hand_on, s);
	if (!err && s->record_err == -ENOMEM)
		return log_err(-ENOMEM, "out of memory");
	return err ?: s->record_err;
}

/* The wall clock may be set while we run: one moment on all clocks each second. */
static int session_clock(void *arg)
{
	struct session *s = arg;
	struct capture_clock clock;

	clock.mono_ns = session_clock_ns(CLOCK_MONOTONIC);
	clock.real_ns = session_clock_ns(CLOCK_REALTIME);
	clock.boot_ns = session_clock_ns(CLOCK_BOOTTIME);
	capture_about__forget_clocks(&s->about, clock.mono_ns - session_keep_clocks_ns);
	return capture_about__add_clock(&s->about, &clock);
}

static int session_poll(void *arg)
{
	struct session *s = arg;
	int err = session_fetch(s, session_now_ns() - session_window_ns);

	return err ?: session_flush(s);
}

static void session_count_row(void *arg, const struct io_tags *tags, const struct hist *part)
{
	*(uint64_t *)arg += part->count;
	(void)tags;
}

/* Every command that ended had a record, or is in a row: because the ring was full, or parked. */
static int session_end_records(struct session *s)
{
	const struct filter_options *f = &s->options->filter;
	uint64_t rows = 0;
	int err = session_fetch(s, UINT64_MAX);

	io__read(s->io, session_count_row, &rows);
	io__ledger(s->io, &s->ledger);
	s->ledger.counted = s->ended + rows;
	s->ledger.counted_known = !f->min_ns.given && !f->failed;
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
	int err = s->view->on_tick ? loop__every(s->loop, interval, session_tick, s) : 0;

	if (!err && s->view->on_record)
		err = session_clock(s);
	if (!err && s->view->on_record)
		err = loop__every(s->loop, session_clock_every_ns, session_clock, s);
	if (!err && s->view->on_record)
		err = loop__every(s->loop, session_poll_ns, session_poll, s);
	if (!err && run->duration_ns.given)
		err = loop__after(s->loop, run->duration_ns.value, session_time_is_up, s);
	if (!err && io__uevent_fd(s->io) >= 0)
		err = loop__add_fd(s->loop, io__uevent_fd(s->io), io__on_uevent, s->io);
	return err;
}

/*
 * The last thing before the loop: programs are attached, files are open, and the COMMAND was
 * forked. It waits at its gate for loop__run and then runs with the privileges we were started
 * with; forked later it would inherit the filter.
 */
static void session_drop_privileges(const struct session *s)
{
	const struct privilege_needs needs = {
		.child = loop__child_pid(s->loop),
		.attaches = io__attaches_later(s->io),
	};

	if (!s->options->run.keep_privileges)
		privilege__drop(&needs);
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
	s->start_ns = s->last_ns = io__start_ns(s->io);
	err = s->view->on_start(s->state, s);
	err = err ?: session_arm(s);
	if (err)
		return err;
	session_drop_privileges(s);
	err = loop__run(s->loop);
	if (err)
		return err;
	session_time(s);
	session__status(s, "");
	io__detach(s->io);
	if (s->view->on_record)
		err = session_end_records(s);
	err = err ?: s->view->on_end(s->state, s);
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
	order__free(&s.order);
	capture_about__free(&s.about);
	io__free(s.io);
	loop__free(s.loop);
	return err;
}
