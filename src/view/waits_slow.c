/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/waits_slow.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "decode/words.h"
#include "session/host_source.h"
#include "session/waits_source.h"
#include "symbol/frames.h"
#include "view/waits_rows.h"

enum { WAITS_NAME = 63 };
enum { WAITS_LONG = 10 }; /* a tenth of the whole: its stack is shown */

struct waits_call {
	uint64_t rank, time_ns, whole_ns, bios, pid, tid, nr_commands;
	uint64_t commit_ns, commit_locked_ns, commit_flush_ns, commit_device_ns, nr_tasks;
	struct wait_whose whose;
	const char *call, *parts, *sleeps, *commands;
	const char *commit_commands, *tasks;
	uint64_t start_ns, end_ns;
	char parts_text[NR_WAIT_PARTS * 32], sleeps_text[WAIT_SLEEPS * 128];
	char commands_text[WAIT_COMMANDS * 192], commit_commands_text[WAIT_COMMANDS * 192];
	char tasks_text[WAIT_COMMIT_TASKS * 128];
};

struct waits_story {
	struct wait_record record;
	uint16_t host;			  /* of captures, from 1 on; 0: live */
	struct wait_commands commands;	  /* nr is 0: none */
	struct wait_commit_story *commit; /* NULL: it waited for none */
};

static const struct form waits_parts_form = { FORM_NUMBERS, .separator = " " };
static const struct form waits_sleeps_form = {
	FORM_OBJECTS,
	.separator = " ",
	.parts = { { "part", ':', true }, { "place", '+', true }, { "ns", '=' }, { "count" } },
};

static const struct form waits_commands_form = {
	FORM_OBJECTS,
	.separator = " ",
	.parts = { { "dev", ':', true },
		   { "op", '@', true },
		   { "sector", '+' },
		   { "bytes", '=' },
		   { "lat_ns", '~' },
		   { "issue_ns" } },
};

static const struct form waits_tasks_form = {
	FORM_OBJECTS,
	.separator = ";", /* names of tasks have spaces */
	.parts = { { "comm", ':', true },
		   { "pid", '@' },
		   { "bytes", '+' },
		   { "blocks", '=' },
		   { "handles", '~' },
		   { "held_ns" } },
};

