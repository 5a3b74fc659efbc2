/* SPDX-License-Identifier: BSD-2-Clause */
/* probe_plan.c: where the parts of keys, records and notes lie, for one event, many and pairs. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "wire/probe_maps.h"
#include "probe_event.h"

static struct probe_list list_of(int event, size_t nr)
{
	return (struct probe_list){ nr ? &event_probes[event] : NULL, nr };
}

/* What plan__make says, on stderr, into event_said. */
static int make_quietly(struct plan *plan, const struct line *line, struct probe_list probes,
			struct probe_list ends)
{
	FILE *said = tmpfile();
	int err, kept = dup(STDERR_FILENO);
	size_t len;

	dup2(fileno(said), STDERR_FILENO);
	err = plan__make(plan, line, &probes, &ends);
	fflush(stderr);
	dup2(kept, STDERR_FILENO);
	close(kept);
	rewind(said);
	len = fread(event_said, 1, sizeof(event_said) - 1, said);
	event_said[len] = 0;
	fclose(said);
	return err;
}

static void is_refused(const struct line *line, int start, int end, const char *want)
{
	struct plan plan;
	int err = make_quietly(&plan, line, list_of(start, 1), list_of(end, end >= 0));

	is_u64((uint64_t)-err, EINVAL, "refused");
	is_str(event_said, want, "for that reason");
}

static bool part_is(const struct plan_part *part, const char *text, uint32_t at, uint32_t size)
{
	bool good = part->text_len == strlen(text) && !memcmp(part->text, text, part->text_len) &&
		    part->at == at && part->shape.size == size;

	if (!good)
		printf("# '%.*s' at %u, %u bytes\n", (int)part->text_len, part->text, part->at,
		       part->shape.size);
	return good;
}

/* ---- one event ---- */

static void check_keys(void)
{
	const struct line line = { .action = LINE_COUNT,
				   .by = "rwbs, error / 2 ,str(cmd, 20)",
				   .condition = "bytes > 4Ki",
				   .pid = 7,
				   .cgroup = 8 };
	struct probe_list probes = list_of(EVENT_RECORD, 1);
	struct plan plan;

	if (!ok(!plan__make(&plan, &line, &probes, NULL), "a plan"))
		return;
	is_u64(plan.nr_keys, 3, "three keys");
	ok(part_is(&plan.keys[0], "rwbs", 0, 16), "the first");
	ok(part_is(&plan.keys[1], "error / 2", 16, 8), "the second");
	ok(plan.keys[1].shape.is_signed, "which is signed");
	ok(part_is(&plan.keys[2], "str(cmd, 20)", 24, 24), "the third");
	is_u64(plan.key_bytes, 48, "all of them");
	is_u64(plan__row_key_bytes(&plan), 48, "and no bucket");
	ok(plan.probes[0].condition->op == VALUE_GT, "the condition");
	ok(plan.pid == 7 && plan.cgroup == 8, "the tasks");
	ok(!plan.has_ends && !plan__has_records(&plan) && !plan__has_buckets(&plan), "no more");
	plan__free(&plan);
}

static void check_hist(void)
{
	const struct line line = { .action = LINE_HIST, .of = "error", .by = "probe" };
	struct probe_list probes = list_of(EVENT_RECORD, 1);
	struct plan plan;

	if (!ok(!plan__make(&plan, &line, &probes, NULL), "a histogram"))
		return;
	ok(plan__has_buckets(&plan) && plan__row_key_bytes(&plan) == 16, "a bucket behind the key");
	ok(plan.of_is_signed && plan.of_unit == VALUE_PLAIN && !plan.is_latency, "of a number");
	plan__free(&plan);
}

static void check_print(void)
{
	const struct line all = { .action = LINE_PRINT };
	const struct line some = { .action = LINE_PRINT, .show = "str(filename, 9), bytes" };
	struct probe_list probes = list_of(EVENT_RECORD, 2);
	struct plan plan;

	if (!ok(!plan__make(&plan, &all, &probes, NULL), "print all fields of two events"))
		return;
	is_u64(plan.probes[0].nr_shown, 11, "those that have a value");
	ok(part_is(&plan.probes[0].shown[0].part, "dev", 0, 8), "the first event's first");
	ok(part_is(&plan.probes[1].shown[0].part, "rq", 0, 8), "the second's");
	is_u64(plan.probes[1].nr_shown, 3, "of the second a struct is left out");
	ok(plan__has_records(&plan) && !plan__row_key_bytes(&plan), "records, no rows");
	plan__free(&plan);
	probes.nr = 1;
	if (!ok(!plan__make(&plan, &some, &probes, NULL), "print some"))
		return;
	ok(part_is(&plan.probes[0].shown[1].part, "bytes", 16, 8), "one behind the other");
	is_u64(plan__record_bytes(&plan.probes[0]), sizeof(struct probe_record) + 24, "a record");
	plan__free(&plan);
}

