/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * doctor_facts.c: what is this machine? Reads files, then tries the kernel: small programs, and the
 * tables and programs of a run that is not attached. It judges nothing.
 */
#include "collect/doctor.h"

#include <string.h>
#include "symbol/kallsyms.h"

static void facts_read_waits(struct doctor_facts *facts)
{
	const struct btf *btf = facts->has_btf ? facts->kernel.btf : NULL;

	facts->has_tag_event =
		btf && kernel__event_arguments(btf, "btf_trace_block_rq_tag_wait") >= 0;
	facts->has_zone_event =
		btf && kernel__event_arguments(btf, "btf_trace_disk_zone_wplug_add_bio") >= 0;
	facts->queue_err = kallsyms__find("/proc/kallsyms", queue_functions, facts->queue_functions,
					  NR_QUEUE_FUNCTIONS);
}

/* The limits are looked at first: libbpf raises memlock where it may. */
int doctor_facts__read(struct doctor_facts *facts, const char *btf_path)
{
	memset(facts, 0, sizeof(*facts));
	io__hush_libbpf();
	facts->btf_path = btf_path;
	for (int i = 0; i < NR_TRIALS; i++)
		facts->tried[i] = TRIAL_NOT_DONE;
	if (btf_path) {
		int err = kernel__read_file(&facts->kernel, btf_path);

		facts->has_btf = !err;
		return err;
	}
	rights__read(&facts->rights, "");
	facts->has_btf = !kernel__read(&facts->kernel);
	for (int i = 0; i < NR_TRIALS; i++)
		facts->tried[i] = trial__do((enum trial)i);
	io__rehearse(&facts->rehearsal);
	facts_read_waits(facts);
	/* Without sysfs there are still other findings to report. */
	return facts->rights.has_sysfs ? device_list__read(&facts->devices, "") : 0;
}

void doctor_facts__free(struct doctor_facts *facts)
{
	kernel__free(&facts->kernel);
	device_list__free(&facts->devices);
}
