/* SPDX-License-Identifier: BSD-2-Clause */
#include "session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cmd.h"
#include "collect/cgroup.h"
#include "log.h"
#include "session_inside.h"

static const uint64_t session_default_interval_ns = 1000000000; /* -i */

/* ---- output ---- */

/*
 * A trace prints millions of lines a second: a write a 64 KiB, not a page. Lines for a terminal
 * still go one by one. Without the memory it is only slower.
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

static int session_open_output(struct session *s)
{
	const struct output_options *o = &s->options->output;

	s->format = o->format > OUTPUT_CSV ? TABLE_TEXT : (enum table_format)o->format;
	s->out = o->path ? fopen(o->path, "we") : stdout;
	if (s->out) {
		session_buffer_output(s);
		return 0;
	}
	return log_err(-errno == -EACCES ? -EIO : -errno, "cannot write %s: %s", o->path,
		       strerror(errno));
}

/* Whoever reads sees whole intervals. A reader that has gone ends the run without a word. */
int session_flush(struct session *s)
{
	const char *where = s->options->output.path ? s->options->output.path : "the output";

	if (s->inside->view->on_flush)
		s->inside->view->on_flush(s->inside->state);
	if (!fflush(s->out) && !ferror(s->out))
		return 0;
	s->inside->output_failed = true;
	if (errno == EPIPE)
		return -EPIPE;
	return log_err(-EIO, "cannot write %s: %s", where, strerror(errno));
}

/* What failed was said; stdio must not try again, nor the door complain once more. */
static int session_close_output(struct session *s)
{
	int err = s->inside->output_failed ? 0 : session_flush(s);

	if (s->inside->output_failed)
		__fpurge(s->out);
	clearerr(s->out);
	if (s->out != stdout)
		fclose(s->out);
	else if (s->inside->buffer)
		setvbuf(stdout, NULL, _IONBF, 0); /* it is empty; the door still flushes it */
	free(s->inside->buffer);
	s->out = NULL;
	return err;
}

void session__status(const struct session *s, const char *text)
{
	if (isatty(STDERR_FILENO) && s->out)
		fprintf(stderr, "\r\033[K%s", text);
}

const struct object session_ledger = { "ledger", { ledger_columns } };

void session_show_ledger(const struct session *s)
{
	const struct column *columns[OBJECT_COLUMNS];
	size_t nr = object__columns(&session_ledger, columns);
	struct table *table;

	if (s->format != TABLE_JSON || !s->ledger_known)
		return;
	table = table__new(s->out, s->format, session_ledger.type, columns, nr);
	if (table)
		table__row(table, &s->ledger);
	table__free(table);
}

/* ---- time ---- */

uint64_t session_interval(const struct session *s)
{
	const struct option_number *interval = &s->options->run.interval_ns;

	return interval->given ? interval->value : session_default_interval_ns;
}

void session_set_time(struct session *s, uint64_t now_ns)
{
	s->elapsed_s = (double)(now_ns - s->start_ns) / 1e9;
	s->interval_s = (double)(now_ns - s->inside->last_ns) / 1e9;
	s->inside->last_ns = now_ns;
}

int session_tick(struct session *s)
{
	struct session_inside *in = s->inside;
	int err;

	session__status(s, "");
	err = in->view->on_tick(in->state, s);
	err = err ?: session_flush(s);
	in->ticks++;
	return err;
}

void session__stop(struct session *s)
{
	s->inside->stopped = true;
	loop__stop(s->inside->loop);
}

/* ---- what a view asks ---- */

const struct device *session__device(struct session *s, const struct io_record *record)
{
	return s->inside->source->device(s, record);
}

void session__stack_losses(const struct session *s, uint64_t *taken, uint64_t *failed)
{
	*taken = *failed = 0;
	if (s->inside->source->stack_losses)
		s->inside->source->stack_losses(s, taken, failed);
}

const struct io_stack *session__stack(const struct session *s, uint32_t number)
{
	return s->inside->source->stack ? s->inside->source->stack(s, number) : NULL;
}

const struct device_list *session__devices(const struct session *s)
{
	return s->inside->source->devices(s);
}

char *const *session__op_names(const struct session *s)
{
	return s->inside->source->op_names(s);
}

uint64_t session__wall_ns(const struct session *s, uint64_t mono_ns)
{
	return capture_about__wall_ns(s->inside->source->about(s), mono_ns);
}

char *session__cgroup_path(const struct session *s, uint64_t id, char *buf, size_t size)
{
	const char *path = s->inside->source->cgroup ? s->inside->source->cgroup(s, id) : NULL;

	if (!s->inside->source->cgroup)
		return cgroup__path(id, buf, size);
	if (path)
		snprintf(buf, size, "%s", path);
	else
		snprintf(buf, size, "cgroup-%" PRIu64, id);
	return buf;
}

bool session__sees_nvme(const struct session *s)
{
	return s->inside->source->sees(s, true);
}

bool session__sees_block(const struct session *s)
{
	return s->inside->source->sees(s, false);
}

void session__read(struct session *s, io_row_fn fn, void *arg)
{
	s->inside->source->read(s, fn, arg);
}

void session__take_ledger(struct session *s, uint64_t counted)
{
	s->inside->source->take_ledger(s, counted);
}

struct recorder *session__recorder(const struct session *s)
{
	return s->inside->recorder;
}

/* ---- the run ---- */

/* Which of several ends is told: a --fail-if, then the COMMAND's own, then loss. */
static int session_verdict(const struct session *s)
{
	int child = loop__child_status(s->inside->loop);
	bool whole = !s->inside->lost && (!s->ledger_known || ledger__is_whole(&s->ledger));

	if (s->ledger_known)
		ledger__print(&s->ledger);
	if (s->came_true)
		return EXIT_CAME_TRUE;
	if (child)
		return child;
	return whole || s->options->run.allow_loss ? EXIT_DONE : EXIT_LOST;
}

/* What only one of the two sources understands. */
static int session_check_options(const struct options *options, char **argv)
{
	const struct file_options *f = &options->file;

	if (f->read.nr && argv && argv[0])
		return log_err(-EINVAL,
			       "-r reads a capture: there is nothing '%s' could be run for",
			       argv[0]);
	if (!f->read.nr && (f->from_ns.given || f->to_ns.given))
		return log_err(-EINVAL, "--%s is about a capture: it needs -r FILE",
			       f->from_ns.given ? "from" : "to");
	if (f->from_ns.given && f->to_ns.given && f->to_ns.value <= f->from_ns.value)
		return log_err(-EINVAL, "--to is not after --from: there is nothing between them");
	if (f->zstd && !f->write)
		return log_err(-EINVAL, "--zstd is about a capture: it needs -w FILE");
	return 0;
}

int session__run(const struct session_view *view, void *state, const struct options *options,
		 char **argv)
{
	struct session_inside inside = {
		.view = view,
		.state = state,
		.source = options->file.read.nr ? &session_replay : &session_live,
	};
	struct session s = { .options = options, .inside = &inside };
	int err = session_check_options(options, argv), closed;

	err = err ?: session_open_output(&s);
	if (err)
		return err;
	inside.wants = view->wants(state, options);
	inside.loop = loop__new();
	err = inside.loop ? inside.source->run(&s, argv)
			  : log_err(-errno, "cannot make an event loop");
	closed = session_close_output(&s);
	err = err ?: closed;
	err = err ?: session_verdict(&s);
	inside.source->free(&s);
	recorder__free(inside.recorder);
	loop__free(inside.loop);
	return err;
}