#define CALL(name) offsetof(struct waits_call, name)
static const struct column waits_slow_columns[] = {
	{ "rank", "#", CELL_COUNT, 3, "rank, 1 is the slowest", .at = CALL(rank) },
	{ "time_s", "time", CELL_TIME, 11, "when it returned, since the start",
	  .at = CALL(time_ns) },
	{ "whole_ns", "whole", CELL_DURATION, 7, "time from the call to its return; all parts",
	  .at = CALL(whole_ns) },
	{ "host", "host", CELL_TEXT, 5, "machine, of captures of several", .at = CALL(whose.host),
	  .not_in_text = true },
	{ "call", "call", CELL_TEXT, 5, "call, e.g. fsync", .at = CALL(call) },
	{ "dev", "dev", CELL_TEXT, 7, "device of the file system", .at = CALL(whose.dev),
	  .drop = 1 },
	{ "bios", "bios", CELL_COUNT, 5, "bios that the thread submitted in this call",
	  .at = CALL(bios), .drop = 2 },
	{ "pid", "pid", CELL_COUNT, 7, "process", .at = CALL(pid) },
	{ "tid", "tid", CELL_COUNT, 7, "thread", .at = CALL(tid), .not_in_text = true },
	{ "comm", "comm", CELL_TEXT, 15, "name of the task", .at = CALL(whose.comm) },
	{ "cgroup", "cgroup", CELL_TEXT, 10, "cgroup of the task", .at = CALL(whose.cgroup),
	  .not_in_text = true },
	{ "file", "file", CELL_TEXT, 10, "path of the file", .at = CALL(whose.file) },
	{ "start_ns", "start", CELL_COUNT, 15, "start, CLOCK_MONOTONIC", .at = CALL(start_ns),
	  .not_in_text = true },
	{ "end_ns", "end", CELL_COUNT, 15, "end, CLOCK_MONOTONIC", .at = CALL(end_ns),
	  .not_in_text = true },
	{ "parts", "parts", CELL_TEXT, 20, "time of each part in ns, e.g. of journal",
	  .at = CALL(parts), .not_in_text = true, .form = &waits_parts_form },
	{ "sleeps", "sleeps", CELL_TEXT, 20,
	  "where it slept: the part, the kernel's function, how long, how often",
	  .at = CALL(sleeps), .not_in_text = true, .form = &waits_sleeps_form },
	{ "nr_commands", "commands", CELL_COUNT, 8,
	  "commands that its bios became, and flushes that they had to wait for",
	  .at = CALL(nr_commands), .not_in_text = true },
	{ "commands", "commands", CELL_TEXT, 20,
	  "the 8 longest: the disk, the operation, the first sector, the length, the latency from "
	  "issue to completion, the issue after the start of the call",
	  .at = CALL(commands), .not_in_text = true, .form = &waits_commands_form },
	{ "commit_ns", "commit", CELL_DURATION, 7,
	  "if it waited for the journal of ext4: how long the commit took; else null",
	  .at = CALL(commit_ns), .not_in_text = true },
	{ "commit_locked_ns", "locked", CELL_DURATION, 7,
	  "of that, until the last open handle had ended", .at = CALL(commit_locked_ns),
	  .not_in_text = true },
	{ "commit_flush_ns", "flush", CELL_DURATION, 7,
	  "of that, while a flush of the device was under way", .at = CALL(commit_flush_ns),
	  .not_in_text = true },
	{ "commit_device_ns", "device", CELL_DURATION, 7,
	  "of that, while the device had other commands of the commit, and no flush",
	  .at = CALL(commit_device_ns), .not_in_text = true },
	{ "commit_commands", "commit commands", CELL_TEXT, 20,
	  "the 8 longest commands of the commit, as commands; the issue is after its start",
	  .at = CALL(commit_commands), .not_in_text = true, .form = &waits_commands_form },
	{ "nr_tasks", "tasks", CELL_COUNT, 5, "tasks that had a share in the commit",
	  .at = CALL(nr_tasks), .not_in_text = true },
	{ "tasks", "tasks", CELL_TEXT, 20,
	  "the 16 with the largest shares: name, process, bytes of data that it dirtied and the "
	  "commit wrote, blocks of metadata that it changed, its handles, how long the commit "
	  "waited for the last of them",
	  .at = CALL(tasks), .not_in_text = true, .form = &waits_tasks_form },
	{ 0 },
};

const struct object waits_slow = { "wait", { waits_slow_columns } };

/* "cpu=1200 journal=800" */
static const char *waits_parts_text(struct waits_call *row, const uint64_t parts[NR_WAIT_PARTS])
{
	struct words w = words__on(row->parts_text, sizeof(row->parts_text));
	bool any = false;

	for (int i = 0; i < NR_WAIT_PARTS; i++) {
		if (!parts[i])
			continue;
		words__str(&w, any ? " " : "");
		words__str(&w, wait_part__name((enum wait_part)i));
		words__str(&w, "=");
		words__u64(&w, parts[i]);
		any = true;
	}
	return words__done(&w);
}

/* At most max bytes, up to a zero; a character that separates, or a hostile one, becomes '?'. */
static void waits_name_text(struct words *w, const char *name, size_t max, const char *separators)
{
	size_t len = 0;

	for (; len < max && name[len]; len++) {
		const unsigned char c = (unsigned char)name[len];

		words__char(w, c < ' ' || c >= 127 || strchr(separators, c) ? '?' : (char)c);
	}
	words__str(w, len ? "" : "[unknown]");
}

/* Without the name of the module. */
static void waits_place_text(struct words *w, const struct wait_place *place)
{
	size_t len = 0;

	while (len < place->len && len < WAITS_NAME && place->name[len] != ' ')
		len++;
	waits_name_text(w, place->name, len, "+=:\"");
}

