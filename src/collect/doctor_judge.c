/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * doctor_judge.c: what do the facts mean? A finding for each thing that decides what can be seen,
 * in the order of a reader's questions: commands, hooks, kernel, waits, privileges, devices, the
 * cost of a run. Pure: it uses only the facts, and repeats the collector's choices through the same
 * functions.
 */
#include "collect/doctor.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { DOCTOR_ENOTSUPP = 524 }; /* kernel-internal, without a name in user space */

static const char *doctor_error(int err)
{
	return err == -DOCTOR_ENOTSUPP ? "not supported" : strerror(-err);
}

/* ---- choices ---- */

/* NVMe's events can be seen at all. */
static bool facts_see_nvme(const struct doctor_facts *facts)
{
	return facts->kernel.nvme_loaded;
}

static bool facts_loaded(const struct doctor_facts *facts)
{
	return !facts->btf_path && facts->rehearsal.start.step >= START_ATTACH;
}

/* The BTF of a module can be read as a file, but programs may use it only with CAP_SYS_ADMIN. */
static bool facts_module_is_closed(const struct doctor_facts *facts)
{
	if (facts->kernel.nvme != KERNEL_NVME_MODULE)
		return false;
	return facts_loaded(facts) ? facts->rehearsal.typed_err == -EPERM
				   : !rights__has_sys_admin(&facts->rights);
}

/* Typed pointers: as they were loaded; else as they would be. */
static bool facts_typed(const struct doctor_facts *facts)
{
	if (facts_loaded(facts))
		return facts->rehearsal.direct;
	return kernel__may_type(&facts->kernel, facts_see_nvme(facts)) &&
	       !facts_module_is_closed(facts);
}

static struct start facts_start(const struct doctor_facts *facts)
{
	if (!facts->btf_path)
		return facts->rehearsal.start;
	if (facts->kernel.missing)
		return (struct start){ START_SHAPE, -EOPNOTSUPP, facts->kernel.missing };
	return (struct start){ START_DONE };
}

/* ---- commands ---- */

static const char *facts_span(const struct doctor_facts *facts, unsigned int needs)
{
	if (!(needs & (NEED_IO | NEED_PROGRAMS)))
		return needs ? "lists what can be probed" : "needs nothing from the kernel";
	if (needs & NEED_PROGRAMS)
		return needs & NEED_ACCESSES ? "pages and accesses, from kernel functions"
		       : needs & (NEED_FUNCTIONS | NEED_CALL_WAITS) ? "kernel functions"
								    : "any event";
	if (needs & NEED_STAGES)
		return "block_bio_queue to block_rq_complete, and the events between";
	return facts_see_nvme(facts) ? "nvme_setup_cmd to nvme_complete_rq; other disks: "
				       "block_rq_issue to block_rq_complete"
				     : "block_rq_issue to block_rq_complete";
}

static int facts_ring_error(const struct doctor_facts *facts)
{
	if (facts->btf_path)
		return facts->kernel.has_ring ? 0 : -EOPNOTSUPP;
	return facts->tried[TRIAL_RING];
}

static bool facts_probe_functions(const struct doctor_facts *facts)
{
	return !facts->tried[TRIAL_FENTRY] || !facts->tried[TRIAL_KPROBE];
}

/* fentry of a module's function requires the module's BTF. */
static bool facts_probe_nvme(const struct doctor_facts *facts)
{
	if (!facts_see_nvme(facts) || !facts->tried[TRIAL_KPROBE])
		return true;
	return !facts->tried[TRIAL_FENTRY] && !facts_module_is_closed(facts);
}

static bool facts_have_kprobes(const struct doctor_facts *facts)
{
	return !facts->tried[TRIAL_KPROBE];
}

static bool facts_probe_processes(const struct doctor_facts *facts)
{
	return !facts->tried[TRIAL_UPROBE];
}

static bool facts_have_addresses(const struct doctor_facts *facts)
{
	return facts->rights.has_kallsyms;
}

static bool facts_see_processes(const struct doctor_facts *facts)
{
	return rights__has_ptrace(&facts->rights);
}

static bool facts_list_tracepoints(const struct doctor_facts *facts)
{
	return facts->rights.has_tracefs;
}

