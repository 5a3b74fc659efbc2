/* SPDX-License-Identifier: BSD-2-Clause */
/* probe_value.c: what names and operators mean at an event, and what is refused, and where. */
#include <errno.h>
#include <stdlib.h>
#include "wire/probe_maps.h"
#include "probe/lang/value.h"
#include "probe_event.h"

/* ---- a value in words ---- */

static const char *const value_words[] = {
	[VALUE_CONST] = "",	   [VALUE_TEXT] = "text",	[VALUE_RECORD] = "record",
	[VALUE_ARG] = "arg",	   [VALUE_RET] = "ret",		[VALUE_PID] = "pid",
	[VALUE_TID] = "tid",	   [VALUE_UID] = "uid",		[VALUE_COMM] = "comm",
	[VALUE_CPU] = "cpu",	   [VALUE_CGROUP] = "cgroup",	[VALUE_NSECS] = "nsecs",
	[VALUE_PROBE] = "probe",   [VALUE_LATENCY] = "latency", [VALUE_SAVED] = "saved",
	[VALUE_KSTACK] = "kstack", [VALUE_USTACK] = "ustack",	[VALUE_LOAD] = "load",
	[VALUE_CHARS] = "chars",   [VALUE_ARGS] = "args",	[VALUE_BITS] = "bits",
	[VALUE_NEG] = "-",	   [VALUE_COMPLEMENT] = "~",	[VALUE_NOT] = "!",
	[VALUE_ADD] = "+",	   [VALUE_SUB] = "-",		[VALUE_MUL] = "*",
	[VALUE_DIV] = "/",	   [VALUE_MOD] = "%",		[VALUE_SHL] = "<<",
	[VALUE_SHR] = ">>",	   [VALUE_AND] = "&",		[VALUE_OR] = "|",
	[VALUE_XOR] = "^",	   [VALUE_EQ] = "==",		[VALUE_NE] = "!=",
	[VALUE_LT] = "<",	   [VALUE_LE] = "<=",		[VALUE_GT] = ">",
	[VALUE_GE] = ">=",	   [VALUE_LIKE] = "like",	[VALUE_BOTH] = "&&",
	[VALUE_EITHER] = "||",	   [VALUE_CHOOSE] = "?",	[VALUE_ARRAY] = "array",
	[VALUE_COMPAT] = "compat",
};

static const char *const unit_words[] = {
	[VALUE_PLAIN] = "",
	[VALUE_DURATION] = ":duration",
	[VALUE_BYTES] = ":bytes",
	[VALUE_TIME] = ":time",
	[VALUE_POINTER] = ":pointer",
	[VALUE_SYM] = ":sym",
	[VALUE_ERRNO] = ":errno",
	[VALUE_SYSCALL] = ":syscall",
	[VALUE_DEV] = ":dev",
	[VALUE_ENUM] = ":enum",
	[VALUE_PROBE_NAME] = ":probe",
	[VALUE_FUNC_NAME] = ":func",
	[VALUE_CGROUP_PATH] = ":cgroup",
	[VALUE_KSTACK_ID] = ":kstack",
	[VALUE_USTACK_ID] = ":ustack",
	[VALUE_HEX] = ":hex",
};

static void print_value(FILE *out, const struct value *v);

static void print_leaf(FILE *out, const struct value *v)
{
	switch (v->op) {
	case VALUE_CONST: fprintf(out, "%lld", (long long)v->number); break;
	case VALUE_TEXT: fprintf(out, "'%s'", v->text); break;
	case VALUE_RECORD:
		fprintf(out, "%c%u@%u", v->shape.is_signed ? 's' : 'u', 8 * v->size, v->offset);
		break;
	case VALUE_ARG:
		fprintf(out, "%c%u$%llu", v->shape.is_signed ? 's' : 'u', 8 * v->size,
			(unsigned long long)v->number);
		break;
	case VALUE_SAVED:
		if (v->number == VALUE_IN_HEAD)
			fprintf(out, "head@%u", v->offset);
		else
			fprintf(out, "saved#%llu", (unsigned long long)v->number);
		break;
	default: fprintf(out, "%s", value_words[v->op]);
	}
	if (v->shape.depth)
		fprintf(out, "(%u)", v->shape.depth);
}

static const char *const memory_words[] = { "", "user ", "either " };

