/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_run.c: does a run count on this kernel what happens between its start and its end, and
 * nothing before or after, also where its programs are many? Is a refusal of the verifier shown as
 * the part of the line it is about? What happens is system calls of this process.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include "base/log.h"
#include "base/privilege.h"
#include "probe/find/find.h"
#include "probe/run/inside.h"
#include "tap.h"

/* ---- what others say ---- */

/* stderr goes to a file, until `said` gives back what is in it. */
static int saved_stderr, capture;

static void listen_to_stderr(void)
{
	fflush(stderr);
	saved_stderr = dup(STDERR_FILENO);
	capture = memfd_create("stderr", MFD_CLOEXEC);
	dup2(capture, STDERR_FILENO);
}

static const char *said(void)
{
	static char text[65536];
	ssize_t len;

	fflush(stderr);
	dup2(saved_stderr, STDERR_FILENO);
	close(saved_stderr);
	len = pread(capture, text, sizeof(text) - 1, 0);
	close(capture);
	text[len < 0 ? 0 : len] = 0;
	return text;
}

/* ---- counting ---- */

struct found {
	struct finder *finder;
	struct probe_list probes, ends;
	struct find_misses misses;
	struct plan plan;
	struct run *run;
};

static int open_run(struct found *f, const struct line *line)
{
	struct run_wants wants = { .plan = &f->plan };
	int err = 0;

	memset(f, 0, sizeof(*f));
	f->finder = finder__new();
	for (size_t i = 0; !err && i < line->nr_events; i++)
		err = finder__find(f->finder, line->events[i],
				   line->action == LINE_PAIR && i ? &f->ends : &f->probes,
				   &f->misses);
	err = err ?: plan__make(&f->plan, line, &f->probes, &f->ends);
	return err ?: run__open(&f->run, &wants);
}

static void close_run(struct found *f)
{
	run__free(f->run);
	plan__free(&f->plan);
	probe_list__free(&f->probes);
	probe_list__free(&f->ends);
	find_misses__free(&f->misses);
	finder__free(f->finder);
}

static void add_count(void *arg, const void *key, uint32_t bucket, const struct probe_row *row)
{
	*(uint64_t *)arg += row->count;
	(void)key, (void)bucket;
}

static uint64_t counted(struct run *run)
{
	uint64_t sum = 0;

	return run__read(run, add_count, &sum) ? UINT64_MAX : sum;
}

static void do_calls(int nr)
{
	while (nr--)
		syscall(SYS_getppid);
}

/* Of this process alone. */
static struct line line_of(enum line_action action, const char *event)
{
	return (struct line){
		.action = action, .events = { event }, .nr_events = 1, .pid = (uint32_t)getpid()
	};
}

static void test_count(void)
{
	struct line line = line_of(LINE_COUNT, "syscalls:sys_enter_getppid");
	struct run_counts counts;
	struct found f;

	do_calls(5);
	if (!ok(!open_run(&f, &line), "a run")) {
		close_run(&f);
		return;
	}
	do_calls(17);
	is_u64(counted(f.run), 17, "17 calls are counted while it runs");
	do_calls(2);
	run__detach(f.run);
	do_calls(5);
	is_u64(counted(f.run), 19, "and none after its end");
	run__counts(f.run, &counts);
	is_u64(counts.counters[PROBE_HITS], 19, "hits are as many");
	is_u64(counts.counters[PROBE_ADDED], 19, "all were added up");
	ok(!f.run->is_on, "one program does without a switch");
	close_run(&f);
}

/* ---- many keys ---- */

enum { KEYS_NR = 300, KEYS_EACH = 3 };

static void add_key(void *arg, const void *key, uint32_t bucket, const struct probe_row *row)
{
	uint64_t *counts = arg, number;

	memcpy(&number, key, sizeof(number));
	counts[number < KEYS_NR ? number : KEYS_NR] += row->count;
	(void)bucket;
}

static int hash_keys(const struct run *run)
{
	uint64_t key;
	int nr = 0;

	while (!bpf_map_get_next_key(run->maps.rows, nr++ ? &key : NULL, &key))
		;
	return nr - 1;
}

