/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_programs.c: does this kernel's verifier take the programs of the any-event commands, by
 * each way of attaching, and do they count, add up, send and pair as wire/probe_maps.h says? Lines
 * of the documentation are only loaded; what programs do is seen by running them with words of our
 * own.
 */
#include "probe_machine.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <linux/magic.h>
#include "probe/find/find.h"
#include "wire/buckets.h"

/* ---- lines on events of this kernel ---- */

static const struct a_line {
	struct line line;
	const char *event, *end;
	bool may_lack; /* not every kernel has it */
} lines[] = {
	{ { .action = LINE_COUNT }, "sched:sched_switch" },
	{ { .action = LINE_COUNT, .by = "rwbs" }, "block:block_rq_issue" },
	{ { .action = LINE_COUNT, .by = "probe" }, "block:*" },
	{ { .action = LINE_COUNT, .by = "func, cpu", .pid = 1 }, "sched:sched_process_*" },
	{ { .action = LINE_COUNT, .by = "comm, pid", .cgroup = 1 }, "raw_syscalls:sys_enter" },
	{ { .action = LINE_COUNT, .by = "syscall(id)" }, "raw_syscalls:sys_enter" },
	{ { .action = LINE_COUNT, .by = "prev_comm, next_comm" }, "sched:sched_switch" },
	{ { .action = LINE_COUNT, .by = "errno(-ret)", .condition = "ret < 0" },
	  "syscalls:sys_exit_read" },
	{ { .action = LINE_COUNT,
	    .by = "str(filename)",
	    .condition = "str(filename) like '*/etc/*' || comm like 'b?sh*'" },
	  "syscalls:sys_enter_openat" },
	{ { .action = LINE_COUNT, .by = "str(filename, 200), str(filename, 200)" },
	  "syscalls:sys_enter_openat" },
	{ { .action = LINE_SUM, .of = "bytes", .by = "rwbs" }, "block:block_rq_issue" },
	{ { .action = LINE_HIST, .of = "ret", .by = "comm", .condition = "ret >= 0" },
	  "syscalls:sys_exit_read" },
	{ { .action = LINE_HIST,
	    .of = "cpu",
	    .buckets = BUCKETS_LINEAR,
	    .linear_to = 64,
	    .linear_step = 1 },
	  "block:block_rq_issue" },
	{ { .action = LINE_HIST, .of = "nr_sector * 512", .buckets = BUCKETS_LOG2 },
	  "block:block_rq_issue" },
	{ { .action = LINE_PRINT, .show = "dev(dev), rwbs, sector, error", .condition = "error" },
	  "block:block_rq_complete" },
	{ { .action = LINE_PRINT }, "block:block_rq_issue" },
	{ { .action = LINE_PRINT }, "sched:*" },
	{ { .action = LINE_PRINT, .show = "str(filename), args(argv), time, uid, cgroup" },
	  "syscalls:sys_enter_execve" },
	{ { .action = LINE_STACKS, .by = "comm", .kernel_stack = true, .user_stack = true },
	  "block:block_rq_issue" },
	{ { .action = LINE_PAIR, .on = "pid = next_pid", .by = "comm" },
	  "sched:sched_wakeup",
	  "sched:sched_switch" },
	{ { .action = LINE_PAIR, .on = "dev, sector", .each = true, .kernel_stack = true },
	  "block:block_rq_issue",
	  "block:block_rq_complete" },
	{ { .action = LINE_COUNT,
	    .by = "next->comm, prev->pid, prev->real_parent->comm",
	    .condition = "prev->real_parent->pid != next->pid && next->comm like 'a*b*'" },
	  "raw:sched_switch" },
	{ { .action = LINE_HIST, .of = "rq->__data_len" }, "raw:block_rq_issue" },
	{ { .action = LINE_COUNT, .condition = "(rq & 7) == 0 && rq >> 3 != 1 && -rq < 5" },
	  "raw:block_rq_issue" },
	{ { .action = LINE_PRINT }, "raw:block_rq_complete" },
	{ { .action = LINE_PAIR,
	    .on = "rq",
	    .by = "entry.rq->__data_len >> 10, exit.cpu",
	    .condition = "latency > 1us && exit.nr_bytes / 512" },
	  "raw:block_rq_issue",
	  "raw:block_rq_complete" },
	{ { .action = LINE_STACKS, .kernel_stack = true }, "raw:block_rq_issue" },
	{ { .action = LINE_COUNT, .by = "comm" }, "profile:99" },
	{ { .action = LINE_COUNT, .by = "kstack(5), ustack" }, "profile:99" },
	{ { .action = LINE_COUNT, .by = "comm, pid" }, "soft:page-faults:1", .may_lack = true },
	{ { .action = LINE_COUNT, .by = "comm, arg1, file" }, "fn:vfs_read", .may_lack = true },
	{ { .action = LINE_COUNT, .by = "kstack(5), func" }, "fn:vfs_*", .may_lack = true },
	{ { .action = LINE_HIST, .of = "ret" }, "ret:vfs_read", .may_lack = true },
	{ { .action = LINE_HIST, .of = "latency", .by = "func, count > 4096", .pid = 1 },
	  "fn:vfs_read",
	  "ret:vfs_read",
	  .may_lack = true },
	{ { .action = LINE_COUNT, .by = "func, arg0" },
	  "user:/proc/self/exe:main",
	  .may_lack = true },
};