static void print_memory(FILE *out, const struct value *v)
{
	fprintf(out, "%s%s%u", memory_words[v->memory], value_words[v->op],
		v->op == VALUE_LOAD ? 8 * v->size : v->size);
	if (v->op == VALUE_LOAD && v->shape.is_signed)
		fprintf(out, "s");
	fprintf(out, v->is_rel ? "[rel " : v->is_loc ? "[loc " : "[");
	if (v->left)
		print_value(out, v->left);
	fprintf(out, "+%u]", v->offset);
}

static void print_value(FILE *out, const struct value *v)
{
	if (v->op == VALUE_LOAD || v->op == VALUE_CHARS || v->op == VALUE_ARGS ||
	    v->op == VALUE_ARRAY) {
		print_memory(out, v);
	} else if (v->op == VALUE_BITS) {
		fprintf(out, "bits%s%u>>%u(", v->shape.is_signed ? "s" : "", v->bits, v->shift);
		print_value(out, v->left);
		fprintf(out, ")");
	} else if (!v->left) {
		print_leaf(out, v);
	} else if (v->op == VALUE_LIKE) {
		print_value(out, v->left);
		fprintf(out, " like '%s'", v->text);
	} else {
		fprintf(out, "(%s%s ", v->is_signed ? "s" : "", value_words[v->op]);
		print_value(out, v->left);
		if (v->right)
			fprintf(out, " "), print_value(out, v->right);
		if (v->other)
			fprintf(out, " "), print_value(out, v->other);
		fprintf(out, ")");
	}
	fprintf(out, "%s", unit_words[v->shape.unit]);
}

static char saved_words[512];

/* As a plan would: in order. */
static int save_in_words(void *arg, struct value *value)
{
	int *nr = arg;
	FILE *out = fmemopen(saved_words, sizeof(saved_words) - 1, *nr ? "a" : "w");

	fprintf(out, "%s", *nr ? "; " : "");
	print_value(out, value);
	fclose(out);
	value__free(value);
	return *nr < 3 ? (*nr)++ : -E2BIG;
}

/* At an event, or at the end of a pair. */
static struct value *make(const char *text, int event, int entry, struct expr_error *error)
{
	int nr_saved = 0;
	struct value_scope scope = { .probe = &event_probes[event],
				     .number = 4,
				     .entry = entry < 0 ? NULL : &event_probes[entry],
				     .entry_number = 3,
				     .save = save_in_words,
				     .arg = &nr_saved };
	struct expr *tree = expr__parse_tree(text, error);
	struct value *v = tree ? value__make(tree, &scope, error) : NULL;

	saved_words[0] = nr_saved ? saved_words[0] : 0;
	expr__free(tree);
	return v;
}

static void is_value(int event, const char *text, const char *want)
{
	struct expr_error error = { 0 };
	struct value *v = make(text, event, -1, &error);
	char words[512] = "";
	FILE *out = fmemopen(words, sizeof(words) - 1, "w");

	if (v)
		print_value(out, v);
	else
		fprintf(out, "refused: %s", error.message);
	fclose(out);
	is_str(words, want, text);
	value__free(v);
}

static void is_pair(const char *text, const char *want, const char *want_saved)
{
	struct expr_error error = { 0 };
	struct value *v = make(text, EVENT_RECORD, EVENT_RAW, &error);
	char words[512] = "";
	FILE *out = fmemopen(words, sizeof(words) - 1, "w");

	if (v)
		print_value(out, v);
	else
		fprintf(out, "refused: %s", error.message);
	fclose(out);
	is_str(words, want, text);
	is_str(saved_words, want_saved, "and what the start saves");
	value__free(v);
}

static void is_refused(int event, const char *text, size_t at, const char *want)
{
	struct expr_error error = { 0 };
	struct value *v = make(text, event, -1, &error);

	ok(!v && !strcmp(error.message, want) && error.at == at, "%s: %s", text, want);
	if (v || strcmp(error.message, want))
		printf("# got '%s'\n", v ? "a value" : error.message);
	if (!v && error.at != at)
		printf("# at %zu, should be %zu\n", error.at, at);
	value__free(v);
}

/* ---- names ---- */

