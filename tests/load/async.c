/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * async.c: does the running kernel's verifier take every program of `waits --async`, whatever is
 * asked of it and wherever an event has the request? Programs for functions only where the kernel
 * takes such programs at all.
 */
#include <string.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include "wire/async.h"
#include "wire/file_id.h"
#include "bpf/async.skel.h"
#include "collect/trial.h"
#include "tap.h"

#define SETTING(field, value)                           \
#field, offsetof(struct async_settings, field), \
		sizeof(((struct async_settings *)0)->field), (value)
static const struct setting {
	const char *name;
	size_t at, bytes;
	int value;
} settings[] = {
	{ "none", 0, 0, 0 },
	{ SETTING(filter_cgroup, 1) },
	{ SETTING(filter_inode, 1) },
	{ SETTING(filter_comm, 1) },
	{ SETTING(min_ns, 1) },
	{ SETTING(filter_cgroup_level, 1) },
	{ SETTING(filter_pid, 1) },
	{ SETTING(self, 1) },
	{ SETTING(filter_dev, 1) },
	{ SETTING(filter_file, 1) },
	{ SETTING(submit_at, ASYNC_SECOND) },
	{ SETTING(punt_at, ASYNC_SECOND) },
	{ SETTING(punt_at, ASYNC_THIRD) },
	{ SETTING(link_at, ASYNC_SECOND) },
	{ SETTING(defer_at, ASYNC_SECOND) },
	{ SETTING(complete_is_named, 1) },
	{ SETTING(bio_is_second, 1) },
};
enum { NR_SETTINGS = sizeof(settings) / sizeof(settings[0]) };

static int print_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level, (void)format, (void)args;
	return 0;
}

/* Not every kernel has every function, or its type. */
static bool can_be_loaded(const struct bpf_program *p, const struct btf *kernel)
{
	const char *section = bpf_program__section_name(p), *function = strchr(section, '/');

	if (strncmp(section, "fe", 2))
		return true;
	return btf__find_by_name_kind(kernel, function + 1, BTF_KIND_FUNC) > 0;
}

/* from..to: which settings are on. */
static int load(const char *kind, int from, int to)
{
	struct async_bpf *skel = async_bpf__open();
	struct async_settings *ro = (struct async_settings *)&skel->rodata->async;
	struct btf *kernel = btf__load_vmlinux_btf();
	struct bpf_program *p;
	int err;

	for (int i = from; i <= to; i++)
		memset((char *)ro + settings[i].at, settings[i].value, settings[i].bytes);
	bpf_object__for_each_program(p, skel->obj) bpf_program__set_autoload(
		p, !strncmp(bpf_program__section_name(p), kind, strlen(kind)) &&
			   can_be_loaded(p, kernel));
	btf__free(kernel);
	err = async_bpf__load(skel);
	async_bpf__destroy(skel);
	return err;
}

static void test(const char *kind, const char *what)
{
	for (int i = 0; i < NR_SETTINGS; i++)
		ok(!load(kind, i, i), "%s with %s", what, settings[i].name);
	ok(!load(kind, 0, NR_SETTINGS - 1), "%s with all of them", what);
}

int main(void)
{
	int err;

	libbpf_set_print(print_nothing);
	err = trial__do(TRIAL_RAW_TP);
	if (err) {
		printf("1..0 # SKIP no BPF program can be loaded here: %s\n", strerror(-err));
		return 0;
	}
	test("raw_tp", "raw tracepoints");
	if (libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_KPROBE, NULL) != 1)
		ok(true, "kprobes # SKIP this kernel takes no such programs");
	else
		test("k", "kprobes and kretprobes");
	if (trial__do(TRIAL_FENTRY))
		ok(true, "fentry # SKIP this kernel takes no such programs");
	else
		test("f", "fentry and fexit");
	return done_testing();
}
