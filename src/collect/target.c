/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * target.c: where typed programs attach. libbpf reads the kernel's types unless each of them has
 * the descriptor of what it attaches to, and calls us before it loads one. So what is found waits
 * in the program: the module's descriptor, or a number for vmlinux, as if it attached to a program,
 * and the number of the type in the flags, of which our programs have none.
 */
#include "collect/target.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include "collect/kernel.h"

enum { TARGET_OF_VMLINUX = INT_MAX };

/* ---- what libbpf calls ---- */

static int target_prepare(struct bpf_program *program, struct bpf_prog_load_opts *opts, long cookie)
{
	(void)cookie;
	opts->attach_btf_id = bpf_program__flags(program);
	opts->attach_btf_obj_fd =
		opts->attach_prog_fd == TARGET_OF_VMLINUX ? 0 : opts->attach_prog_fd;
	opts->attach_prog_fd = 0;
	opts->prog_flags = 0;
	return opts->attach_btf_id ? 0 : -ESRCH;
}

static int target_attach(const struct bpf_program *program, long cookie, struct bpf_link **link)
{
	(void)cookie;
	*link = bpf_program__attach_trace(program);
	return *link ? 0 : -errno;
}

int targets__take_over(void)
{
	static const struct {
		const char *section;
		enum bpf_attach_type type;
	} kinds[] = {
		{ "tp_btf/", BPF_TRACE_RAW_TP },
		{ "fentry/", BPF_TRACE_FENTRY },
		{ "fexit/", BPF_TRACE_FEXIT },
	};
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_prepare_load_fn = target_prepare,
		    .prog_attach_fn = target_attach);
	static bool is_done;
	int err = 0;

	for (size_t i = 0; !is_done && i < sizeof(kinds) / sizeof(kinds[0]) && err >= 0; i++)
		err = libbpf_register_prog_handler(kinds[i].section, BPF_PROG_TYPE_TRACING,
						   kinds[i].type, &opts);
	is_done |= err >= 0;
	return err < 0 ? err : 0;
}

/* ---- where ---- */

struct targets targets__of(const struct kernel *kernel)
{
	return (struct targets){ kernel->btf, kernel->nvme_types, "nvme_core", 0 };
}

static int target_id(const struct btf *btf, enum bpf_attach_type type, const char *name)
{
	char event[128];

	if (type != BPF_TRACE_RAW_TP)
		return btf__find_by_name_kind(btf, name, BTF_KIND_FUNC);
	snprintf(event, sizeof(event), "btf_trace_%s", name);
	return btf__find_by_name_kind(btf, event, BTF_KIND_TYPEDEF);
}

static bool target_is_named(int fd, const char *name)
{
	char text[64] = "";
	struct bpf_btf_info info = { .name = (__u64)(unsigned long)text, .name_len = sizeof(text) };
	__u32 len = sizeof(info);

	return !bpf_obj_get_info_by_fd(fd, &info, &len) && info.kernel_btf && !strcmp(text, name);
}

/* The kernel's list of all types, each with its number. */
static int target_open_module(const char *name)
{
	__u32 id = 0;
	int fd;

	while (!bpf_btf_get_next_id(id, &id)) {
		fd = bpf_btf_get_fd_by_id(id);
		if (fd < 0 && errno == ENOENT) /* gone since */
			continue;
		if (fd < 0)
			return -errno;
		if (target_is_named(fd, name))
			return fd;
		close(fd);
	}
	return errno == ENOENT ? -ESRCH : -errno;
}

/* The descriptor of the module that has the type of this number. */
static int target_module(struct targets *t)
{
	int fd = t->module_fd ?: target_open_module(t->module_name);

	if (fd > 0)
		t->module_fd = fd;
	return fd;
}

int targets__aim(struct targets *t, struct bpf_program *program, const char *name)
{
	enum bpf_attach_type type = bpf_program__expected_attach_type(program);

	return targets__aim_at(t, program, target_id(t->module ?: t->kernel, type, name));
}

int targets__aim_at(struct targets *t, struct bpf_program *program, int id)
{
	int fd = TARGET_OF_VMLINUX, err;

	if (id <= 0)
		return -ESRCH;
	if ((__u32)id >= btf__type_cnt(t->kernel))
		fd = target_module(t);
	if (fd < 0)
		return fd;
	err = bpf_program__set_attach_target(program, fd, NULL);
	return err ?: bpf_program__set_flags(program, (__u32)id);
}

int targets__aim_all(struct targets *t, struct bpf_object *object)
{
	struct bpf_program *program;
	int err = 0;

	bpf_object__for_each_program(program, object)
	{
		bool is_typed = bpf_program__type(program) == BPF_PROG_TYPE_TRACING;

		if (!is_typed || !bpf_program__autoload(program) || bpf_program__flags(program))
			continue;
		err = targets__aim(t, program, strchr(bpf_program__section_name(program), '/') + 1);
		if (err)
			break;
	}
	return err;
}

void targets__close(struct targets *t)
{
	if (t->module_fd > 0)
		close(t->module_fd);
	t->module_fd = 0;
}
