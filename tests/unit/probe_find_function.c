/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_find_function.c: which functions can be probed, and why not the others? Lists of symbols
 * that are made up, on a machine of plain files; and whether an argument is in the register where
 * the calling conventions of arm64 and x86_64 have it.
 */
#define _GNU_SOURCE
#include "probe/find/inside.h"
#include "probe_tree.h"

/* ---- the machine ---- */

static const char kallsyms[] = "ffff800080000000 T _sinittext\n"
			       "ffff800080000010 T start_kernel\n"
			       "ffff800080000100 T _einittext\n"
			       "ffff800080010000 T vfs_read\n"
			       "ffff800080010100 T vfs_write\n"
			       "ffff800080010200 t vfs_quiet\n"
			       "ffff800080010300 t vfs_sized.isra.0\n"
			       "ffff800080010300 t $x\n"
			       "ffff800080010320 t .Llabel\n"
			       "ffff800080010400 t vfs_sized.cold\n"
			       "ffff800080010500 t twin\n"
			       "ffff800080010600 t twin\n"
			       "ffff800080010700 T __se_sys_read\n"
			       "ffff800080010700 T __arm64_sys_read\n"
			       "ffff800080010800 t trap\n"
			       "ffff800080010900 D vfs_data\n"
			       "ffff800080010a00 t vfs_no_btf\n"
			       "ffff800080010b00 t __pfx_vfs_read\n"
			       "ffff800079000000 t nvme_map\t[nvme]\n"
			       "ffff800079000100 t twin\t[nvme]\n"
			       "ffff800079000200 t bpf_prog_1_vfs_x\t[bpf]\n"
			       "rubbish\n";

static const char traceable[] = "vfs_read\nvfs_write\nvfs_sized.isra.0\ntwin\n__arm64_sys_read\n"
				"vfs_no_btf\nnvme_map [nvme]\n__ftrace_invalid_address___8\n";

static struct {
	int number, u64, file, request, pair, large, wide;
} id;

static void add_types(struct btf *btf)
{
	id.number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	id.u64 = btf__add_int(btf, "long unsigned int", 8, 0);
	id.wide = btf__add_int(btf, "__int128", 16, BTF_INT_SIGNED);
	btf__add_struct(btf, "file", 8);
	id.file = btf__add_ptr(btf, id.wide + 1);
	id.pair = btf__add_struct(btf, "pair", 16);
	btf__add_field(btf, "left", id.u64, 0, 0);
	btf__add_field(btf, "right", id.u64, 64, 0);
	id.large = btf__add_struct(btf, "large", 24);
	btf__add_field(btf, "first", id.u64, 0, 0);
}

/* A function with these parameters, named a, b, c...; 0 ends them. */
static int add_function(struct btf *btf, const char *name, int returns, const int *params)
{
	int proto = btf__add_func_proto(btf, returns);
	char param[] = "a";

	for (; *params; params++, param[0]++)
		btf__add_func_param(btf, param, *params < 0 ? 0 : *params);
	btf__add_func(btf, name, BTF_FUNC_STATIC, proto);
	return proto;
}

static void put_btf(void)
{
	struct btf *btf = btf__new_empty(), *module;

	add_types(btf);
	add_function(btf, "vfs_read", id.number, (int[]){ id.file, id.number, 0 });
	add_function(btf, "vfs_write", 0, (int[]){ id.file, 0 });
	add_function(btf, "vfs_sized", 0, (int[]){ id.file, 0 });
	add_function(btf, "vfs_inlined", 0, (int[]){ id.file, 0 });
	add_function(btf, "vfs_by_value", id.pair, (int[]){ id.pair, id.number, 0 });
	tree_put_btf("/sys/kernel/btf/vmlinux", btf);
	module = btf__new_empty_split(btf);
	add_function(module, "nvme_map", id.number, (int[]){ id.number, 0 });
	tree_put_btf("/sys/kernel/btf/nvme", module);
	btf__free(module);
	btf__free(btf);
}

/* ---- which ones ---- */

static void check_one(struct finder *finder)
{
	is_u64((uint64_t)find(finder, "fn:vfs_read"), 0, "a function is found");
	is_str(found_fields(), "a:struct file * b:int", "with its arguments");
	is_u64(found.probes[0].address, 0xffff800080010000, "its address");
	ok(found.probes[0].btf_id && found.probes[0].btf && !found.probes[0].module &&
		   !found.probes[0].is_odd,
	   "and its BTF");
	find(finder, "ret:vfs_read");
	is_str(found_names(), "ret:vfs_read", "its return, too");
	is_str(found_fields(), "ret:int", "with its result");
	ok(found.probes[0].fields[0].place == PLACE_RET && !found.probes[0].returns_nothing,
	   "which is one");
	find(finder, "ret:vfs_write");
	ok(found.nr == 1 && found.probes[0].returns_nothing && !found.probes[0].nr_fields,
	   "a void function has none");
	find(finder, "fn:nvme_map");
	is_str(found_fields(), "a:int", "a module's function has the module's BTF");
	is_str(found.probes[0].module, "nvme", "and its name");
	find(finder, "fn:vfs_no_btf");
	ok(found.nr == 1 && !found.probes[0].nr_fields && !found.probes[0].btf,
	   "without BTF there is its address");
	find(finder, "ret:vfs_no_btf");
	is_str(found_fields(), "ret:s64", "and its result is a number");
	find(finder, "fn:vfs_sized.isra.0");
	ok(found.nr == 1 && !found.probes[0].nr_fields,
	   "what the compiler changed has nobody knows which arguments");
}

