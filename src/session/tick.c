/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tick.c: shared by the two loops and the sources: the time in a run, a tick of its view, its
 * output, and what ends it early.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/log.h"
#include "session/source.h"

static const uint64_t session_default_interval_ns = 1000000000; /* -i */

uint64_t session_interval(const struct session *s)
{
	const struct option_number *interval = &s->options->run.interval_ns;

	return interval->given ? interval->value : session_default_interval_ns;
}

uint64_t session_later(uint64_t ns, uint64_t by_ns)
{
	return ns + by_ns < ns ? UINT64_MAX : ns + by_ns;
}

void session_set_time(struct session *s, uint64_t now_ns)
{
	s->elapsed_s = (double)(now_ns - s->start_ns) / 1e9;
	s->interval_s = (double)(now_ns - s->inside->last_ns) / 1e9;
	s->inside->last_ns = now_ns;
}

void session__status(const struct session *s, const char *text)
{
	bool is_drawn = s->inside->view->owns_terminal && s->format == TABLE_TEXT;

	if (isatty(STDERR_FILENO) && s->out && !is_drawn)
		fprintf(stderr, "\r\033[K%s", text);
}

/* A reader sees whole intervals. A closed pipe ends the run without a message. */
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

bool session_has_count(const struct session *s)
{
	return s->options->run.count.given && s->inside->ticks >= s->options->run.count.value;
}

void session__stop(struct session *s)
{
	s->inside->stopped = true;
	loop__stop(s->inside->loop);
}

bool session_is_interrupted(struct session *s)
{
	if (loop__is_interrupted(s->inside->loop))
		s->inside->stopped = s->inside->interrupted = true;
	return s->inside->interrupted;
}

bool session__is_cut(const struct session *s)
{
	return s->inside->interrupted;
}

/* Some views only fill a capture: they end when it is full; a COMMAND is not ended for it. */
void session_check_full(struct session *s)
{
	struct session_inside *in = s->inside;

	if (!in->recorder || !recorder__is_full(in->recorder))
		return;
	in->lost = true;
	if (in->view->only_keeps && !loop__child_pid(in->loop))
		loop__stop(in->loop);
}

int session_file_err(int err)
{
	return !err || err == -ENOMEM || err == -EOPNOTSUPP ? err : -EIO;
}

const struct object session_ledger = { "ledger", { ledger_columns } };

void session_show_ledger(struct session *s)
{
	const struct column *columns[OBJECT_COLUMNS];
	size_t nr = object__columns(&session_ledger, columns);
	struct table *table;

	if (s->format != TABLE_JSON || !s->ledger_known || s->inside->interrupted)
		return;
	table = table__new(s->out, s->format, session_ledger.type, columns, nr);
	if (table)
		table__row(table, &s->ledger);
	else
		s->incomplete = log_err(-ENOMEM, "out of memory: the output has no ledger") < 0;
	table__free(table);
}
