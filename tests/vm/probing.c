/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probing.c: what src/probe/run/run.h gives while a COMMAND runs, as plain as it comes: no table,
 *no option that is not the engine's. One line for each row or record, one for the run:
 *
 *	probing [-p] [-b] [-v] count|sum|hist|print|pair|stacks EVENT... [CLAUSE TEXT]... --
 *COMMAND... fn:vfs_read 17 hits 17 added 17 sent 0 begun 0 lost 0 skipped 0 exact
 *
 * CLAUSE: of, by, show, on, if. A pair's last EVENT is its end. -p: only what the COMMAND does. -b:
 *and a function that is none. -v: says what it does. `probing --call N` sleeps N times in a
 *function of its own, probing_target, in which is its USDT probe probing:call.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "symbol/kallsyms.h"
#include "base/log.h"
#include "probe/find/find.h"
#include "probe/run/run.h"

/* ---- what can be probed ---- */

uint16_t probing_semaphore __attribute__((section(".probes")));

/* What sys/sdt.h makes of DTRACE_PROBE1(probing, call, n) with a semaphore. */
#define PROBING_NOTE                                                               \
	"990: nop\n"                                                               \
	".pushsection .note.stapsdt,\"\",\"note\"\n"                               \
	".balign 4\n"                                                              \
	".4byte 992f-991f, 994f-993f, 3\n"                                         \
	"991: .asciz \"stapsdt\"\n"                                                \
	"992: .balign 4\n"                                                         \
	"993: .8byte 990b, _.stapsdt.base, probing_semaphore\n"                    \
	".asciz \"probing\"\n.asciz \"call\"\n.asciz \"-8@%0\"\n"                  \
	"994: .balign 4\n"                                                         \
	".popsection\n"                                                            \
	".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"    \
	".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n" \
	".popsection\n"

int probing_target(int n);
__attribute__((noinline)) int probing_target(int n)
{
	__asm__ volatile(PROBING_NOTE : : "r"((long)n));
	usleep(5000);
	return n + 1;
}

static int call(long times)
{
	int sum = 0;

	for (long i = 0; i < times; i++)
		sum = probing_target(sum);
	return sum != times;
}

/* ---- what comes ---- */

struct probing {
	const struct plan *plan;
	struct run *run;
	size_t nr_open;
	bool in_order;
	uint64_t last_ns;
};

static void show_part(const struct probing *p, const struct plan_part *part, const void *bytes)
{
	const char *at = (const char *)bytes + part->at;
	struct io_stack stack;
	uint64_t number;

	if (part->shape.is_text) {
		printf("%.*s ", (int)part->shape.size, at);
		return;
	}
	memcpy(&number, at, sizeof(number));
	if (part->shape.unit == VALUE_PROBE_NAME)
		printf("%s ", run__probe(p->run, number)->name);
	else if (part->shape.unit == VALUE_FUNC_NAME)
		printf("%s ", run__probe(p->run, number)->func);
	else if (part->shape.unit == VALUE_KSTACK_ID || part->shape.unit == VALUE_USTACK_ID) {
		run__stack(p->run, number, part->shape.unit == VALUE_USTACK_ID, &stack);
		printf("%u-frames ", stack.nr);
	} else {
		printf("%" PRId64 " ", (int64_t)number);
	}
}

static void show_row(void *arg, const void *key, uint32_t bucket, const struct probe_row *row)
{
	const struct probing *p = arg;

	for (size_t i = 0; i < p->plan->nr_keys; i++)
		show_part(p, &p->plan->keys[i], key);
	printf("%" PRIu64, (uint64_t)row->count);
	if (plan__has_buckets(p->plan))
		printf(" bucket %u", bucket);
	if (p->plan->action != LINE_COUNT && p->plan->action != LINE_STACKS)
		printf(" sum %" PRIu64 " max %" PRIu64, (uint64_t)row->sum, (uint64_t)row->max);
	putchar('\n');
}

static int show_record(void *arg, const struct probe_record *record, const void *values)
{
	struct probing *p = arg;
	const struct plan_probe *of = &p->plan->probes[record->probe];

	printf("%s %.16s %" PRIu64 " ", of->probe->name, record->comm,
	       (uint64_t)record->latency_ns);
	for (size_t i = 0; i < of->nr_shown; i++)
		show_part(p, &of->shown[i].part, values);
	putchar('\n');
	p->in_order &= record->ns >= p->last_ns;
	p->last_ns = record->ns;
	return 0;
}

static void count_open(void *arg, const void *key, const struct probe_start *start)
{
	struct probing *p = arg;

	p->nr_open += start->ns > 0;
	(void)key;
}

static void show_counts(struct probing *p)
{
	struct run_counts c;

	run__counts(p->run, &c);
	printf("hits %" PRIu64 " added %" PRIu64 " sent %" PRIu64 " begun %" PRIu64 " lost %" PRIu64
	       " skipped %" PRIu64 " %s\n",
	       c.counters[PROBE_HITS], c.counters[PROBE_ADDED], c.counters[PROBE_SENT],
	       c.counters[PROBE_BEGUN],
	       c.counters[PROBE_LOST_KEY] + c.counters[PROBE_LOST_RING] +
		       c.counters[PROBE_LOST_START],
	       c.skipped, c.is_exact ? "exact" : c.inexact);
	if (plan__has_records(p->plan))
		printf("records %s\n", p->in_order ? "in order" : "not in order");
	if (p->plan->has_ends)
		printf("open %zu\n", p->nr_open);
}

