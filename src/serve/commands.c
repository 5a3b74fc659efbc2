/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "session/io_source.h"
#include "session/recorder.h"

/* As `trace -o json` has them, and the time since the start, which `from` and `to` are. */
static bool commands_shows(const void *view, const struct column *column)
{
	char word[24];

	(void)view;
	snprintf(word, sizeof(word), " %s ", column->key);
	return !strcmp(column->key, "time_s") || strstr(command_data_keys, word);
}

static const struct object commands_rows = { "trace", { command_columns } };

/* What was found. */
struct commands_sum {
	uint64_t matched, shown;
	const char *is_all; /* "yes": all records were looked at */
};

#define FIELD(name) offsetof(struct commands_sum, name)
static const struct column sum_columns[] = {
	{ "matched", "matched", CELL_NUMBER, 0, "commands found", .at = FIELD(matched) },
	{ "shown", "shown", CELL_NUMBER, 0, "and shown", .at = FIELD(shown) },
	{ "all", "all", CELL_TEXT, 0, "false: there were too many to look at all of them",
	  .at = FIELD(is_all), .form = &form_truth },
	{ 0 },
};
#undef FIELD
static const struct object commands_sum_object = { "commands", { sum_columns } };

struct commands {
	struct session *session;
	const struct query *query;
	struct table *table;
	bool *devices; /* that are wanted, by index; NULL: all */
	struct command_row row;
	struct commands_sum sum;
};

static bool commands_has_device(const struct commands *c, const struct io_record *r)
{
	const struct device *device = c->devices ? io_source__device(c->session, r) : NULL;

	return !c->devices ||
	       (device && c->devices[device - io_source__devices(c->session)->devices]);
}

static void commands_visit(void *arg, const struct io_record *r)
{
	struct commands *c = arg;
	const uint64_t lat_ns = r->end_ns - r->first_ns;

	if (r->what != RECORD_END || lat_ns < c->query->ns[QUERY_MIN] ||
	    lat_ns >= c->query->ns[QUERY_MAX] || !commands_has_device(c, r))
		return;
	if (c->sum.matched++ >= COMMANDS_SHOWN)
		return;
	io_source__fill(c->session, r, &c->row);
	table__row(c->table, &c->row);
	c->sum.shown++;
}

/* Labels name a device, and for a path its disk, as the page has them. */
static int commands_choose(struct commands *c)
{
	const struct device_list *list = io_source__devices(c->session);
	char label[48];

	if (!*c->query->dev)
		return 0;
	c->devices = calloc(list->nr + 1, sizeof(*c->devices));
	for (size_t i = 0; c->devices && i < list->nr; i++)
		c->devices[i] = !strcmp(c->query->dev,
					device_list__label(list, device_list__head(list, (int)i),
							   label, sizeof(label)));
	return c->devices ? 0 : -ENOMEM;
}

/* Without overflow: a query is hostile. */
static uint64_t commands_later(uint64_t ns, uint64_t by_ns)
{
	return ns > UINT64_MAX - by_ns ? UINT64_MAX : ns + by_ns;
}

/* 1: there are more; 0; -ENOMEM. */
static int commands_look(struct commands *c)
{
	const uint64_t start_ns = c->session->start_ns;
	const struct capture_visit visit = { commands_visit, c };
	int err;

	if (!c->query->number)
		return recorder__each(session__recorder(c->session),
				      commands_later(start_ns, c->query->ns[QUERY_FROM]),
				      commands_later(start_ns, c->query->ns[QUERY_TO]),
				      COMMANDS_LOOKED_AT, visit);
	err = recorder__find(session__recorder(c->session), c->query->number, visit);
	return err == -ENOENT ? 0 : err;
}

static int commands_put(struct commands *c, FILE *out)
{
	int err = commands_choose(c);

	err = err ?: commands_look(c);
	if (err < 0)
		return err;
	c->sum.is_all = err ? "no" : "yes";
	return object__put(&commands_sum_object, out, TABLE_JSON, &c->sum);
}

int commands__put(struct session *s, const struct query *query, FILE *out)
{
	struct commands *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->session = s;
	c->query = query;
	c->table = table__of(out, TABLE_JSON, &commands_rows, commands_shows, NULL);
	err = c->table ? commands_put(c, out) : -ENOMEM;
	table__free(c->table);
	free(c->devices);
	free(c);
	return err;
}