static void check_builtins(void)
{
	is_value(EVENT_RAW, "pid", "pid");
	is_value(EVENT_RAW, "tid", "tid");
	is_value(EVENT_RAW, "uid", "uid");
	is_value(EVENT_RAW, "comm", "comm");
	is_value(EVENT_RAW, "cpu", "cpu");
	is_value(EVENT_RAW, "cgroup", "cgroup:cgroup");
	is_value(EVENT_RAW, "nsecs", "nsecs");
	is_value(EVENT_RAW, "time", "nsecs:time");
	is_value(EVENT_RAW, "probe", "probe:probe");
	is_value(EVENT_RAW, "func", "probe:func");
	is_value(EVENT_RAW, "kstack", "kstack:kstack");
	is_value(EVENT_RAW, "ustack", "ustack:ustack");
	is_value(EVENT_RAW, "kstack(5)", "kstack(5):kstack");
	is_value(EVENT_PROFILE, "ustack(2 * 8)", "ustack(16):ustack");
	is_value(EVENT_RET, "ret", "ret");
	is_value(EVENT_RECORD, "pid", "s32@72");
	is_value(EVENT_RECORD, "comm", "chars16[+44]");
}

static void check_fields(void)
{
	is_value(EVENT_RECORD, "bytes", "u32@28");
	is_value(EVENT_RECORD, "error", "s32@32");
	is_value(EVENT_RECORD, "rwbs", "chars8[+36]");
	is_value(EVENT_RECORD, "cmd", "chars64[loc +60]");
	is_value(EVENT_RECORD, "str(cmd, 100)", "chars100[loc +60]");
	is_value(EVENT_RECORD, "str(filename)", "user chars64[u64@64:pointer+0]");
	is_value(EVENT_RECORD, "str(filename, 200)", "user chars200[u64@64:pointer+0]");
	is_value(EVENT_RECORD, "args(filename)", "user args200[u64@64:pointer+0]");
	is_value(EVENT_RAW, "nr_bytes", "u32$1");
	is_value(EVENT_RAW, "arg1", "u32$1");
	is_value(EVENT_RAW, "rq", "u64$0:pointer");
	is_value(EVENT_RAW, "str(name)", "either chars64[u64$3:pointer+0]");
	is_value(EVENT_USER, "arg3", "u64$3");
	is_value(EVENT_USDT, "arg1", "s64$1");
	is_value(EVENT_USDT, "str(arg2)", "user chars64[u64$2+0]");
	is_value(EVENT_USER, "str(arg0, 8)", "user chars8[u64$0+0]");
}

static void check_members(void)
{
	is_value(EVENT_RAW, "rq->tag", "load32s[u64$0:pointer+8]");
	is_value(EVENT_RAW, "rq->q->last->tag",
		 "load32s[load64[load64[u64$0:pointer+0]:pointer+0]:pointer+8]");
	is_value(EVENT_RAW, "rq->q->disk", "chars32[load64[u64$0:pointer+0]:pointer+8]");
	is_value(EVENT_RAW, "rq->in.x", "load8[u64$0:pointer+56]");
	is_value(EVENT_RAW, "rq->in.y", "load64s[u64$0:pointer+64]");
	is_value(EVENT_RAW, "rq->sector", "load64[u64$0:pointer+24]");
	is_value(EVENT_RAW, "rq->high", "load32[u64$0:pointer+28]");
	is_value(EVENT_RAW, "rq->kind", "bits3>>0(load8[u64$0:pointer+12])");
	is_value(EVENT_RAW, "rq->depth", "bitss5>>5(load16[u64$0:pointer+12])");
	is_value(EVENT_RAW, "rq->name", "chars12[u64$0:pointer+32]");
	is_value(EVENT_RAW, "rq->op", "load32[u64$0:pointer+16]:enum");
	is_value(EVENT_RAW, "rq->label", "load64[u64$0:pointer+48]:pointer");
	is_value(EVENT_RAW, "str(rq->label)", "either chars64[load64[u64$0:pointer+48]:pointer+0]");
	is_value(EVENT_RAW, "arg0->tag", "load32s[u64$0:pointer+8]");
	is_value(EVENT_RAW, "(rq)->tag", "load32s[u64$0:pointer+8]");
}

