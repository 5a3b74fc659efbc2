/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/lives_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "render/path.h"
#include "session/table.h"

enum { LIVES_TRANSITIONS = 20, LIVES_PATHS = 3 }; /* rows of the summary, in text */

/* ---- rows ---- */

struct life_row {
	uint64_t time_ns, number, pid, steps, total_ns;
	const char *object, *comm, *born, *dead, *data;
};

#define LIFE(name) offsetof(struct life_row, name)
static const struct column life_columns[] = {
	{ "time_s", "time", CELL_TIME, 12, "time of the first step, since the start",
	  .at = LIFE(time_ns), .drop = 5 },
	{ "number", "number", CELL_COUNT, 6,
	  "number of the object, from 1, in order of first steps", .at = LIFE(number) },
	{ "object", "object", CELL_TEXT, 18, "address of the object; the kernel reuses addresses",
	  .at = LIFE(object) },
	{ "comm", "comm", CELL_TEXT, 15, "name of the task of the first step", .at = LIFE(comm),
	  .drop = 4 },
	{ "pid", "pid", CELL_COUNT, 7, "pid of the process of the first step", .at = LIFE(pid),
	  .drop = 1 },
	{ "born", "born", CELL_TEXT, 4, "true if the birth was seen", .at = LIFE(born),
	  .form = &form_truth, .drop = 2 },
	{ "dead", "dead", CELL_TEXT, 4, "true if the death was seen", .at = LIFE(dead),
	  .form = &form_truth, .drop = 3 },
	{ "steps", "steps", CELL_COUNT, 5, "number of steps: entries and returns",
	  .at = LIFE(steps), .drop = 6 },
	{ "total_ns", "total", CELL_DURATION, 8, "time from the first step to the last",
	  .at = LIFE(total_ns) },
	{ "data", "data", CELL_TEXT, 20,
	  "members of the object, at the step where most are set, before one is 0 again",
	  .at = LIFE(data) },
	{ 0 },
};
const struct object lives_view_life = { "life", { life_columns } };

struct step_row {
	uint64_t time_ns, number, since_ns, gap_ns, cpu, pid, tid, duration_ns;
	const char *comm, *what, *function, *data;
};

#define STEP(name) offsetof(struct step_row, name)
static const struct column step_columns[] = {
	{ "time_s", "time", CELL_TIME, 12, "time of the step, since the start; not in text",
	  .at = STEP(time_ns), .not_in_text = true },
	{ "number", "number", CELL_COUNT, 6, "number of the object; not in text",
	  .at = STEP(number), .not_in_text = true },
	{ "since_ns", "since", CELL_DURATION, 9, "time since the first step of the object",
	  .at = STEP(since_ns) },
	{ "gap_ns", "gap", CELL_DURATION, 9, "time since the previous step", .at = STEP(gap_ns),
	  .drop = 1 },
	{ "cpu", "cpu", CELL_COUNT, 3, "CPU that it ran on", .at = STEP(cpu), .drop = 2 },
	{ "comm", "comm", CELL_TEXT, 15,
	  "name of the task; in an interrupt, of the interrupted task", .at = STEP(comm),
	  .drop = 3 },
	{ "pid", "pid", CELL_COUNT, 7, "pid of the process; not in text", .at = STEP(pid),
	  .not_in_text = true },
	{ "tid", "tid", CELL_COUNT, 7, "tid of the task; not in text", .at = STEP(tid),
	  .not_in_text = true },
	{ "what", "what", CELL_TEXT, 5, "enter or leave; text omits a leave that changed nothing",
	  .at = STEP(what) },
	{ "duration_ns", "inside", CELL_DURATION, 8, "time from entry to return",
	  .at = STEP(duration_ns), .drop = 4 },
	{ "function", "function", CELL_TEXT, 24, "function that was entered or left",
	  .at = STEP(function) },
	{ "data", "data", CELL_TEXT, 10,
	  "members of the object: all at first, then those that changed", .at = STEP(data) },
	{ 0 },
};
const struct object lives_view_step = { "step", { step_columns } };

struct transition_row {
	const char *from, *to;
	uint64_t count, p50_ns, p99_ns, max_ns, total_ns;
	double share;
};

