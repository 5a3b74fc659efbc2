/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/run/attach_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include "base/log.h"
#include "probe/code/code.h"

/* Attaching and closing 16 by fentry takes two seconds, a few hundred half a minute; kprobes
 * attach faster, and close in a third of the time. */
enum { ATTACH_FEW = 16, ATTACH_FEW_CALLS = 48, ATTACH_MANY = 512, ATTACH_MOST = 4096 };

/* ---- what the kernel can do ---- */

struct attacher *attacher__new(void)
{
	struct attacher *attacher = calloc(1, sizeof(*attacher));

	if (!attacher)
		return NULL;
	attacher->fentry = attacher->kprobe_multi = ATTACH_UNTRIED;
	attacher->kprobe.type = attacher->uprobe.type = ATTACH_UNTRIED;
	attacher->raw_guard = attacher->counts_misses = attacher->reads_task = -1;
	return attacher;
}

void attacher__free(struct attacher *attacher)
{
	if (!attacher)
		return;
	for (size_t i = 0; i < attacher->nr_modules; i++) {
		free(attacher->modules[i].name);
		if (attacher->modules[i].btf_fd >= 0)
			close(attacher->modules[i].btf_fd);
	}
	free(attacher->modules);
	free(attacher->cpus);
	free(attacher);
}

void attacher__trace_calls(struct attacher *attacher, bool insists)
{
	attacher->for_calls = true;
	attacher->insists = insists;
}