static bool may_read_again(const char *event, const struct line *line)
{
	struct probe call = event_probes[EVENT_RECORD];
	struct probe_list probes = { &call, 1 };
	struct plan plan;
	bool may;

	call.name = (char *)event;
	if (plan__make(&plan, line, &probes, NULL))
		return false;
	may = plan__may_read_again(&plan, &plan.probes[0]);
	plan__free(&plan);
	return may;
}

static void check_read_again(void)
{
	static const char call[] = "syscalls:sys_enter_x", all[] = "raw_syscalls:sys_enter";
	const struct line shown = { .action = LINE_PRINT, .show = "str(filename), args(filename)" };
	const struct line key = { .action = LINE_COUNT, .by = "bytes, str(filename)" };
	const struct line condition = { .action = LINE_COUNT,
					.condition = "str(filename) == \"a\"" };
	const struct line record = { .action = LINE_PRINT, .show = "comm, rwbs, bytes" };
	const struct line args = { .action = LINE_PRINT, .show = "args(filename)" };
	const struct line both = { .action = LINE_PRINT,
				   .show = "str(filename), args(filename), args(filename)" };
	const struct line stack = { .action = LINE_PRINT, .show = "str(filename), kstack" };

	ok(may_read_again(call, &shown) && may_read_again(all, &shown), "a text that is shown");
	ok(may_read_again(call, &key), "in a key");
	ok(may_read_again(call, &condition), "in a condition");
	ok(!may_read_again("syscalls:sys_exit_x", &shown), "not as a call ends");
	ok(!may_read_again("block:rq_issue", &shown), "nor at another event");
	ok(!may_read_again(call, &record) && !may_read_again(call, &args), "nor without a text");
	ok(!may_read_again(call, &both), "nor with two lists of arguments, of which one is kept");
	ok(!may_read_again(call, &stack), "nor with a stack");
}

static void check_stacks(void)
{
	const struct line line = {
		.action = LINE_STACKS, .by = "cpu", .kernel_stack = true, .user_stack = true
	};
	const struct line plain = { .action = LINE_STACKS };
	const struct line count = { .action = LINE_COUNT, .by = "ustack(3)" };
	struct probe_list probes = list_of(EVENT_RECORD, 1);
	struct plan plan;

	if (!ok(!plan__make(&plan, &line, &probes, NULL), "stacks"))
		return;
	ok(plan.nr_keys == 3 && part_is(&plan.keys[1], "kstack", 8, 8) &&
		   part_is(&plan.keys[2], "ustack", 16, 16),
	   "behind the keys");
	ok(plan.kernel_stack && plan.user_stack, "both are taken");
	plan__free(&plan);
	ok(!plan__make(&plan, &plain, &probes, NULL) && plan.kernel_stack && !plan.user_stack,
	   "the kernel's, if nobody says which");
	plan__free(&plan);
	ok(!plan__make(&plan, &count, &probes, NULL) && !plan.kernel_stack && plan.user_stack &&
		   plan.keys[0].shape.depth == 3,
	   "a stack as a key");
	plan__free(&plan);
}

/* ---- many events ---- */

static void check_many(void)
{
	const struct line line = { .action = LINE_SUM, .of = "ret", .by = "comm, name, probe" };
	static struct probe_field fields[][2] = {
		{ { .name = "name", .type = { .kind = TYPE_TEXT, .size = 8 }, .at = 8 },
		  { .name = "ret", .type = EVENT_NUMBER(4, false), .at = 16 } },
		{ { .name = "name", .type = { .kind = TYPE_TEXT, .size = 30 }, .at = 8 },
		  { .name = "ret", .type = EVENT_NUMBER(4, true), .at = 40 } }
	};
	static char names[][8] = { "a:one", "a:two" };
	struct probe probes[] = {
		{ .name = names[0], .func = names[0] + 2, .fields = fields[0], .nr_fields = 2 },
		{ .name = names[1], .func = names[1] + 2, .fields = fields[1], .nr_fields = 2 }
	};
	struct probe_list list = { probes, 2 };
	struct plan plan;

	if (!ok(!plan__make(&plan, &line, &list, NULL), "two events"))
		return;
	ok(part_is(&plan.keys[1], "name", 16, 32), "a text as wide as the widest");
	ok(part_is(&plan.keys[2], "probe", 48, 8), "and what stands behind it");
	ok(plan.of_is_signed, "signed, if one is");
	is_u64(plan.probes[1].keys[2]->number, 1, "each knows its number");
	ok(!plan__is_alike(&plan.probes[0], &plan.probes[1]), "they need a program each");
	plan__free(&plan);
	fields[1][0].type.size = 8;
	fields[1][1] = fields[0][1];
	ok(!plan__make(&plan, &line, &list, NULL) &&
		   plan__is_alike(&plan.probes[0], &plan.probes[1]),
	   "one for both, if nothing but the probe differs");
	plan__free(&plan);
	fields[1][0].type = (struct type)EVENT_NUMBER(4, false);
	is_u64((uint64_t)-make_quietly(&plan, &line, list, (struct probe_list){ 0 }), EINVAL,
	       "a key that is a text for one and a number for the other");
	is_str(event_said,
	       "iosonar: by: 'name' is a number for a:two, but not for the events "
	       "before it\n",
	       "is refused");
}