/* What a command loses if the fact does not hold. */
static const struct loss {
	unsigned int need;
	bool (*has)(const struct doctor_facts *facts);
	const char *what;
} losses[] = {
	{ NEED_FILES, facts_have_addresses,
	  "names of files of direct I/O, shown as [direct] (requires CAP_SYSLOG)" },
	{ NEED_STACKS, facts_have_addresses, "names of kernel functions (requires CAP_SYSLOG)" },
	{ NEED_STACKS, facts_see_processes,
	  "names in processes of other users (requires CAP_SYS_PTRACE)" },
	{ NEED_CONTROLLERS, facts_probe_nvme,
	  "time-outs and states of controllers (requires kprobes)" },
	{ NEED_WAITS, facts_have_kprobes,
	  "names of waits before the request, all in Q2G (requires kprobes)" },
	{ NEED_ACCESSES, facts_probe_functions, "accesses (requires fentry or kprobes)" },
	{ NEED_CALL_WAITS, facts_probe_functions,
	  "page faults, msync and libaio (requires fentry or kprobes)" },
	{ NEED_TRACEPOINTS, facts_list_tracepoints, "tracepoints (tracefs is not readable)" },
	{ NEED_ANY_FUNCTION, facts_probe_functions,
	  "kernel functions (requires fentry or kprobes)" },
	{ NEED_ANY_FUNCTION, facts_probe_processes,
	  "functions of processes (requires CAP_SYS_ADMIN)" },
};

/* "files of direct I/O ..., names of ..."; returns the number of losses. */
static int facts_losses(const struct doctor_facts *facts, unsigned int needs, char *text,
			size_t size)
{
	size_t len = 0;
	int nr = 0;

	text[0] = '\0';
	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]) && len < size; i++)
		if (needs & losses[i].need && !losses[i].has(facts))
			len += (size_t)snprintf(text + len, size - len, "%s%s", nr++ ? ", " : "",
						losses[i].what);
	return nr;
}

/* Programs of any kind: the smallest ones show whether they load, and which obstacle prevents
 * it. */
static void facts_judge_programs(const struct doctor_facts *facts, struct obstacle *obstacle)
{
	const int *tried = facts->tried;
	const bool made = !tried[TRIAL_ARRAY];
	const struct start start = {
		.step = made ? START_PROGRAMS : START_TABLES,
		.err = !made ? tried[TRIAL_ARRAY] : tried[TRIAL_RAW_TP] ?: tried[TRIAL_READ_KERNEL],
	};

	obstacle__judge(obstacle, &start, &facts->rights, tried);
}

/* Why it cannot run, "": it can. */
static void judge_refusal(const struct doctor_report *report, const struct doctor_facts *facts,
			  unsigned int needs, char *why, size_t size)
{
	int ring = needs & NEED_RINGS ? facts_ring_error(facts) : 0;
	struct obstacle obstacle = { .kind = OBSTACLE_NONE };

	why[0] = '\0';
	if (needs & NEED_IO)
		obstacle = report->obstacle;
	else if (needs & NEED_PROGRAMS)
		facts_judge_programs(facts, &obstacle);
	if (obstacle.kind != OBSTACLE_NONE)
		snprintf(why, size, "%s", obstacle.line);
	else if (ring)
		snprintf(why, size, "requires BPF ring buffers: %s", doctor_error(ring));
	else if (needs & NEED_FUNCTIONS && !facts_probe_functions(facts))
		snprintf(why, size, "functions cannot be probed here: no fentry and no kprobes");
	else if (needs & NEED_CALLS && !facts_probe_functions(facts) &&
		 !facts_probe_processes(facts))
		snprintf(why, size,
			 "functions cannot be probed here: no fentry, no kprobes, no uprobes");
}

static void judge_command(struct doctor_report *report, const struct doctor_facts *facts,
			  const struct doctor_command *command)
{
	char why[256];
	struct finding *f;

	if (facts->btf_path && command->needs && !(command->needs & NEED_IO)) {
		finding__say(doctor_report__add(report, "command", doctor_unknown), command->name,
			     "cannot be told from BTF alone: run doctor on that machine");
		return;
	}
	judge_refusal(report, facts, command->needs, why, sizeof(why));
	if (why[0]) {
		finding__say(doctor_report__add(report, "command", doctor_no), command->name, "%s",
			     why);
	} else if (!facts->btf_path && facts_losses(facts, command->needs, why, sizeof(why))) {
		f = doctor_report__add(report, "command", doctor_partly);
		finding__say(f, command->name, "without %s", why);
	} else {
		f = doctor_report__add(report, "command", doctor_ok);
		finding__say(f, command->name, "%s", facts_span(facts, command->needs));
	}
}

/* ---- hooks ---- */

struct judged_hook {
	const char *event;
	bool nvme, typed;
};

