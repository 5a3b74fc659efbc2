/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/calls_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "session/table.h"

#define SLOT(slot) (sizeof(union value_slot) * (slot))

static const struct column call_columns[] = {
	{ "time_s", "time", CELL_TIME, 12, "time of entry, since the start",
	  .at = SLOT(CALL_TIME) },
	{ "cpu", "cpu", CELL_COUNT, 3, "CPU that it ran on", .at = SLOT(CALL_CPU), .drop = 1 },
	{ "comm", "comm", CELL_TEXT, 15,
	  "name of the task; in an interrupt, of the interrupted task", .at = SLOT(CALL_COMM),
	  .drop = 3 },
	{ "pid", "pid", CELL_COUNT, 7, "pid of the process", .at = SLOT(CALL_PID), .drop = 2 },
	{ "tid", "tid", CELL_COUNT, 7, "tid of the task; not in text", .at = SLOT(CALL_TID),
	  .not_in_text = true },
	{ "depth", "depth", CELL_COUNT, 3, "number of traced calls around it; not in text",
	  .at = SLOT(CALL_DEPTH), .not_in_text = true },
	{ "duration_ns", "duration", CELL_DURATION, 8,
	  "time from entry to return; none if the return was not seen", .at = SLOT(CALL_DURATION) },
	{ "function", "function", CELL_TEXT, 20, "name of the function; not in text",
	  .at = SLOT(CALL_FUNCTION), .not_in_text = true },
	{ "arguments", "arguments", CELL_TEXT, 20, "arguments, by name; not in text",
	  .at = SLOT(CALL_ARGUMENTS), .not_in_text = true },
	{ "ret", "ret", CELL_TEXT, 4, "return value; not in text", .at = SLOT(CALL_RET),
	  .not_in_text = true },
	{ "object", "object", CELL_TEXT, 18, "address of the object; not in text",
	  .at = SLOT(CALL_OBJECT), .not_in_text = true },
	{ "data", "data", CELL_TEXT, 20, "members of the object, and what the call changed",
	  .at = SLOT(CALL_DATA), .not_in_text = true },
	{ "call", "call", CELL_TEXT, 20, "the call as one line, indented by depth; in text only",
	  .at = SLOT(CALL_TEXT), .only_in_text = true },
	{ 0 },
};
const struct object calls_view_object = { "call", { call_columns } };

/* ---- words ---- */

static void call_put_arguments(struct calls_view *v, FILE *out, const struct call *call)
{
	struct members *words = trace_words__of(&v->words, call->function, false);

	if (words && call->entered)
		members__put(words, out, 0, call->entered, NULL);
}

/* Arguments of a user function, in text: "fib(5)". */
static void call_put_user_arguments(struct calls_view *v, FILE *out, const struct call *call)
{
	struct members *words = trace_words__of(&v->words, call->function, false);
	size_t nr = 0;

	if (words && call->entered)
		call_trace__shown(v->trace, call->function, false, &nr);
	for (size_t i = 0; i < nr; i++) {
		fputs(i ? ", " : "", out);
		members__put_value(words, out, i, call->entered);
	}
}

static bool call_has_ret(const struct calls_view *v, const struct call *call)
{
	size_t nr = 0;

	if (call->left)
		call_trace__shown(v->trace, call->function, true, &nr);
	return nr;
}

static void call_put_ret(struct calls_view *v, FILE *out, const struct call *call)
{
	struct members *words =
		call_has_ret(v, call) ? trace_words__of(&v->words, call->function, true) : NULL;

	if (words)
		members__put_value(words, out, 0, call->left);
}

/* ---- members: at first all, then what has changed ---- */

enum { CALL_MEMORY = 4096 }; /* places; a later object takes over the place */

struct call_memory {
	uint64_t object[CALL_MEMORY]; /* 0: none */
	char *bytes;		      /* member_bytes of each */
};

static struct call_memory *memory_new(size_t member_bytes)
{
	struct call_memory *memory = calloc(1, sizeof(*memory));