static bool attach_try_task(const struct probe_task *task)
{
	const struct bpf_insn insns[] = {
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_current_task_btf),
		INSN(BPF_LDX | BPF_DW | BPF_MEM, BPF_REG_1, BPF_REG_0, (int16_t)task->comm_at, 0),
		INSN(BPF_LDX | BPF_DW | BPF_MEM, BPF_REG_1, BPF_REG_0, (int16_t)(task->comm_at + 8),
		     0),
		INSN(BPF_LDX | BPF_W | BPF_MEM, BPF_REG_1, BPF_REG_0, (int16_t)task->tid_at, 0),
		INSN(BPF_LDX | BPF_W | BPF_MEM, BPF_REG_1, BPF_REG_0, (int16_t)task->pid_at, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	const int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "iosonar", "GPL", insns,
				     sizeof(insns) / sizeof(insns[0]), NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool attach__reads_task(struct attacher *attacher, const struct probe_task *task)
{
	const uint32_t most = INT16_MAX - 16; /* the offset of an instruction */

	if (attacher->reads_task < 0)
		attacher->reads_task = task->comm_at && task->comm_at < most &&
				       task->tid_at < most && task->pid_at < most &&
				       attach_try_task(task);
	return attacher->reads_task;
}

/*
 * Each program of a raw tracepoint has a guard since 6.1 (05b24ff9b2cf), which gave this name to
 * the function that counts what the guard skips; fentry had one before. A program of a uprobe has
 * no guard and may be preempted.
 */
bool attach__may_nest(struct attacher *attacher, enum attach_way way, const struct probe *probe)
{
	if (way == ATTACH_UPROBE)
		return true;
	if (way != ATTACH_RAW && way != ATTACH_TP_BTF && way != ATTACH_FENTRY)
		return false;
	if (attacher->raw_guard < 0 && probe->btf)
		attacher->raw_guard =
			btf__find_by_name_kind(probe->btf, "bpf_prog_inc_misses_counter",
					       BTF_KIND_FUNC) > 0;
	return attacher->raw_guard != 1;
}

/*
 * What a kernel reports of a link is as long as its struct bpf_link_info. This length includes
 * perf_event.kprobe.missed (3acf8ace6823), which came with the counting (dd8657894c11, 6.7).
 */
enum { ATTACH_INFO_WITH_MISSED = 56 };

static bool attach_counts_misses(struct attacher *attacher)
{
	const struct probe rare = { .kind = PROBE_RAW, .func = "task_newtask" };
	int program = attach_load_nothing(attacher, ATTACH_RAW, &rare);
	int link = program < 0 ? program : bpf_raw_tracepoint_open(rare.func, program);
	char info[256] = { 0 };
	__u32 len = sizeof(info);

	if (link < 0 || bpf_obj_get_info_by_fd(link, info, &len))
		len = 0;
	if (link >= 0)
		close(link);
	if (program >= 0)
		close(program);
	return len >= ATTACH_INFO_WITH_MISSED;
}

/*
 * Programs of tracepoints, kprobes and samples share a flag on each CPU: while one of them runs
 * there the others are skipped. Programs of raw tracepoints and of fentry have a flag each, and
 * their skips were counted from the start. A kprobe inside another is skipped by a second rule,
 * which counts elsewhere; skipped samples were never counted. The return of a user function is
 * omitted where 64 of the task are kept: nest.c counts that, but not places of other tracers.
 */
bool attach__is_exact(struct attacher *attacher, enum attach_way way, const struct probe *probe)
{
	if (way == ATTACH_KPROBE || way == ATTACH_PERF || probe->kind == PROBE_USERRET)
		return false;
	if (way != ATTACH_TRACEPOINT && way != ATTACH_KPROBE_MULTI)
		return true;
	if (attacher->counts_misses < 0)
		attacher->counts_misses = attach_counts_misses(attacher);
	return attacher->counts_misses;
}

const char *attach__inexact(enum attach_way way)
{
	if (way == ATTACH_UPROBE)
		return "the kernel reports the returns of at most 64 nested calls of a task, for "
		       "all tracers together; entries (user:PATH:FUNCTION) are exact";
	if (way == ATTACH_PERF)
		return "the kernel skips samples without counting them while another program runs "
		       "on the CPU";
	return "the kernel skips hits without counting them while another program runs on the CPU; "
	       "raw:EVENT is exact";
}

/* ---- functions ---- */

/* A function that only BPF self-tests call. The ids of a module continue after the kernel's. */
static int attach_try_fentry(struct attacher *attacher, const struct btf *btf)
{
	int id = btf__find_by_name_kind(btf, "bpf_fentry_test1", BTF_KIND_FUNC), err;
	const struct probe nobody = { .kind = PROBE_FN, .btf = btf, .btf_id = (uint32_t)id };
	const struct probe *one = &nobody;
	struct attachment a = { .way = ATTACH_FENTRY };

	if (id <= 0)
		return -ENOENT;
	a.prog_fd = attach_load_nothing(attacher, ATTACH_FENTRY, &nobody);
	if (a.prog_fd < 0)
		return a.prog_fd;
	attachment__attach(&a, attacher, &one, 1, &err);
	attachment__close(&a);
	return err;
}

static bool attach_has_fentry(struct attacher *attacher, const struct probe *const *probes,
			      size_t nr)
{
	for (size_t i = 0; attacher->fentry == ATTACH_UNTRIED && i < nr; i++)
		if (probes[i]->btf)
			attacher->fentry = attach_try_fentry(attacher, probes[i]->btf);
	if (attacher->fentry == ATTACH_UNTRIED)
		attacher->fentry = -ENOENT;
	return !attacher->fentry;
}

/* Loading alone proves nothing. The first function may not be attachable: tries the next ones. */
static int attach_try_multi(struct attacher *attacher, const struct probe *const *probes, size_t nr)
{
	int program = attach_load_nothing(attacher, ATTACH_KPROBE_MULTI, probes[0]);
	int link = program;

	for (size_t i = 0; program >= 0 && i < nr && i < 4; i++) {
		link = attach_link_many(program, probes + i, 1);
		if (link >= 0 || link == -EOPNOTSUPP || link == -EPERM)
			break;
	}
	if (link >= 0)
		close(link);
	if (program >= 0)
		close(program);
	return link < 0 ? link : 0;
}

static bool attach_has_multi(struct attacher *attacher, const struct probe *const *probes,
			     size_t nr)
{
	if (attacher->kprobe_multi == ATTACH_UNTRIED)
		attacher->kprobe_multi = attach_try_multi(attacher, probes, nr);
	return !attacher->kprobe_multi;
}

static bool attach_has_kprobe(struct attacher *attacher)
{
	return attach_pmu(attacher, ATTACH_KPROBE)->type >= 0;
}

/* -EPERM from both: the kernel may support it, but we may not ask. */
static int attach_say_none(const struct attacher *attacher)
{
	const bool locked = attacher->fentry == -EPERM || attacher->kprobe_multi == -EPERM;

	return log_err(-EOPNOTSUPP,
		       "functions cannot be probed here: this kernel has no kprobes and %s; raw: "
		       "events and tracepoints work (iosonar events 'raw:*')",
		       locked ? "is locked down, which forbids fentry" : "does not support fentry");
}

/*
 * A trial of fentry takes 100 ms, so a few functions are attached without one, and each falls back
 * to the next best way if it fails; unless there is no other way.
 */
static enum attach_way attach_best(struct attacher *attacher, const struct probe *const *probes,
				   size_t nr)
{
	const bool kprobe = attach_has_kprobe(attacher);
	const size_t few = attacher->for_calls ? ATTACH_FEW_CALLS : ATTACH_FEW;

	if (attacher->for_calls && nr <= few && attach_has_fentry(attacher, probes, nr))
		return ATTACH_FENTRY;
	if (!attacher->for_calls && nr <= few && kprobe)
		return ATTACH_FENTRY;
	if (nr > few && attach_has_multi(attacher, probes, nr))
		return ATTACH_KPROBE_MULTI;
	if ((nr <= ATTACH_MANY || !kprobe) && attach_has_fentry(attacher, probes, nr))
		return ATTACH_FENTRY;
	if (attach_has_multi(attacher, probes, nr))
		return ATTACH_KPROBE_MULTI;
	return kprobe ? ATTACH_KPROBE : ATTACH_NONE;
}

/* Runs in an interrupt, judging by its name. */
static bool attach_ends_io(const struct probe *probe)
{
	static const char *const words[] = { "end",	 "done",   "put",     "free",
					     "complete", "uninit", "advance", "finish" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(probe->func, words[i]))
			return true;
	return false;
}

/* A program that serves many functions tells them apart by address; not if addresses are hidden. */
static enum attach_way attach_fits(struct attacher *attacher, enum attach_way best,
				   const struct probe *probe)
{
	if (best == ATTACH_KPROBE_MULTI && attacher->for_calls && probe->btf_id &&
	    attach_ends_io(probe) && attach_has_fentry(attacher, &probe, 1))
		return ATTACH_FENTRY;
	if (best == ATTACH_FENTRY && !probe->btf_id)
		return attach__instead(attacher, best, probe);
	if (best == ATTACH_KPROBE_MULTI && !probe->address && attach_has_kprobe(attacher))
		return ATTACH_KPROBE;
	return best;
}

static int attach_choose_functions(struct attacher *attacher, const struct probe *const *probes,
				   size_t nr, enum attach_way *ways)
{
	const enum attach_way best = attach_best(attacher, probes, nr);
	const bool loses_returns = attacher->for_calls && !attacher->insists &&
				   best == ATTACH_KPROBE && attach_is_return(probes[0]);

	if (best == ATTACH_NONE)
		return attach_say_none(attacher);
	if (!attach__serves_many(best) && nr > ATTACH_MOST)
		return log_err(-EOPNOTSUPP,
			       "%zu functions are too many for a kernel without kprobe.multi: use "
			       "at most %d",
			       nr, ATTACH_MOST);
	for (size_t i = 0; i < nr; i++)
		ways[i] = loses_returns ? ATTACH_NONE : attach_fits(attacher, best, probes[i]);
	return 0;
}

enum attach_way attach__instead(struct attacher *attacher, enum attach_way way,
				const struct probe *probe)
{
	if (way == ATTACH_FENTRY && attach_has_multi(attacher, &probe, 1))
		return ATTACH_KPROBE_MULTI;
	if (way == ATTACH_FENTRY && attach_has_kprobe(attacher))
		return ATTACH_KPROBE;
	return ATTACH_NONE;
}

/* ---- all kinds ---- */

int attach__choose(struct attacher *attacher, const struct probe *const *probes, size_t nr,
		   enum attach_way *ways)
{
	/* raw_tp before tp_btf: it needs no BTF of a module and no CAP_SYS_ADMIN, and its
	 * arguments are plain numbers, on which every kernel's verifier allows arithmetic. */
	static const enum attach_way of_kind[NR_PROBE_KINDS] = {
		[PROBE_TRACEPOINT] = ATTACH_TRACEPOINT,
		[PROBE_RAW] = ATTACH_RAW,
		[PROBE_USER] = ATTACH_UPROBE,
		[PROBE_USERRET] = ATTACH_UPROBE,
		[PROBE_USDT] = ATTACH_UPROBE,
		[PROBE_PROFILE] = ATTACH_PERF,
		[PROBE_INTERVAL] = ATTACH_PERF,
		[PROBE_SOFT] = ATTACH_PERF,
		[PROBE_HW] = ATTACH_PERF,
	};
	enum attach_way way = nr ? of_kind[probes[0]->kind] : ATTACH_NONE;

	if (nr && way == ATTACH_NONE)
		return attach_choose_functions(attacher, probes, nr, ways);
	for (size_t i = 0; i < nr; i++)
		ways[i] = way;
	if (way != ATTACH_UPROBE || attach_pmu(attacher, ATTACH_UPROBE)->type >= 0)
		return 0;
	return log_err(
		-EOPNOTSUPP,
		"user probes are not available: this kernel has no uprobes (CONFIG_UPROBE_EVENTS)");
}

/* ENOTSUPP is internal to the kernel and has no name in user space. */
enum { ATTACH_ENOTSUPP = 524 };

static const char *attach_why_function(int err)
{
	switch (-err) {
	case ATTACH_ENOTSUPP:
	case EINVAL:
	case EILSEQ: return "not traceable";
	case ENOENT:
	case ESRCH: return "no such function in the running kernel";
	case EADDRNOTAVAIL: return "several functions have this name";
	case EBUSY: return "in use by another tracer";
	default: return strerror(-err);
	}
}

static const char *attach_why_user(int err)
{
	switch (-err) {
	case ATTACH_ENOTSUPP:
	case EOPNOTSUPP: return "this instruction cannot be probed";
	case EINVAL: return "there is no instruction at this place";
	default: return strerror(-err);
	}
}

static const char *attach_why_perf(int err)
{
	switch (-err) {
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP: return "this machine has no such counter";
	case EINVAL: return "the kernel rejects this rate or this counter";
	default: return strerror(-err);
	}
}

const char *attach__why(enum attach_way way, int err)
{
	switch (way) {
	case ATTACH_FENTRY:
	case ATTACH_KPROBE_MULTI:
	case ATTACH_KPROBE: return attach_why_function(err);
	case ATTACH_UPROBE: return attach_why_user(err);
	case ATTACH_PERF: return attach_why_perf(err);
	default: return err == -ENOENT ? "no such event" : strerror(-err);
	}
}