/* ---- the run ---- */

/* Waits at the gate until the other end is closed. */
static pid_t start_child(char **argv, int gate[2])
{
	pid_t pid;
	char byte;

	if (pipe(gate))
		return -1;
	pid = fork();
	if (pid)
		return pid;
	close(gate[1]);
	if (read(gate[0], &byte, 1) < 0)
		_exit(126);
	execvp(argv[0], argv);
	_exit(127);
}

static int watch(struct probing *p, pid_t pid, const int gate[2])
{
	struct run_wants wants = { .plan = p->plan };
	int err = run__open(&p->run, &wants), status;

	close(gate[0]);
	close(gate[1]);
	waitpid(pid, &status, 0);
	if (err)
		return err;
	run__detach(p->run);
	err = run__read(p->run, show_row, p);
	err = err ?: run__records(p->run, UINT64_MAX, show_record, p);
	err = err ?: run__open_pairs(p->run, count_open, p);
	show_counts(p);
	run__free(p->run);
	return err;
}

/* ---- the line ---- */

/* One that is there, but that nothing may be attached to: the code of tracing itself. */
static int add_bad(struct probe_list *list)
{
	const char *const names[] = { "trace_call_bpf" };
	struct probe bad = { .kind = list->probes[0].kind, .name = strdup("fn:trace_call_bpf") };

	bad.func = bad.name + strlen("fn:");
	kallsyms__find("/proc/kallsyms", names, &bad.address, 1);
	return probe_list__add(list, &bad);
}

static char **clause_of(struct line *line, const char *word)
{
	const struct {
		const char *word;
		char **text;
	} clauses[] = { { "of", &line->of },
			{ "by", &line->by },
			{ "on", &line->on },
			{ "show", &line->show },
			{ "if", &line->condition } };

	for (size_t i = 0; i < sizeof(clauses) / sizeof(clauses[0]); i++)
		if (!strcmp(clauses[i].word, word))
			return clauses[i].text;
	return NULL;
}

static enum line_action action_of(const char *word)
{
	static const char *const words[] = {
		[LINE_COUNT] = "count", [LINE_SUM] = "sum",	  [LINE_HIST] = "hist",
		[LINE_PRINT] = "print", [LINE_STACKS] = "stacks", [LINE_PAIR] = "pair",
	};
	int action = LINE_PAIR;

	while (action > LINE_COUNT && strcmp(words[action], word))
		action--;
	return (enum line_action)action;
}

/* Returns the COMMAND. */
static char **read_line(struct line *line, char **words)
{
	line->action = action_of(*words++);
	line->kernel_stack = line->action == LINE_STACKS;
	for (; *words && strcmp(*words, "--"); words++) {
		char **text = clause_of(line, *words);

		if (text)
			*text = *++words;
		else
			line->events[line->nr_events++] = *words;
	}
	return *words ? words + 1 : NULL;
}

struct found {
	struct finder *finder;
	struct probe_list probes, ends;
	struct find_misses misses;
};

static int find(struct found *found, const struct line *line, bool with_bad)
{
	int err = 0;

	found->finder = finder__new();
	for (size_t i = 0; !err && i < line->nr_events; i++)
		err = finder__find(found->finder, line->events[i],
				   line->action == LINE_PAIR && i + 1 == line->nr_events
					   ? &found->ends
					   : &found->probes,
				   &found->misses);
	return !err && with_bad ? add_bad(&found->probes) : err;
}

int main(int argc, char **argv)
{
	struct line line = { 0 };
	struct plan plan = { 0 };
	struct probing p = { .plan = &plan, .in_order = true };
	struct found found = { 0 };
	bool only_it = false, with_bad = false;
	int gate[2], err;
	char **command;
	pid_t pid;

	if (argc == 3 && !strcmp(argv[1], "--call"))
		return call(strtol(argv[2], NULL, 10));
	for (argv++; *argv && argv[0][0] == '-'; argv++) {
		only_it |= argv[0][1] == 'p';
		with_bad |= argv[0][1] == 'b';
		if (argv[0][1] == 'v')
			log_set_verbose(1);
	}
	command = *argv ? read_line(&line, argv) : NULL;
	if (!command)
		return 2;
	err = find(&found, &line, with_bad);
	pid = start_child(command, gate);
	line.pid = only_it ? (uint32_t)pid : 0;
	err = err ?: plan__make(&plan, &line, &found.probes, &found.ends);
	err = err ?: watch(&p, pid, gate);
	plan__free(&plan);
	probe_list__free(&found.probes);
	probe_list__free(&found.ends);
	find_misses__free(&found.misses);
	finder__free(found.finder);
	return err < 0 ? -err : 0;
}