#define TRANSITION(name) offsetof(struct transition_row, name)
static const struct column transition_columns[] = {
	{ "from", "from", CELL_TEXT, 24, "function entered first", .at = TRANSITION(from) },
	{ "to", "to", CELL_TEXT, 24, "function entered next with the same object",
	  .at = TRANSITION(to) },
	{ "count", "count", CELL_COUNT, 7, "number of times", .at = TRANSITION(count) },
	{ "p50_ns", "p50", CELL_DURATION, 8, "median time between the two",
	  .at = TRANSITION(p50_ns), .drop = 1 },
	{ "p99_ns", "p99", CELL_DURATION, 8, "99th percentile of the time between the two",
	  .at = TRANSITION(p99_ns), .drop = 3 },
	{ "max_ns", "max", CELL_DURATION, 8, "maximum time between the two",
	  .at = TRANSITION(max_ns), .drop = 2 },
	{ "total_ns", "total", CELL_DURATION, 8, "total time between the two, over all objects",
	  .at = TRANSITION(total_ns) },
	{ "share", "share%", CELL_PERCENT, 6,
	  "total, as a percentage of the time of all transitions", .at = TRANSITION(share),
	  .drop = 4 },
	{ 0 },
};
const struct object lives_view_transition = { "transition", { transition_columns } };

struct path_row {
	uint64_t count, length;
	double share;
	const char *path;
};

#define PATH(name) offsetof(struct path_row, name)
static const struct column path_columns[] = {
	{ "count", "count", CELL_COUNT, 7, "number of objects that took this path",
	  .at = PATH(count) },
	{ "share", "share%", CELL_PERCENT, 6, "count, as a percentage of all objects",
	  .at = PATH(share) },
	{ "length", "length", CELL_COUNT, 6, "number of functions in the path", .at = PATH(length),
	  .drop = 1 },
	{ "functions", "functions", CELL_TEXT, 20, "functions of the path, in order",
	  .at = PATH(path), .form = &form_list },
	{ 0 },
};
const struct object lives_view_path = { "path", { path_columns } };

/* ---- start ---- */

int lives_view__prepare(struct lives_view *v, const struct call_trace *t)
{
	struct plan_part parts[CLASS_MAX_FIELDS + 1];

	v->trace = t;
	v->values = values__new(&t->request);
	if (!v->values)
		return log_no_memory();
	if (!v->condition_text)
		return 0;
	for (size_t i = 0; i < t->nr_members; i++) {
		int len;

		parts[i] = t->members[i];
		parts[i].text = member__name(&t->members[i], &len);
		parts[i].text_len = (size_t)len;
	}
	if (values__columns(v->values, parts, t->nr_members, 0, v->columns, NULL))
		return log_no_memory();
	for (size_t i = 0; i < t->nr_members; i++)
		v->fields[i] = &v->columns[i];
	return condition__parse("--if", v->condition_text, v->fields, t->nr_members, &v->condition);
}

static int lives_name_width(const struct call_trace *t)
{
	size_t most = 0;

	for (uint32_t i = 0; i < t->nr; i++) {
		size_t width = text__width(call_trace__probe(t, i)->func);

		most = width > most && !t->functions[i].is_hidden ? width : most;
	}
	return (int)most;
}

enum lives_table { TABLE_STEPS, TABLE_LIVES, TABLE_TRANSITIONS, TABLE_PATHS };

/* Makes the columns wide enough for every function's name. */
static struct table *lives_table(struct lives_view *v, enum lives_table which,
				 const struct object *object)
{
	struct column *columns = calloc(OBJECT_COLUMNS, sizeof(*columns));
	const struct session *s = v->session;
	const struct column *picked[OBJECT_COLUMNS];
	size_t nr = object__pick(object, s->format, NULL, NULL, picked);

	if (!columns)
		return NULL;
	v->columns_of[which] = columns;
	for (size_t i = 0; i < nr; i++) {
		columns[i] = *picked[i];
		if (!strcmp(columns[i].key, "function") || !strcmp(columns[i].key, "from") ||
		    !strcmp(columns[i].key, "to"))
			columns[i].width = lives_name_width(v->trace);
		picked[i] = &columns[i];
	}
	return session__table_new(s, object->type, picked, nr);
}

int lives_view__start(struct lives_view *v, struct session *s)
{
	const struct call_trace *trace = v->trace;

	v->session = s;
	v->members = members__new(v->values, trace->shown, trace->nr_shown, trace->btf);
	v->summary = lives_summary__new(trace->nr);
	v->steps = lives_table(v, TABLE_STEPS, &lives_view_step);
	if (s->format == TABLE_JSON)
		v->lives = lives_table(v, TABLE_LIVES, &lives_view_life);
	if (!v->members || !v->summary || !v->steps || (s->format == TABLE_JSON && !v->lives))
		return log_no_memory();
	values__start(v->values, trace->run);
	return 0;
}