/* Why this hook cannot be used for this event; NULL: it can. */
static const char *hook_refusal(const struct doctor_facts *facts, const struct judged_hook *hook,
				char *buf, size_t size)
{
	const int *tried = facts->tried;
	int plain = tried[TRIAL_RAW_TP] < 0 ? tried[TRIAL_RAW_TP] : tried[TRIAL_READ_KERNEL];
	int err = hook->typed && tried[TRIAL_TP_BTF] < 0 ? tried[TRIAL_TP_BTF] : plain;

	if (hook->typed && hook->nvme && !facts->kernel.nvme_events)
		return "no BTF of nvme_core with the prototype of this event";
	if (hook->typed && !hook->nvme && !kernel__may_type_block(&facts->kernel))
		return "the first argument is the queue on this kernel: only plain pointers work";
	if (hook->typed && hook->nvme && facts_module_is_closed(facts))
		return "the BTF of a module requires CAP_SYS_ADMIN";
	if (hook->typed && hook->nvme && facts->rehearsal.typed_err)
		err = facts->rehearsal.typed_err;
	if (err >= 0)
		return NULL;
	snprintf(buf, size, "the kernel refuses: %s", doctor_error(err));
	return buf;
}

static const char *hook_reason(const struct doctor_facts *facts, const struct judged_hook *hook,
			       bool chosen)
{
	if (hook->typed)
		return chosen ? "typed pointers, read directly"
			      : "works, but not for NVMe, and a run uses one kind only";
	if (!chosen)
		return "works, but costs more: a helper copies each field";
	if (hook->nvme && facts->kernel.nvme_guessed)
		return "plain pointers; offsets known from Linux 5.10, checked";
	return "plain pointers; a helper copies each field";
}

static void judge_hook(struct doctor_report *report, const struct doctor_facts *facts,
		       const struct judged_hook *hook)
{
	bool typed = facts_typed(facts) && (hook->nvme || kernel__may_type_block(&facts->kernel));
	bool chosen = typed == hook->typed;
	char buf[160];
	const char *refusal = hook_refusal(facts, hook, buf, sizeof(buf));
	struct finding *f = doctor_report__add(report, "hook",
					       refusal	? doctor_no
					       : chosen ? doctor_ok
							: doctor_spare);

	f->hook = hook->typed ? "tp_btf" : "raw_tp";
	finding__say(f, hook->event, "%s", refusal ? refusal : hook_reason(facts, hook, chosen));
	if (hook->typed && hook->nvme && facts->kernel.nvme_events && facts_module_is_closed(facts))
		f->remedy = "run it as root";
}

/* Each event by typed and by plain pointers. */
static void judge_hooks(struct doctor_report *report, const struct doctor_facts *facts, bool nvme)
{
	const char *const events[] = { nvme ? "nvme_setup_cmd" : "block_rq_issue",
				       nvme ? "nvme_complete_rq" : "block_rq_complete" };

	for (size_t i = 0; i < 2; i++) {
		judge_hook(report, facts, &(struct judged_hook){ events[i], nvme, true });
		judge_hook(report, facts, &(struct judged_hook){ events[i], nvme, false });
	}
}

static void judge_no_nvme_hooks(struct doctor_report *report, const struct doctor_facts *facts)
{
	if (facts->btf_path)
		finding__say(
			doctor_report__add(report, "hook", doctor_unknown), "nvme_setup_cmd",
			"nvme_core is not in this BTF: the BTF of a module is a separate file");
	else
		finding__say(doctor_report__add(report, "hook", doctor_info), "nvme_setup_cmd",
			     "nvme_core is not loaded: no NVMe commands to see");
}

/* They run at requeues and errors only, so one program serves all kernels. */
static void judge_rare_hooks(struct doctor_report *report, const struct doctor_facts *facts)
{
	const struct judged_hook plain = { .typed = false };
	char buf[160];
	const char *refusal = hook_refusal(facts, &plain, buf, sizeof(buf));
	const char *state = refusal ? doctor_no : doctor_ok;
	struct finding *f = doctor_report__add(report, "hook", state);

	f->hook = "raw_tp";
	finding__say(
		f, "block_rq_requeue", "%s",
		refusal ? refusal
			: "plain pointers suffice: the event is rare (a retry or a busy driver)");
	if (!facts_see_nvme(facts))
		return;
	f = doctor_report__add(report, "hook", state);
	f->hook = "raw_tp";
	finding__say(f, facts->kernel.has_rq_error ? "block_rq_error" : "block_rq_complete", "%s",
		     refusal ? refusal
		     : facts->kernel.has_rq_error
			     ? "plain pointers suffice: the event is rare (a command that failed)"
			     : "for errors: this kernel has no block_rq_error");
}

