/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * events.c: what can be probed on this machine, and which values does it have? Tracepoints, raw
 * tracepoints, functions of the kernel and of programs, USDT probes, counters: their names, and
 * with -v every value and the members behind each pointer. Attaches nothing; without root it shows
 * what the files show to every user.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "cmd/cmd.h"
#include "decode/column.h"
#include "probe/find/find.h"
#include "view/event_values.h"
#include "view/listing.h"

enum {
	EVENTS_TEXT = 4096, /* bytes of all fields as text */
	EVENTS_VALUE = 512, /* of one */
};

struct events {
	/* options */
	struct option_list specs;
	bool names;
	int verbose;
	/* state */
	struct listing to;
	struct finder *finder;
	struct probe_list list;
	struct find_misses misses;
	struct table *table; /* of names alone */
	size_t nr_named;
};

/*
 * name                   fields
 * block:block_rq_issue   dev_t dev, sector_t sector, unsigned int nr_sector, ...
 */
struct event_row {
	const char *name, *kind, *module, *prototype, *fields;
};

#define EVENT(name) offsetof(struct event_row, name)

static const struct column event_columns[] = {
	{ "name", "name", CELL_TEXT, 0, "name of the event, as other commands take it",
	  .at = EVENT(name) },
	{ "kind", "kind", CELL_TEXT, 0, "tracepoint, raw, fn, ret, user, userret, usdt, soft, hw",
	  .at = EVENT(kind) },
	{ "module", "module", CELL_TEXT, 0, "kernel module that contains it; null: none",
	  .at = EVENT(module) },
	{ "prototype", "prototype", CELL_TEXT, 0, "prototype of a function; null: unknown",
	  .at = EVENT(prototype) },
	{ "fields", "fields", CELL_TEXT, 0, "fields of the event, each with its type",
	  .at = EVENT(fields), .form = &form_list },
	{ 0 },
};

static const struct column miss_columns[] = {
	{ "name", "cannot be probed", CELL_TEXT, 24,
	  "name of a matching function that cannot be probed",
	  .at = offsetof(struct find_miss, name) },
	{ "why", "why", CELL_TEXT, 0, "why it cannot be probed",
	  .at = offsetof(struct find_miss, why) },
	{ 0 },
};

static const struct object event_object = { "event", { event_columns } };
static const struct object miss_object = { "miss", { miss_columns } };

static const struct option_def events_options[] = {
	{ "EVENT", 0, OPTION_OPERANDS, offsetof(struct events, specs), "EVENT...",
	  "block, 'nvme:*', 'raw:*', 'fn:vfs_*', user:PATH, usdt:PATH, soft, hw (default: all "
	  "tracepoints and counters)",
	  .completes = "event" },
	{ "names", 0, OPTION_FLAG, offsetof(struct events, names), NULL,
	  "print only names, quickly; EVENT must match the whole name", .not_with = "verbose" },
	{ "verbose", 'v', OPTION_COUNT, offsetof(struct events, verbose), NULL,
	  "show prototypes, every field and the members behind pointers; what cannot be probed and "
	  "why" },
	{ 0 },
};

static const struct option_group events_group = { "Which events", events_options };
static int events_run(void *state, const struct options *options, char **argv);

const struct cmd cmd_events = {
	.name = "events",
	.group = "any event",
	.brief = "what can be probed on this machine, with types",
	.synopsis = "[options] [EVENT...]",
	.groups = CMD_GROUPS(OUTPUT_IN(OUTPUT_TABLES)),
	.own = &events_group,
	.view_size = sizeof(struct events),
	.objects = CMD_OBJECTS(&event_object, &event_values_object, &miss_object),
	.run = events_run,
	.needs = NEED_TRACEPOINTS | NEED_ANY_FUNCTION,
};

/* ---- one line per event ---- */

/* "dev_t dev, sector_t sector", or NULL. A type may hold a comma: in JSON ';' separates. */
static const char *event_fields(const struct probe *probe, enum table_format format, char *buf,
				size_t size)
{
	const char *separator = format == TABLE_JSON ? ";" : ", ";

	size_t len = 0;

	buf[0] = 0;
	for (size_t i = 0; i < probe->nr_fields && len < size; i++) {
		char field[EVENTS_VALUE];

		probe_field__print(&probe->fields[i], field, sizeof(field));
		if (format == TABLE_JSON)
			text__replace(field, ';', ':');
		len += (size_t)snprintf(buf + len, size - len, "%s%s", i ? separator : "", field);
	}
	return len ? buf : NULL;
}

static void event_show(const struct events *e, struct table *table, const struct probe *probe,
		       int name_width)
{
	char fields[EVENTS_TEXT], prototype[EVENTS_TEXT];
	const struct event_row row = {
		.name = probe->name,
		.kind = probe_kind__word(probe->kind),
		.module = probe->module,
		.prototype = probe__prototype(probe, prototype, sizeof(prototype)),
		.fields = event_fields(probe, e->to.format, fields, sizeof(fields)),
	};

	listing__cut(&e->to, fields, name_width + 1);
	table__row(table, &row);
}