static void check_elements(void)
{
	is_value(EVENT_RAW, "rq->table[0]", "load32[u64$0:pointer+72]");
	is_value(EVENT_RAW, "rq->table[1 + 2]", "load32[u64$0:pointer+84]");
	is_value(EVENT_RAW, "rq->name[2]", "load8[u64$0:pointer+34]");
	is_value(EVENT_RAW, "rq[1].tag", "load32s[u64$0:pointer+128]");
	is_value(EVENT_RAW, "rq->q->disk[3]", "load8[load64[u64$0:pointer+0]:pointer+11]");
	/* Outside of it nothing is read: there is nothing at 0. */
	is_value(EVENT_RAW, "rq->table[nr_bytes]",
		 "load32[(? (< u32$1 4) (+ (+ u64$0:pointer 72) (* u32$1 4)) 0)+0]");
	is_value(EVENT_RAW, "rq->label[cpu]",
		 "load8[(+ (+ load64[u64$0:pointer+48]:pointer 0) (* cpu 1))+0]");
	is_value(EVENT_RAW, "rq->table", "array16[u64$0:pointer+72]:hex");
	is_value(EVENT_RECORD, "map", "array16[+80]:hex");
	is_value(EVENT_RECORD, "map[15]", "u8@95");
	is_refused(EVENT_RAW, "rq->table[4]", 10, "rq->table has 4 elements: 0 to 3");
	is_refused(EVENT_RAW, "rq->table[-1]", 10, "rq->table has 4 elements: 0 to 3");
	is_refused(EVENT_RAW, "rq->tag[0]", 7, "rq->tag is not an array: it has no elements");
	is_refused(EVENT_RAW, "rq->later[0]", 9, "rq->later has elements of unknown size");
	is_refused(
		EVENT_RAW, "rq->table[x]", 10,
		"unknown field 'x'; available: rq, nr_bytes, in, name, pid, tid, uid, comm, cpu, "
		"cgroup, nsecs, time, ...");
	is_refused(EVENT_RAW, "rq->label[1048576]", 10,
		   "expected an index from 0 to 1048575, not 1048576");
	is_refused(EVENT_RAW, "rq->table == 1", 0,
		   "rq->table is an array: it can only be a key or be shown; name an element: "
		   "rq->table[0]");
	is_refused(EVENT_RAW, "rq->table + 1", 0,
		   "rq->table is an array: it can only be a key or be shown; name an element: "
		   "rq->table[0]");
	is_refused(EVENT_RAW, "str(rq->table)", 0,
		   "str(rq->table): an array of numbers is not a text");
	is_refused(EVENT_RECORD, "map[cpu]", 3,
		   "map is a field of a tracepoint: its index must be a constant");
}

/* ---- operators ---- */

static void check_signs(void)
{
	is_value(EVENT_RECORD, "sector / nr_sector", "(/ u64@16 u32@24)");
	is_value(EVENT_RECORD, "sector / error", "(s/ u64@16 s32@32)");
	is_value(EVENT_RECORD, "sector > 5", "(> u64@16 5)");
	is_value(EVENT_RECORD, "5 > sector", "(> 5 u64@16)");
	is_value(EVENT_RECORD, "sector > -5", "(s> u64@16 -5)");
	is_value(EVENT_RECORD, "error < 0", "(s< s32@32 0)");
	is_value(EVENT_RECORD, "error < 0xffffffffffffffff", "(s< s32@32 -1)");
	is_value(EVENT_RECORD, "(sector - 5) / 2", "(s/ (- u64@16 5) 2)");
	is_value(EVENT_RECORD, "-sector / 2", "(s/ (- u64@16) 2)");
	is_value(EVENT_RECORD, "error >> 2", "(s>> s32@32 2)");
	is_value(EVENT_RECORD, "sector >> error", "(>> u64@16 s32@32)");
	is_value(EVENT_RECORD, "(error ? sector : bytes) % 3", "(% (? s32@32 u64@16 u32@28) 3)");
	is_value(EVENT_RECORD, "(error ? sector : error) % 3", "(s% (? s32@32 u64@16 s32@32) 3)");
}

static void check_constants(void)
{
	is_value(EVENT_RECORD, "2 + 3 * 4", "14");
	is_value(EVENT_RECORD, "-7 / 2", "-3");
	is_value(EVENT_RECORD, "-7 % 3", "-1");
	is_value(EVENT_RECORD, "1 << 64", "0");
	is_value(EVENT_RECORD, "~0 >> 63", "-1");
	is_value(EVENT_RECORD, "0xffffffffffffffff >> 63", "1");
	is_value(EVENT_RECORD, "4Ki", "4096");
	is_value(EVENT_RECORD, "1e6", "1000000");
	is_value(EVENT_RECORD, "1.5ms", "1500000:duration");
	is_value(EVENT_RECORD, "2 * 1ms", "2000000:duration");
	is_value(EVENT_RECORD, "1ms / 1us", "1000");
	is_value(EVENT_RECORD, "!7", "0");
	is_value(EVENT_RECORD, "3 && 0 || 2", "1");
	is_value(EVENT_RECORD, "1 ? 2 : 3", "2");
	is_value(EVENT_RECORD, "1 / 0", "(s/ 1 0)");
}