/* A way to load a program for a probe. */
struct a_way {
	const char *name;
	enum program_ctx ctx;
	enum bpf_prog_type type;
	enum bpf_attach_type attach;
	bool asks_address, is_typed;
};

static const struct a_way ways[][4] = {
	[PROBE_TRACEPOINT] = { { "tracepoint", CTX_RECORD, BPF_PROG_TYPE_TRACEPOINT } },
	[PROBE_RAW] = { { "raw_tp", CTX_RAW, BPF_PROG_TYPE_RAW_TRACEPOINT },
			{ "tp_btf", CTX_TRACING, BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP,
			  .is_typed = true } },
	[PROBE_FN] = { { "kprobe", CTX_REGS, BPF_PROG_TYPE_KPROBE },
		       { "kprobe that asks", CTX_REGS, BPF_PROG_TYPE_KPROBE, .asks_address = true },
		       { "fentry", CTX_TRACING, BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY,
			 .is_typed = true } },
	[PROBE_RET] = { { "kretprobe", CTX_REGS, BPF_PROG_TYPE_KPROBE },
			{ "fexit", CTX_TRACING, BPF_PROG_TYPE_TRACING, BPF_TRACE_FEXIT,
			  .is_typed = true } },
	[PROBE_USER] = { { "uprobe", CTX_REGS, BPF_PROG_TYPE_KPROBE } },
	[PROBE_PROFILE] = { { "perf event", CTX_PERF, BPF_PROG_TYPE_PERF_EVENT } },
	[PROBE_SOFT] = { { "perf event", CTX_PERF, BPF_PROG_TYPE_PERF_EVENT } },
};

static uint32_t verified_most, nr_loaded[NR_PROBE_KINDS][4];

static uint32_t verified_insns(int fd)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &size) ? 0 : info.verified_insns;
}

static int way_load(const struct a_way *way, const struct probe *probe,
		    const struct bpf_insn *insns, size_t nr)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .log_buf = machine_log,
		    .log_size = sizeof(machine_log), .expected_attach_type = way->attach,
		    .attach_btf_id = way->is_typed ? probe->btf_id : 0);

	machine_log[0] = 0;
	return bpf_prog_load(way->type, "test", "GPL", insns, nr, &opts);
}

/* Where a program that does nothing, or only asks for the function, is refused, so is every other:
 * 5.10 does not know that helper, some kernels allow no fentry. */
