/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_random.c: do emitted programs compute what the definition says? 10,000 random expressions
 * with all operators, over records, arguments and our own memory, are written down, typed, emitted,
 * run by this kernel on random bytes, and compared with the slow reckoning of value.h; so are
 * conditions, keys and globs. The seed is fixed: IOSONAR_SEED=N is another one.
 */
#include "probe_machine.h"
#include <inttypes.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>

enum {
	NR_AT_ONCE = 16, /* in one program */
	NR_INPUTS = 6,
	NR_CONDITIONS = 256,
	NR_KEYS = 256,
	NR_GLOBS = 1024,
	ROOM = 8192, /* of a text with NR_AT_ONCE expressions */
};

/* IOSONAR_EXPRESSIONS=N: so many, where the machine is slow. */
static uint32_t nr_expressions = 10240;

/* ---- chance ---- */

static uint64_t seed = 0x10504a72;

static uint64_t chance_next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed * 0x2545f4914f6cdd1d;
}

static uint32_t chance(uint32_t below)
{
	return (uint32_t)(chance_next() >> 33) % below;
}

/* Small numbers, numbers around powers of two, and anything. */
static uint64_t chance_number(void)
{
	switch (chance(5)) {
	case 0: return chance(4);
	case 1: return chance(100);
	case 2: return (1ULL << chance(64)) - chance(3) + 1;
	case 3: return 0 - (uint64_t)chance(70);
	default: return chance_next();
	}
}

/* ---- the memory that pointers lead to ---- */

struct inner {
	uint8_t small;
	int16_t low;
	uint32_t three : 3;
	int32_t five : 5;
	uint32_t rest : 24;
	char name[12];
};

struct outer {
	int32_t number;
	uint32_t flags;
	union {
		uint64_t either;
		int64_t or_else;
	};
	struct inner in;
	char text[20];
	struct outer *link;
	char *label;
	uint64_t argv;
};

enum { NR_OUTERS = 16, NR_LABELS = 16, LABEL_BYTES = 96 };
static struct outer outers[NR_OUTERS];
static char labels[NR_LABELS][LABEL_BYTES];
static const char *argvs[4][10];

static void chance_text(char *text, size_t size, bool ends)
{
	static const char letters[] = "abAB-_.0";
	size_t len = ends ? chance((uint32_t)size) : size, i;

	for (i = 0; i < size; i++)
		text[i] = i == len ? 0 : letters[chance(sizeof(letters) - 1)];
	if (ends)
		text[size - 1] = 0;
}

/* Some lead nowhere. */
static void *chance_pointer(void *good)
{
	static char *nowhere;

	if (!nowhere)
		nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (chance(8))
		return good;
	return chance(3) ? nowhere + chance(4000) : NULL;
}

static void memory_fill(void)
{
	size_t i, j;

	for (i = 0; i < NR_LABELS; i++)
		chance_text(labels[i], LABEL_BYTES, true);
	for (i = 0; i < 4; i++)
		for (j = 0; j < 10; j++)
			argvs[i][j] =
				j < chance(12) ? chance_pointer(labels[chance(NR_LABELS)]) : NULL;
	for (i = 0; i < NR_OUTERS; i++) {
		struct outer *o = &outers[i];

		o->number = (int32_t)chance_number();
		o->flags = (uint32_t)chance_number();
		o->either = chance_number();
		o->in = (struct inner){ .small = (uint8_t)chance_number(),
					.low = (int16_t)chance_number(),
					.three = chance(8),
					.five = (int32_t)chance(32) - 16,
					.rest = chance(1 << 24) };
		chance_text(o->in.name, sizeof(o->in.name), chance(4));
		chance_text(o->text, sizeof(o->text), chance(4));
		o->link = chance_pointer(&outers[chance(NR_OUTERS)]);
		o->label = chance_pointer(labels[chance(NR_LABELS)]);
		o->argv = (uint64_t)(uintptr_t)argvs[chance(4)];
	}
}