static void check_units(void)
{
	is_value(EVENT_RECORD, "errno(-error)", "(- s32@32):errno");
	is_value(EVENT_RECORD, "dev(dev)", "u32@8:dev");
	is_value(EVENT_RECORD, "sym(sector)", "u64@16:sym");
	is_value(EVENT_RECORD, "syscall(7)", "7:syscall");
	is_value(EVENT_RAW, "rq + 8", "(+ u64$0:pointer 8):pointer");
	is_value(EVENT_RAW, "rq - rq", "(- u64$0:pointer u64$0:pointer)");
	is_value(EVENT_RECORD, "sector * 1us", "(* u64@16 1000:duration):duration");
}

static void check_texts(void)
{
	is_value(EVENT_RECORD, "rwbs == \"WS\"", "(== chars8[+36] 'WS')");
	is_value(EVENT_RECORD, "rwbs == WS", "(== chars8[+36] 'WS')");
	is_value(EVENT_RECORD, "WS != rwbs", "(!= 'WS' chars8[+36])");
	is_value(EVENT_RECORD, "rwbs like W*", "chars8[+36] like 'W*'");
	is_value(EVENT_RECORD, "rwbs =~ \"*M?\"", "chars8[+36] like '*M?'");
	is_value(EVENT_RECORD, "error ? rwbs : none", "(? s32@32 chars8[+36] 'none')");
	is_value(EVENT_RECORD, "rwbs == comm", "(== chars8[+36] chars16[+44])");
}

static void check_rooms(void)
{
	static const struct {
		const char *text;
		uint32_t room;
	} texts[] = { { "rwbs", 16 },
		      { "comm", 24 },
		      { "cmd", 72 },
		      { "str(cmd, 7)", 8 },
		      { "str(filename, 8)", 16 },
		      { "str(filename, 200)", 208 },
		      { "\"seven77\"", 8 },
		      { "error ? rwbs : comm", 24 } };
	struct expr_error error;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct value *v = make(texts[i].text, EVENT_RECORD, -1, &error);

		is_u64(v ? v->shape.size : 0, texts[i].room, texts[i].text);
		value__free(v);
	}
}

/* ---- pairs ---- */

/* The start is raw:rq_done, with rq, nr_bytes and name; the end block:rq_issue. */
static void check_pairs(void)
{
	is_pair("latency", "latency:duration", "");
	is_pair("latency > 1ms", "(> latency:duration 1000000:duration)", "");
	is_pair("bytes", "u32@28", "");
	is_pair("exit.bytes", "u32@28", "");
	is_pair("nr_bytes", "saved#0", "u32$1");
	is_pair("entry.nr_bytes", "saved#0", "u32$1");
	is_pair("entry.rq->q->disk", "saved#0", "chars32[load64[u64$0:pointer+0]:pointer+8]");
	is_pair("str(entry.name)", "saved#0", "either chars64[u64$3:pointer+0]");
	is_pair("entry.rq->tag == 2 && bytes", "(&& saved#0 u32@28)",
		"(s== load32s[u64$0:pointer+8] 2)");
	is_pair("entry.nr_bytes - exit.bytes", "(- saved#0 u32@28)", "u32$1");
	is_pair("entry.nr_bytes + rq->tag", "saved#0", "(s+ u32$1 load32s[u64$0:pointer+8])");
	is_pair("tid", "head@20", "");
	is_pair("entry.pid", "head@16", "");
	is_pair("pid", "s32@72", "");
	is_pair("exit.pid", "s32@72", "");
	is_pair("exit.tid", "tid", "");
	is_pair("entry.comm", "head@24", "");
	is_pair("uid", "saved#0", "uid");
	is_pair("entry.nsecs", "head@0", "");
	is_pair("entry.kstack", "(- head@40 1):kstack", "");
	is_pair("kstack", "kstack:kstack", "");
	is_pair("probe", "probe:probe", "");
	is_pair("entry.probe", "saved#0:probe", "probe:probe");
	is_pair("nsecs", "nsecs", "");
	is_pair("arg1", "saved#0", "u32$1");
}