static void check_many(struct finder *finder)
{
	find(finder, "fn:vfs_*");
	is_str(found_names(), "fn:vfs_no_btf fn:vfs_read fn:vfs_sized.isra.0 fn:vfs_write",
	       "a glob finds what can be traced");
	ok(missed.nr == 3 && !said[0], "and tells of others");
	is_str(missed.misses[0].name, "vfs_by_value", "of one that is in no list");
	is_str(missed.misses[0].why, "inlined everywhere", "why");
	is_str(missed.misses[2].name, "vfs_quiet", "of one that ftrace does not have");
	is_str(missed.misses[2].why, "not traceable (notrace)", "why");
	find(finder, "fn:twin");
	ok(found.nr == 2 && found.probes[0].address == 0xffff800080010500 &&
		   found.probes[1].address == 0xffff800080010600 && missed.nr == 1,
	   "one name at two places is two probes; the third is not traceable");
	find(finder, "fn:*sys_read");
	is_str(found_names(), "fn:__arm64_sys_read", "one place with two names is one");
	find(finder, "fn:__se_sys_read");
	is_str(found_names(), "fn:__se_sys_read", "by either of them");
}

static void check_refused(struct finder *finder)
{
	refused(finder, "fn:vfs_raed", -EINVAL,
		"unknown kernel function 'vfs_raed' (inlined, or in a module that is not loaded); "
		"did you mean fn:vfs_read?");
	refused(finder, "fn:start_kernel", -EINVAL,
		"'fn:start_kernel' cannot be probed: start_kernel is removed after boot (__init)");
	refused(finder, "fn:trap", -EINVAL,
		"'fn:trap' cannot be probed: trap is on the kernel's kprobe blacklist");
	refused(finder, "fn:vfs_sized", -EINVAL,
		"'fn:vfs_sized' cannot be probed: vfs_sized is changed by the compiler; use "
		"fn:vfs_sized.isra.0");
	refused(finder, "ret:vfs_sized", -EINVAL,
		"'ret:vfs_sized' cannot be probed: vfs_sized is changed by the compiler; use "
		"ret:vfs_sized.isra.0");
	refused(finder, "fn:vfs_quie*", -EINVAL,
		"'fn:vfs_quie*' cannot be probed: vfs_quiet is not traceable (notrace)");
	refused(finder, "fn:vfs_[iq]*", -EINVAL,
		"'fn:vfs_[iq]*': none of 2 functions can be probed; vfs_inlined is inlined "
		"everywhere");
	refused(finder, "fn:nothing*", -EINVAL,
		"no kernel function matches 'fn:nothing*'; 'iosonar events' lists the events");
	refused(finder, "fn:bpf_prog_1_vfs_x", -EINVAL,
		"unknown kernel function 'bpf_prog_1_vfs_x' (inlined, or in a module that is not "
		"loaded); 'iosonar events' lists the events");
}

/* Who may not see addresses, nor ftrace's list. */
static void check_hidden(void)
{
	struct finder *finder = finder__new_at(tree);
	uint64_t offset;

	ok(!finder__doubt(finder), "nobody doubts before he has looked");
	tree_remove("/sys/kernel/tracing");
	tree_put("/proc/kallsyms", "0000000000000000 T vfs_read\n0000000000000000 t twin\n"
				   "0000000000000000 t twin\n");
	find(finder, "fn:*");
	is_str(found_names(), "fn:twin fn:vfs_read", "without addresses a name is one probe");
	ok(!found.probes[0].address, "and its address is not known");
	ok(finder__doubt(finder) && strstr(finder__doubt(finder), "available_filter_functions"),
	   "what could not be read is told");
	ok(!finder__symbol(finder, 0xffff800080010010, &offset), "an address has no name then");
	finder__free(finder);
	finder = finder__new_at(tree);
	tree_remove("/proc/kallsyms");
	refused(finder, "fn:vfs_read", -EOPNOTSUPP,
		"cannot read the kernel's functions in /proc/kallsyms: No such file or directory");
	finder__free(finder);
}

static void check_symbol(struct finder *finder)
{
	uint64_t offset = 0;

	is_str(finder__symbol(finder, 0xffff800080010104, &offset), "vfs_write",
	       "an address has a name");
	is_u64(offset, 4, "and a place in it");
	ok(!finder__symbol(finder, 7, &offset), "not every one");
}

/* ---- registers ---- */

static struct btf *abi_btf;