/* More than the front of a program holds: each key has its own row, here or in the hash. */
static void test_keys(void)
{
	struct line line = line_of(LINE_COUNT, "syscalls:sys_enter_lseek");
	uint64_t counts[KEYS_NR + 1] = { 0 };
	struct run_counts all;
	int nr_right = 0, nr_hash;
	struct found f;

	line.by = (char *)"offset";
	if (!ok(!open_run(&f, &line), "a run by offset")) {
		close_run(&f);
		return;
	}
	for (long i = 0; i < (long)KEYS_NR * KEYS_EACH; i++)
		syscall(SYS_lseek, -1, i % KEYS_NR, SEEK_SET);
	run__detach(f.run);
	ok(!run__read(f.run, add_key, counts), "rows are read");
	for (int i = 0; i < KEYS_NR; i++)
		nr_right += counts[i] == KEYS_EACH;
	is_u64((uint64_t)nr_right, KEYS_NR, "each key has its count");
	is_u64(counts[KEYS_NR], 0, "there is no other key");
	nr_hash = hash_keys(f.run);
	ok(nr_hash > KEYS_NR / 2, "%d keys are in the hash", nr_hash);
	ok(nr_hash <= KEYS_NR - PROBE_FRONT_ROWS / 2, "others in the front");
	run__counts(f.run, &all);
	is_u64(all.counters[PROBE_HITS], (uint64_t)KEYS_NR * KEYS_EACH, "all are hits");
	is_u64(all.counters[PROBE_ADDED], (uint64_t)KEYS_NR * KEYS_EACH, "and were added up");
	close_run(&f);
}

/* Their links are with another process by then. */
static void test_many(void)
{
	struct line line = line_of(LINE_COUNT, "syscalls:sys_enter_get*id");
	struct found f;

	line.by = (char *)"probe";
	if (!ok(!open_run(&f, &line), "a run with many programs")) {
		close_run(&f);
		return;
	}
	ok(f.run->is_on && f.run->closer >= 0, "a process of its own holds what is slow to close");
	ok(!waitpid(-1, NULL, WNOHANG) || errno == ECHILD, "which is no child of ours");
	do_calls(17);
	run__detach(f.run);
	do_calls(3);
	is_u64(counted(f.run), 17, "exactly what happened until the end");
	close_run(&f);
}

static int note_record(void *arg, const struct probe_record *record, const void *values)
{
	uint64_t *last_ns = arg, number;

	memcpy(&number, values, sizeof(number));
	tap_failed += record->ns < *last_ns || number != SYS_getppid;
	*last_ns = record->ns;
	return 0;
}

static void test_records(void)
{
	struct line line = line_of(LINE_PRINT, "raw_syscalls:sys_enter");
	char condition[32];
	struct run_counts counts;
	uint64_t last_ns = 0;
	struct found f;

	snprintf(condition, sizeof(condition), "id == %d", SYS_getppid);
	line.condition = condition;
	line.show = (char *)"id";
	if (!ok(!open_run(&f, &line), "a run with records")) {
		close_run(&f);
		return;
	}
	do_calls(1009);
	run__detach(f.run);
	ok(!run__records(f.run, UINT64_MAX, note_record, &last_ns) && last_ns > f.run->start_ns,
	   "records are read, in order");
	run__counts(f.run, &counts);
	is_u64(counts.counters[PROBE_SENT], 1009, "as many as calls");
	is_u64(f.run->order.nr, 0, "none is kept back");
	close_run(&f);
}

/* A ring of a page holds some forty. */
static void test_full_ring(void)
{
	struct line line = line_of(LINE_PRINT, "syscalls:sys_enter_getppid");
	struct found f;
	struct run_counts counts;
	struct run_wants wants = { .ring_bytes = 4096 };
	struct run *small = NULL;

	if (!ok(!open_run(&f, &line), "a run with a large ring")) {
		close_run(&f);
		return;
	}
	wants.plan = &f.plan;
	ok(!run__open(&small, &wants), "and beside it one with a small one");
	do_calls(5000);
	run__detach(f.run);
	run__detach(small);
	run__counts(f.run, &counts);
	is_u64(counts.counters[PROBE_LOST_RING], 0, "the large one loses nothing");
	run__counts(small, &counts);
	ok(counts.counters[PROBE_LOST_RING] > 0, "the small one does");
	is_u64(counts.counters[PROBE_SENT] + counts.counters[PROBE_LOST_RING], 5000,
	       "and what it loses it counts");
	run__free(small);
	close_run(&f);
}

static void count_start(void *arg, const void *key, const struct probe_start *start)
{
	uint64_t thread;

	memcpy(&thread, key, sizeof(thread));
	*(int *)arg += thread == (uint64_t)getpid() && start->tid == (uint32_t)getpid();
}

/* The start of a call that never ends: 5 of them, all of one thread. */
static void test_open_pairs(void)
{
	struct line line = line_of(LINE_PAIR, "syscalls:sys_enter_getppid");
	struct run_counts counts;
	struct found f;
	int nr = 0;

	line.events[line.nr_events++] = "syscalls:sys_exit_getpgid";
	line.on = (char *)"tid";
	if (!ok(!open_run(&f, &line), "a run of pairs")) {
		close_run(&f);
		return;
	}
	do_calls(5);
	run__detach(f.run);
	ok(!run__open_pairs(f.run, count_start, &nr) && nr == 1, "one pair is open");
	run__counts(f.run, &counts);
	is_u64(counts.counters[PROBE_BEGUN], 5, "it began five times");
	is_u64(counts.counters[PROBE_RESTARTED], 4, "four times anew");
	close_run(&f);
}