static bool memory_read(void *to, uint64_t address, size_t bytes)
{
	struct iovec local = { to, bytes }, remote = { (void *)(uintptr_t)address, bytes };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

/* ---- types of it, as BTF has them ---- */

static struct btf *btf;
static int outer_id;

static void btf_make_inner(const int ids[4], int name_id)
{
	btf__add_struct(btf, "inner", sizeof(struct inner));
	btf__add_field(btf, "small", ids[0], 0, 0);
	btf__add_field(btf, "low", ids[1], 8 * offsetof(struct inner, low), 0);
	btf__add_field(btf, "three", ids[2], 32, 3);
	btf__add_field(btf, "five", ids[3], 35, 5);
	btf__add_field(btf, "rest", ids[2], 40, 24);
	btf__add_field(btf, "name", name_id, 8 * offsetof(struct inner, name), 0);
}

static void btf_make(void)
{
	int u8, s16, u32, s32, u64, s64, chr, name, text, inner, anonymous, link, label;

	btf = btf__new_empty();
	u8 = btf__add_int(btf, "u8", 1, 0);
	s16 = btf__add_int(btf, "s16", 2, BTF_INT_SIGNED);
	u32 = btf__add_int(btf, "u32", 4, 0);
	s32 = btf__add_int(btf, "s32", 4, BTF_INT_SIGNED);
	u64 = btf__add_int(btf, "u64", 8, 0);
	s64 = btf__add_int(btf, "s64", 8, BTF_INT_SIGNED);
	chr = btf__add_int(btf, "char", 1, 0);
	name = btf__add_array(btf, s32, chr, 12);
	text = btf__add_array(btf, s32, chr, 20);
	btf_make_inner((const int[]){ u8, s16, u32, s32 }, name);
	inner = (int)btf__type_cnt(btf) - 1;
	anonymous = btf__add_union(btf, NULL, 8);
	btf__add_field(btf, "either", u64, 0, 0);
	btf__add_field(btf, "or_else", s64, 0, 0);
	label = btf__add_ptr(btf, chr);
	link = btf__add_ptr(btf, (int)btf__type_cnt(btf) + 1);
	outer_id = btf__add_struct(btf, "outer", sizeof(struct outer));
	btf__add_field(btf, "number", s32, 8 * offsetof(struct outer, number), 0);
	btf__add_field(btf, "flags", u32, 8 * offsetof(struct outer, flags), 0);
	btf__add_field(btf, NULL, anonymous, 8 * offsetof(struct outer, either), 0);
	btf__add_field(btf, "in", inner, 8 * offsetof(struct outer, in), 0);
	btf__add_field(btf, "text", text, 8 * offsetof(struct outer, text), 0);
	btf__add_field(btf, "link", link, 8 * offsetof(struct outer, link), 0);
	btf__add_field(btf, "label", label, 8 * offsetof(struct outer, label), 0);
	btf__add_field(btf, "argv", u64, 8 * offsetof(struct outer, argv), 0);
}

/* ---- two events ---- */

#define NUMBER(bytes, sign)                                            \
	{                                                              \
		.kind = TYPE_INT, .size = (bytes), .is_signed = (sign) \
	}
#define TEXT(bytes)                                \
	{                                          \
		.kind = TYPE_TEXT, .size = (bytes) \
	}

/* A record of 96 bytes; texts stand where nothing is aligned. */
static struct probe_field record_fields[] = {
	{ .name = "loc", .type = { .kind = TYPE_TEXT, .size = 4, .is_loc = true }, .at = 8 },
	{ .name = "rel",
	  .type = { .kind = TYPE_TEXT, .size = 4, .is_loc = true, .is_rel = true },
	  .at = 12 },
	{ .name = "b", .type = NUMBER(1, false), .at = 16 },
	{ .name = "sb", .type = NUMBER(1, true), .at = 17 },
	{ .name = "h", .type = NUMBER(2, false), .at = 18 },
	{ .name = "sh", .type = NUMBER(2, true), .at = 20 },
	{ .name = "odd", .type = NUMBER(4, true), .at = 22 },
	{ .name = "w", .type = NUMBER(4, false), .at = 28 },
	{ .name = "d", .type = NUMBER(8, false), .at = 32 },
	{ .name = "sd", .type = NUMBER(8, true), .at = 40 },
	{ .name = "wide", .type = NUMBER(8, true), .at = 49 },
	{ .name = "bits",
	  .at = 28,
	  .type = { .kind = TYPE_INT, .size = 4, .bits = 7, .shift = 9 } },
	{ .name = "sbits",
	  .at = 32,
	  .type = { .kind = TYPE_INT, .size = 8, .is_signed = true, .bits = 13, .shift = 40 } },
	{ .name = "rwbs", .type = TEXT(10), .at = 58 },
	{ .name = "word", .type = TEXT(8), .at = 72 },
	{ .name = "all", .type = TEXT(34), .at = 58 },
	{ .name = "one", .type = TEXT(1), .at = 57 },
};

static struct probe_field argument_fields[] = {
	{ .name = "u", .type = NUMBER(8, false), .place = PLACE_ARG, .at = 0 },
	{ .name = "s", .type = NUMBER(8, true), .place = PLACE_ARG, .at = 1 },
	{ .name = "w", .type = NUMBER(4, false), .place = PLACE_ARG, .at = 2 },
	{ .name = "sw", .type = NUMBER(4, true), .place = PLACE_ARG, .at = 3 },
	{ .name = "sh", .type = NUMBER(2, true), .place = PLACE_ARG, .at = 4 },
	{ .name = "b", .type = NUMBER(1, false), .place = PLACE_ARG, .at = 5 },
	{ .name = "p", .place = PLACE_ARG, .at = 6 }, /* struct outer *, ours */
	{ .name = "q", .place = PLACE_ARG, .at = 7 },
	{ .name = "t",
	  .place = PLACE_ARG,
	  .at = 8,
	  .type = { .kind = TYPE_POINTER, .size = 8, .is_text = true } }, /* ours or the kernel's */
};

static char record_name[] = "test:record", argument_name[] = "raw:arguments";
static struct probe events[] = {
	{ .kind = PROBE_TRACEPOINT,
	  .name = record_name,
	  .func = record_name + 5,
	  .fields = record_fields,
	  .nr_fields = sizeof(record_fields) / sizeof(record_fields[0]) },
	{ .kind = PROBE_RAW,
	  .name = argument_name,
	  .func = argument_name + 4,
	  .fields = argument_fields,
	  .nr_fields = sizeof(argument_fields) / sizeof(argument_fields[0]) },
};
enum { EVENT_RECORD, EVENT_ARGUMENTS, NR_EVENTS };

static void events_make(void)
{
	size_t i;

	for (i = 0; i < events[EVENT_ARGUMENTS].nr_fields; i++)
		argument_fields[i].reg = argument_fields[i].slot = argument_fields[i].at;
	argument_fields[6].type = argument_fields[7].type = (struct type){
		.kind = TYPE_POINTER,
		.size = 8,
		.is_user = true,
		.btf = btf,
		.id = (uint32_t)outer_id,
	};
}

/* ---- what an event brings ---- */

static uint64_t words[MACHINE_WORDS];

static void input_record(void)
{
	uint8_t *bytes = (uint8_t *)words;
	uint32_t loc = 8u << 16 | (58 + chance(20)), rel = 8u << 16 | (50 + chance(20));
	size_t i;

	for (i = 0; i < MACHINE_WORDS; i++)
		words[i] = chance_number();
	chance_text((char *)bytes + 57, 39, false);
	for (i = 57; i < 96; i++)
		if (!chance(9))
			bytes[i] = 0;
	bytes[95] = 0;
	memcpy(bytes + 8, &loc, 4);
	memcpy(bytes + 12, &rel, 4);
}

static void input_arguments(void)
{
	size_t i;

	for (i = 0; i < MACHINE_WORDS; i++)
		words[i] = chance_number();
	words[6] = (uint64_t)(uintptr_t)chance_pointer(&outers[chance(NR_OUTERS)]);
	words[7] = (uint64_t)(uintptr_t)chance_pointer(&outers[chance(NR_OUTERS)]);
	words[8] = (uint64_t)(uintptr_t)chance_pointer(labels[chance(NR_LABELS)]);
}

/* ---- expressions ---- */

struct writer {
	char text[ROOM];
	size_t len;
	int event;
};

__attribute__((format(printf, 2, 3))) static void write_words(struct writer *w, const char *fmt,
							      ...)
{
	va_list args;

	va_start(args, fmt);
	w->len += (size_t)vsnprintf(w->text + w->len, ROOM - w->len, fmt, args);
	va_end(args);
}

static void write_number(struct writer *w, uint32_t depth);

static void write_literal(struct writer *w)
{
	uint64_t number = chance_number();

	switch (chance(4)) {
	case 0: write_words(w, "0x%" PRIx64, number); break;
	case 1: write_words(w, "%u%s", chance(1000), chance(2) ? "us" : "Ki"); break;
	case 2: write_words(w, "%u", chance(70)); break;
	default: write_words(w, "%" PRIu64, number);
	}
}

static void write_name(struct writer *w)
{
	static const char *const of_record[] = { "b", "sb", "h",    "sh",   "odd",  "w",
						 "d", "sd", "wide", "bits", "sbits" };
	static const char *const of_arguments[] = { "u",
						    "s",
						    "w",
						    "sw",
						    "sh",
						    "b",
						    "arg0",
						    "arg3",
						    "arg9",
						    "p->number",
						    "p->flags",
						    "q->either",
						    "p->link->or_else",
						    "p->in.three",
						    "q->in.five",
						    "p->in.rest",
						    "q->link->link->in.low",
						    "p->in.small",
						    "arg6->flags",
						    "p",
						    "q->link" };
	static const char *const of_all[] = { "pid", "tid", "uid", "cpu", "probe" };

	if (!chance(9))
		write_words(w, "%s", of_all[chance(5)]);
	else if (w->event == EVENT_RECORD)
		write_words(w, "%s", of_record[chance(sizeof(of_record) / sizeof(char *))]);
	else
		write_words(w, "%s", of_arguments[chance(sizeof(of_arguments) / sizeof(char *))]);
}

static void write_glob(struct writer *w)
{
	static const char letters[] = "abAB-_.0??**";
	uint32_t len = chance(9);

	write_words(w, "\"");
	while (len--)
		write_words(w, "%c", letters[chance(sizeof(letters) - 1)]);
	write_words(w, "\"");
}

static void write_text(struct writer *w, uint32_t depth)
{
	static const char *const of_record[] = { "rwbs", "word", "all",		 "one",
						 "loc",	 "rel",	 "str(loc, 11)", "str(all, 3)" };
	static const char *const of_arguments[] = { "p->text",	     "q->in.name",
						    "str(t)",	     "str(t, 5)",
						    "str(p->label)", "str(q->link->label, 90)",
						    "p->link->text", "args(p->argv)" };
	char word[24];

	if (depth && !chance(5)) {
		write_words(w, "(");
		write_number(w, depth - 1);
		write_words(w, " ? ");
		write_text(w, depth - 1);
		write_words(w, " : ");
		write_text(w, depth - 1);
		write_words(w, ")");
	} else if (!chance(6)) {
		chance_text(word, 2 + chance(20), true);
		write_words(w, "\"%s\"", word);
	} else if (!chance(8)) {
		write_words(w, "comm");
	} else {
		write_words(w, "%s",
			    w->event == EVENT_RECORD ? of_record[chance(8)]
						     : of_arguments[chance(8)]);
	}
}

static void write_binary(struct writer *w, uint32_t depth)
{
	static const char *const ops[] = { "+",	 "-",  "*",  "/",  "%",	 "<<", ">>", "&",
					   "|",	 "^",  "==", "!=", "<",	 "<=", ">",  ">=",
					   "&&", "||", "/",  "%",  ">>", "<<" };

	write_words(w, "(");
	write_number(w, depth - 1);
	write_words(w, " %s ", ops[chance(sizeof(ops) / sizeof(ops[0]))]);
	write_number(w, depth - 1);
	write_words(w, ")");
}

static void write_of_texts(struct writer *w, uint32_t depth)
{
	write_words(w, "(");
	write_text(w, depth - 1);
	if (chance(2)) {
		write_words(w, " like ");
		write_glob(w);
	} else {
		write_words(w, chance(2) ? " == " : " != ");
		write_text(w, depth - 1);
	}
	write_words(w, ")");
}

static void write_number(struct writer *w, uint32_t depth)
{
	if (!depth || !chance(6)) {
		if (chance(3))
			write_name(w);
		else
			write_literal(w);
		return;
	}
	switch (chance(8)) {
	case 0:
		write_words(w, "(%s", chance(2) ? "-" : "~");
		write_number(w, depth - 1);
		write_words(w, ")");
		break;
	case 1:
		write_words(w, "(! ");
		write_number(w, depth - 1);
		write_words(w, ")");
		break;
	case 2:
		write_words(w, "(");
		write_number(w, depth - 1);
		write_words(w, " ? ");
		write_number(w, depth - 1);
		write_words(w, " : ");
		write_number(w, depth - 1);
		write_words(w, ")");
		break;
	case 3: write_of_texts(w, depth); break;
	default: write_binary(w, depth);
	}
}

static uint32_t chance_depth(void)
{
	return chance(10) ? chance(4) : 4 + chance(3);
}

/* ---- what came out ---- */

static bool value_agrees(const struct value *v, struct value_world *world, const uint8_t *got,
			 uint32_t room)
{
	struct value_result want;
	uint64_t number;

	value__reckon(v, world, &want);
	if (v->shape.is_text) {
		if (!memcmp(got, want.text, room))
			return true;
		printf("# '%.*s' is '%.*s', but should be '%s'\n", (int)v->len, v->source + v->at,
		       (int)room, got, want.text);
		return false;
	}
	memcpy(&number, got, 8);
	if (number == want.number)
		return true;
	printf("# '%.*s' is %#" PRIx64 ", but should be %#" PRIx64 "\n", (int)v->len,
	       v->source + v->at, number, want.number);
	return false;
}

static bool counts_agree(const struct probe_cell *before, const struct probe_cell *after,
			 const struct value_world *world)
{
	uint64_t divisions = after->counters[PROBE_DIVISIONS] - before->counters[PROBE_DIVISIONS];
	uint64_t faults = after->counters[PROBE_FAULTS] - before->counters[PROBE_FAULTS];

	if (divisions == world->divisions_by_zero && faults == world->faults)
		return true;
	printf("# %" PRIu64 " divisions by zero, should be %" PRIu64 "; %" PRIu64
	       " faults, should be %" PRIu64 "\n",
	       divisions, world->divisions_by_zero, faults, world->faults);
	return false;
}

struct trial {
	struct plan plan;
	struct machine machine;
	int event, fd;
	uint64_t seed;
};

/* Everything up to a program that can be run; not `ok`: that would be a thousand lines. */
static bool trial_open(struct trial *t, const struct line *line, int event)
{
	const struct probe_list list = { &events[event], 1 };
	const struct program_wants wants = { .ctx = event == EVENT_RECORD ? CTX_RECORD : CTX_RAW,
					     .is_atomic = chance(2) };

	t->event = event;
	t->fd = -1;
	t->seed = seed;
	if (plan__make(&t->plan, line, &list, NULL)) {
		printf("# not planned\n");
		return false;
	}
	if (!machine_open(&t->machine, &t->plan, 0)) {
		plan__free(&t->plan);
		return false;
	}
	t->fd = machine_load(&t->machine, wants);
	return true;
}

static void trial_close(struct trial *t)
{
	if (t->fd >= 0)
		close(t->fd);
	machine_close(&t->machine);
	plan__free(&t->plan);
}

static const char own_comm[] = "probe 'random'";

/* The next input, and the world as it is then. */
static struct value_world world_of_input(const struct trial *t)
{
	struct value_world world = {
		.record = (const uint8_t *)words,
		.record_bytes = sizeof(words),
		.pid = (uint64_t)getpid(),
		.tid = (uint64_t)gettid(),
		.uid = getuid(),
		.cpu = 0,
		.comm = own_comm,
		.read = memory_read,
	};

	if (t->event == EVENT_RECORD)
		input_record();
	else
		input_arguments();
	memcpy(world.args, words, sizeof(world.args));
	return world;
}

/* ---- values shown ---- */

static bool shown_agree(struct trial *t)
{
	const struct plan_probe *probe = &t->plan.probes[0];
	struct probe_cell before = machine_cell(&t->machine, 0), after;
	struct value_world world = world_of_input(t);
	size_t i, sent = t->machine.nr_records;
	bool good = true;

	if (!machine_run(&t->machine, t->fd, words) || t->machine.nr_records != sent + 1)
		return false;
	after = machine_cell(&t->machine, 0);
	for (i = 0; i < probe->nr_shown; i++)
		good &= value_agrees(probe->shown[i].value, &world,
				     t->machine.values + probe->shown[i].part.at,
				     probe->shown[i].part.shape.size);
	return counts_agree(&before, &after, &world) && machine_balances(&t->machine) && good;
}

static bool check_batch(int event)
{
	static struct writer w;
	struct line line = { .action = LINE_PRINT, .show = w.text };
	uint64_t began = seed;
	struct trial t;
	bool good = true;
	size_t i;

	w.len = 0;
	w.event = event;
	for (i = 0; i < NR_AT_ONCE; i++) {
		write_words(&w, "%s", i ? ", " : "");
		if (chance(5))
			write_number(&w, chance_depth());
		else
			write_text(&w, chance(3));
	}
	if (!trial_open(&t, &line, event)) {
		printf("# seed %" PRIu64 ": %s\n", began, w.text);
		return false;
	}
	good = t.fd >= 0;
	for (i = 0; i < NR_INPUTS && good; i++)
		good = shown_agree(&t);
	if (!good)
		printf("# seed %" PRIu64 ": %s\n", began, w.text);
	trial_close(&t);
	return good;
}

static void check_values(int event, const char *what)
{
	uint32_t i, bad = 0;

	for (i = 0; i < nr_expressions / NR_EVENTS / NR_AT_ONCE && bad < 5; i++)
		bad += !check_batch(event);
	ok(!bad, "%u random expressions over %s, %d times each", nr_expressions / NR_EVENTS, what,
	   NR_INPUTS);
}

/* ---- conditions ---- */

static bool condition_agrees(struct trial *t)
{
	struct probe_cell before = machine_cell(&t->machine, 0), after;
	struct value_world world = world_of_input(t);
	struct value_result want;
	bool was_true;

	if (!machine_run(&t->machine, t->fd, words))
		return false;
	after = machine_cell(&t->machine, 0);
	value__reckon(t->plan.probes[0].condition, &world, &want);
	was_true = after.row.count > before.row.count;
	return was_true == !!want.number && counts_agree(&before, &after, &world) &&
	       machine_balances(&t->machine);
}

static bool check_condition(int event)
{
	static struct writer w;
	struct line line = { .action = LINE_COUNT, .condition = w.text };
	uint64_t began = seed;
	struct trial t;
	bool good;
	size_t i;

	w.len = 0;
	w.event = event;
	write_number(&w, 1 + chance(5));
	if (!trial_open(&t, &line, event))
		return false;
	good = t.fd >= 0;
	for (i = 0; i < NR_INPUTS && good; i++)
		good = condition_agrees(&t);
	if (!good)
		printf("# seed %" PRIu64 ": if %s\n", began, w.text);
	trial_close(&t);
	return good;
}

static void check_conditions(void)
{
	uint32_t i, bad = 0;

	for (i = 0; i < NR_CONDITIONS && bad < 5; i++)
		bad += !check_condition((int)(i % NR_EVENTS));
	ok(!bad, "%d random conditions let the right ones pass", NR_CONDITIONS);
}

/* ---- keys ---- */

static bool key_agrees(struct trial *t)
{
	const struct plan *plan = &t->plan;
	struct value_world world = world_of_input(t);
	struct value_result part;
	uint8_t key[PLAN_MAX_KEY];
	struct probe_row row;
	size_t i;

	machine_forget_rows(&t->machine);
	if (!machine_run(&t->machine, t->fd, words))
		return false;
	memset(key, 0, sizeof(key));
	for (i = 0; i < plan->nr_keys; i++) {
		value__reckon(plan->probes[0].keys[i], &world, &part);
		if (plan->keys[i].shape.is_text)
			memcpy(key + plan->keys[i].at, part.text, plan->keys[i].shape.size);
		else
			memcpy(key + plan->keys[i].at, &part.number, 8);
	}
	if (machine_row(&t->machine, key, &row) && row.count == 1)
		return true;
	printf("# no row has the key that was reckoned\n");
	return false;
}

/* A key of constants has its row in the cell: another test looks there. */
static bool check_key(int event)
{
	static struct writer w;
	struct line line = { .action = LINE_COUNT, .by = w.text };
	uint32_t nr = 1 + chance(5), i;
	uint64_t began = seed;
	struct trial t;
	bool good;

	w.len = 0;
	w.event = event;
	write_words(&w, "cpu");
	for (i = 0; i < nr; i++) {
		write_words(&w, ", ");
		if (chance(2))
			write_number(&w, chance(3));
		else
			write_text(&w, chance(2));
	}
	if (strstr(w.text, "args("))
		return true; /* too wide with others beside it */
	if (!trial_open(&t, &line, event))
		return false;
	good = t.fd >= 0;
	for (i = 0; i < NR_INPUTS && good; i++)
		good = key_agrees(&t);
	if (!good)
		printf("# seed %" PRIu64 ": by %s\n", began, w.text);
	trial_close(&t);
	return good;
}

static void check_keys(void)
{
	uint32_t i, bad = 0;

	for (i = 0; i < NR_KEYS && bad < 5; i++)
		bad += !check_key((int)(i % NR_EVENTS));
	ok(!bad, "%d random keys are put together as they should", NR_KEYS);
}

/* ---- globs ---- */

/* Straight from the definition: a star is nothing, or a character and a star. */
static bool glob_matches(const char *text, const char *glob)
{
	if (!*glob)
		return !*text;
	if (*glob == '*')
		return glob_matches(text, glob + 1) || (*text && glob_matches(text + 1, glob));
	return *text && (*glob == '?' || *glob == *text) && glob_matches(text + 1, glob + 1);
}

static bool globs_agree(struct trial *t)
{
	const struct plan_probe *probe = &t->plan.probes[0];
	const char *text = labels[0];
	uint64_t got;
	size_t i;

	chance_text(labels[0], chance(3) ? 9 : 40, true);
	input_arguments();
	words[8] = (uint64_t)(uintptr_t)text;
	if (!machine_run(&t->machine, t->fd, words))
		return false;
	for (i = 0; i < probe->nr_shown; i++) {
		const char *glob = probe->shown[i].value->text;

		memcpy(&got, t->machine.values + probe->shown[i].part.at, 8);
		if (got == glob_matches(text, glob) && got == value__matches(text, glob))
			continue;
		printf("# '%s' like '%s': %" PRIu64 "\n", text, glob, got);
		return false;
	}
	return true;
}

static bool check_glob_batch(void)
{
	static struct writer w;
	struct line line = { .action = LINE_PRINT, .show = w.text };
	struct trial t;
	bool good;
	size_t i;

	w.len = 0;
	w.event = EVENT_ARGUMENTS;
	for (i = 0; i < NR_AT_ONCE; i++) {
		write_words(&w, "%sstr(t) like ", i ? ", " : "");
		write_glob(&w);
	}
	if (!trial_open(&t, &line, EVENT_ARGUMENTS))
		return false;
	good = t.fd >= 0;
	for (i = 0; i < 20 && good; i++)
		good = globs_agree(&t);
	trial_close(&t);
	return good;
}

static void check_globs(void)
{
	uint32_t i, bad = 0;

	for (i = 0; i < NR_GLOBS / NR_AT_ONCE && bad < 5; i++)
		bad += !check_glob_batch();
	ok(!bad, "%d random globs, 20 texts each", NR_GLOBS);
}

int main(void)
{
	if (!machine_may_load()) {
		printf("1..0 # SKIP may not load BPF programs: needs root, or CAP_BPF and "
		       "CAP_PERFMON\n");
		return 0;
	}
	if (getenv("IOSONAR_SEED"))
		seed = strtoull(getenv("IOSONAR_SEED"), NULL, 0);
	if (getenv("IOSONAR_EXPRESSIONS"))
		nr_expressions = (uint32_t)strtoul(getenv("IOSONAR_EXPRESSIONS"), NULL, 0);
	printf("# IOSONAR_SEED=%" PRIu64 "\n", seed);
	machine_pin(0);
	prctl(PR_SET_NAME, own_comm);
	btf_make();
	events_make();
	memory_fill();
	check_values(EVENT_RECORD, "a record");
	check_values(EVENT_ARGUMENTS, "arguments and memory");
	check_conditions();
	check_keys();
	check_globs();
	btf__free(btf);
	return done_testing();
}