/* ---- pairs ---- */

static void check_pair(void)
{
	const struct line line = { .action = LINE_PAIR,
				   .on = "rq = sector, nr_bytes=bytes",
				   .by = "entry.rq->q->disk, nr_bytes",
				   .condition = "entry.nr_bytes > 1 && str(entry.name) == a" };
	struct probe_list starts = list_of(EVENT_RAW, 1), ends = list_of(EVENT_RECORD, 1);
	struct plan plan;

	if (!ok(!plan__make(&plan, &line, &starts, &ends), "a pair"))
		return;
	ok(plan.has_ends && !plan.is_same_task && plan.probes[1].is_end, "a start and an end");
	is_u64(plan__start_key_bytes(&plan), 16, "share two numbers");
	ok(plan.probes[0].on[0]->op == VALUE_ARG && plan.probes[1].on[0]->op == VALUE_RECORD &&
		   plan.probes[1].on[1]->offset == 28,
	   "each its own");
	is_u64(plan.nr_saved, 3, "the start saves a text, a number and a truth");
	ok(part_is(&plan.saved[0], "entry.rq->q->disk", 0, 40), "the text");
	ok(part_is(&plan.saved[1], "nr_bytes", 40, 8), "the number");
	is_u64(plan__start_bytes(&plan), sizeof(struct probe_start) + 56, "all of it");
	ok(plan.probes[1].keys[1]->op == VALUE_SAVED &&
		   plan.probes[1].keys[1]->offset == sizeof(struct probe_start) + 40,
	   "and the end knows where it lies");
	ok(plan.probes[1].of->op == VALUE_LATENCY && plan.is_latency &&
		   plan.of_unit == VALUE_DURATION,
	   "what is added up is the latency");
	ok(plan__has_buckets(&plan) && plan__row_key_bytes(&plan) == 56, "in a histogram");
	plan__free(&plan);
}

static void check_each(void)
{
	const struct line line = {
		.action = LINE_PAIR, .on = "tid", .each = true, .kernel_stack = true
	};
	struct probe_list starts = list_of(EVENT_RAW, 1), ends = list_of(EVENT_RECORD, 1);
	struct plan plan;

	if (!ok(!plan__make(&plan, &line, &starts, &ends), "a record for each pair"))
		return;
	ok(plan__has_records(&plan) && !plan.probes[1].of && plan.probes[1].nr_shown == 1, "one");
	ok(part_is(&plan.probes[1].shown[0].part, "kstack", 0, 8) && plan.kernel_stack &&
		   plan.start_kernel_stack && !plan.start_user_stack,
	   "with the stack of its start");
	plan__free(&plan);
}

/* A name may be a field of one start and a builtin of the other. */
static void check_two_starts(void)
{
	const struct line line = { .action = LINE_PAIR, .on = "tid", .by = "entry.comm" };
	const struct line bad = { .action = LINE_PAIR, .on = "tid", .by = "entry.bytes" };
	struct probe_list starts = list_of(EVENT_RECORD, 2), ends = list_of(EVENT_PROFILE, 1);
	struct plan plan;

	if (!ok(!plan__make(&plan, &line, &starts, &ends), "two starts"))
		return;
	ok(plan.nr_saved == 1 && part_is(&plan.saved[0], "entry.comm", 0, 24), "save the same");
	ok(plan.probes[0].saved[0]->op == VALUE_CHARS && plan.probes[1].saved[0]->op == VALUE_COMM,
	   "each as it can");
	plan__free(&plan);
	is_u64((uint64_t)-make_quietly(&plan, &bad, starts, ends), EINVAL, "what only one has");
	is_str(event_said,
	       "iosonar: at the start: raw:rq_done has no field 'bytes'; available: rq, nr_bytes, "
	       "in, "
	       "name, pid, tid, uid, comm, cpu, cgroup, ...\nentry.bytes\n      ^\n",
	       "is refused");
}

