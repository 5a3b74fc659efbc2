/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waits.c: does the running kernel's verifier take every program of `waits`, whatever is asked of
 * it? Each setting alone, then all together. Programs for functions only where the kernel takes
 * such programs at all.
 */
#include "wire/waits.h"
#include "wire/file_id.h"
#include "bpf/waits.skel.h"
#include "load/verifier.h"

static const struct setting settings[] = {
	{ "none", 0, 0, 0 },
	SETTING(wait_settings, filter_pid, 1),
	SETTING(wait_settings, filter_comm, 1),
	SETTING(wait_settings, filter_cgroup, 1),
	SETTING(wait_settings, filter_file, 1),
	SETTING(wait_settings, min_ns, 1),
	SETTING(wait_settings, calls, 1),
	SETTING(wait_settings, self, 1),
	SETTING(wait_settings, bio_is_second, 1),
	SETTING(wait_settings, request_is_second, 1),
	SETTING(wait_settings, commands, 1),
	SETTING(wait_settings, preflush_flag, 1),
};
enum { NR_SETTINGS = sizeof(settings) / sizeof(settings[0]) };

/* from..to: which settings are on. */
static int load(const char *kind, int from, int to)
{
	struct waits_bpf *skel = waits_bpf__open();
	struct wait_settings *ro = (struct wait_settings *)&skel->rodata->settings;
	int err;

	ro->calls = (1u << NR_WAIT_CALLS) - 1;
	verifier_set(ro, settings, from, to);
	verifier_choose(skel->obj, kind);
	err = waits_bpf__load(skel);
	waits_bpf__destroy(skel);
	return err;
}

int main(void)
{
	static const struct verified verified = { settings, NR_SETTINGS, load, .has_typed = true };

	return verifier__main(&verified);
}
