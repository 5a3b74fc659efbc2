/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_find.c: does a spec find what it means, and is a wrong one answered with a right one?
 * Tracepoints, raw tracepoints, timers and counters on a machine of plain files, whose format files
 * and lists are as good or as bad as we want.
 */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include "probe_tree.h"

/* ---- the machine ---- */

#define HEAD                                                                   \
	"name: x\nID: 1\nformat:\n"                                            \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define EVENTS "/sys/kernel/tracing/events/"

static void put_event(const char *name, const char *id, const char *fields)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), EVENTS "%s/id", name);
	tree_put(path, id);
	snprintf(path, sizeof(path), EVENTS "%s/format", name);
	tree_put(path, fields);
}

static void put_tracefs(void)
{
	tree_put("/sys/kernel/tracing/available_events",
		 "syscalls:sys_enter_openat\nsyscalls:sys_exit_read\nblock:block_rq_issue\n"
		 "block:block_rq_complete\nnvme:nvme_setup_cmd\nsched:odd\nsched:gone\n"
		 "no colon\n../up:x\na:../b\nkprobes:mine\n");
	put_event("block/block_rq_issue", "1862\n",
		  HEAD "\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"
		       "\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n"
		       "\tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;\n"
		       "\tfield:__data_loc char[] cmd;\toffset:60;\tsize:4;\tsigned:0;\n"
		       "\nprint fmt: \"field:int no;\toffset:8;\tsize:4;\tsigned:1;\", REC->dev\n"
		       "\tfield:int neither;\toffset:8;\tsize:4;\tsigned:1;\n");
	put_event("block/block_rq_complete", "1863\n",
		  HEAD "\tfield:int error;\toffset:8;\tsize:4;\tsigned:1;\n");
	put_event("nvme/nvme_setup_cmd", "99\n",
		  HEAD "\tfield:u8 cdw10[24];\toffset:8;\tsize:24;\tsigned:0;\n");
	put_event("syscalls/sys_enter_openat", "600\n",
		  HEAD
		  "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
		  "\tfield:int dfd;\toffset:16;\tsize:8;\tsigned:0;\n"
		  "\tfield:const char * filename;\toffset:24;\tsize:8;\tsigned:0;\n"
		  "\tfield:umode_t mode;\toffset:40;\tsize:8;\tsigned:0;\n"
		  "\tfield:const char *const * argv;\toffset:48;\tsize:8;\tsigned:0;\n"
		  "\tfield:struct request * req;\toffset:56;\tsize:8;\tsigned:0;\n"
		  "\tfield:size_t count;\toffset:64;\tsize:8;\tsigned:0;\n"
		  "\tfield:__data_loc char[] __filename_val;\toffset:72;\tsize:4;\tsigned:0;\n");
	put_event("syscalls/sys_exit_read", "649\n",
		  HEAD "\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n");
	put_event("kprobes/mine", "7\n", HEAD);
}

static int add_proto(struct btf *btf, int data, int request, const char *const names[2])
{
	int proto = btf__add_func_proto(btf, 0);

	btf__add_func_param(btf, names ? "__data" : NULL, data);
	btf__add_func_param(btf, names ? names[0] : NULL, request);
	btf__add_func_param(btf, names ? names[1] : NULL, 1);
	return proto;
}

/* block_rq_issue(rq, error), whose names only __traceiter_ has; a module's, which has no names. */
static void put_btf(void)
{
	struct btf *btf = btf__new_empty(), *module;
	int number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	int request = btf__add_struct(btf, "request", 16);
	int data = btf__add_ptr(btf, 0), pointer, proto;

	btf__add_field(btf, "tag", number, 32, 0);
	btf__add_field(btf, "q", data, 64, 0);
	pointer = btf__add_ptr(btf, request);
	proto = add_proto(btf, data, pointer, NULL);
	btf__add_typedef(btf, "btf_trace_block_rq_issue", btf__add_ptr(btf, proto));
	proto = add_proto(btf, data, pointer, (const char *const[]){ "rq", "error" });
	btf__add_func(btf, "__traceiter_block_rq_issue", BTF_FUNC_STATIC, proto);
	tree_put_btf("/sys/kernel/btf/vmlinux", btf);
	module = btf__new_empty_split(btf);
	proto = add_proto(module, data, pointer, NULL);
	btf__add_typedef(module, "btf_trace_nvme_setup_cmd", btf__add_ptr(module, proto));
	tree_put_btf("/sys/kernel/btf/nvme_core", module);
	tree_put("/sys/kernel/btf/broken", "this is no BTF");
	btf__free(module);
	btf__free(btf);
}

