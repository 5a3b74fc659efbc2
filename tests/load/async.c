/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * async.c: does the running kernel's verifier take every program of `waits --async`, whatever is
 * asked of it and wherever an event has the request? Programs for functions only where the kernel
 * takes such programs at all.
 */
#include "wire/async.h"
#include "wire/file_id.h"
#include "bpf/async.skel.h"
#include "load/verifier.h"

static const struct setting settings[] = {
	{ "none", 0, 0, 0 },
	SETTING(async_settings, filter_cgroup, 1),
	SETTING(async_settings, filter_inode, 1),
	SETTING(async_settings, filter_comm, 1),
	SETTING(async_settings, min_ns, 1),
	SETTING(async_settings, filter_cgroup_level, 1),
	SETTING(async_settings, filter_pid, 1),
	SETTING(async_settings, self, 1),
	SETTING(async_settings, filter_dev, 1),
	SETTING(async_settings, filter_file, 1),
	SETTING(async_settings, submit_at, ASYNC_SECOND),
	SETTING(async_settings, punt_at, ASYNC_SECOND),
	SETTING(async_settings, punt_at, ASYNC_THIRD),
	SETTING(async_settings, link_at, ASYNC_SECOND),
	SETTING(async_settings, defer_at, ASYNC_SECOND),
	SETTING(async_settings, complete_is_named, 1),
	SETTING(async_settings, bio_is_second, 1),
};
enum { NR_SETTINGS = sizeof(settings) / sizeof(settings[0]) };

/* from..to: which settings are on. */
static int load(const char *kind, int from, int to)
{
	struct async_bpf *skel = async_bpf__open();
	struct async_settings *ro = (struct async_settings *)&skel->rodata->async;
	int err;

	verifier_set(ro, settings, from, to);
	verifier_choose(skel->obj, kind);
	err = async_bpf__load(skel);
	async_bpf__destroy(skel);
	return err;
}

int main(void)
{
	static const struct verified verified = { settings, NR_SETTINGS, load };

	return verifier__main(&verified);
}