static void check_pair_errors(void)
{
	struct expr_error error;

	ok(!make("bytes + entry.byts", EVENT_RECORD, EVENT_RAW, &error) && error.at == 14 &&
		   !strncmp(error.message, "raw:rq_done has no field 'byts'", 31),
	   "an unknown name of the start");
	ok(!make("entry.latency", EVENT_RECORD, EVENT_RAW, &error) && error.at == 6,
	   "a start has no latency");
	ok(!make("(nr_bytes < bytes) + (rq < bytes) + (name < bytes) + (arg1 < bytes) + "
		 "(uid < bytes)",
		 EVENT_RECORD, EVENT_RAW, &error) &&
		   error.at == 54,
	   "more than can be saved");
}

/* ---- refusals ---- */

static void check_unknown(void)
{
	is_refused(EVENT_RECORD, "byts", 0, "unknown field 'byts'; did you mean bytes?");
	is_refused(EVENT_RECORD, "1 + sectr * 2", 4, "unknown field 'sectr'; did you mean sector?");
	is_refused(EVENT_RECORD, "cpuu == 1", 0, "unknown field 'cpuu'; did you mean cpu?");
	is_refused(EVENT_RECORD, "error == WS", 9,
		   "unknown field 'WS'; available: common_pid, dev, "
		   "sector, nr_sector, bytes, error, rwbs, comm, cmd, ...");
	is_refused(EVENT_RAW, "rq->tagg", 4,
		   "struct request has no member 'tagg'; did you mean tag?");
	is_refused(EVENT_RAW, "rq->in.z", 7,
		   "struct inner has no member 'z'; did you mean x or y?");
	is_refused(EVENT_RECORD, "strr(cmd)", 0, "unknown function 'strr'; did you mean str?");
}

static void check_kinds(void)
{
	is_refused(EVENT_RECORD, "rwbs + 1", 0, "rwbs is a text, not a number");
	is_refused(EVENT_RECORD, "1 + rwbs", 4, "rwbs is a text, not a number");
	is_refused(EVENT_RECORD, "!rwbs", 1, "rwbs is a text, not a number");
	is_refused(EVENT_RECORD, "error && rwbs", 9, "rwbs is a text, not a number");
	is_refused(EVENT_RECORD, "rwbs < comm", 5, "compare texts with ==, != or like");
	is_refused(EVENT_RECORD, "rwbs == 5", 8, "5 is a number, but rwbs is a text");
	is_refused(EVENT_RECORD, "error == \"a\"", 0, "error is a number, but \"a\" is a text");
	is_refused(EVENT_RECORD, "filename == \"a\"", 0,
		   "filename is a pointer: write str(filename)");
	is_refused(EVENT_RECORD, "filename like a*", 0,
		   "filename is a pointer: write str(filename)");
	is_refused(EVENT_RECORD, "error like a*", 0,
		   "like requires a text, and error is not a text");
	is_refused(EVENT_RECORD, "error ? rwbs : 1", 6,
		   "? requires two texts or two numbers: rwbs is a text, 1 is not");
	is_refused(EVENT_RECORD, "kstack + 1", 0,
		   "kstack is a stack: it can only be a key or be shown");
	is_refused(EVENT_RECORD, "rwbs == kstack", 8,
		   "kstack is a stack: it can only be a key or be shown");
	is_refused(EVENT_RECORD, "1.5 + 1", 0, "expected a whole number of up to 64 bits, not 1.5");
}

static void check_types(void)
{
	is_refused(EVENT_RAW, "rq->in", 0, "rq->in is struct inner: name a member: x, y");
	is_refused(EVENT_RAW, "in", 0, "in is passed by value: its members cannot be read");
	is_refused(EVENT_RAW, "rq.tag", 2, "rq is a pointer: write ->");
	is_refused(EVENT_RAW, "rq->in->x", 6, "rq->in is not a pointer: write .");
	is_refused(EVENT_RAW, "rq->tag->x", 7, "rq->tag has no members: it is not a struct");
	is_refused(EVENT_RAW, "rq->tag.x", 7, "rq->tag has no members: it is not a struct");
	is_refused(EVENT_RAW, "rq->later->x", 9, "the type that rq->later points to is unknown");
	is_refused(EVENT_RAW, "(rq + 1)->tag", 8, "rq + 1 has no members: it is not a struct");
	is_refused(EVENT_RECORD, "common_pid", 0,
		   "common_pid: programs cannot read the common fields of an event");
}