/* ---- tracepoints ---- */

static void check_tracepoint(struct finder *finder)
{
	const struct probe_field *cmd;

	is_u64((uint64_t)find(finder, "block:block_rq_issue"), 0, "an event is found");
	is_str(found_names(), "block:block_rq_issue", "that one");
	is_str(found_fields(), "dev:u32 sector:u64 rwbs:char[10] cmd:char[]",
	       "with its fields, those of the record alone");
	is_u64(found.probes[0].tracepoint_id, 1862, "and its number");
	is_str(found.probes[0].func, "block_rq_issue", "by func it is");
	cmd = probe__field(&found.probes[0], "cmd");
	ok(cmd && cmd->type.is_loc && !cmd->type.is_rel && cmd->at == 60 &&
		   cmd->place == PLACE_RECORD,
	   "a text somewhere in the record is known as one");
	is_str(probe__field(&found.probes[0], "dev")->declared, "dev_t", "what it was declared as");
	ok(!probe__field(&found.probes[0], "common_pid"), "what all events have is not listed");
}

static void check_syscall(struct finder *finder)
{
	const struct probe_field *f;

	find(finder, "syscalls:sys_enter_openat");
	is_str(found_fields(),
	       "__syscall_nr:s32 dfd:s32 filename:char * mode:u16 argv:void * "
	       "req:struct request * count:u64",
	       "a system call's arguments are as wide as they are declared");
	f = probe__field(&found.probes[0], "filename");
	ok(f && f->type.kind == TYPE_POINTER && f->type.is_user && f->type.is_text && f->at == 24 &&
		   f->type.size == 8,
	   "a file name is a text of the process");
	f = probe__field(&found.probes[0], "argv");
	ok(f && f->type.is_user && !f->type.is_text, "argv is no text");
	f = probe__field(&found.probes[0], "req");
	ok(f && type__target(&f->type).kind == TYPE_STRUCT && type__target(&f->type).size == 16,
	   "a struct is looked up in BTF");
	find(finder, "syscalls:sys_exit_read");
	is_str(found_fields(), "ret:s64", "and ret is its result");
}

static void check_globs(struct finder *finder)
{
	find(finder, "block:*");
	is_str(found_names(), "block:block_rq_complete block:block_rq_issue",
	       "a glob finds all, in order");
	find(finder, "*:sys_*");
	is_str(found_names(), "syscalls:sys_enter_openat syscalls:sys_exit_read",
	       "the system may be one, too");
	is_u64((uint64_t)find(finder, "*:*"), 0, "what is broken does not hinder");
	ok(found.nr == 6 && missed.nr == 2, "what is gone is told");
	is_str(missed.misses[0].name, "sched:gone", "by name");
	is_str(missed.misses[0].why, "No such file or directory", "and why");
	list(finder, "block");
	is_u64(found.nr, 2, "who looks around may name a system");
	list(finder, "nvme_*");
	is_str(found_names(), "nvme:nvme_setup_cmd", "or events");
	list(finder, "");
	is_u64(found.nr, 6, "or nothing");
	refused(finder, "blok:*", -EINVAL,
		"no event matches 'blok:*'; 'iosonar events' lists the events");
	refused(finder, "block:blok_rq_issue", -EINVAL,
		"unknown event 'block:blok_rq_issue'; did you mean block:block_rq_issue?");
	refused(finder, "block_rq_issue", -EINVAL,
		"'block_rq_issue' is not an event; did you mean block:block_rq_issue?");
	refused(finder, "nonsense", -EINVAL,
		"'nonsense' is not an event; write system:event, raw:EVENT, fn:FUNCTION, ret:, "
		"user:, usdt:, profile:HZ, interval:1s, soft: or hw:");
	refused(finder, "kprobe:vfs_read", -EINVAL,
		"'kprobe:vfs_read' is the syntax of another tool; write fn:vfs_read");
	refused(finder, "t:block:*", -EINVAL,
		"'t:block:*' is the syntax of another tool; write block:*");
	refused(finder, "../up:x", -EINVAL,
		"unknown event '../up:x'; 'iosonar events' lists the events");
}