	if (!memory)
		return NULL;
	memory->bytes = calloc(CALL_MEMORY, member_bytes);
	if (memory->bytes)
		return memory;
	free(memory);
	return NULL;
}

static size_t memory_place(uint64_t object)
{
	return (size_t)(object * 0x9e3779b97f4a7c15ull >> 32) % CALL_MEMORY;
}

/* Members as last shown for this object; NULL: none. */
static const void *memory_of(const struct calls_view *v, uint64_t object)
{
	const size_t place = memory_place(object);

	return v->memory->object[place] == object
		       ? v->memory->bytes + place * v->trace->member_bytes
		       : NULL;
}

static void memory_keep(struct calls_view *v, uint64_t object, const void *bytes)
{
	const size_t place = memory_place(object);

	v->memory->object[place] = bytes ? object : 0;
	if (bytes)
		memcpy(v->memory->bytes + place * v->trace->member_bytes, bytes,
		       v->trace->member_bytes);
}

/* A newborn object is a different one, even at the same address. */
static void call_note_birth(struct calls_view *v, const struct call *call, bool is_return)
{
	const struct call_trace_function *f = &v->trace->functions[call->function];
	const struct call_trace_place *place = is_return ? &f->at_exit : &f->at_entry;

	if (place->role == LIFE_BIRTH)
		memory_keep(v,
			    call_trace__object(v->trace, call->function, is_return,
					       is_return ? call->left : call->entered),
			    NULL);
}

static size_t call_put_side(struct calls_view *v, FILE *out, const struct call *call,
			    bool is_return, const void *before)
{
	const void *values = is_return ? call->left : call->entered;
	char now[PLAN_MAX_SHOWN];

	if (!call_trace__members(v->trace, call->function, is_return, values, now))
		return 0;
	return members__put(v->words.members, out, 1, now, before);
}

/* Changes since the previous line, and by this call between entry and return. */
static void call_put_data(struct calls_view *v, FILE *out, const struct call *call)
{
	const uint64_t object = call_trace__object(v->trace, call->function, false, call->entered);
	char entered[PLAN_MAX_SHOWN], left[PLAN_MAX_SHOWN];
	bool is_entered =
		call_trace__members(v->trace, call->function, false, call->entered, entered);
	bool is_left = call_trace__members(v->trace, call->function, true, call->left, left);
	size_t nr = 0;

	if (!v->memory)
		return;
	call_note_birth(v, call, false);
	nr = call_put_side(v, out, call, false, object ? memory_of(v, object) : NULL);
	if (nr && is_left && is_entered && memcmp(entered, left, v->trace->member_bytes))
		fputs("; ", out);
	call_put_side(v, out, call, true, is_entered ? entered : NULL);
	if (is_entered)
		memory_keep(v, object, entered);
}

/* A return is noted after the lines of the calls inside it. */
static void call_note_return(struct calls_view *v, const struct call *call)
{
	const uint64_t object = call_trace__object(v->trace, call->function, true, call->left);
	char left[PLAN_MAX_SHOWN];

	if (v->memory && object &&
	    call_trace__members(v->trace, call->function, true, call->left, left))
		memory_keep(v, object, left);
}

/* ---- rows ---- */

typedef void (*call_put_fn)(struct calls_view *v, FILE *out, const struct call *call);

static void call_put_object(struct calls_view *v, FILE *out, const struct call *call)
{
	const uint64_t object = call_trace__object_of(v->trace, call);

	if (object)
		fprintf(out, "0x%" PRIx64, object);
}

