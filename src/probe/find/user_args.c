/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * user_args.c: what do functions of a program take and return? Converts the program's DWARF
 * (symbol/dwarf_proto.h) to BTF of our own, so that all code for the kernel's types works with
 * these. Without DWARF, the first registers are shown if the user asked for them.
 */
#define _GNU_SOURCE
#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/grow.h"
#include "probe/find/inside.h"
#include "symbol/dwarf_proto.h"

/* ---- DWARF's types as BTF ---- */

static int args_add_int(struct btf *btf, const struct dwarf_type *type)
{
	int encoding = type->kind == DWARF_BOOL ? BTF_INT_BOOL
		       : type->is_signed	? BTF_INT_SIGNED
						: 0;

	return btf__add_int(btf, *type->name ? type->name : "int", type->size, encoding);
}

static int args_add_pointer(struct btf *btf, const struct dwarf_type *type)
{
	int target = 0;

	if (type->to == DWARF_CHAR)
		target = btf__add_int(btf, "char", 1, BTF_INT_CHAR);
	else if (type->to_struct && *type->name)
		target = btf__add_fwd(btf, type->name, BTF_FWD_STRUCT);
	return target < 0 ? target : btf__add_ptr(btf, target);
}

/* 0: void. */
static int args_add_type(struct btf *btf, const struct dwarf_type *type)
{
	switch (type->kind) {
	case DWARF_INT:
	case DWARF_BOOL:
	case DWARF_CHAR: return args_add_int(btf, type);
	case DWARF_POINTER: return args_add_pointer(btf, type);
	default: return 0;
	}
}

/* A value outside the general registers is not shown: as if it returned nothing. */
static int args_add_proto(struct btf *btf, const struct dwarf_proto *proto)
{
	int types[DWARF_PARAMS], ret, id, err = 0;

	ret = proto->has_ret ? args_add_type(btf, &proto->ret) : 0;
	for (size_t i = 0; i < proto->nr; i++) {
		types[i] = args_add_type(btf, &proto->params[i].type);
		if (types[i] < 0)
			return types[i];
	}
	id = ret < 0 ? ret : btf__add_func_proto(btf, ret);
	for (size_t i = 0; id >= 0 && !err && i < proto->nr; i++)
		err = btf__add_func_param(btf, proto->params[i].name, types[i]);
	return err ? err : id;
}

/* ---- one probe ---- */

static int args_add_registers(struct probe *probe, uint32_t nr)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < nr; i++) {
		struct probe_field field = {
			.type = { .kind = TYPE_INT, .size = 8, .is_signed = true },
			.place = PLACE_ARG,
			.at = i,
			.reg = i,
			.slot = i,
		};
		char *name;

		field.name = asprintf(&name, "arg%u", i) < 0 ? NULL : name;
		err = probe__add_field(probe, &field);
	}
	return err;
}

static int args_add_fields(struct finder *finder, struct probe *probe, struct btf *btf,
			   const struct dwarf_proto *proto)
{
	const bool is_return = probe->kind == PROBE_USERRET;
	int id;

	if (!proto->is_known)
		return is_return ? find_abi__add_ret(probe, NULL, 0)
				 : args_add_registers(probe, finder->user.nr_registers);
	id = args_add_proto(btf, proto);
	if (id < 0)
		return -ENOMEM;
	return is_return ? find_abi__add_ret(probe, btf, (uint32_t)id)
			 : find_abi__add_args(probe, find_abi__here(), btf, (uint32_t)id);
}

/* ---- all probes of a file ---- */

struct args_job {
	uint64_t *sorted;
	struct dwarf_proto *protos; /* by place in sorted */
	size_t nr;
};

static int args_compare(const void *a, const void *b)
{
	const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/* 0 is not an address: the arguments of a part that the compiler split off are unknown. */
static int args_ask(struct args_job *job, const char *path, const uint64_t *vaddrs, size_t nr)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err;

	job->sorted = calloc(nr + 1, sizeof(*job->sorted));
	job->protos = calloc(nr + 1, sizeof(*job->protos));
	if (!job->sorted || !job->protos || fd < 0) {
		err = fd < 0 ? -errno : -ENOMEM;
		if (fd >= 0)
			close(fd);
		return err;
	}
	for (size_t i = 0; i < nr; i++)
		if (vaddrs[i])
			job->sorted[job->nr++] = vaddrs[i];
	qsort(job->sorted, job->nr, sizeof(*job->sorted), args_compare);
	err = job->nr ? dwarf_protos__ask(fd, job->sorted, job->nr, job->protos) : 0;
	close(fd);
	return err;
}

static const struct dwarf_proto *args_proto(const struct args_job *job, uint64_t vaddr)
{
	static const struct dwarf_proto unknown;
	const uint64_t *at = job->sorted && vaddr ? bsearch(&vaddr, job->sorted, job->nr,
							    sizeof(vaddr), args_compare)
						  : NULL;

	return at ? &job->protos[at - job->sorted] : &unknown;
}

/* The finder keeps it: types point into it. */
static struct btf *args_new_btf(struct finder *finder)
{
	struct btf *btf = btf__new_empty();

	if (!btf || GROW_BY_ONE(finder->user.btfs, finder->user.nr_btfs)) {
		btf__free(btf);
		return NULL;
	}
	return finder->user.btfs[finder->user.nr_btfs++] = btf;
}

/* Functions that cannot be looked up stay unknown. */
int find_user_args__add(struct finder *finder, const char *path, struct probe *probes,
			const uint64_t *vaddrs, size_t nr)
{
	struct btf *btf = args_new_btf(finder);
	struct args_job job = { 0 };
	int err = btf ? args_ask(&job, path, vaddrs, nr) : -ENOMEM;

	err = err == -ENOMEM ? err : 0;
	for (size_t i = 0; !err && i < nr; i++)
		err = args_add_fields(finder, &probes[i], btf, args_proto(&job, vaddrs[i]));
	free(job.sorted);
	free(job.protos);
	return err;
}

void find_user_args__free(struct find_user *user)
{
	for (size_t i = 0; i < user->nr_btfs; i++)
		btf__free(user->btfs[i]);
	free(user->btfs);
}
