/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwind.c: user stacks by tables for generated programs. The compiled unwinder is loaded once as a
 * program of its own; its functions, relocated, are appended to each generated program that takes a
 * user stack, and called there. They share its maps. The verifier checks each of them separately,
 * as it needs their types: those come along, too.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include "base/log.h"
#include "collect/io.h"
#include "collect/kernel.h"
#include "collect/types.h"
#include "collect/unwind.h"
#include "probe/run/inside.h"
#include "symbol/symbols.h"
#include "wire/io_tables.h"
/* needs the above */
#include "bpf/unwind.skel.h"

enum { UNWIND_FUNCTIONS = 16 };

struct run_unwind {
	struct unwind_bpf *skel;
	struct unwind_shared shared;
	struct unwinder *unwinder;
	struct symbols *symbols; /* NULL: not known yet */
	struct bpf_func_info functions[UNWIND_FUNCTIONS];
	struct attach_block block;
};

/* ---- the functions ---- */

static bool unwind_is_call(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_CALL;
}

static bool unwind_has_function(const struct attach_block *block, size_t at)
{
	for (size_t i = 1; i < block->nr_functions; i++)
		if (block->functions[i].insn_off == at)
			return true;
	return false;
}

static int unwind_compare(const void *a, const void *b)
{
	const struct bpf_func_info *x = a, *y = b;

	return (x->insn_off > y->insn_off) - (x->insn_off < y->insn_off);
}

/* libbpf puts functions behind the program that calls them. The first entry is for the caller. */
static int unwind_cut_block(struct run_unwind *u)
{
	const struct bpf_insn *insns = bpf_program__insns(u->skel->progs.unwind_entry);
	const size_t nr = bpf_program__insn_cnt(u->skel->progs.unwind_entry);
	struct attach_block *block = &u->block;
	size_t entry = 0;

	block->functions = u->functions;
	block->nr_functions = 1;
	for (size_t i = 0; i < nr; i++) {
		size_t target = i + 1 + (size_t)insns[i].imm;

		if (!unwind_is_call(&insns[i]))
			continue;
		if (!entry)
			entry = target;
		if (target < entry || target >= nr || block->nr_functions == UNWIND_FUNCTIONS)
			return -EINVAL;
		if (!unwind_has_function(block, target - entry))
			u->functions[block->nr_functions++].insn_off = (__u32)(target - entry);
	}
	qsort(u->functions + 1, block->nr_functions - 1, sizeof(u->functions[0]), unwind_compare);
	block->insns = insns + entry;
	block->nr = nr - entry;
	return entry ? 0 : -EINVAL;
}

/* The kernel moves functions when it rewrites instructions; their order stays. */
static int unwind_read_types(struct run_unwind *u)
{
	struct bpf_func_info types[UNWIND_FUNCTIONS];
	struct bpf_prog_info info = {
		.nr_func_info = UNWIND_FUNCTIONS,
		.func_info_rec_size = sizeof(types[0]),
		.func_info = (uintptr_t)types,
	};
	__u32 len = sizeof(info);
	int err = bpf_obj_get_info_by_fd(bpf_program__fd(u->skel->progs.unwind_entry), &info, &len);

	if (err)
		return err;
	if (info.nr_func_info != u->block.nr_functions)
		return -EINVAL;
	for (size_t i = 0; i < u->block.nr_functions; i++)
		u->functions[i].type_id = types[i].type_id;
	u->block.btf_fd = bpf_object__btf_fd(u->skel->obj);
	return u->block.btf_fd < 0 ? -EINVAL : 0;
}

/* ---- the object ---- */

static int unwind_load(struct run_unwind *u)
{
	struct types types;
	LIBBPF_OPTS(bpf_object_open_opts, opts);
	struct kernel kernel;
	int err = kernel__read(&kernel);

	if (err)
		return err;
	io__hush_libbpf();
	opts.btf_custom_path = types__open(&types);
	u->skel = unwind_bpf__open_opts(&opts);
	err = u->skel ? unwind_shared__size(u->skel->obj) : -errno;
	err = err ?: types__fill(&types, kernel.btf, bpf_object__btf(u->skel->obj));
	if (!err) {
		unwind_shared__set((struct io_settings *)&u->skel->rodata->settings, &kernel);
		err = unwind_bpf__load(u->skel);
	}
	types__close(&types);
	kernel__free(&kernel);
	err = err ?: unwind_cut_block(u);
	err = err ?: unwind_read_types(u);
	return err ?: unwind_shared__map(&u->shared, u->skel->obj);
}

/* Frame pointers are there without it, which is said. */
int run_make_unwind(struct run *run)
{
	struct run_unwind *u;
	int err = -ENOMEM;

	if (!run->plan->user_stack || !unwind_how__has_tables(run->wants.unwind))
		return 0;
	u = run->unwind = calloc(1, sizeof(*u));
	if (u)
		err = unwind_load(u);
	if (!err && !(u->unwinder = unwinder__new(&u->shared, run->wants.unwind)))
		err = -ENOMEM;
	if (!err)
		return 0;
	run_free_unwind(run);
	if (run->wants.unwind == UNWIND_HOW_DWARF)
		return log_err(err, "--unwind dwarf: this kernel rejects the unwinder: %s",
			       strerror(-err));
	log_note("user stacks are taken by frame pointers: this kernel rejects the unwinder: %s",
		 strerror(-err));
	return 0;
}

void run_free_unwind(struct run *run)
{
	struct run_unwind *u = run->unwind;

	run->unwind = NULL;
	if (!u)
		return;
	unwinder__free(u->unwinder);
	unwind_shared__unmap(&u->shared);
	unwind_bpf__destroy(u->skel);
	free(u);
}

const struct attach_block *run_unwind_block(const struct run *run)
{
	return run->unwind ? &run->unwind->block : NULL;
}

/* ---- while it runs ---- */

void run__unwind_with(struct run *run, struct symbols *symbols)
{
	if (!run->unwind)
		return;
	run->unwind->symbols = symbols;
	unwinder__first(run->unwind->unwinder, symbols);
}

bool run__unwinds(const struct run *run)
{
	return run->unwind;
}

void run__unwind(struct run *run)
{
	if (run->unwind && run->unwind->symbols)
		unwinder__publish(run->unwind->unwinder, run->unwind->symbols);
}

void run__tell_unwind(const struct run *run)
{
	if (run->unwind)
		unwinder__tell(run->unwind->unwinder);
}

/* NULL: the kernel numbered it. */
const struct io_stack *run_unwound(const struct run *run, uint64_t id)
{
	const struct io_stack *kept = run->unwind ? run->unwind->shared.stacks : NULL;

	if (!kept || id <= IO_MAX_STACKS || id >= IO_STACK_NUMBERS)
		return NULL;
	return &kept[id - IO_MAX_STACKS - 1];
}

bool run_is_cut_by_fp(const struct run *run, uint32_t pid)
{
	return run->unwind && unwinder__is_cut_by_fp(run->unwind->unwinder, pid);
}