/* ---- filters ---- */

static bool life_members(const struct lives_view *v, const struct life_step *step, void *bytes)
{
	return call_trace__members(v->trace, step->function, step->is_return, step->values, bytes);
}

const char *lives_view__disk(const char *device)
{
	return strncmp(device, "/dev/", 5) ? device : device + 5;
}

static bool life_is_of_device(const struct lives_view *v, const char *bytes)
{
	const struct call_trace *t = v->trace;

	for (size_t i = 1; i < t->nr_members; i++) {
		const struct plan_part *part = &t->members[i];

		for (size_t d = 0;
		     call_trace__is_disk(part->text, part->text_len) && d < v->devices->nr; d++)
			if (!strncmp(bytes + part->at, lives_view__disk(v->devices->words[d]),
				     part->shape.size))
				return true;
	}
	return false;
}

static bool life_agrees(const struct lives_view *v, const char *bytes)
{
	union value_slot slots[CLASS_MAX_FIELDS + 1];

	if (!v->condition)
		return true;

	values__fill(v->values, v->trace->members, v->trace->nr_members, bytes, slots);
	return condition__is_true(v->condition, slots);
}

/* Each filter must hold at one step or more: at birth the members are not known yet. */
static bool life_is_wanted(const struct lives_view *v, const struct life *life)
{
	bool device = !v->devices->nr, agrees = !v->condition;
	char bytes[PLAN_MAX_SHOWN];

	if (v->pid && (!life->steps[0].call || life->steps[0].call->pid != v->pid))
		return false;
	for (size_t i = 0; i < life->nr && !(device && agrees); i++) {
		if (!life_members(v, &life->steps[i], bytes))
			continue;
		device = device || life_is_of_device(v, bytes);
		agrees = agrees || life_agrees(v, bytes);
	}
	return device && agrees;
}

static void call_ask(const struct lives_view *v, const struct call *call, bool *device,
		     bool *agrees)
{
	char bytes[PLAN_MAX_SHOWN];

	for (int is_return = 0; is_return < 2 && !(*device && *agrees); is_return++)
		if (call_trace__members(v->trace, call->function, is_return,
					is_return ? call->left : call->entered, bytes)) {
			*device = *device || life_is_of_device(v, bytes);
			*agrees = *agrees || life_agrees(v, bytes);
		}
}

/* With --calls: does the tree handle an object that the filters select? */
bool lives_view__wants_tree(const struct lives_view *v, const struct call *root)
{
	bool device = !v->devices->nr, agrees = !v->condition;

	if (v->pid && root->pid != v->pid)
		return false;
	for (const struct call *call = root; call && !(device && agrees);
	     call = call__next(call, root))
		call_ask(v, call, &device, &agrees);
	return device && agrees;
}

/* ---- one life ---- */

static uint64_t life_time(const struct lives_view *v, uint64_t ns)
{
	return ns > v->session->start_ns ? ns - v->session->start_ns : 0;
}

static char *life_words(const struct lives_view *v, const void *now, const void *before)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	members__put(v->members, out, 1, now, before);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static void life_show_step(struct lives_view *v, const struct life *life, size_t i,
			   const char *data)
{
	const struct life_step *step = &life->steps[i];
	const struct call *call = step->call;
	const struct step_row row = {
		.time_ns = life_time(v, step->ns),
		.number = life->number,
		.since_ns = step->ns - life->steps[0].ns,
		.gap_ns = i ? step->ns - life->steps[i - 1].ns : 0,
		.cpu = step->cpu,
		.pid = call ? call->pid : CELL_NO_NUMBER,
		.tid = call ? call->tid : CELL_NO_NUMBER,
		.duration_ns =
			call && call->end_ns ? call->end_ns - call->start_ns : CELL_NO_NUMBER,
		.comm = call ? call->comm : NULL,
		.what = step->is_return ? "leave" : "enter",
		.function = call_trace__probe(v->trace, step->function)->func,
		.data = data,
	};

	table__row(v->steps, &row);
}

