/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verifier.h: loads an object once for each of its settings, and once with all of them, for each
 * kind of programs that this kernel takes. What is loaded is the caller's.
 */
#ifndef IOSONAR_TESTS_LOAD_VERIFIER_H
#define IOSONAR_TESTS_LOAD_VERIFIER_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include "collect/trial.h"
#include "tap.h"

struct setting {
	const char *name;
	size_t at, bytes;
	int value; /* of each byte */
};

/* A member of the settings' type. */
#define SETTING(type, member, value)                                                        \
	{                                                                                   \
#member, offsetof(struct type, member), sizeof(((struct type *)0)->member), \
			(value)                                                             \
	}

struct verified {
	const struct setting *settings;
	int nr;
	/* kind: how the sections of its programs begin; from..to: which settings are on. */
	int (*load)(const char *kind, int from, int to);
	bool has_typed; /* programs of tp_btf */
};

static int verifier_print_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level, (void)format, (void)args;
	return 0;
}

static void verifier_set(void *constants, const struct setting *settings, int from, int to)
{
	for (int i = from; i <= to; i++)
		memset((char *)constants + settings[i].at, settings[i].value, settings[i].bytes);
}

/* Not every kernel has every function, or its type. */
static bool verifier_has_function(const struct bpf_program *p, const struct btf *kernel)
{
	const char *section = bpf_program__section_name(p), *function = strchr(section, '/');

	if (strncmp(section, "fe", 2))
		return true;
	return btf__find_by_name_kind(kernel, function + 1, BTF_KIND_FUNC) > 0;
}

static void verifier_choose(struct bpf_object *object, const char *kind)
{
	struct btf *kernel = btf__load_vmlinux_btf();
	struct bpf_program *p;

	bpf_object__for_each_program(p, object) bpf_program__set_autoload(
		p, !strncmp(bpf_program__section_name(p), kind, strlen(kind)) &&
			   verifier_has_function(p, kernel));
	btf__free(kernel);
}

static void verifier_test(const struct verified *v, const char *kind, const char *what)
{
	for (int i = 0; i < v->nr; i++)
		ok(!v->load(kind, i, i), "%s with %s", what, v->settings[i].name);
	ok(!v->load(kind, 0, v->nr - 1), "%s with all of them", what);
}

static int verifier__main(const struct verified *v)
{
	int err;

	libbpf_set_print(verifier_print_nothing);
	err = trial__do(TRIAL_RAW_TP);
	if (err) {
		printf("1..0 # SKIP no BPF program can be loaded here: %s\n", strerror(-err));
		return 0;
	}
	verifier_test(v, "raw_tp", "raw tracepoints");
	if (v->has_typed)
		verifier_test(v, "tp_btf", "tracepoints with types");
	if (libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_KPROBE, NULL) != 1)
		ok(true, "kprobes # SKIP this kernel takes no such programs");
	else
		verifier_test(v, "k", "kprobes and kretprobes");
	if (trial__do(TRIAL_FENTRY))
		ok(true, "fentry # SKIP this kernel takes no such programs");
	else
		verifier_test(v, "f", "fentry and fexit");
	return done_testing();
}

#endif