/* "    submit_bio(bio=0x...) = 0  bi_size=4096" */
static void call_put_line(struct calls_view *v, FILE *out, const struct call *call)
{
	const struct probe *probe = call_trace__probe(v->trace, call->function);
	long before;

	fprintf(out, "%*s%s(", 2 * (int)(call->depth < 64 ? call->depth : 64), "", probe->func);
	if (probe->kind == PROBE_USER)
		call_put_user_arguments(v, out, call);
	else
		call_put_arguments(v, out, call);
	fputc(')', out);
	if (call_has_ret(v, call)) {
		fputs(" = ", out);
		call_put_ret(v, out, call);
	}
	fflush(out);
	before = ftell(out);
	fputs("  ", out);
	call_put_data(v, out, call);
	fflush(out);
	if (ftell(out) == before + 2)
		fseek(out, before, SEEK_SET);
}

static void call_fill(struct calls_view *v, enum call_slot slot, call_put_fn put,
		      const struct call *call)
{
	size_t size;
	FILE *out;

	free(v->texts[slot]);
	v->texts[slot] = NULL;
	out = open_memstream(&v->texts[slot], &size);
	if (out)
		put(v, out, call);
	if (!out || fclose(out)) {
		free(v->texts[slot]);
		v->texts[slot] = NULL;
	}
	v->slots[slot].text = v->texts[slot] && *v->texts[slot] ? v->texts[slot] : NULL;
}

static int call_row(struct calls_view *v, const struct call *call)
{
	static const struct {
		enum call_slot slot;
		call_put_fn put;
	} parts[] = {
		{ CALL_ARGUMENTS, call_put_arguments },
		{ CALL_RET, call_put_ret },
		{ CALL_OBJECT, call_put_object },
		{ CALL_DATA, call_put_data },
	};
	const uint64_t start_ns = v->session->start_ns;
	union value_slot *slots = v->slots;

	slots[CALL_TIME].n = call->start_ns > start_ns ? call->start_ns - start_ns : 0;
	slots[CALL_CPU].n = call->cpu;
	slots[CALL_COMM].text = call->comm;
	slots[CALL_PID].n = call->pid;
	slots[CALL_TID].n = call->tid;
	slots[CALL_DEPTH].n = call->depth;
	slots[CALL_DURATION].n = call->end_ns ? call->end_ns - call->start_ns : CELL_NO_NUMBER;
	slots[CALL_FUNCTION].text = call_trace__probe(v->trace, call->function)->func;
	if (v->session->format == TABLE_TEXT && !v->on_row)
		call_fill(v, CALL_TEXT, call_put_line, call);
	else
		for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
			call_fill(v, parts[i].slot, parts[i].put, call);
	v->shown_calls++;
	if (v->on_row)
		return v->on_row(v->arg, call, slots);
	table__row(v->table, slots);
	return 0;
}

/* The next call after this one and all inside it; the calls around it that end there return. */
static const struct call *call_leave(struct calls_view *v, const struct call *call,
				     const struct call *root)
{
	while (call != root && !call->next) {
		call = call->parent;
		call_note_return(v, call);
	}
	return call == root ? NULL : call->next;
}

/* No recursion: a file says how deep a tree is. */
int calls_view__tree(struct calls_view *v, const struct call *root)
{
	const struct call *call = root;
	int err = 0;

	while (!err && call) {
		const bool is_shown = call__is_within(call, &v->limits);

		err = is_shown ? call_row(v, call) : 0;
		if (is_shown && call->first) {
			call = call->first;
			continue;
		}
		if (is_shown)
			call_note_return(v, call);
		call = call_leave(v, call, root);
	}
	return err;
}

int calls_view__start(struct calls_view *v, struct session *s, const struct call_trace *trace)
{
	v->session = s;
	v->trace = trace;
	if (trace->nr_members)
		v->memory = memory_new(trace->member_bytes);
	v->table = session__table(s, &calls_view_object, NULL, NULL);
	if (!v->table || (trace->nr_members && !v->memory))
		return log_no_memory();
	return trace_words__start(&v->words, trace);
}

void calls_view__free(struct calls_view *v)
{
	trace_words__free(&v->words);
	if (v->memory)
		free(v->memory->bytes);
	free(v->memory);
	for (size_t i = 0; i < NR_CALL_SLOTS; i++)
		free(v->texts[i]);
	table__free(v->table);
}