/* Every line is wrong in a way of its own, but for the last. */
static void check_hostile(void)
{
	static const char *const lines[] = {
		"\tfield:;\toffset:8;\tsize:4;\tsigned:0;\n",
		"\tfield:int;\toffset:8;\tsize:4;\tsigned:0;\n",
		"\tfield:int 2bad;\toffset:8;\tsize:4;\tsigned:0;\n",
		"\tfield:int b\033ad;\toffset:8;\tsize:4;\tsigned:0;\n",
		"\tfield:int bad[;\toffset:8;\tsize:4;\tsigned:0;\n",
		"\tfield:int bad];\toffset:8;\tsize:4;\tsigned:0;\n",
		"\tfield:]\toffset:8;\tsize:4;\tsigned:0;\n",
		"\tfield:int bad;\toffset:-8;\tsize:4;\tsigned:0;\n",
		"\tfield:int bad;\toffset:8;\tsize:4294967300;\tsigned:0;\n",
		"\tfield:int bad;\toffset:65000;\tsize:1000;\tsigned:0;\n",
		"\tfield:int bad;\toffset:8;\tsize:;\tsigned:0;\n",
		"\tfield:int bad;\tsize:4;\toffset:8;\tsigned:0;\n",
		"\tfield:__data_loc char[] bad;\toffset:8;\tsize:8;\tsigned:0;\n",
		"\tfield:int bad\n",
		"field",
		"\tfield:int good;\toffset:8;\tsize:4;\tsigned:1;\n",
		"\tfield:int good;\toffset:12;\tsize:4;\tsigned:1;\n",
	};
	struct finder *finder = finder__new_at(tree);
	char format[4096] = HEAD;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		strcat(format, lines[i]);
	put_event("sched/odd", "x\n", format);
	find(finder, "sched:odd");
	ok(!found.nr && missed.nr == 1, "an id that is no number makes no event");
	put_event("sched/odd", "5\n", format);
	find(finder, "sched:odd");
	is_str(found_fields(), "good:s32", "of all lines one is a field, and that once");
	finder__free(finder);
}

static void check_kinds_of_field(void)
{
	struct finder *finder = finder__new_at(tree);

	put_event("sched/odd", "5\n",
		  HEAD "\tfield:__rel_loc char[] rel;\toffset:8;\tsize:4;\tsigned:0;\n"
		       "\tfield:__data_loc u64[] numbers;\toffset:12;\tsize:4;\tsigned:0;\n"
		       "\tfield:__data_loc cpumask_t mask;\toffset:16;\tsize:4;\tsigned:0;\n"
		       "\tfield:unsigned char bytes[6];\toffset:20;\tsize:6;\tsigned:0;\n"
		       "\tfield:char letter;\toffset:26;\tsize:1;\tsigned:0;\n"
		       "\tfield:const void* raw;\toffset:32;\tsize:8;\tsigned:0;\n"
		       "\tfield:const char * name;\toffset:40;\tsize:8;\tsigned:0;\n"
		       "\tfield:struct uuid id;\toffset:48;\tsize:16;\tsigned:0;\n"
		       "\tfield:char comm[TASK_COMM_LEN];\toffset:64;\tsize:16;\tsigned:0;\n"
		       "\tfield:bool yes;\toffset:80;\tsize:1;\tsigned:0;\n");
	find(finder, "sched:odd");
	is_str(found_fields(),
	       "rel:char[] numbers:u8[] mask:u8[] bytes:u8[6] letter:u8 raw:void * name:char * "
	       "id:u8[16] comm:char[16] yes:u8",
	       "fields of every kind");
	ok(probe__field(&found.probes[0], "rel")->type.is_rel &&
		   probe__field(&found.probes[0], "rel")->type.is_loc,
	   "a place that is counted from behind is known as one");
	ok(!probe__field(&found.probes[0], "name")->type.is_user,
	   "a pointer of the kernel's is none of the process");
	finder__free(finder);
}

/* ---- raw ---- */

