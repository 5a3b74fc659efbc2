/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waits.c: does the running kernel's verifier take every program of `waits`, whatever is asked of
 * it? Each setting alone, then all together. Programs for functions only where the kernel takes
 * such programs at all.
 */
#include <stdlib.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include "wire/waits.h"
#include "wire/file_id.h"
#include "bpf/waits.skel.h"
#include "collect/trial.h"
#include "tap.h"

#define SETTING(field) #field, offsetof(struct wait_settings, field)
static const struct setting {
	const char *name;
	size_t at;
	size_t bytes;
} settings[] = {
	{ "none", 0, 0 },
	{ SETTING(filter_pid), 4 },
	{ SETTING(filter_comm), 16 },
	{ SETTING(filter_cgroup), 8 },
	{ SETTING(filter_file), 1 },
	{ SETTING(min_ns), 8 },
	{ SETTING(calls), 4 },
	{ SETTING(self), 4 },
	{ SETTING(bio_is_second), 1 },
	{ SETTING(request_is_second), 1 },
	{ SETTING(commands), 1 },
	{ SETTING(preflush_flag), 4 },
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
	struct waits_bpf *skel = waits_bpf__open();
	struct wait_settings *ro = (struct wait_settings *)&skel->rodata->settings;
	struct btf *kernel = btf__load_vmlinux_btf();
	struct bpf_program *p;
	int err;

	ro->calls = (1u << NR_WAIT_CALLS) - 1;
	for (int i = from; i <= to; i++)
		memset((char *)ro + settings[i].at, 1, settings[i].bytes);
	bpf_object__for_each_program(p, skel->obj) bpf_program__set_autoload(
		p, !strncmp(bpf_program__section_name(p), kind, strlen(kind)) &&
			   can_be_loaded(p, kernel));
	btf__free(kernel);
	err = waits_bpf__load(skel);
	waits_bpf__destroy(skel);
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
	test("tp_btf", "tracepoints with types");
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