static void life_show_steps(struct lives_view *v, const struct life *life)
{
	char bytes[2][PLAN_MAX_SHOWN];
	bool has_before = false;
	int now = 0;

	for (size_t i = 0; i < life->nr; i++) {
		const struct life_step *step = &life->steps[i];
		char *data = NULL;

		if (life_members(v, step, bytes[now])) {
			data = life_words(v, bytes[now], has_before ? bytes[!now] : NULL);
			has_before = true;
			now = !now;
		}
		/* In text a return has its own line only if it adds information. */
		if (v->session->format != TABLE_TEXT || !step->is_return ||
		    step->role == LIFE_BIRTH || (data && *data))
			life_show_step(v, life, i, data && *data ? data : NULL);
		free(data);
	}
}

/* The first step at which a member is 0 again: a bio that has ended has no size, but more flags. */
static size_t life_loss(const struct lives_view *v, const struct life *life)
{
	char bytes[PLAN_MAX_SHOWN];
	uint64_t before = 0, set;

	for (size_t i = 0; i < life->nr; i++, before = set) {
		set = life_members(v, &life->steps[i], bytes) ? call_trace__set(v->trace, bytes)
							      : before;
		if (before & ~set)
			return i;
	}
	return life->nr;
}

/* Members at the step before the loss that knows most. Among equals, the first from the middle on.
 */
static char *life_data(const struct lives_view *v, const struct life *life)
{
	const size_t end = life_loss(v, life);
	char bytes[2][PLAN_MAX_SHOWN];
	int best = -1, now = 0, most = 0, nr;

	for (size_t i = 0; i < life->nr && (i < end || best < 0); i++) {
		const size_t at = i < end ? (end / 2 + i) % end : i;

		if (!life_members(v, &life->steps[at], bytes[now]))
			continue;
		nr = __builtin_popcountll(call_trace__set(v->trace, bytes[now]));
		if (best >= 0 && nr <= most)
			continue;
		most = nr;
		best = now;
		now = !now;
	}
	return best >= 0 ? life_words(v, bytes[best], NULL) : NULL;
}

static void life_show(struct lives_view *v, const struct life *life)
{
	const struct call *first = life->steps[0].call;
	const uint64_t total_ns = life->steps[life->nr - 1].ns - life->steps[0].ns;
	char address[32], total[32], *data = life_data(v, life);
	const struct life_row row = {
		.time_ns = life_time(v, life->steps[0].ns),
		.number = life->number,
		.object = address,
		.comm = first ? first->comm : NULL,
		.pid = first ? first->pid : CELL_NO_NUMBER,
		.born = life->is_born ? "yes" : "no",
		.dead = life->is_dead ? "yes" : "no",
		.steps = life->nr,
		.total_ns = total_ns,
		.data = data,
	};

	snprintf(address, sizeof(address), "0x%" PRIx64, life->object);
	if (v->session->format == TABLE_TEXT) {
		fprintf(v->session->out, "\n%s %" PRIu64 " at %s  ", v->name, life->number,
			address);
		text__put_terminal(v->session->out, first ? first->comm : "?");
		fprintf(v->session->out, "[%u]  %s%s%s\n", first ? first->pid : 0,
			text__duration(total, sizeof(total), total_ns),
			life->is_born ? "" : ", birth not seen",
			life->is_dead ? "" : ", death not seen");
		table__heading_again(v->steps);
	} else if (v->lives) {
		table__row(v->lives, &row);
	}
	life_show_steps(v, life);
	free(data);
}

int lives_view__life(struct lives_view *v, const struct life *life)
{
	int err;

	if (v->most && v->objects >= v->most)
		return 0;
	if (!life->is_whole) {
		v->dropped++;
		v->dropped_steps += life->nr;
		return 0;
	}
	if (!life_is_wanted(v, life)) {
		v->refused++;
		return 0;
	}
	v->objects++;
	err = lives_summary__add(v->summary, life);
	if (err)
		return log_err(err, "out of memory");
	if (!v->is_silent)
		life_show(v, life);
	if (v->most && v->objects >= v->most)
		session__stop(v->session);
	return 0;
}

/* ---- the summary ---- */

static const char *lives_function(const struct lives_view *v, uint32_t function)
{
	return call_trace__probe(v->trace, function)->func;
}