static void check_raw(struct finder *finder)
{
	is_u64((uint64_t)find(finder, "raw:block_rq_issue"), 0, "a raw tracepoint is found");
	is_str(found_fields(), "rq:struct request * error:int",
	       "its arguments by the names of __traceiter_");
	ok(found.probes[0].btf && found.probes[0].btf_id && !found.probes[0].module,
	   "with the typedef that programs are loaded with");
	ok(found.probes[0].fields[1].place == PLACE_ARG && found.probes[0].fields[1].at == 1,
	   "what was registered with it is no argument");
	find(finder, "raw:nvme_setup_cmd");
	is_str(found_fields(), "arg0:struct request * arg1:int",
	       "a module's, where nobody has names");
	is_str(found.probes[0].module, "nvme_core", "and which module");
	is_str(said, "", "another module's BTF, which is none, is passed over without a word");
	find(finder, "raw:block_rq_complete");
	ok(found.nr == 1 && !found.probes[0].nr_fields && !found.probes[0].btf,
	   "one without BTF is known by its name");
	find(finder, "raw:*");
	is_str(found_names(),
	       "raw:block_rq_complete raw:block_rq_issue raw:gone raw:nvme_setup_cmd raw:odd",
	       "all of them: system calls and probes of others are none");
	refused(finder, "raw:block_rq_isue", -EINVAL,
		"unknown raw tracepoint 'block_rq_isue'; did you mean raw:block_rq_issue?");
	refused(finder, "raw:block:block_rq_issue", -EINVAL,
		"'raw:block:block_rq_issue': a raw tracepoint has no system; write "
		"raw:block_rq_issue");
	refused(finder, "raw:", -EINVAL,
		"'raw:' is not a complete event; write e.g. raw:block_rq_issue");
}

/* ---- timers and counters ---- */

static void is_perf(struct finder *finder, const char *spec, uint32_t type, uint64_t config,
		    uint64_t period)
{
	int err = find(finder, spec);
	const struct probe *p = found.probes;

	if (!ok(!err && found.nr == 1 && p->perf_type == type && p->perf_config == config &&
			p->period == period,
		"%s", spec) &&
	    found.nr)
		printf("# type %u, config %#llx, period %llu\n", p->perf_type,
		       (unsigned long long)p->perf_config, (unsigned long long)p->period);
}

static void check_perf(struct finder *finder)
{
	const uint32_t soft = PERF_TYPE_SOFTWARE, hw = PERF_TYPE_HARDWARE;

	is_perf(finder, "profile:99", soft, PERF_COUNT_SW_CPU_CLOCK, 99);
	is_perf(finder, "interval:1.5s", soft, PERF_COUNT_SW_CPU_CLOCK, 1500000000);
	is_perf(finder, "soft:page-faults", soft, PERF_COUNT_SW_PAGE_FAULTS, 0);
	is_perf(finder, "soft:page-fault:1", soft, PERF_COUNT_SW_PAGE_FAULTS, 1);
	is_perf(finder, "soft:cs:100k", soft, PERF_COUNT_SW_CONTEXT_SWITCHES, 100000);
	is_perf(finder, "hw:cache-misses:1e6", hw, PERF_COUNT_HW_CACHE_MISSES, 1000000);
	is_perf(finder, "hw:cycles", hw, PERF_COUNT_HW_CPU_CYCLES, 0);
	is_perf(finder, "hw:LLC-load-misses:50000", PERF_TYPE_HW_CACHE, 0x10002, 50000);
	is_perf(finder, "hw:dTLB-store-misses", PERF_TYPE_HW_CACHE, 0x10103, 0);
	is_perf(finder, "hw:L1-dcache-prefetches", PERF_TYPE_HW_CACHE, 0x200, 0);
	is_str(found.probes[0].func, "L1-dcache-prefetches", "by func it is its name");
	find(finder, "soft:*-faults");
	is_u64(found.nr, 5, "counters by glob");
	list(finder, "hw");
	ok(found.nr == 42, "all that hardware may have, %zu", found.nr);
}