/* Hooks that other tools use, and why they are not used here. */
static const struct other_hook {
	const char *item, *hook, *why;
	enum trial trial;
} other_hooks[] = {
	{ "classic tracepoints", "tp",
	  "not used for I/O: skipped while another program runs on the CPU", TRIAL_TP },
	{ "kernel functions", "kprobe",
	  "not used for I/O: skipped like tracepoints, and functions are renamed", TRIAL_KPROBE },
	{ "kernel functions", "fentry",
	  "not used for I/O: functions are renamed and inlined, events stay", TRIAL_FENTRY },
};

static void judge_other_hook(struct doctor_report *report, const struct other_hook *other, int err)
{
	const char *state = err == TRIAL_NOT_DONE ? doctor_unknown : err ? doctor_no : doctor_spare;
	struct finding *f = doctor_report__add(report, "hook", state);

	f->hook = other->hook;
	if (err < 0)
		finding__say(f, other->item, "not available: %s; not used for I/O",
			     doctor_error(err));
	else
		finding__say(f, other->item, "%s", other->why);
}

/* ---- kernel ---- */

static void judge_nvme_btf(struct doctor_report *report, const struct doctor_facts *facts)
{
	const struct kernel *k = &facts->kernel;
	struct finding *f = doctor_report__add(report, "kernel",
					       k->nvme_btf	 ? doctor_ok
					       : facts->btf_path ? doctor_unknown
								 : doctor_info);

	if (k->nvme == KERNEL_NVME_BUILT_IN)
		finding__say(f, "BTF of nvme_core",
			     "built into the kernel: part of the kernel's BTF");
	else if (k->nvme_btf)
		finding__say(f, "BTF of nvme_core", "a module, /sys/kernel/btf/nvme_core");
	else if (k->nvme_guessed)
		finding__say(f, "BTF of nvme_core",
			     "none: the two layouts known from Linux 5.10 are used, and checked");
	else if (facts->btf_path)
		finding__say(f, "BTF of nvme_core", "not in this file");
	else
		finding__say(f, "BTF of nvme_core", "nvme_core is not loaded");
}

static void judge_feature(struct doctor_report *report, bool there, const char *item,
			  const char *with, const char *without)
{
	struct finding *f = doctor_report__add(report, "kernel", there ? doctor_ok : doctor_info);

	finding__say(f, item, "%s", there ? with : without);
}

static void judge_ring(struct doctor_report *report, int err)
{
	struct finding *f = doctor_report__add(report, "kernel", err ? doctor_no : doctor_ok);

	if (err)
		finding__say(f, "ring buffers", "the kernel refuses: %s", doctor_error(err));
	else
		finding__say(f, "ring buffers", "for commands that keep every record");
}

static unsigned int kernel_nr_ops(const struct kernel *kernel)
{
	unsigned int nr = 0;

	for (int i = 0; i < KERNEL_OPS; i++)
		nr += kernel->op_names[i] != NULL;
	return nr;
}

static void judge_kernel(struct doctor_report *report, const struct doctor_facts *facts)
{
	const struct kernel *k = &facts->kernel;
	struct finding *f =
		doctor_report__add(report, "kernel", facts->has_btf ? doctor_ok : doctor_no);

	finding__say(f, "BTF of the kernel", "%s",
		     facts->btf_path  ? facts->btf_path
		     : facts->has_btf ? "/sys/kernel/btf/vmlinux"
				      : "none in /sys/kernel/btf");
	f->remedy = facts->has_btf ? NULL : "use a kernel with CONFIG_DEBUG_INFO_BTF";
	if (!facts->has_btf)
		return;
	judge_nvme_btf(report, facts);
	if (k->missing)
		finding__say(doctor_report__add(report, "kernel", doctor_no), k->missing,
			     "missing, and every run requires it");
	finding__say(
		doctor_report__add(report, "kernel", kernel_nr_ops(k) ? doctor_ok : doctor_info),
		"operations", "%u names from the kernel's own enum", kernel_nr_ops(k));
	judge_feature(report, k->has_rq_error, "block_rq_error", "reports commands that failed",
		      "not available: errors are seen at block_rq_complete");
	judge_feature(report, k->has_diskseq, "diskseq",
		      "tells a replaced drive from the previous one",
		      "not available: a replaced drive is known by its serial number");
	judge_feature(report, k->rdonly_cast_id, "bpf_rdonly_cast",
		      "the NVMe status is read directly",
		      "not available: a helper copies the NVMe status");
	judge_ring(report, facts_ring_error(facts));
}

