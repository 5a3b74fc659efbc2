/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/trial.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include "base/text.h"

/* Instructions, named as in the kernel's linux/filter.h. */
#define INSN(c, dst, src, o, i) \
	((struct bpf_insn){     \
		.code = (c), .dst_reg = (dst), .src_reg = (src), .off = (o), .imm = (i) })
#define SET(reg, value)	 INSN(BPF_ALU64 | BPF_MOV | BPF_K, reg, 0, 0, value)
#define COPY(reg, from)	 INSN(BPF_ALU64 | BPF_MOV | BPF_X, reg, from, 0, 0)
#define ADD(reg, value)	 INSN(BPF_ALU64 | BPF_ADD | BPF_K, reg, 0, 0, value)
#define CALL(helper)	 INSN(BPF_JMP | BPF_CALL, 0, 0, 0, helper)
#define LEAVE()		 INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
#define LENGTH_OF(array) (sizeof(array) / sizeof((array)[0]))

static const struct bpf_insn trial_nothing[] = { SET(BPF_REG_0, 0), LEAVE() };

/* bpf_probe_read_kernel(stack, 8, 0) */
static const struct bpf_insn trial_reads[] = {
	COPY(BPF_REG_1, BPF_REG_10),	  ADD(BPF_REG_1, -8), SET(BPF_REG_2, 8), SET(BPF_REG_3, 0),
	CALL(BPF_FUNC_probe_read_kernel), SET(BPF_REG_0, 0),  LEAVE(),
};

/* 0 and closed, or -errno. */
static int trial_close(int fd)
{
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int trial_load(enum bpf_prog_type type)
{
	return bpf_prog_load(type, "iosonar_trial", "GPL", trial_nothing, LENGTH_OF(trial_nothing),
			     NULL);
}

static int trial_array(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);

	return bpf_map_create(BPF_MAP_TYPE_ARRAY, "iosonar_trial", 4, 8, 1, &opts);
}

/* Before 5.11 the memory of maps counts as locked, also that of root (d5299b67dd59). */
static int trial_unlocked(void)
{
	struct rlimit limit, none;
	int fd;

	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return -errno;
	none = (struct rlimit){ .rlim_cur = 0, .rlim_max = limit.rlim_max };
	if (setrlimit(RLIMIT_MEMLOCK, &none))
		return -errno;
	fd = trial_array();
	setrlimit(RLIMIT_MEMLOCK, &limit);
	return fd;
}

static int trial_ring(void)
{
	return bpf_map_create(BPF_MAP_TYPE_RINGBUF, "iosonar_trial", 0, 0,
			      (__u32)sysconf(_SC_PAGESIZE), NULL);
}

static int trial_raw_tp(void)
{
	return trial_load(BPF_PROG_TYPE_RAW_TRACEPOINT);
}

static int trial_read_kernel(void)
{
	return bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "iosonar_trial", "GPL", trial_reads,
			     LENGTH_OF(trial_reads), NULL);
}

/* A program for the BTF entry of this name and kind. */
static int trial_typed(const struct btf *vmlinux, const char *name, __u32 kind,
		       enum bpf_attach_type attach)
{
	int id = vmlinux ? btf__find_by_name_kind(vmlinux, name, kind) : -errno;
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = attach,
		    .attach_btf_id = id > 0 ? (__u32)id : 0);

	return id < 0 ? id
		      : bpf_prog_load(BPF_PROG_TYPE_TRACING, "iosonar_trial", "GPL", trial_nothing,
				      LENGTH_OF(trial_nothing), &opts);
}

static int trial_tp_btf(void)
{
	struct btf *vmlinux = btf__load_vmlinux_btf();
	int program = trial_typed(vmlinux, "btf_trace_block_rq_issue", BTF_KIND_TYPEDEF,
				  BPF_TRACE_RAW_TP);

	btf__free(vmlinux);
	return program;
}

static int trial_readable(const char *path)
{
	return access(path, R_OK) ? -errno : 0;
}

static int trial_tp(void)
{
	int err = trial_readable("/sys/kernel/tracing/events/block/block_rq_issue/id");

	if (err)
		err = trial_readable("/sys/kernel/debug/tracing/events/block/block_rq_issue/id");
	return err ?: trial_load(BPF_PROG_TYPE_TRACEPOINT);
}

static int trial_kprobe(void)
{
	int err = trial_readable("/sys/bus/event_source/devices/kprobe/type");

	return err ?: trial_load(BPF_PROG_TYPE_KPROBE);
}

/* Without a path: the kernel checks rights first, then rejects the missing path (EFAULT). */
static int trial_uprobe(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	static const char path[] = "/sys/bus/event_source/devices/uprobe/type";
	char type[32];
	int err = trial_readable(path), fd;

	if (err)
		return err;
	if (!text__read_line(path, type, sizeof(type)))
		return -ENODATA;
	attr.type = (__u32)strtoul(type, NULL, 10);
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0 && (errno == EACCES || errno == EPERM))
		return -errno;
	if (fd >= 0)
		close(fd);
	return trial_load(BPF_PROG_TYPE_KPROBE);
}

/* Loading proves nothing here: arm64 of 5.10 and 6.1 refuses only the attaching (ENOTSUPP). */
static int trial_fentry_of(const struct btf *vmlinux)
{
	int program = trial_typed(vmlinux, "bpf_fentry_test1", BTF_KIND_FUNC, BPF_TRACE_FENTRY);
	int link;

	if (program < 0)
		return program;
	link = bpf_raw_tracepoint_open(NULL, program);
	close(program);
	return link;
}

static int trial_fentry(void)
{
	struct btf *vmlinux = btf__load_vmlinux_btf();
	int link = trial_fentry_of(vmlinux);

	btf__free(vmlinux);
	return link;
}

static int (*const trial_steps[NR_TRIALS])(void) = {
	[TRIAL_ARRAY] = trial_array,
	[TRIAL_UNLOCKED] = trial_unlocked,
	[TRIAL_RING] = trial_ring,
	[TRIAL_RAW_TP] = trial_raw_tp,
	[TRIAL_READ_KERNEL] = trial_read_kernel,
	[TRIAL_TP_BTF] = trial_tp_btf,
	[TRIAL_TP] = trial_tp,
	[TRIAL_KPROBE] = trial_kprobe,
	[TRIAL_FENTRY] = trial_fentry,
	[TRIAL_UPROBE] = trial_uprobe,
};

int trial__do(enum trial trial)
{
	return trial_close(trial_steps[trial]());
}

/* Detaching waits for all CPUs, a tenth of a second: there is no need where functions have ftrace's
 * trampolines. */
int trial__fentry(const struct btf *vmlinux)
{
	if (btf__find_by_name_kind(vmlinux, "register_ftrace_direct", BTF_KIND_FUNC) <= 0)
		return trial_close(trial_fentry_of(vmlinux));
	return trial_close(
		trial_typed(vmlinux, "bpf_fentry_test1", BTF_KIND_FUNC, BPF_TRACE_FENTRY));
}

int trial__attach(const char *event)
{
	int program = trial_raw_tp(), link;

	if (program < 0)
		return program;
	link = bpf_raw_tracepoint_open(event, program);
	close(program);
	return trial_close(link);
}