static const char *waits_sleeps_text(struct waits_call *row, const struct session *s,
				     const struct wait_record *r)
{
	struct words w = words__on(row->sleeps_text, sizeof(row->sleeps_text));
	struct wait_place place;

	for (int i = 0; i < r->nr_sleeps && i < WAIT_SLEEPS; i++) {
		words__str(&w, i ? " " : "");
		words__str(&w, wait_part__name(waits_rows__part(s, &r->sleeps[i], &place)));
		words__str(&w, ":");
		waits_place_text(&w, &place);
		words__str(&w, "+");
		words__u64(&w, r->sleeps[i].ns);
		words__str(&w, "=");
		words__u64(&w, r->sleeps[i].nr);
	}
	return words__done(&w);
}

static const char *waits_commands_text(char *buf, size_t size, const struct session *s,
				       const struct wait_commands *commands)
{
	struct words w = words__on(buf, size);

	for (size_t i = 0; i < wait_commands__kept(commands); i++) {
		const struct wait_command *c = &commands->longest[i];
		char op[32];

		words__str(&w, i ? " " : "");
		waits_name_text(&w, c->disk, sizeof(c->disk), " ");
		words__char(&w, ':');
		words__str(&w, waits_source__op(s, c->op, op, sizeof(op)));
		words__char(&w, '@');
		words__u64(&w, c->sector);
		words__char(&w, '+');
		words__u64(&w, c->bytes);
		words__char(&w, '=');
		words__u64(&w, c->end_ns - c->issue_ns);
		words__char(&w, '~');
		words__u64(&w, c->issue_ns - c->start_ns);
	}
	return words__done(&w);
}

static const char *waits_tasks_text(struct waits_call *row, const struct wait_commit_story *commit)
{
	struct words w = words__on(row->tasks_text, sizeof(row->tasks_text));

	for (size_t i = 0; i < wait_commit__kept(commit); i++) {
		const struct wait_who *who = &commit->tasks[i];

		words__str(&w, i ? ";" : "");
		waits_name_text(&w, who->comm, sizeof(who->comm), ";");
		words__char(&w, ':');
		words__u64(&w, who->pid);
		words__char(&w, '@');
		words__u64(&w, who->bytes);
		words__char(&w, '+');
		words__u64(&w, who->blocks);
		words__char(&w, '=');
		words__u64(&w, who->handles);
		words__char(&w, '~');
		words__u64(&w, wait_commit__held_ns(commit, who));
	}
	return words__done(&w);
}

static uint64_t waits_locked_ns(const struct wait_commit *c)
{
	return c->flushing_ns > c->start_ns ? c->flushing_ns - c->start_ns : 0;
}

static void waits_fill_commit(struct waits_call *row, const struct session *s,
			      const struct wait_commit_story *commit)
{
	row->commit_ns = row->commit_locked_ns = CELL_NO_NUMBER;
	row->commit_flush_ns = row->commit_device_ns = row->nr_tasks = CELL_NO_NUMBER;
	if (!commit)
		return;
	row->commit_ns = commit->commit.end_ns - commit->commit.start_ns;
	row->commit_locked_ns = waits_locked_ns(&commit->commit);
	row->commit_flush_ns = commit->time.flush_ns;
	row->commit_device_ns = commit->time.other_ns;
	row->nr_tasks = commit->nr_tasks;
	row->commit_commands = waits_commands_text(
		row->commit_commands_text, sizeof(row->commit_commands_text), s, &commit->commands);
	row->tasks = waits_tasks_text(row, commit);
}

static void waits_fill_call(struct waits_call *row, const struct session *s,
			    const struct waits_story *story)
{
	const struct wait_record *r = &story->record;
	uint64_t parts[NR_WAIT_PARTS];
	struct wait_key key;

	waits_rows__split(s, r, parts);
	row->time_ns = r->end_ns - s->start_ns;
	row->whole_ns = r->end_ns - r->start_ns;
	row->start_ns = r->start_ns;
	row->end_ns = r->end_ns;
	row->bios = r->bios;
	row->pid = r->pid;
	row->tid = r->tid;
	row->call = wait_call__name((enum wait_call)r->call);
	waits_rows__key(r, &key);
	key.host = story->host;
	wait_whose__fill(&row->whose, s, &key);
	row->whose.comm = row->whose.comm_text;
	if (!host_source__are_several(s))
		row->whose.host = NULL;
	row->parts = waits_parts_text(row, parts);
	row->sleeps = waits_sleeps_text(row, s, r);
	row->nr_commands = story->commands.nr;
	row->commands = waits_commands_text(row->commands_text, sizeof(row->commands_text), s,
					    &story->commands);
	waits_fill_commit(row, s, story->commit);
}