/* ---- devices ---- */

static const char *device_fate(const struct device *device, const char **state)
{
	*state = doctor_ok;
	switch (device->kind) {
	case DEVICE_NVME_NS: return "NVMe namespace";
	case DEVICE_NVME_CTRL: return "NVMe controller";
	case DEVICE_REQUEST:
		if (device->size_bytes)
			return "disk";
		*state = doctor_info;
		return "no medium: nothing to measure";
	case DEVICE_NVME_HEAD:
		*state = doctor_info;
		return "multipath head: its commands are seen on its paths";
	case DEVICE_BIO:
		*state = doctor_info;
		return "bio-based: its I/O is seen on the disks below, if any";
	}
	return "?";
}

static void judge_device(struct doctor_report *report, const struct device *device)
{
	const char *state, *fate = device_fate(device, &state);
	bool has_queues = device->nr_queues && device->depth;
	struct finding *f = doctor_report__add(report, "device", state);
	char queues[64] = "";

	if (has_queues) {
		f->queues = device->nr_queues;
		f->depth = device->depth;
		snprintf(queues, sizeof(queues), ", %u queue%s of depth %u", device->nr_queues,
			 device->nr_queues == 1 ? "" : "s", device->depth);
	}
	if (device->size_bytes)
		f->bytes = device->size_bytes;
	finding__say(f, device->name, "%s%s%s%s", fate, queues, device->model[0] ? ", " : "",
		     device->model);
}

/* There can be dozens of unused loop devices: those without a medium are one finding. */
static void judge_devices(struct doctor_report *report, const struct doctor_facts *facts)
{
	const struct device_list *list = &facts->devices;
	const struct device *empty = NULL;
	size_t nr_empty = 0;

	for (size_t i = 0; i < list->nr; i++) {
		const struct device *device = &list->devices[i];

		if (device->kind == DEVICE_REQUEST && !device->size_bytes) {
			empty = device;
			nr_empty++;
		} else {
			judge_device(report, device);
		}
	}
	if (nr_empty == 1)
		judge_device(report, empty);
	else if (nr_empty)
		finding__say(doctor_report__add(report, "device", doctor_info), empty->name,
			     "and %zu more have no medium: nothing to measure", nr_empty - 1);
	if (!list->nr)
		finding__say(doctor_report__add(report, "device", doctor_no), "none",
			     "no disk and no NVMe controller in /sys");
}

/* ---- a run ---- */

static void judge_run(struct doctor_report *report, const struct doctor_facts *facts)
{
	uint64_t bytes = facts->rehearsal.start.memory_bytes;
	struct finding *f;

	if (bytes) {
		f = doctor_report__add(report, "run", doctor_info);
		f->bytes = bytes;
		finding__say(f, "memory", "%.1f MiB for tables; more with --by and new devices",
			     (double)bytes / (1 << 20));
	}
	if (facts->kernel.nvme == KERNEL_NVME_MODULE)
		finding__say(doctor_report__add(report, "run", doctor_info), "nvme_core",
			     "in use while a run is attached: rmmod fails");
	if (facts->parts)
		finding__say(doctor_report__add(report, "run", doctor_info), "optional parts", "%s",
			     facts->parts);
	finding__say(doctor_report__add(report, "run", doctor_info), "left behind",
		     "nothing: no BPF object is pinned, even kill -9 leaves none");
}

int doctor__judge(struct doctor_report *report, const struct doctor_facts *facts,
		  const struct doctor_command *commands)
{
	struct start start = facts_start(facts);

	memset(report, 0, sizeof(*report));
	obstacle__judge(&report->obstacle, &start, &facts->rights, facts->tried);
	for (; commands->name; commands++)
		judge_command(report, facts, commands);
	if (facts->has_btf) {
		if (facts_see_nvme(facts))
			judge_hooks(report, facts, true);
		else
			judge_no_nvme_hooks(report, facts);
		judge_hooks(report, facts, false);
		judge_rare_hooks(report, facts);
		for (size_t i = 0; i < sizeof(other_hooks) / sizeof(other_hooks[0]); i++)
			judge_other_hook(report, &other_hooks[i],
					 facts->tried[other_hooks[i].trial]);
	}
	judge_kernel(report, facts);
	if (!facts->btf_path) {
		doctor__judge_waits(report, facts);
		doctor__judge_privileges(report, facts);
		judge_devices(report, facts);
		judge_run(report, facts);
	}
	return report->incomplete ? -ENOMEM : 0;
}
