/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct event_text *events_at(struct events *e, uint64_t number)
{
	return &e->kept[number % EVENTS_MOST];
}

static void events_forget_first(struct events *e)
{
	struct event_text *event = events_at(e, e->first);

	e->bytes -= event->len;
	free(event->text);
	*event = (struct event_text){ NULL, 0 };
	e->first++;
}

void events__free(struct events *e)
{
	while (e->first < e->end)
		events_forget_first(e);
}

/* Each line is a line of data; a reader joins them again. `retry` is how soon it comes back. */
static void events_put(FILE *out, const char *run, uint64_t number, const char *lines)
{
	fprintf(out, "id: %s-%" PRIu64 "\nretry: 1000\n", run, number);
	while (*lines) {
		size_t len = strcspn(lines, "\n");

		fprintf(out, "data: %.*s\n", (int)len, lines);
		lines += len + (lines[len] == '\n');
	}
	fputc('\n', out);
}

int events__add(struct events *e, const char *run, const char *lines)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return -ENOMEM;
	events_put(out, run, e->end, lines);
	if (fclose(out)) {
		free(text);
		return -ENOMEM;
	}
	while (e->first < e->end &&
	       (e->end - e->first == EVENTS_MOST || e->bytes + len > EVENTS_MOST_BYTES))
		events_forget_first(e);
	*events_at(e, e->end) = (struct event_text){ text, len };
	e->bytes += len;
	e->end++;
	return 0;
}

struct events_reader events__begin(const struct events *e, const char *run, const char *last)
{
	struct events_reader reader = { e->first, 0 };
	size_t len = strlen(run);
	char *end = NULL;
	uint64_t number;

	if (!last || strncmp(last, run, len) || last[len] != '-' || last[len + 1] < '0' ||
	    last[len + 1] > '9')
		return reader;
	number = strtoull(last + len + 1, &end, 10);
	if (!*end && number >= e->first && number < e->end)
		reader.number = number + 1;
	return reader;
}

ssize_t events__read(const struct events *e, struct events_reader *r, char *buf, size_t size)
{
	const struct event_text *event = &e->kept[r->number % EVENTS_MOST];
	size_t len;

	if (r->number >= e->end)
		return 0;
	if (r->number < e->first)
		return -1;
	len = event->len - r->at < size ? event->len - r->at : size;
	memcpy(buf, event->text + r->at, len);
	r->at += len;
	if (r->at == event->len)
		*r = (struct events_reader){ r->number + 1, 0 };
	return (ssize_t)len;
}