/* "0/0 1/1 s8/3": register of each argument, or offset on the stack; behind a slash fentry's slots.
 */
static const char *registers(enum find_abi abi, const int *params)
{
	int proto = add_function(abi_btf, "f", 0, params);
	struct probe probe = { .kind = PROBE_FN };
	static char text[256];

	find_abi__add_args(&probe, abi, abi_btf, (uint32_t)proto);
	text[0] = 0;
	for (size_t i = 0; i < probe.nr_fields; i++) {
		const bool on_stack = probe.fields[i].reg >= PROBE_ON_STACK;

		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%u/%u ",
			 on_stack ? "s" : "", probe.fields[i].reg - (on_stack ? PROBE_ON_STACK : 0),
			 probe.fields[i].slot);
	}
	strcat(text, probe.is_odd ? "odd" : "plain");
	probe__free(&probe);
	return text;
}

static void check_registers(void)
{
	const int n = id.number, p = id.pair, l = id.large, w = id.wide;

	is_str(registers(ABI_ARM64, (int[]){ n, n, n, 0 }), "0/0 1/1 2/2 plain",
	       "arm64: one after the other");
	is_str(registers(ABI_ARM64, (int[]){ n, p, n, 0 }), "0/0 1/1 3/3 odd",
	       "arm64: a struct of 16 bytes takes two");
	is_str(registers(ABI_ARM64, (int[]){ l, n, 0 }), "0/0 1/1 odd",
	       "arm64: a larger one is passed by its address");
	is_str(registers(ABI_ARM64, (int[]){ n, w, n, 0 }), "0/0 2/1 4/3 odd",
	       "arm64: 128 bits begin at an even one");
	is_str(registers(ABI_ARM64, (int[]){ n, n, n, n, n, n, n, p, n, 0 }),
	       "0/0 1/1 2/2 3/3 4/4 5/5 6/6 s0/7 s16/9 odd",
	       "arm64: what does not fit goes to the stack, and all behind it");
	is_str(registers(ABI_X86_64, (int[]){ n, n, n, n, n, n, n, 0 }),
	       "0/0 1/1 2/2 3/3 4/4 5/5 s0/6 odd", "x86_64: the seventh is on the stack");
	is_str(registers(ABI_X86_64, (int[]){ n, n, n, n, n, n, n, w, n, 0 }),
	       "0/0 1/1 2/2 3/3 4/4 5/5 s0/6 s16/7 s32/9 odd",
	       "x86_64: the eighth after it, 128 bits at a multiple of 16 bytes");
	is_str(registers(ABI_ARM64, (int[]){ n, n, n, n, n, n, n, n, n, w, n, 0 }),
	       "0/0 1/1 2/2 3/3 4/4 5/5 6/6 7/7 s0/8 s16/9 s32/11 odd",
	       "arm64: the ninth and what follows likewise");
	is_str(registers(ABI_X86_64, (int[]){ n, n, n, n, n, p, n, 0 }),
	       "0/0 1/1 2/2 3/3 4/4 s0/5 5/7 odd",
	       "x86_64: what does not fit leaves its register to the next");
	is_str(registers(ABI_X86_64, (int[]){ l, n, 0 }), "s0/0 0/1 odd",
	       "x86_64: a large struct is on the stack");
	is_str(registers(ABI_ARM64, (int[]){ n, -1, 0 }), "0/0 odd", "... is no argument");
}

/* ---- what is shown of them ---- */

static void check_prototype(struct finder *finder)
{
	char buf[128], small[12];

	find(finder, "fn:vfs_read");
	is_str(probe__prototype(&found.probes[0], buf, sizeof(buf)),
	       "int vfs_read(struct file *a, int b)", "a prototype as C has it");
	is_str(probe__prototype(&found.probes[0], small, sizeof(small)), "int vfs_rea",
	       "cut where its room ends");
	is_str(probe_field__print(&found.probes[0].fields[0], buf, sizeof(buf)), "struct file *a",
	       "an argument likewise");
	find(finder, "fn:vfs_no_btf");
	ok(!probe__prototype(&found.probes[0], buf, sizeof(buf)), "or none is known");
}

int main(void)
{
	struct finder *finder;

	if (!mkdtemp(tree))
		return 1;
	tree_put("/proc/kallsyms", kallsyms);
	tree_put("/sys/kernel/tracing/available_events", "");
	tree_put("/sys/kernel/tracing/available_filter_functions", traceable);
	tree_put("/sys/kernel/debug/kprobes/blacklist",
		 "0xffff800080010800-0xffff800080010810\ttrap\n\nrubbish\n");
	put_btf();
	finder = finder__new_at(tree);
	check_one(finder);
	check_many(finder);
	check_refused(finder);
	check_symbol(finder);
	check_prototype(finder);
	forget();
	finder__free(finder);
	check_hidden();
	forget();
	abi_btf = btf__new_empty();
	add_types(abi_btf);
	check_registers();
	btf__free(abi_btf);
	tree_remove("");
	return done_testing();
}
