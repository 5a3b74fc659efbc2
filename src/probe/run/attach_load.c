/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attach_load.c: loads a program into the kernel and attaches it: a table gives the types of each
 * way, and a function per way attaches.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include "base/grow.h"
#include "probe/code/code.h"
#include "probe/run/attach_inside.h"

static const struct {
	const char *word;
	enum program_ctx ctx;
	bool is_slow_to_close;
	enum bpf_prog_type type;
	enum bpf_attach_type entry, exit;
} attach_ways[NR_ATTACH_WAYS] = {
	[ATTACH_NONE] = { "none", CTX_RECORD, false, 0 },
	[ATTACH_TRACEPOINT] = { "tracepoint", CTX_RECORD, true, BPF_PROG_TYPE_TRACEPOINT },
	[ATTACH_RAW] = { "raw tracepoint", CTX_RAW, false, BPF_PROG_TYPE_RAW_TRACEPOINT },
	[ATTACH_TP_BTF] = { "tp_btf", CTX_TRACING, false, BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP,
			    BPF_TRACE_RAW_TP },
	[ATTACH_FENTRY] = { "fentry", CTX_TRACING, true, BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY,
			    BPF_TRACE_FEXIT },
	[ATTACH_KPROBE_MULTI] = { "kprobe.multi", CTX_REGS, false, BPF_PROG_TYPE_KPROBE,
				  BPF_TRACE_KPROBE_MULTI, BPF_TRACE_KPROBE_MULTI },
	[ATTACH_KPROBE] = { "kprobe", CTX_REGS, true, BPF_PROG_TYPE_KPROBE },
	[ATTACH_UPROBE] = { "uprobe", CTX_REGS, true, BPF_PROG_TYPE_KPROBE },
	[ATTACH_PERF] = { "perf event", CTX_PERF, false, BPF_PROG_TYPE_PERF_EVENT },
};

enum program_ctx attach__ctx(enum attach_way way)
{
	return attach_ways[way].ctx;
}

const char *attach__word(enum attach_way way)
{
	return attach_ways[way].word;
}

bool attach__serves_many(enum attach_way way)
{
	return way == ATTACH_KPROBE_MULTI;
}

bool attach__is_slow_to_close(enum attach_way way)
{
	return attach_ways[way].is_slow_to_close;
}

/* ---- BTF of modules ---- */

/* The kernel knows a module's BTF by id only: all are searched. */
static int attach_find_btf(const char *module)
{
	char name[64];
	__u32 id = 0;

	while (!bpf_btf_get_next_id(id, &id)) {
		struct bpf_btf_info info = { .name = (uintptr_t)name, .name_len = sizeof(name) };
		__u32 len = sizeof(info);
		int fd = bpf_btf_get_fd_by_id(id);

		if (fd == -ENOENT) /* it went */
			continue;
		if (fd < 0)
			return fd;
		if (!bpf_obj_get_info_by_fd(fd, &info, &len) && info.kernel_btf &&
		    !strcmp(name, module))
			return fd;
		close(fd);
	}
	return -ENOENT;
}

static int attach_module_btf(struct attacher *attacher, const char *module)
{
	char *name;

	for (size_t i = 0; i < attacher->nr_modules; i++)
		if (!strcmp(attacher->modules[i].name, module))
			return attacher->modules[i].btf_fd;
	name = strdup(module);
	if (!name || GROW_BY_ONE(attacher->modules, attacher->nr_modules)) {
		free(name);
		return -ENOMEM;
	}
	attacher->modules[attacher->nr_modules] =
		(struct attach_module){ name, attach_find_btf(module) };
	return attacher->modules[attacher->nr_modules++].btf_fd;
}

/* ---- loading ---- */

/* Goes before the program, whose jumps are relative. */
enum { ATTACH_SWITCH_INSNS = 6, ATTACH_FUNCTIONS = 16 };

struct attach_insns {
	struct bpf_insn *insns;
	size_t nr;
	struct bpf_func_info functions[ATTACH_FUNCTIONS];
	size_t nr_functions; /* 0: it has no types */
	int btf_fd;
	char *log;
	size_t log_size;
};

static void attach_put_switch(const struct attach_load *load, struct bpf_insn *to)
{
	const int verdict = program__verdict(attach__ctx(load->way));
	const struct bpf_insn first[ATTACH_SWITCH_INSNS] = {
		INSN(BPF_LD | BPF_DW | BPF_IMM, BPF_REG_0, BPF_PSEUDO_MAP_VALUE, 0,
		     load->switch_fd),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_LDX | BPF_DW | BPF_MEM, BPF_REG_0, BPF_REG_0, 0, 0),
		INSN(BPF_JMP | BPF_JNE | BPF_K, BPF_REG_0, 0, 2, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, verdict),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};

	memcpy(to, first, sizeof(first));
}