static void check_places(void)
{
	is_refused(EVENT_RECORD, "latency", 0,
		   "latency requires a pair, or functions: 'hist fn:NAME of latency'");
	is_refused(EVENT_RECORD, "entry.bytes", 0,
		   "entry.bytes: entry and exit require a pair; write bytes");
	is_refused(EVENT_FN, "1 + ret", 4,
		   "ret is available only where a function returns (ret:NAME, userret:PATH:NAME)");
	is_refused(EVENT_PUT, "ret", 0, "ret is not available: the function returns nothing");
	is_refused(EVENT_RECORD, "arg0", 0, "this event has no arguments");
	is_refused(EVENT_RET, "arg0", 0, "this event has no arguments");
	is_refused(EVENT_FN, "arg4", 0, "this event has 4 arguments: arg0 to arg3");
	is_refused(EVENT_USER, "arg12", 0, "this event has 12 arguments: arg0 to arg11");
	is_refused(EVENT_USDT, "arg3", 0, "this event has 3 arguments: arg0 to arg2");
}

static void check_calls(void)
{
	is_refused(EVENT_RECORD, "str()", 0, "write str(pointer) or str(pointer, length)");
	is_refused(EVENT_RECORD, "str(cmd, 1, 2)", 0, "write str(pointer) or str(pointer, length)");
	is_refused(EVENT_RECORD, "str(cmd, 0)", 9, "expected a number from 1 to 200, not 0");
	is_refused(EVENT_RECORD, "str(cmd, 201)", 9, "expected a number from 1 to 200, not 201");
	is_refused(EVENT_RECORD, "str(cmd, error)", 9,
		   "expected a number from 1 to 200, not error");
	is_refused(EVENT_RECORD, "str(\"a\")", 0, "str(\"a\"): this is already a text");
	is_refused(EVENT_RECORD, "str(kstack)", 4, "kstack is a stack, not a pointer");
	is_refused(EVENT_RECORD, "kstack(128)", 7, "expected a number from 1 to 127, not 128");
	is_refused(EVENT_RECORD, "sym(rwbs)", 4, "rwbs is a text, not a number");
	is_refused(EVENT_RECORD, "dev(1, 2)", 0, "write dev(number)");
	is_refused(EVENT_RECORD, "args()", 0, "write args(argv)");
}

static void check_lengths(void)
{
	char text[300] = "rwbs like ";
	struct expr_error error;

	memset(text + 10, 'x', 64);
	ok(!make(text, EVENT_RECORD, -1, &error) && error.at == 10, "a glob of 64 characters: %s",
	   error.message);
	memset(text, 0, sizeof(text));
	strcpy(text, "rwbs == \"");
	memset(text + 9, 'x', 201);
	strcat(text, "\"");
	ok(!make(text, EVENT_RECORD, -1, &error) && error.at == 8, "a text of 201 characters: %s",
	   error.message);
}

/* ---- the rest ---- */

static void check_same(void)
{
	static const char *const texts[] = { "bytes",	    "bytes + 1",   "bytes + 2",
					     "rwbs",	    "str(cmd, 8)", "str(cmd, 9)",
					     "rwbs like a", "rwbs like b", "bytes / 3",
					     "error / 3" };
	enum { NR = sizeof(texts) / sizeof(texts[0]) };
	struct value *a[NR], *b[NR];
	struct expr_error error;
	size_t i, j, wrong = 0;

	for (i = 0; i < NR; i++) {
		a[i] = make(texts[i], EVENT_RECORD, -1, &error);
		b[i] = make(texts[i], EVENT_RECORD, -1, &error);
	}
	for (i = 0; i < NR; i++)
		for (j = 0; j < NR; j++)
			wrong += value__is_same(a[i], b[j]) != (i == j);
	is_u64(wrong, 0, "values are the same, or not");
	for (i = 0; i < NR; i++) {
		value__free(a[i]);
		value__free(b[i]);
	}
}