/* Typed arguments: not chosen for any probe, for others to use. */
static void test_typed(void)
{
	const struct bpf_insn nothing[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K },
					    { .code = BPF_JMP | BPF_EXIT } };
	struct attacher *attacher = attacher__new();
	struct finder *finder = finder__new();
	struct find_misses misses = { 0 };
	struct probe_list list = { 0 };
	struct attachment a;
	int err = finder__find(finder, "raw:task_newtask", &list, &misses), attach_err = -1;
	const struct probe *probe = list.probes;
	const struct attach_load load = {
		.way = ATTACH_TP_BTF, .probe = probe, .insns = nothing, .nr = 2, .switch_fd = -1
	};

	if (!err && !probe->btf_id) {
		ok(true, "tp_btf # SKIP the kernel has no BTF");
	} else if (ok(!err && !attachment__load(&a, attacher, &load), "tp_btf: loaded")) {
		attachment__attach(&a, attacher, &probe, 1, &attach_err);
		ok(!attach_err && a.nr_fds == 1, "and attached");
		attachment__close(&a);
		ok(!a.nr_fds && a.prog_fd < 0, "and closed");
	}
	probe_list__free(&list);
	find_misses__free(&misses);
	finder__free(finder);
	attacher__free(attacher);
}

/* ---- refusals ---- */

/* A word behind all that a raw tracepoint can have. */
static void test_refused(void)
{
	struct line line = line_of(LINE_COUNT, "raw:sys_enter");
	struct run_wants wants = { 0 };
	struct run *run = NULL;
	struct found f;
	const char *text;

	line.by = (char *)"cpu, arg1";
	if (!ok(!open_run(&f, &line), "a run that the verifier takes")) {
		close_run(&f);
		return;
	}
	wants.plan = &f.plan;
	f.plan.probes[0].keys[1]->shift = 99;
	listen_to_stderr();
	ok(run__open(&run, &wants) == -EOPNOTSUPP && !run, "one that it does not take");
	text = said();
	ok(strstr(text, "this kernel's verifier rejects a part of the program for raw:sys_enter: "),
	   "is told apart from other errors");
	printf("# %s\n", text);
	ok(strstr(text, "invalid bpf_context access") != NULL, "with the verifier's reason");
	ok(strstr(text, "\ncpu, arg1\n     ^") != NULL, "and its place in the line");
	log_set_verbose(1);
	listen_to_stderr();
	run__open(&run, &wants);
	ok(strstr(said(), "processed ") != NULL, "and with -v its whole log");
	log_set_verbose(0);
	close_run(&f);
}

/* ---- without privileges ---- */

static bool drop_capabilities(void)
{
	struct __user_cap_header_struct self = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return !syscall(SYS_capset, &self, none);
}

/* In a child: what is dropped is gone. */
static int read_without(struct found *f)
{
	struct run_counts counts;
	bool good = drop_capabilities();

	do_calls(17);
	good &= counted(f->run) == 17;
	run__detach(f->run);
	run__counts(f->run, &counts);
	return !(good && counts.counters[PROBE_HITS] == 17);
}

static void test_unprivileged(void)
{
	int status = -1;
	pid_t child;

	if (!privilege__can_attach_without()) {
		ok(true, "rows are read without capabilities # SKIP this kernel wants CAP_BPF");
		return;
	}
	fflush(stdout);
	child = fork();
	if (!child) {
		struct line line = line_of(LINE_COUNT, "syscalls:sys_enter_getppid");
		struct found f;

		line.by = (char *)"comm";
		_exit(open_run(&f, &line) || read_without(&f));
	}
	waitpid(child, &status, 0);
	ok(!status, "rows are read, and the run ends, without capabilities");
}

static bool may_load(void)
{
	struct line line = line_of(LINE_COUNT, "syscalls:sys_enter_getppid");
	struct found f;
	int err;

	listen_to_stderr();
	err = open_run(&f, &line);
	close_run(&f);
	said();
	return !err;
}

int main(void)
{
	if (!may_load()) {
		printf("1..0 # SKIP no rights to load BPF programs, or no tracefs\n");
		return 0;
	}
	test_count();
	test_keys();
	test_many();
	test_records();
	test_full_ring();
	test_open_pairs();
	test_typed();
	test_refused();
	test_unprivileged();
	return done_testing();
}