/* Completes the calls of the program's own instructions. False: there are none. */
static bool attach_call_block(struct bpf_insn *insns, size_t nr)
{
	bool calls = false;

	for (size_t i = 0; i < nr; i++) {
		if (insns[i].code != (BPF_JMP | BPF_CALL) || insns[i].src_reg != BPF_PSEUDO_CALL)
			continue;
		insns[i].imm = (int32_t)(nr - i - 1);
		calls = true;
	}
	return calls;
}

static void attach_put_block(const struct attach_block *block, struct attach_insns *what)
{
	memcpy(what->insns + what->nr, block->insns, block->nr * sizeof(*block->insns));
	for (size_t i = 0; i < block->nr_functions && i < ATTACH_FUNCTIONS; i++) {
		what->functions[i] = block->functions[i];
		what->functions[i].insn_off += i ? (__u32)what->nr : 0;
		what->nr_functions++;
	}
	what->btf_fd = block->btf_fd;
	what->nr += block->nr;
}

/* All that is loaded. insns NULL: no memory. */
static struct attach_insns attach_join(const struct attach_load *load, bool with_switch)
{
	const size_t before = with_switch ? ATTACH_SWITCH_INSNS : 0;
	const size_t behind = load->block ? load->block->nr : 0;
	struct attach_insns what = { .nr = before + load->nr };

	what.insns = calloc(what.nr + behind, sizeof(*what.insns));
	if (!what.insns)
		return what;
	if (with_switch)
		attach_put_switch(load, what.insns);
	memcpy(what.insns + before, load->insns, load->nr * sizeof(*what.insns));
	if (load->block && attach_call_block(what.insns, what.nr))
		attach_put_block(load->block, &what);
	return what;
}

/* libbpf retries with the log if the first attempt fails. */
static int attach_load_insns(struct attacher *attacher, enum attach_way way,
			     const struct probe *probe, const struct attach_insns *what)
{
	const bool typed = attach_ways[way].type == BPF_PROG_TYPE_TRACING;
	const int module = typed && probe->module ? attach_module_btf(attacher, probe->module) : 0;
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .log_buf = what->log,
		    .log_size = (__u32)what->log_size,
		    .expected_attach_type = attach_is_return(probe) ? attach_ways[way].exit
								    : attach_ways[way].entry);

	if (module < 0)
		return module;
	if (typed && !probe->btf_id)
		return -ENOENT;
	opts.attach_btf_id = typed ? probe->btf_id : 0;
	opts.attach_btf_obj_fd = (__u32)module;
	if (what->nr_functions) {
		opts.prog_btf_fd = (__u32)what->btf_fd;
		opts.func_info = what->functions;
		opts.func_info_cnt = (__u32)what->nr_functions;
		opts.func_info_rec_size = sizeof(what->functions[0]);
	}
	return bpf_prog_load(attach_ways[way].type, "iosonar", "GPL", what->insns, what->nr, &opts);
}

int attach_load_nothing(struct attacher *attacher, enum attach_way way, const struct probe *probe)
{
	struct bpf_insn nothing[] = {
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0,
		     program__verdict(attach__ctx(way))),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	const struct attach_insns what = { .insns = nothing, .nr = 2 };

	return attach_load_insns(attacher, way, probe, &what);
}

static int attach_load_joined(struct attacher *attacher, const struct attach_load *load,
			      bool with_switch)
{
	struct attach_insns what = attach_join(load, with_switch);
	int fd = -ENOMEM;

	if (!with_switch) {
		what.log = load->log;
		what.log_size = load->log_size;
	}
	if (what.insns)
		fd = attach_load_insns(attacher, load->way, load->probe, &what);
	free(what.insns);
	return fd;
}

/* Refused with the switch: tries once without it, so that the log numbers match the program's. */
int attachment__load(struct attachment *a, struct attacher *attacher,
		     const struct attach_load *load)
{
	const bool with_switch = load->switch_fd >= 0;
	int fd, again;

	*a = (struct attachment){ .way = load->way, .prog_fd = -1 };
	if (load->log_size)
		load->log[0] = 0;
	fd = attach_load_joined(attacher, load, with_switch);
	if (fd < 0 && with_switch) {
		again = attach_load_joined(attacher, load, false);
		if (again >= 0)
			close(again);
	}
	a->prog_fd = fd < 0 ? -1 : fd;
	return fd < 0 ? fd : 0;
}

/* ---- attaching ---- */

static int attachment_keep(struct attachment *a, int fd)
{
	if (fd < 0)
		return fd;
	if (GROW_BY_ONE(a->fds, a->nr_fds)) {
		close(fd);
		return -ENOMEM;
	}
	a->fds[a->nr_fds++] = fd;
	return 0;
}