static void check_perf_refused(struct finder *finder)
{
	tree_put("/proc/sys/kernel/perf_event_max_sample_rate", "5000\n");
	is_perf(finder, "profile:5000", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 5000);
	refused(finder, "profile:5001", -EINVAL,
		"'profile:5001' exceeds the limit of this kernel, 5000 Hz; see "
		"kernel.perf_event_max_sample_rate");
	refused(finder, "profile:0", -EINVAL,
		"'profile:0': '0' is not a rate in Hz; write e.g. profile:99");
	refused(finder, "profile:10ms", -EINVAL,
		"'profile:10ms': '10ms' is not a rate in Hz; write e.g. profile:99");
	refused(finder, "profile:hz:99", -EINVAL,
		"'profile:hz:99' is the syntax of another tool; write profile:99");
	refused(finder, "interval:s:1", -EINVAL,
		"'interval:s:1' is the syntax of another tool; write interval:1s");
	refused(finder, "interval:5", -EINVAL,
		"'interval:5' lacks a unit; write interval:5s or interval:5ms");
	refused(finder, "interval:9us", -EINVAL, "'interval:9us': the shortest interval is 10us");
	refused(finder, "soft:page-falts:7", -EINVAL,
		"unknown software event 'page-falts'; did you mean soft:page-faults?");
	refused(finder, "hw:llc-loads", -EINVAL,
		"unknown hardware event 'llc-loads'; did you mean hw:LLC-loads?");
	refused(finder, "soft:cpu-clock:9999", -EINVAL,
		"'soft:cpu-clock:9999': a clock counts nanoseconds; the minimum is 10000");
	for (size_t i = 0; i < 6; i++) {
		static const char *const bad[] = { "0", "1e99", "x", "0x1e6", "-1", "1e" };
		char spec[32], words[160];

		snprintf(spec, sizeof(spec), "hw:cycles:%s", bad[i]);
		snprintf(words, sizeof(words),
			 "'%s': '%s' is not a number of events per sample; write e.g. 1000, 100k "
			 "or 1e6",
			 spec, bad[i]);
		refused(finder, spec, -EINVAL, words);
	}
}

/* ---- names ---- */

static int join(void *text, const char *name)
{
	strcat(strcat(text, name), " ");
	return strlen(text) > 200;
}

static void check_names(struct finder *finder)
{
	char text[1024] = "";

	is_u64((uint64_t)finder__names(finder, "block:*", join, text), 0, "names are quick");
	is_str(text, "block:block_rq_complete block:block_rq_issue ", "those of a system");
	text[0] = 0;
	finder__names(finder, "nv*", join, text);
	is_str(text, "nvme:nvme_setup_cmd ", "whose name begins so");
	text[0] = 0;
	finder__names(finder, "raw:block*", join, text);
	is_str(text, "raw:block_rq_complete raw:block_rq_issue ", "raw ones");
	text[0] = 0;
	finder__names(finder, "soft:c*", join, text);
	is_str(text, "soft:context-switches soft:cpu-clock soft:cpu-migrations ", "counters");
	text[0] = 0;
	ok(finder__names(finder, "hw:*", join, text) == 1 && strlen(text) < 260,
	   "until the caller has had enough");
}

/* ---- machines that lack something ---- */

static void check_without(void)
{
	struct finder *finder = finder__new_at(tree);

	tree_remove("/sys/kernel/btf");
	find(finder, "raw:block_rq_issue");
	ok(found.nr == 1 && !found.probes[0].nr_fields && !finder__vmlinux(finder),
	   "without BTF a raw tracepoint is a name");
	finder__free(finder);
	finder = finder__new_at(tree);
	tree_remove("/sys/kernel/tracing/available_events");
	refused(finder, "block:block_rq_issue", -EOPNOTSUPP,
		"tracefs is not mounted; mount -t tracefs tracefs /sys/kernel/tracing");
	refused(finder, "raw:block_rq_issue", -EOPNOTSUPP,
		"this kernel has no BTF (CONFIG_DEBUG_INFO_BTF), and its tracefs cannot be read: "
		"no "
		"raw tracepoints are known");
	finder__free(finder);
	finder = finder__new_at(tree);
	tree_remove("/sys/kernel/tracing");
	refused(finder, "block:block_rq_issue", -EOPNOTSUPP,
		"this kernel has no tracefs (CONFIG_TRACING): no tracepoints");
	finder__free(finder);
	finder = finder__new_at(tree);
	tree_put("/sys/kernel/debug/tracing/available_events", "a:b\n");
	tree_put("/sys/kernel/debug/tracing/events/a/b/id", "3\n");
	tree_put("/sys/kernel/debug/tracing/events/a/b/format", HEAD);
	is_u64((uint64_t)find(finder, "a:b"), 0, "tracefs in debugfs will do");
	finder__free(finder);
}

int main(void)
{
	struct finder *finder;

	if (!mkdtemp(tree))
		return 1;
	put_tracefs();
	put_btf();
	finder = finder__new_at(tree);
	check_tracepoint(finder);
	check_syscall(finder);
	check_raw(finder);
	check_perf(finder);
	check_perf_refused(finder);
	check_names(finder);
	finder__free(finder);
	check_hostile();
	check_kinds_of_field();
	tree_remove("/sys/kernel/tracing/events/sched/odd");
	finder = finder__new_at(tree);
	check_globs(finder);
	forget();
	finder__free(finder);
	check_without();
	forget();
	tree_remove("");
	return done_testing();
}