/* In text a function's kind is in its name, and its prototype is for -v. */
static int events_show(const struct events *e, const struct probe_list *list)
{
	struct column name = event_columns[0];
	const struct column *const shown[] = { &name, &event_columns[4] };
	struct table *table;

	for (size_t i = 0; i < list->nr; i++)
		event_values__widen(&name.width, list->probes[i].name);
	if (e->to.format == TABLE_TEXT)
		table = table__new(e->to.out, e->to.format, "event", shown, 2);
	else
		table = table__of(e->to.out, e->to.format, &event_object, NULL, NULL);
	if (!table)
		return log_no_memory();
	for (size_t i = 0; i < list->nr; i++)
		event_show(e, table, &list->probes[i], name.width);
	table__free(table);
	return 0;
}

/* ---- every value ---- */

/* "fn:submit_bio  void submit_bio(struct bio *bio)", followed by "[nvme_core]". */
static void event_tell(const struct events *e, const struct probe *probe)
{
	char prototype[EVENTS_TEXT];
	const char *text = probe__prototype(probe, prototype, sizeof(prototype));

	text__put_terminal(e->to.out, probe->name);
	if (text) {
		fputs("  ", e->to.out);
		text__put_terminal(e->to.out, text);
	}
	if (probe->module) {
		fputs("  [", e->to.out);
		text__put_terminal(e->to.out, probe->module);
		fputc(']', e->to.out);
	}
	fputc('\n', e->to.out);
}

static int event_explain(const struct events *e, struct table *table, const struct probe *probe)
{
	struct event_values values = { .event = probe->name };
	int err = 0;

	for (size_t i = 0; !err && i < probe->nr_fields; i++)
		err = event_values__add(&values, &probe->fields[i]);
	if (!err && e->to.format == TABLE_TEXT) {
		event_tell(e, probe);
		err = event_values__tell(&values, e->to.out);
	} else if (!err) {
		if (e->to.format == TABLE_JSON)
			err = events_show(e, &(struct probe_list){ (struct probe *)probe, 1 });
		event_values__show(&values, table);
	}
	event_values__free(&values);
	return err;
}

/* In JSON each event is followed by its values; CSV has the values alone. */
static int events_explain(const struct events *e)
{
	struct table *table = table__of(e->to.out, e->to.format, &event_values_object, NULL, NULL);
	int err = 0;

	if (!table)
		return log_no_memory();
	for (size_t i = 0; !err && i < e->list.nr; i++)
		err = event_explain(e, table, &e->list.probes[i]);
	table__free(table);
	return err;
}

/* ---- what cannot be probed ---- */

static int events_show_misses(const struct events *e)
{
	struct table *table;

	if (!e->misses.nr)
		return 0;
	if (!e->verbose || e->to.format == TABLE_CSV) {
		log_note("%zu more cannot be probed%s", e->misses.nr,
			 e->verbose ? "" : "; -v shows which and why");
		return 0;
	}
	table = table__of(e->to.out, e->to.format, &miss_object, NULL, NULL);
	if (!table)
		return log_no_memory();
	for (size_t i = 0; i < e->misses.nr; i++)
		table__row(table, &e->misses.misses[i]);
	table__free(table);
	return 0;
}

/* ---- only names ---- */

static int events_put_name(void *arg, const char *name)
{
	struct events *e = arg;

	table__row(e->table, &(struct event_row){ .name = name });
	e->nr_named++;
	return 0;
}

/* The finder prints no errors here; it reports them when asked for the events themselves. */
static int events_name(struct events *e, const char *spec)
{
	size_t before = e->nr_named;
	int err = finder__names(e->finder, spec, events_put_name, e);

	if (!err && e->nr_named > before)
		return 0;
	err = finder__find(e->finder, spec, &e->list, &e->misses);
	return err ? err : log_err(-EINVAL, "cannot list names for '%s'", spec);
}

/* ---- the run ---- */

/* All of them, even if one is not found. */
static int events_find(struct events *e)
{
	static const char *const lists[] = { "", "soft", "hw" };
	static const char *const globs[] = { "*", "soft:*", "hw:*" };
	const char *const *specs = e->specs.nr ? e->specs.words : e->names ? globs : lists;
	int failed = 0;

	for (size_t i = 0; i < (e->specs.nr ? e->specs.nr : 3); i++) {
		int err = e->names ? events_name(e, specs[i])
				   : finder__list(e->finder, specs[i], &e->list, &e->misses);

		failed = failed ? failed : err;
	}
	return failed;
}

/* Shows what was found even if something else was not. */
static int events_show_all(const struct events *e)
{
	const char *doubt = finder__doubt(e->finder);
	int err = 0;

	if (e->list.nr)
		err = e->verbose ? events_explain(e) : events_show(e, &e->list);
	err = err || !e->list.nr ? err : events_show_misses(e);
	if (doubt && e->list.nr)
		log_note("%s", doubt);
	return err;
}

static int events_work(struct events *e)
{
	const struct column *const shown[] = { &event_columns[0] };
	int err, err_shown = 0;

	e->finder = finder__new();
	e->table = table__new(e->to.out, e->to.format, "event", shown, 1);
	err = e->finder && e->table ? events_find(e) : log_no_memory();
	if (e->finder && !e->names)
		err_shown = events_show_all(e);
	table__free(e->table);
	probe_list__free(&e->list);
	find_misses__free(&e->misses);
	finder__free(e->finder);
	return err ? err : err_shown;
}

static int events_run(void *state, const struct options *options, char **argv)
{
	struct events *e = state;
	int err;

	if (argv[0])
		return log_err(-EINVAL, "events takes no COMMAND (got '%s')", argv[0]);
	err = listing__open(&e->to, &options->output, NULL);
	return err ?: output__finish(&e->to.output, events_work(e));
}