static void waits_print_part(FILE *out, enum wait_part part, uint64_t ns, uint64_t whole_ns)
{
	char time[16];

	fprintf(out, "     %-9s %8s %5.1f %%  %s\n", wait_part__name(part),
		text__duration(time, sizeof(time), ns),
		whole_ns ? 100.0 * (double)ns / (double)whole_ns : 0, wait_part__words(part));
}

/* Each part, longest sleeps with their stacks. */
static void waits_print_parts(const struct session *s, const struct wait_record *r)
{
	const uint64_t whole = r->end_ns - r->start_ns;
	uint64_t parts[NR_WAIT_PARTS];
	struct wait_place place;

	waits_rows__split(s, r, parts);
	for (int i = 0; i < NR_WAIT_PARTS; i++)
		if (parts[i])
			waits_print_part(s->out, (enum wait_part)i, parts[i], whole);
	for (int i = 0; i < r->nr_sleeps && i < WAIT_SLEEPS; i++) {
		const struct wait_sleep *sleep = &r->sleeps[i];
		char time[16];

		if (sleep->ns < whole / WAITS_LONG || !waits_source__stack(s, sleep->stack))
			continue;
		fprintf(s->out, "     slept %s, %s:\n",
			text__duration(time, sizeof(time), sleep->ns),
			wait_part__name(waits_rows__part(s, sleep, &place)));
		frames__put(s->out, waits_source__stack(s, sleep->stack));
	}
}

static void waits_print_command(const struct session *s, const struct wait_command *c)
{
	struct words w;
	char line[256], op[32], time[16], at[16], disk[WAIT_DISK_LEN * 4 + 1], bytes[32];

	w = words__on(disk, sizeof(disk));
	waits_name_text(&w, c->disk, sizeof(c->disk), " ");
	words__done(&w);
	w = words__on(bytes, sizeof(bytes));
	words__size(&w, c->bytes);
	words__done(&w);
	snprintf(line, sizeof(line), "%-9s %-6s sector %-10" PRIu64 " %6s", disk,
		 waits_source__op(s, c->op, op, sizeof(op)), (uint64_t)c->sector, bytes);
	fprintf(s->out, "       %s %8s, sent after %s\n", line,
		text__duration(time, sizeof(time), c->end_ns - c->issue_ns),
		text__duration(at, sizeof(at), c->issue_ns - c->start_ns));
}

static void waits_print_commands(const struct session *s, const struct wait_commands *commands,
				 const char *whose)
{
	const size_t kept = wait_commands__kept(commands);

	if (!commands->nr)
		return;
	fprintf(s->out, "     commands of this %s: %" PRIu64 "%s\n", whose, commands->nr,
		commands->nr > kept ? ", the longest:" : "");
	for (size_t i = 0; i < kept; i++)
		waits_print_command(s, &commands->longest[i]);
}

static void waits_print_task(const struct session *s, const struct wait_commit_story *commit,
			     const struct wait_who *who)
{
	const uint64_t held_ns = wait_commit__held_ns(commit, who);
	struct words w;
	char comm[WAIT_COMM_LEN + 16], bytes[32], time[16];

	w = words__on(comm, sizeof(comm));
	waits_name_text(&w, who->comm, sizeof(who->comm), ";");
	words__done(&w);
	w = words__on(bytes, sizeof(bytes));
	words__size(&w, who->bytes);
	words__done(&w);
	fprintf(s->out, "       %-15s pid %-7u %6s of data, %u metadata blocks, %u handles\n", comm,
		who->pid, bytes, who->blocks, who->handles);
	if (held_ns)
		fprintf(s->out, "         its last handle was open for %s\n",
			text__duration(time, sizeof(time), held_ns));
}