/* By name where the kernel hides addresses: slower, and the name must be unique. */
int attach_link_many(int prog_fd, const struct probe *const *probes, size_t nr)
{
	unsigned long *addresses = calloc(nr, sizeof(*addresses));
	const char **names = calloc(nr, sizeof(*names));
	LIBBPF_OPTS(bpf_link_create_opts, opts);
	bool hidden = false;
	int fd = -ENOMEM;

	for (size_t i = 0; addresses && names && i < nr; i++) {
		addresses[i] = probes[i]->address;
		names[i] = probes[i]->func;
		hidden |= !probes[i]->address;
	}
	opts.kprobe_multi.cnt = (__u32)nr;
	opts.kprobe_multi.addrs = hidden ? NULL : addresses;
	opts.kprobe_multi.syms = hidden ? names : NULL;
	opts.kprobe_multi.flags = attach_is_return(probes[0]) ? BPF_F_KPROBE_MULTI_RETURN : 0;
	if (addresses && names)
		fd = bpf_link_create(prog_fd, 0, BPF_TRACE_KPROBE_MULTI, &opts);
	free(addresses);
	free(names);
	return fd;
}

static int attachment_link_many(struct attachment *a, const struct probe *const *probes, size_t nr,
				int *errs)
{
	const size_t half = nr / 2;
	int err = attachment_keep(a, attach_link_many(a->prog_fd, probes, nr));

	for (size_t i = 0; i < nr; i++)
		errs[i] = err;
	/* One function that cannot be traced fails the whole link. */
	if (nr < 2 || (err != -ENOENT && err != -EINVAL && err != -ESRCH && err != -EADDRNOTAVAIL))
		return err;
	err = attachment_link_many(a, probes, half, errs);
	return attachment_link_many(a, probes + half, nr - half, errs + half) ? err : 0;
}

/* A CPU that went offline meanwhile is not an error. */
static int attachment_sample(struct attachment *a, struct attacher *attacher,
			     const struct probe *probe)
{
	int err = attach_read_cpus(attacher);
	const size_t most = probe->kind == PROBE_INTERVAL ? 1 : attacher->nr_cpus;

	for (size_t i = 0; !err && i < attacher->nr_cpus && a->nr_fds < most; i++) {
		err = attachment_keep(a, attach_open_sampled(probe, attacher->cpus[i], a->prog_fd));
		err = err == -ENODEV ? 0 : err;
	}
	return err ?: a->nr_fds ? 0 : -ENODEV;
}

static int attachment_attach_one(struct attachment *a, struct attacher *attacher,
				 const struct probe *probe)
{
	switch (a->way) {
	case ATTACH_RAW:
		return attachment_keep(a, bpf_raw_tracepoint_open(probe->func, a->prog_fd));
	case ATTACH_TP_BTF:
	case ATTACH_FENTRY: return attachment_keep(a, bpf_raw_tracepoint_open(NULL, a->prog_fd));
	case ATTACH_TRACEPOINT:
	case ATTACH_KPROBE:
	case ATTACH_UPROBE:
		return attachment_keep(a, attach_open_traced(attacher, a->way, probe, a->prog_fd));
	case ATTACH_PERF: return attachment_sample(a, attacher, probe);
	default: return -EINVAL;
	}
}

int attachment__attach(struct attachment *a, struct attacher *attacher,
		       const struct probe *const *probes, size_t nr, int *errs)
{
	int err = 0;

	if (a->way == ATTACH_KPROBE_MULTI) {
		attachment_link_many(a, probes, nr, errs);
		return a->nr_fds ? 0 : errs[0];
	}
	for (size_t i = 0; i < nr; i++) {
		errs[i] = attachment_attach_one(a, attacher, probes[i]);
		err = err ?: errs[i];
	}
	return a->nr_fds ? 0 : err;
}

int attachment__share(struct attachment *a, struct attacher *attacher,
		      const struct attachment *with, const struct probe *probe)
{
	return attachment_keep(a, attach_open_traced(attacher, with->way, probe, with->prog_fd));
}

/* ---- afterwards ---- */

uint64_t attachment__missed(const struct attachment *a)
{
	struct bpf_prog_info info = { 0 };
	__u32 len = sizeof(info);

	if (a->prog_fd < 0 || bpf_obj_get_info_by_fd(a->prog_fd, &info, &len))
		return 0;
	return info.recursion_misses;
}

void attachment__detach(struct attachment *a)
{
	for (size_t i = 0; i < a->nr_fds; i++)
		close(a->fds[i]);
	free(a->fds);
	a->fds = NULL;
	a->nr_fds = 0;
}

void attachment__close(struct attachment *a)
{
	attachment__detach(a);
	if (a->prog_fd >= 0)
		close(a->prog_fd);
	a->prog_fd = -1;
}