static void lives_show_transitions(struct lives_view *v)
{
	const struct lives_transition *list;
	size_t nr = lives_summary__transitions(v->summary, &list);
	struct table *table = lives_table(v, TABLE_TRANSITIONS, &lives_view_transition);
	uint64_t total_ns = 0;

	for (size_t i = 0; i < nr; i++)
		total_ns += list[i].total_ns;
	if (v->session->format == TABLE_TEXT && nr)
		fprintf(v->session->out,
			"\ntime from one function to the next, largest total first:\n");
	for (size_t i = 0; table && i < nr; i++) {
		const struct transition_row row = {
			.from = lives_function(v, list[i].from),
			.to = lives_function(v, list[i].to),
			.count = list[i].count,
			.p50_ns = list[i].p50_ns,
			.p99_ns = list[i].p99_ns,
			.max_ns = list[i].max_ns,
			.total_ns = list[i].total_ns,
			.share = total_ns ? 100.0 * (double)list[i].total_ns / (double)total_ns : 0,
		};

		if (i < LIVES_TRANSITIONS || v->session->format != TABLE_TEXT)
			table__row(table, &row);
	}
	if (nr > LIVES_TRANSITIONS && v->session->format == TABLE_TEXT)
		fprintf(v->session->out, "and %zu more (-o json has all)\n",
			nr - LIVES_TRANSITIONS);
	table__free(table);
}

/* "submit_bio > bio_endio" for people, "submit_bio;bio_endio" for JSON. */
static char *lives_path_list(const struct lives_view *v, const struct lives_path *from)
{
	struct path path = { 0 };

	for (uint32_t i = 0; i < from->nr; i++)
		if (path__enter(&path, i, lives_function(v, from->functions[i]))) {
			path__free(&path);
			return NULL;
		}
	return path.text ? path.text : strdup("");
}

static char *lives_path_text(const struct lives_view *v, const struct lives_path *path)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; out && i < path->nr; i++)
		fprintf(out, "%s%s", i ? " > " : "", lives_function(v, path->functions[i]));
	if (out && !fclose(out))
		return text;
	free(text);
	return NULL;
}

static void lives_show_paths(struct lives_view *v)
{
	const struct lives_path *paths;
	size_t nr = lives_summary__paths(v->summary, &paths);
	struct table *table = lives_table(v, TABLE_PATHS, &lives_view_path);

	if (v->session->format == TABLE_TEXT && nr)
		fprintf(v->session->out, "\nmost frequent paths, %zu in all:\n", nr);
	for (size_t i = 0; table && i < nr; i++) {
		char *text = v->session->format == TABLE_TEXT ? lives_path_text(v, &paths[i])
							      : lives_path_list(v, &paths[i]);
		const struct path_row row = {
			.count = paths[i].count,
			.share = 100.0 * (double)paths[i].count / (double)v->objects,
			.length = paths[i].nr,
			.path = text,
		};

		if (i < LIVES_PATHS || v->session->format != TABLE_TEXT)
			table__row(table, &row);
		free(text);
	}
	table__free(table);
}

static void lives_tell_open(const struct lives_view *v)
{
	for (uint32_t i = 0; i < v->trace->nr; i++) {
		uint64_t nr =
			v->trace->functions[i].returns ? lives_summary__open(v->summary, i) : 0;

		if (nr)
			log_note("%s was entered %" PRIu64 " times without a return",
				 lives_function(v, i), nr);
	}
}

int lives_view__end(struct lives_view *v)
{
	if (v->is_dot)
		lives_dot__write(v);
	if (v->has_summary && v->objects && v->session->format != TABLE_CSV) {
		lives_show_transitions(v);
		lives_show_paths(v);
	}
	lives_tell_open(v);
	log_note("objects %" PRIu64 " = shown %" PRIu64 " + filtered out %" PRIu64
		 " + dropped %" PRIu64,
		 v->objects + v->refused + v->dropped, v->objects, v->refused, v->dropped);
	if (v->dropped)
		log_warn("dropped %" PRIu64 " objects, %" PRIu64
			 " records: other records of these objects were lost; a larger --buffer "
			 "may help",
			 v->dropped, v->dropped_steps);
	return 0;
}

void lives_view__free(struct lives_view *v)
{
	condition__free(v->condition);
	lives_summary__free(v->summary);
	members__free(v->members);
	table__free(v->steps);
	table__free(v->lives);
	for (size_t i = 0; i < sizeof(v->columns_of) / sizeof(v->columns_of[0]); i++)
		free(v->columns_of[i]);
	values__free(v->values);
}
