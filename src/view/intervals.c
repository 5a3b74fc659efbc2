/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/log.h"
#include "view/intervals.h"

void intervals__say_idle(const struct session *s)
{
	session__status(s, "no I/O on these devices in the last interval");
}

void intervals__say_whole(const struct session *s)
{
	if (s->format == TABLE_TEXT)
		fprintf(s->out, "\nthe whole run, %.1f s:\n", s->span_s);
}

void intervals__came_true(struct session *s, const char *fail_if, const char *title,
			  const char *span, double time_s)
{
	if (!s->came_true)
		log_warn("--fail-if '%s' is true: %s, %s up to %.1f s", fail_if, title, span,
			 time_s);
	s->came_true = true;
}

int intervals__pass(void *state, struct session *s)
{
	(void)state, (void)s;
	return 0;
}
