/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * target.h: where do typed programs (tp_btf, fentry, fexit) attach, as a number of the kernel's
 * types? libbpf would read these types, and those of every module, once more to find out: a third
 * of a start. Here the number comes from types that were read already. A module is seen only if it
 * is the one whose types are given; its programs require CAP_SYS_ADMIN, as with libbpf.
 */
#ifndef IOSONAR_COLLECT_TARGET_H
#define IOSONAR_COLLECT_TARGET_H

struct bpf_object;
struct bpf_program;
struct btf;
struct kernel;

struct targets {
	const struct btf *kernel; /* of vmlinux */
	const struct btf *module; /* on top of them; NULL: none */
	const char *module_name;
	int module_fd; /* 0: not asked for yet */
};

/* Once, before objects with typed programs are opened: afterwards each has to be aimed. 0 or
 * -errno. */
int targets__take_over(void);

/* For programs that attach to vmlinux and nvme_core, while kernel has their types. */
struct targets targets__of(const struct kernel *kernel);
/* At this function or tracepoint. 0; -ESRCH: the types have none, -EPERM: no right to a module's.
 */
int targets__aim(struct targets *targets, struct bpf_program *program, const char *name);
/* The same, where the number of the type is known: a search takes 1 ms. */
int targets__aim_at(struct targets *targets, struct bpf_program *program, int id);
/* Each typed program of an object that is to be loaded, at what its section names. */
int targets__aim_all(struct targets *targets, struct bpf_object *object);
/* After the object was loaded. */
void targets__close(struct targets *targets);

#endif