static void waits_print_commit(const struct session *s, const struct wait_commit_story *commit)
{
	char whole[16], locked[16], flush[16], device[16];

	if (!commit)
		return;
	fprintf(s->out,
		"     journal commit %u took %s, of that %s until open handles ended,\n"
		"       %s for flushes, %s for other commands of the device\n",
		commit->commit.transaction,
		text__duration(whole, sizeof(whole),
			       commit->commit.end_ns - commit->commit.start_ns),
		text__duration(locked, sizeof(locked), waits_locked_ns(&commit->commit)),
		text__duration(flush, sizeof(flush), commit->time.flush_ns),
		text__duration(device, sizeof(device), commit->time.other_ns));
	for (size_t i = 0; i < wait_commit__kept(commit); i++)
		waits_print_task(s, commit, &commit->tasks[i]);
	waits_print_commands(s, &commit->commands, "commit");
}

/* ---- the list ---- */

int waits_slowest__init(struct waits_slowest *slowest, size_t most)
{
	slowest->stories = calloc(most, sizeof(slowest->stories[0]));
	slowest->most = most;
	return slowest->stories ? 0 : -ENOMEM;
}

static uint64_t waits_whole(const struct wait_record *r)
{
	return r->end_ns - r->start_ns;
}

/* The commit that it waited for; NULL: it did not wait for the journal. -ENOMEM */
static int waits_story_commit(struct waits_story *story, const struct session *s)
{
	const struct wait_commit_story *commit = waits_source__commit(s, &story->record);
	uint64_t parts[NR_WAIT_PARTS];

	free(story->commit);
	story->commit = NULL;
	waits_rows__split(s, &story->record, parts);
	if (!commit || !parts[PART_JOURNAL])
		return 0;
	story->commit = malloc(sizeof(*commit));
	if (!story->commit)
		return -ENOMEM;
	*story->commit = *commit;
	return 0;
}

static int waits_story_fill(struct waits_story *story, const struct session *s,
			    const struct wait_record *record)
{
	const struct wait_commands *commands = waits_source__commands(s, record);

	story->record = *record;
	story->host = host_source__here(s);
	story->commands.nr = 0;
	if (commands)
		story->commands = *commands;
	return waits_story_commit(story, s);
}

int waits_slowest__add(struct waits_slowest *l, const struct session *s,
		       const struct wait_record *record)
{
	struct waits_story *story;
	size_t at = l->nr;

	while (at && waits_whole(&l->stories[at - 1]->record) < waits_whole(record))
		at--;
	if (at == l->most)
		return 0;
	story = l->nr < l->most ? calloc(1, sizeof(*story)) : l->stories[l->most - 1];
	if (!story)
		return -ENOMEM;
	if (l->nr < l->most)
		l->nr++;
	memmove(&l->stories[at + 1], &l->stories[at], (l->nr - at - 1) * sizeof(l->stories[0]));
	l->stories[at] = story;
	return waits_story_fill(story, s, record);
}

void waits_slowest__put(const struct waits_slowest *l, struct table *table, struct session *s)
{
	const bool is_text = s->format == TABLE_TEXT;

	if (l->nr && is_text)
		fprintf(s->out, "\nthe slowest calls:\n");
	for (size_t i = 0; i < l->nr; i++) {
		struct waits_call row = { .rank = i + 1 };

		waits_fill_call(&row, s, l->stories[i]);
		table__row(table, &row);
		if (!is_text)
			continue;
		waits_print_parts(s, &l->stories[i]->record);
		waits_print_commands(s, &l->stories[i]->commands, "call");
		waits_print_commit(s, l->stories[i]->commit);
	}
}

void waits_slowest__free(struct waits_slowest *l)
{
	for (size_t i = 0; i < l->nr; i++) {
		free(l->stories[i]->commit);
		free(l->stories[i]);
	}
	free(l->stories);
}