static void check_functions(void)
{
	const struct line line = {
		.action = LINE_HIST, .of = "latency", .by = "nr_bytes, func, ret", .pid = 5
	};
	struct probe_list starts = list_of(EVENT_FN, 1), ends = list_of(EVENT_RET, 1);
	struct plan plan;

	if (!ok(!plan__make(&plan, &line, &starts, &ends), "a function and its return"))
		return;
	ok(plan.has_ends && plan.is_same_task && plan.nr_on == 2, "meet by thread and function");
	ok(plan.probes[0].on[1]->number == 0 && plan.probes[1].on[1]->number == 0,
	   "which has one number");
	ok(plan.probes[1].keys[0]->op == VALUE_SAVED && plan.probes[1].keys[2]->op == VALUE_RET,
	   "arguments are the entry's, the result is the return's");
	ok(plan.is_latency && plan.of_unit == VALUE_DURATION, "its latency");
	plan__free(&plan);
	is_refused(&line, EVENT_FN, EVENT_PUT, "iosonar: ret:put is an end without a start\n");
}

/* ---- refusals ---- */

static void check_refusals(void)
{
	is_refused(&(struct line){ .action = LINE_COUNT, .by = "rwbs, byts" }, EVENT_RECORD, -1,
		   "iosonar: by: unknown field 'byts'; did you mean bytes?\nrwbs, byts\n      ^\n");
	is_refused(&(struct line){ .action = LINE_COUNT, .by = "rwbs," }, EVENT_RECORD, -1,
		   "iosonar: by: expected a field, a number or a text\nrwbs,\n     ^\n");
	is_refused(&(struct line){ .action = LINE_COUNT, .condition = "rwbs" }, EVENT_RECORD, -1,
		   "iosonar: if: expected a number, but this is a text\nrwbs\n^\n");
	is_refused(&(struct line){ .action = LINE_COUNT, .condition = "error, 1" }, EVENT_RECORD,
		   -1,
		   "iosonar: if: expected one expression, not a list (join conditions with "
		   "&&)\nerror, 1\n  "
		   "     ^\n");
	is_refused(&(struct line){ .action = LINE_HIST, .of = "kstack" }, EVENT_RECORD, -1,
		   "iosonar: of: expected a number, but this is a stack\nkstack\n^\n");
	is_refused(&(struct line){ .action = LINE_PAIR, .on = "tid, rwbs" }, EVENT_RECORD,
		   EVENT_RAW,
		   "iosonar: on: block:rq_issue: start and end must share a number, as in: on tid\n"
		   "tid, rwbs\n     ^\n");
	is_refused(&(struct line){ .action = LINE_PAIR, .on = "tid = tidd" }, EVENT_RECORD,
		   EVENT_RAW,
		   "iosonar: on: raw:rq_done: unknown field 'tidd'; did you mean tid?\n"
		   "tid = tidd\n      ^\n");
	is_refused(&(struct line){ .action = LINE_PAIR, .on = "tid,tid,tid,tid,tid" }, EVENT_RECORD,
		   EVENT_RAW,
		   "iosonar: on: too many: at most 4\n"
		   "tid,tid,tid,tid,tid\n                ^\n");
	is_refused(&(struct line){ .action = LINE_COUNT,
				   .by = "str(cmd,200), str(cmd,200), str(cmd,200)" },
		   EVENT_RECORD, -1,
		   "iosonar: by: the key is 624 bytes, the maximum is 504; shorten its texts: "
		   "str(x, 32)\n");
	is_refused(&(struct line){ .action = LINE_HIST, .of = "bytes", .buckets = BUCKETS_LINEAR },
		   EVENT_RECORD, -1,
		   "iosonar: --linear requires FROM:TO:STEP with FROM below TO and a step above 0, "
		   "as in 0:64:1\n");
	is_refused(&(struct line){ .action = LINE_HIST,
				   .of = "bytes",
				   .buckets = BUCKETS_LINEAR,
				   .linear_from = INT64_MIN,
				   .linear_to = INT64_MAX,
				   .linear_step = 1 },
		   EVENT_RECORD, -1, "iosonar: --linear: too many steps: at most 65536\n");
}

int main(void)
{
	events_make();
	check_keys();
	check_hist();
	check_print();
	check_read_again();
	check_stacks();
	check_many();
	check_pair();
	check_each();
	check_two_starts();
	check_functions();
	check_refusals();
	btf__free(event_btf);
	return done_testing();
}