static bool way_is_there(const struct a_way *way, const struct probe *probe)
{
	const struct bpf_insn ask[] = { { .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_func_ip },
					{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
					{ .code = BPF_JMP | BPF_EXIT } };
	bool asks = way->asks_address;
	int fd = way_load(way, probe, asks ? ask : ask + 1, asks ? 3 : 2);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Returns whether the verifier took it, or would take none. */
static bool way_is_taken(struct machine *m, size_t number, const struct a_way *way)
{
	const struct probe *probe = m->plan->probes[number].probe;
	const struct program_wants wants = {
		m->plan, number, 0, way->ctx, way->asks_address, &m->maps, way->ctx == CTX_RAW
	};
	struct program program;
	int fd;

	if ((way->is_typed && (!probe->btf_id || probe->module)) || !way_is_there(way, probe))
		return true;
	if (program__make(&program, &wants))
		return false;
	fd = way_load(way, probe, program.insns, program.nr);
	nr_loaded[probe->kind][way - ways[probe->kind]] += fd >= 0;
	if (fd < 0) {
		printf("# %s by %s: %s\n", probe->name, way->name, strerror(errno));
		machine_show_log(&program, machine_log);
	} else if (verified_insns(fd) > verified_most) {
		verified_most = verified_insns(fd);
	}
	program__free(&program);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static uint32_t line_load(const struct plan *plan)
{
	struct machine m;
	uint32_t refused = 0;
	size_t i;

	if (!machine_open(&m, plan, 0))
		return 1;
	for (i = 0; i < plan->nr_probes; i++) {
		const struct a_way *way = ways[plan->probes[i].probe->kind];

		for (; way->name; way++)
			refused += !way_is_taken(&m, i, way);
	}
	machine_close(&m);
	return refused;
}

static void line_name(const struct a_line *l, char *name, size_t size)
{
	const struct line *c = &l->line;

	snprintf(name, size, "%s%s%s%s%s%s%s%s%s%s%s%s%s", l->event, l->end ? " " : "",
		 l->end ? l->end : "", c->of ? " of " : "", c->of ? c->of : "",
		 c->show ? " show " : "", c->show ? c->show : "", c->on ? " on " : "",
		 c->on ? c->on : "", c->by ? " by " : "", c->by ? c->by : "",
		 c->condition ? " if " : "", c->condition ? c->condition : "");
}

static void check_line(struct finder *finder, const struct a_line *l)
{
	struct probe_list probes = { 0 }, ends = { 0 };
	struct find_misses misses = { 0 };
	struct plan plan;
	char name[256];
	int err;

	line_name(l, name, sizeof(name));
	err = finder__find(finder, l->event, &probes, &misses);
	if (!err && l->end)
		err = finder__find(finder, l->end, &ends, &misses);
	if (err && l->may_lack) {
		ok(true, "%s # SKIP this kernel has none", name);
	} else if (!ok(!err && !plan__make(&plan, &l->line, &probes, &ends), "planned: %s", name)) {
		;
	} else {
		is_u64(line_load(&plan), 0, "loaded: the same");
		plan__free(&plan);
	}
	probe_list__free(&probes);
	probe_list__free(&ends);
	find_misses__free(&misses);
}

static void check_lines(void)
{
	struct finder *finder = finder__new();
	size_t i, kind;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		check_line(finder, &lines[i]);
	finder__free(finder);
	for (kind = 0; kind < sizeof(ways) / sizeof(ways[0]); kind++)
		for (i = 0; i < 4 && ways[kind][i].name; i++)
			printf("# %u programs loaded by %s\n", nr_loaded[kind][i],
			       ways[kind][i].name);
	ok(nr_loaded[PROBE_TRACEPOINT][0] && nr_loaded[PROBE_RAW][0] && nr_loaded[PROBE_RAW][1],
	   "tracepoint, raw_tp and tp_btf are there on every kernel");
	printf("# at most %u instructions were verified of one program\n", verified_most);
}

/* ---- an event of our own ---- */

static struct probe_field fields[] = {
	{ .name = "u", .type = { .kind = TYPE_INT, .size = 8 }, .place = PLACE_ARG },
	{ .name = "s",
	  .type = { .kind = TYPE_INT, .size = 8, .is_signed = true },
	  .place = PLACE_ARG,
	  .at = 1,
	  .reg = 1,
	  .slot = 1 },
	{ .name = "t",
	  .type = { .kind = TYPE_POINTER, .size = 8, .is_user = true, .is_text = true },
	  .place = PLACE_ARG,
	  .at = 2,
	  .reg = 2,
	  .slot = 2 },
};
static char start_name[] = "raw:begin", end_name[] = "raw:end";
static struct probe starts[] = {
	{ .kind = PROBE_RAW,
	  .name = start_name,
	  .func = start_name + 4,
	  .fields = fields,
	  .nr_fields = 3 },
};
static struct probe ends[] = {
	{ .kind = PROBE_RAW,
	  .name = end_name,
	  .func = end_name + 4,
	  .fields = fields,
	  .nr_fields = 1 },
};
static const struct probe_list start_list = { starts, 1 }, end_list = { ends, 1 };

struct bench {
	struct plan plan;
	struct machine machine;
	int fds[2];
};

static bool bench_open(struct bench *b, const struct line *line, bool is_pair, bool is_atomic)
{
	size_t i;

	b->fds[0] = b->fds[1] = -1;
	if (plan__make(&b->plan, line, &start_list, is_pair ? &end_list : NULL))
		return ok(false, "planned");
	if (!machine_open(&b->machine, &b->plan, 0))
		return ok(false, "maps are made");
	for (i = 0; i < b->plan.nr_probes; i++) {
		struct program_wants wants = { .probe = i, .ctx = CTX_RAW, .is_atomic = is_atomic };

		b->fds[i] = machine_load(&b->machine, wants);
		if (b->fds[i] < 0)
			return ok(false, "loaded");
	}
	return true;
}

static void bench_close(struct bench *b)
{
	size_t i;

	for (i = 0; i < 2; i++)
		if (b->fds[i] >= 0)
			close(b->fds[i]);
	machine_close(&b->machine);
	plan__free(&b->plan);
}

static bool bench_run(struct bench *b, size_t program, uint64_t u, int64_t s, const char *t)
{
	const uint64_t words[MACHINE_WORDS] = { u, (uint64_t)s, (uint64_t)(uintptr_t)t };

	return machine_run(&b->machine, b->fds[program], words);
}

static uint64_t bench_counter(const struct bench *b, uint32_t program, enum probe_counter counter)
{
	return machine_cell(&b->machine, program).counters[counter];
}

/* Of all programs, with what the rows say. */
static uint64_t bench_total(const struct bench *b, enum probe_counter counter)
{
	uint64_t counters[NR_PROBE_COUNTERS];

	machine_counters(&b->machine, counters);
	return counters[counter];
}

static void bench_balances(const struct bench *b, const char *what)
{
	ok(machine_balances(&b->machine), "%s: every hit is accounted for", what);
}

/* ---- rows ---- */

static void check_cell(void)
{
	struct line line = { .action = LINE_SUM, .of = "s", .by = "probe, 7" };
	struct bench b;
	uint64_t key[2] = { 9, 9 };
	struct program_wants wants = { .plan = &b.plan, .ctx = CTX_RAW };
	size_t i;

	if (!bench_open(&b, &line, false, false))
		return;
	for (i = 0; i < 17; i++)
		bench_run(&b, 0, 0, -3, NULL);
	is_u64(machine_cell(&b.machine, 0).row.count, 17, "a constant key: counted in the cell");
	is_u64(machine_cell(&b.machine, 0).row.sum, (uint64_t)-51, "and added up, signed");
	ok(program__uses_cell(&wants, key) && key[0] == 0 && key[1] == 7, "under its key");
	wants.asks_address = true;
	ok(!program__uses_cell(&wants, key), "but not where one program serves many functions");
	bench_balances(&b, "cell");
	bench_close(&b);
}

static void check_full_table(void)
{
	struct line line = { .action = LINE_COUNT, .by = "u" };
	struct probe_row row;
	struct bench b;
	uint64_t i;

	if (!bench_open(&b, &line, false, false))
		return;
	for (i = 0; i < 101; i++)
		bench_run(&b, 0, i, 0, NULL);
	bench_run(&b, 0, 5, 0, NULL);
	is_u64(bench_counter(&b, 0, PROBE_LOST_KEY), 101 - 64, "a full table: what is lost");
	i = 5;
	ok(machine_row(&b.machine, &i, &row) && row.count == 2,
	   "and what has a row is still added");
	is_u64(bench_counter(&b, 0, PROBE_HITS), 101 - 64, "no other one went to the cell");
	is_u64(bench_total(&b, PROBE_HITS), 102, "all together are the hits");
	bench_balances(&b, "full table");
	bench_close(&b);
}

static void check_filter(bool is_right)
{
	struct line line = { .action = LINE_COUNT,
			     .by = "pid, tid",
			     .pid = (uint32_t)getpid() + !is_right };
	uint64_t key[2] = { (uint64_t)getpid(), (uint64_t)gettid() };
	struct probe_row row = { 0 };
	struct bench b;

	if (!bench_open(&b, &line, false, false))
		return;
	bench_run(&b, 0, 0, 0, NULL);
	is_u64(bench_total(&b, PROBE_HITS), is_right, "-p: what is a hit");
	is_u64(machine_row(&b.machine, key, &row) ? row.count : 0, is_right, "-p: what has a row");
	bench_close(&b);
}

/* A file of the cgroup with this text; false: that cannot be. */
static bool cgroup_write(const char *dir, const char *file, const char *text)
{
	char path[256];
	FILE *out;

	snprintf(path, sizeof(path), "/sys/fs/cgroup%s/%s", dir, file);
	out = fopen(path, "w");
	if (!out)
		return false;
	fputs(text, out);
	return !fclose(out);
}

/* Where we are: "0::/user.slice" in our own file. */
static bool cgroup_read_own(char *dir, int size)
{
	FILE *in = fopen("/proc/self/cgroup", "r");
	char line[256];
	bool found = false;

	while (in && !found && fgets(line, sizeof(line), in)) {
		found = !strncmp(line, "0::", 3);
		line[strcspn(line, "\n")] = 0;
		snprintf(dir, (size_t)size, "%s", line + 3);
	}
	if (in)
		fclose(in);
	return found;
}

static uint64_t cgroup_hits(struct bench *b, const char *dir)
{
	uint64_t before = bench_counter(b, 0, PROBE_HITS);
	const uint32_t first = 0;
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/sys/fs/cgroup%s", dir);
	fd = open(path, O_RDONLY | O_DIRECTORY);
	bpf_map_update_elem(b->machine.maps.cgroup, &first, &fd, BPF_ANY);
	close(fd);
	bench_run(b, 0, 0, 0, NULL);
	return bench_counter(b, 0, PROBE_HITS) - before;
}

/* Our own process moves into a cgroup below another, and back. */
static void check_cgroup(void)
{
	static const char above[] = "/iosonar-test", beside[] = "/iosonar-beside";
	static const char below[] = "/iosonar-test/below";
	struct line line = { .action = LINE_COUNT, .cgroup = 1 };
	char own[256] = "/";
	struct statfs fs;
	struct bench b;

	if (statfs("/sys/fs/cgroup", &fs) || fs.f_type != CGROUP2_SUPER_MAGIC) {
		ok(true, "--cgroup # SKIP this machine has no cgroups of version 2");
		return;
	}
	mkdir("/sys/fs/cgroup/iosonar-test", 0755);
	mkdir("/sys/fs/cgroup/iosonar-test/below", 0755);
	mkdir("/sys/fs/cgroup/iosonar-beside", 0755);
	if (!cgroup_read_own(own, sizeof(own)) || !cgroup_write(below, "cgroup.procs", "0")) {
		ok(true, "--cgroup # SKIP there is no cgroup that we may make");
	} else if (bench_open(&b, &line, false, false)) {
		is_u64(cgroup_hits(&b, below), 1, "--cgroup: the one that we are in");
		is_u64(cgroup_hits(&b, above), 1, "--cgroup: the one above it");
		is_u64(cgroup_hits(&b, "/"), 1, "--cgroup: the root");
		is_u64(cgroup_hits(&b, beside), 0, "--cgroup: another one");
		bench_close(&b);
	}
	cgroup_write(own, "cgroup.procs", "0");
	rmdir("/sys/fs/cgroup/iosonar-test/below");
	rmdir("/sys/fs/cgroup/iosonar-test");
	rmdir("/sys/fs/cgroup/iosonar-beside");
}

/* ---- histograms ---- */

struct a_scale {
	const char *name;
	struct line line;
	uint32_t (*bucket)(const struct line *line, uint64_t number);
};

static uint32_t bucket_fine(const struct line *line, uint64_t number)
{
	bool negative = !strcmp(line->of, "s") && (int64_t)number < 0;

	return negative ? hist_wide_slot(0 - number) | PROBE_NEGATIVE : hist_wide_slot(number);
}

static uint32_t bucket_log2(const struct line *line, uint64_t number)
{
	bool negative = !strcmp(line->of, "s") && (int64_t)number < 0;
	uint64_t size = negative ? 0 - number : number;
	uint32_t bits = 0;

	for (; size; size >>= 1)
		bits++;
	return negative ? bits | PROBE_NEGATIVE : bits;
}

/* The step that holds it, looked for one by one. */
static uint32_t bucket_linear(const struct line *line, uint64_t number)
{
	__int128 n = !strcmp(line->of, "s") ? (__int128)(int64_t)number : (__int128)number, from;
	uint32_t bucket = 0;

	for (from = line->linear_from; from < line->linear_to; from += line->linear_step)
		bucket += n >= from;
	return bucket + (n >= line->linear_to);
}

static const struct a_scale scales[] = {
	{ "fine", { .of = "u" }, bucket_fine },
	{ "fine, signed", { .of = "s" }, bucket_fine },
	{ "log2", { .of = "u", .buckets = BUCKETS_LOG2 }, bucket_log2 },
	{ "log2, signed", { .of = "s", .buckets = BUCKETS_LOG2 }, bucket_log2 },
	{ "linear",
	  { .of = "u",
	    .buckets = BUCKETS_LINEAR,
	    .linear_from = 10,
	    .linear_to = 1000,
	    .linear_step = 7 },
	  bucket_linear },
	{ "linear, signed",
	  { .of = "s",
	    .buckets = BUCKETS_LINEAR,
	    .linear_from = -100,
	    .linear_to = 100,
	    .linear_step = 10 },
	  bucket_linear },
	{ "linear from below 0, unsigned",
	  { .of = "u",
	    .buckets = BUCKETS_LINEAR,
	    .linear_from = -10,
	    .linear_to = 20,
	    .linear_step = 3 },
	  bucket_linear },
	{ "linear below 0, unsigned",
	  { .of = "u",
	    .buckets = BUCKETS_LINEAR,
	    .linear_from = -10,
	    .linear_to = -1,
	    .linear_step = 3 },
	  bucket_linear },
};

static uint64_t next_number(uint64_t *state)
{
	*state = *state * 6364136223846793005 + 1442695040888963407;
	switch (*state >> 62) {
	case 0: return *state >> (*state >> 58 & 63);
	case 1: return 0 - (*state >> 20 & 255);
	case 2: return (1ULL << (*state >> 50 & 63)) - (*state >> 40 & 1);
	default: return *state >> 20 & 1023;
	}
}

static bool scale_agrees(const struct a_scale *scale, struct bench *b, uint64_t number)
{
	uint64_t key = scale->bucket(&scale->line, number);
	struct probe_row row = { 0 };

	machine_forget_rows(&b->machine);
	bench_run(b, 0, number, (int64_t)number, NULL);
	if (machine_row(&b->machine, &key, &row) && row.count == 1 && row.sum == number &&
	    row.max == number)
		return true;
	printf("# %#" PRIx64 " is not in bucket %#" PRIx64 " (count %llu, sum %#llx, max %#llx)\n",
	       number, key, row.count, row.sum, row.max);
	return false;
}

static void check_scale(const struct a_scale *scale)
{
	struct line line = scale->line;
	uint64_t state = 7;
	struct bench b;
	uint32_t i, bad = 0;

	line.action = LINE_HIST;
	if (!bench_open(&b, &line, false, false))
		return;
	for (i = 0; i < 64 && bad < 5; i++)
		bad += !scale_agrees(scale, &b, 1ULL << i) +
		       !scale_agrees(scale, &b, (1ULL << i) - 1);
	for (i = 0; i < 2000 && bad < 5; i++)
		bad += !scale_agrees(scale, &b, next_number(&state));
	ok(!bad, "%s: every number is in its bucket", scale->name);
	bench_close(&b);
}

static void check_max(void)
{
	struct line line = { .action = LINE_HIST,
			     .of = "s",
			     .buckets = BUCKETS_LINEAR,
			     .linear_from = -100,
			     .linear_to = 100,
			     .linear_step = 200 };
	struct probe_row row = { 0 };
	uint64_t key = 1;
	struct bench b;

	if (!bench_open(&b, &line, false, true))
		return;
	bench_run(&b, 0, 0, -50, NULL);
	bench_run(&b, 0, 0, -20, NULL);
	bench_run(&b, 0, 0, -30, NULL);
	ok(machine_row(&b.machine, &key, &row) && row.count == 3, "a histogram's row");
	is_u64(row.sum, (uint64_t)-100, "its sum, signed");
	is_u64(row.max, (uint64_t)-20, "its largest, which is below 0");
	bench_close(&b);
}

/* ---- records ---- */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void check_record(void)
{
	struct line line = { .action = LINE_PRINT, .show = "u, str(t, 8), nsecs, s" };
	struct machine *m;
	struct bench b;
	uint64_t before = now_ns(), ns, u;

	if (!bench_open(&b, &line, false, false))
		return;
	m = &b.machine;
	bench_run(&b, 0, 4711, -1, "twelve bytes");
	is_u64(m->nr_records, 1, "a record is sent");
	is_u64(m->record.pid, (uint64_t)getpid(), "with its process");
	is_u64(m->record.tid, (uint64_t)gettid(), "its thread");
	is_str(m->record.comm, "probe_programs", "its command");
	ok(!m->record.cpu && !m->record.probe && !m->record.address && !m->record.latency_ns,
	   "its CPU and the number of its probe");
	ok(m->record.ns > before && m->record.ns < now_ns(), "its time");
	memcpy(&u, m->values, 8);
	memcpy(&ns, m->values + 24, 8);
	is_u64(u, 4711, "its first value");
	is_str((char *)m->values + 8, "twelve b", "its second, cut");
	is_u64(ns, m->record.ns, "nsecs is the time of the record");
	bench_balances(&b, "record");
	bench_close(&b);
}

static void check_full_ring(void)
{
	struct line line = { .action = LINE_PRINT, .show = "str(t, 200)" };
	struct ring_buffer *reader;
	struct bench b;
	uint32_t i;

	if (!bench_open(&b, &line, false, false))
		return;
	reader = b.machine.reader;
	b.machine.reader = NULL;
	for (i = 0; i < 2000; i++)
		bench_run(&b, 0, 0, 0, "x");
	b.machine.reader = reader;
	ok(bench_counter(&b, 0, PROBE_LOST_RING) > 0, "a full ring: what is lost is counted");
	ring_buffer__consume(reader);
	is_u64(bench_counter(&b, 0, PROBE_SENT), b.machine.nr_records,
	       "and what was sent is there");
	bench_balances(&b, "full ring");
	bench_close(&b);
}

/* ---- pairs ---- */

static void check_pair(void)
{
	struct line line = { .action = LINE_PAIR,
			     .on = "u",
			     .each = true,
			     .by = "entry.s, str(entry.t), exit.u, comm, s * 2, entry.pid, uid" };
	struct machine *m;
	struct bench b;
	uint64_t saved[2];

	if (!bench_open(&b, &line, true, false))
		return;
	m = &b.machine;
	bench_run(&b, 0, 42, -7, "begun");
	bench_run(&b, 1, 43, 0, NULL);
	bench_run(&b, 1, 42, 0, NULL);
	bench_run(&b, 1, 42, 0, NULL);
	is_u64(bench_counter(&b, 0, PROBE_BEGUN), 1, "a pair: begun");
	is_u64(bench_counter(&b, 1, PROBE_SENT), 1, "ended once");
	is_u64(bench_counter(&b, 1, PROBE_NO_START), 2, "twice there was no start");
	ok(m->record.latency_ns > 0 && m->record.latency_ns < 1000000000, "it took a while");
	is_u64(m->record.pid, (uint64_t)getpid(), "who began it");
	memcpy(saved, m->values, 8);
	is_u64(saved[0], (uint64_t)-7, "entry.s");
	is_str((char *)m->values + 8, "begun", "str(entry.t)");
	memcpy(saved, m->values + 8 + 72, 8);
	is_u64(saved[0], 42, "exit.u");
	is_str((char *)m->values + 8 + 72 + 8, "probe_programs", "comm");
	memcpy(saved, m->values + 8 + 72 + 8 + 16, 16);
	is_u64(saved[0], (uint64_t)-14, "s, which only the start has, times 2");
	is_u64(saved[1], (uint64_t)getpid(), "entry.pid");
	bench_balances(&b, "pair");
	bench_close(&b);
}

static void check_pair_rows(void)
{
	struct line line = { .action = LINE_PAIR,
			     .on = "u",
			     .by = "entry.s",
			     .condition = "entry.s > 0 && latency >= 0" };
	uint64_t key[2] = { 5 }, i;
	struct bench b;
	uint8_t first[16];

	if (!bench_open(&b, &line, true, true))
		return;
	bench_run(&b, 0, 1, 5, NULL);
	bench_run(&b, 0, 1, 5, NULL);
	bench_run(&b, 1, 1, 0, NULL);
	is_u64(bench_counter(&b, 0, PROBE_RESTARTED), 1, "a start that was open");
	ok(!bpf_map_get_next_key(b.machine.maps.rows, NULL, first) && !memcmp(first, key, 8),
	   "a row by what the start saved");
	bench_run(&b, 0, 1, -5, NULL);
	bench_run(&b, 1, 1, 0, NULL);
	is_u64(bench_counter(&b, 1, PROBE_REFUSED), 1, "a condition on the start");
	bench_run(&b, 1, 1, 0, NULL);
	is_u64(bench_counter(&b, 1, PROBE_NO_START), 1, "what was refused is over");
	for (i = 100; i < 120; i++)
		bench_run(&b, 0, i, 1, NULL);
	is_u64(bench_counter(&b, 0, PROBE_LOST_START), 12, "the table of starts was full");
	bench_balances(&b, "pair in rows");
	bench_close(&b);
}

/* With a filter nobody knows whose an end without a start is. */
static void check_pair_filter(void)
{
	struct line line = { .action = LINE_PAIR, .on = "u", .pid = (uint32_t)getpid() };
	struct bench b;

	if (!bench_open(&b, &line, true, false))
		return;
	bench_run(&b, 1, 1, 0, NULL);
	is_u64(bench_counter(&b, 1, PROBE_HITS), 0, "-p: an end without a start is no hit");
	bench_run(&b, 0, 1, 0, NULL);
	bench_run(&b, 1, 1, 0, NULL);
	is_u64(bench_total(&b, PROBE_ADDED), 1, "-p: one with a start is added");
	bench_balances(&b, "pair with a filter");
	bench_close(&b);
}

/* ---- the rest ---- */

static void check_stacks(void)
{
	struct line line = { .action = LINE_STACKS, .kernel_stack = true };
	uint64_t frames[MACHINE_STACK_FRAMES];
	struct bench b;
	int64_t key;
	uint32_t id;

	if (!bench_open(&b, &line, false, false))
		return;
	bench_run(&b, 0, 0, 0, NULL);
	ok(!bpf_map_get_next_key(b.machine.maps.rows, NULL, &key) && key >= 0, "a stack's number");
	id = (uint32_t)key;
	ok(!bpf_map_lookup_elem(b.machine.maps.stacks, &id, frames) && frames[0] >> 63,
	   "its frames are the kernel's");
	bench_close(&b);
}

/* As an interrupt would find it. */
static void check_guard(void)
{
	struct line line = { .action = LINE_COUNT, .condition = "str(t) like '*x*'" };
	struct probe_cell *cells;
	uint32_t program = 0;
	struct bench b;

	if (!bench_open(&b, &line, false, true))
		return;
	bench_run(&b, 0, 0, 0, "axb");
	is_u64(bench_total(&b, PROBE_ADDED), 1, "the scratch is free");
	cells = calloc((size_t)b.machine.nr_cpus, sizeof(*cells));
	bpf_map_lookup_elem(b.machine.maps.cells, &program, cells);
	is_u64(cells[0].busy, 0, "and is free again");
	cells[0].busy = 1;
	bpf_map_update_elem(b.machine.maps.cells, &program, cells, BPF_ANY);
	bench_run(&b, 0, 0, 0, "axb");
	is_u64(bench_counter(&b, 0, PROBE_LOST_KEY), 1, "a hit inside a hit is lost, and counted");
	bench_balances(&b, "busy");
	free(cells);
	bench_close(&b);
}

/* The most that 5.10 has to take: a long text, many letters, many stars. */
static void check_like_limits(void)
{
	struct line line = {
		.action = LINE_COUNT,
		.condition = "str(t, 200) like "
			     "'*a?c*d?f*g?i*j?l*m?o*p?r*s?u*v?x*y?1*2?4*5?7*8?0*A?C*D?F*'"
	};
	struct bench b;

	if (!bench_open(&b, &line, false, false))
		return;
	bench_run(&b, 0, 0, 0, "--a.c d.f g.i--j.l m.o p.r s.u v.x y.1-2.4 5.7 8.0 A.C D.F");
	bench_run(&b, 0, 0, 0, "--a.c d.f g.i--j.l m.o p.r s.u v.x y.1-2.4 5.7 8.0 A.C D-G");
	is_u64(bench_total(&b, PROBE_ADDED), 1, "a long glob on a long text");
	printf("# %u instructions were verified\n", verified_insns(b.fds[0]));
	bench_close(&b);
}

int main(void)
{
	size_t i;

	if (!machine_may_load()) {
		printf("1..0 # SKIP may not load BPF programs: needs root, or CAP_BPF and "
		       "CAP_PERFMON\n");
		return 0;
	}
	machine_pin(0);
	prctl(PR_SET_NAME, "probe_programs");
	check_lines();
	check_cell();
	check_full_table();
	check_filter(true);
	check_filter(false);
	check_cgroup();
	for (i = 0; i < sizeof(scales) / sizeof(scales[0]); i++)
		check_scale(&scales[i]);
	check_max();
	check_record();
	check_full_ring();
	check_pair();
	check_pair_rows();
	check_pair_filter();
	check_stacks();
	check_guard();
	check_like_limits();
	return done_testing();
}