/* At the events of all system calls. */
static void check_compat(void)
{
	struct value_world world = { .is_compat = true };
	struct value_result result;
	struct expr_error error;
	struct value *v;

	event_probes[EVENT_RAW].compat = (struct probe_compat){ .at = 16, .size = 4, .bits = 2 };
	is_value(EVENT_RAW, "syscall(nr_bytes)", "(compat u32$1):syscall");
	is_value(EVENT_RAW, "syscall(nr_bytes) == 7", "(== (compat u32$1):syscall 7)");
	is_pair("syscall(entry.nr_bytes)", "saved#0:syscall", "(compat u32$1):syscall");
	v = make("syscall(7)", EVENT_RAW, -1, &error);
	value__reckon(v, &world, &result);
	is_u64(result.number, 7 | 1ull << 32, "a 32-bit call has a number of its own");
	world.is_compat = false;
	value__reckon(v, &world, &result);
	is_u64(result.number, 7, "one of 64 bits has its number");
	value__free(v);
	event_probes[EVENT_RAW].compat.bits = 0;
	is_value(EVENT_RAW, "syscall(nr_bytes)", "u32$1:syscall");
}

static void check_matches(void)
{
	ok(value__matches("", "") && value__matches("", "*") && !value__matches("", "?"),
	   "nothing");
	ok(value__matches("abc", "a?c") && !value__matches("abc", "a?"), "?");
	ok(value__matches("abcabd", "*abd") && value__matches("abcabd", "a*b*d"), "*");
	ok(!value__matches("abcabd", "*abc") && !value__matches("abc", "ABC"), "neither");
}

static bool read_nothing(void *to, uint64_t address, size_t bytes)
{
	(void)to, (void)address, (void)bytes;
	return false;
}

static void check_unreadable(void)
{
	static const uint8_t record[96] = { [64] = 1 };
	struct value_world world = { .record = record,
				     .record_bytes = sizeof(record),
				     .read = read_nothing };
	struct value_result result;
	struct expr_error error;
	struct value *v = make("str(filename, 9)", EVENT_RECORD, -1, &error);

	value__reckon(v, &world, &result);
	ok(!result.text[0] && value__is_unreadable(result.text, v->shape.size),
	   "a text that cannot be read is empty and marked");
	ok(!value__is_unreadable("1234567", 8) && !value__is_unreadable("\0\0\0\0\0\0\0", 8),
	   "others are not, nor is an empty one");
	value__free(v);
	v = make("str(filename, 9) == \"\"", EVENT_RECORD, -1, &error);
	value__reckon(v, &world, &result);
	is_u64(result.number, 1, "in a condition it is an empty text");
	is_u64(world.faults, 2, "both reads are counted");
	value__free(v);
}

static void check_reckoning(void)
{
	static const uint8_t record[96] = { [28] = 200, [32] = 0xf8, 0xff, 0xff, 0xff, 'W', 'S' };
	static const struct {
		const char *text;
		int64_t want;
	} cases[] = { { "bytes", 200 },	       { "error", -8 },	       { "error / 3", -2 },
		      { "error % 3", -2 },     { "error >> 1", -4 },   { "bytes / sector", 0 },
		      { "bytes << 64", 0 },    { "rwbs == WS", 1 },    { "rwbs like ?S", 1 },
		      { "rwbs like S*", 0 },   { "error < bytes", 1 }, { "bytes - 300", -100 },
		      { "error ? 5 : 6", 5 },  { "!error", 0 },	       { "~bytes", -201 },
		      { "sector || bytes", 1 } };
	struct value_world world = { .record = record, .record_bytes = sizeof(record) };
	struct value_result result;
	struct expr_error error;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct value *v = make(cases[i].text, EVENT_RECORD, -1, &error);

		value__reckon(v, &world, &result);
		is_u64(result.number, (uint64_t)cases[i].want, cases[i].text);
		value__free(v);
	}
	is_u64(world.divisions_by_zero, 1, "a division by zero was counted");
}

int main(void)
{
	events_make();
	check_builtins();
	check_fields();
	check_members();
	check_elements();
	check_signs();
	check_constants();
	check_units();
	check_texts();
	check_rooms();
	check_pairs();
	check_pair_errors();
	check_unknown();
	check_kinds();
	check_types();
	check_places();
	check_calls();
	check_lengths();
	check_same();
	check_compat();
	check_matches();
	check_unreadable();
	check_reckoning();
	btf__free(event_btf);
	return done_testing();
}
