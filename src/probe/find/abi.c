/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * abi.c: in which register, or where on the stack, does a function find each argument? By its
 * prototype in BTF and the calling convention of the machine. Pure. The kernel passes no vectors
 * and floats.
 */
#define _GNU_SOURCE
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "probe/find/inside.h"

enum find_abi find_abi__here(void)
{
#ifdef __x86_64__
	return ABI_X86_64;
#else
	return ABI_ARM64;
#endif
}

/* Registers, slots and bytes on the stack taken so far. */
struct abi_state {
	enum find_abi abi;
	uint32_t next_reg, next_slot, next_byte;
};

static uint32_t abi_nr_regs(enum find_abi abi)
{
	return abi == ABI_X86_64 ? 6 : 8;
}

uint32_t find_abi__nr_registers(void)
{
	return abi_nr_regs(find_abi__here());
}

uint32_t find_abi__plain_register(uint32_t nr)
{
	const uint32_t nr_regs = find_abi__nr_registers();

	return nr < nr_regs ? nr : PROBE_ON_STACK + 8 * (nr - nr_regs);
}

/* Arrays are never passed: this is __int128, which both conventions align to 16 bytes. */
static bool abi_is_wide(const struct type *type)
{
	return type->kind == TYPE_ARRAY && type->size == 16;
}

/* Number of 8-byte parts; a large struct is copied: arm64 passes the copy's address, x86 none. */
static uint32_t abi_parts(enum find_abi abi, const struct type *type)
{
	if (type->kind != TYPE_STRUCT && type->kind != TYPE_ARRAY)
		return 1;
	if (type->size > 16)
		return abi == ABI_X86_64 ? UINT32_MAX : 1;
	return (type->size + 7) / 8;
}

/* Every argument there takes a multiple of 8 bytes (AAPCS64 C.12 to C.17). */
static uint32_t abi_take_stack(struct abi_state *state, const struct type *type, uint32_t parts)
{
	uint32_t at;

	if (abi_is_wide(type))
		state->next_byte = (state->next_byte + 15) & ~15u;
	at = state->next_byte;
	state->next_byte += parts == UINT32_MAX ? (type->size + 7) & ~7u : 8 * parts;
	return PROBE_ON_STACK + at;
}

/* AAPCS64 6.8.2 (C.9 to C.14); System V x86-64 3.2.3. An argument that does not fit into the
 * remaining registers goes to the stack; on arm64 all later ones do, too. */
static uint32_t abi_take(struct abi_state *state, const struct type *type)
{
	uint32_t parts = abi_parts(state->abi, type), reg;

	if (parts == UINT32_MAX)
		return abi_take_stack(state, type, parts);
	if (state->abi == ABI_ARM64 && abi_is_wide(type)) /* begins at an even register */
		state->next_reg = (state->next_reg + 1) & ~1u;
	if (!parts || state->next_reg + parts > abi_nr_regs(state->abi)) {
		if (parts && state->abi == ABI_ARM64)
			state->next_reg = abi_nr_regs(state->abi);
		return abi_take_stack(state, type, parts);
	}
	reg = state->next_reg;
	state->next_reg += parts;
	return reg;
}

static const struct btf_type *abi_proto(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf && id ? btf__type_by_id(btf, id) : NULL;

	return t && btf_is_func_proto(t) ? t : NULL;
}

static char *abi_name(const struct btf *btf, const struct btf_param *param, uint32_t nr)
{
	const char *name = btf__name_by_offset(btf, param->name_off);
	char *text;

	if (name && *name)
		return strdup(name);
	return asprintf(&text, "arg%u", nr) < 0 ? NULL : text;
}

static bool abi_is_struct(const struct type *type)
{
	return type->kind == TYPE_STRUCT || type->kind == TYPE_ARRAY;
}

int find_abi__add_args(struct probe *probe, enum find_abi abi, const struct btf *btf,
		       uint32_t proto_id)
{
	const struct btf_type *proto = abi_proto(btf, proto_id);
	struct abi_state state = { .abi = abi };
	uint32_t nr = proto ? btf_vlen(proto) : 0;
	int err = 0;

	for (uint32_t i = 0; !err && i < nr && i < PROBE_MAX_ARGS; i++) {
		const struct btf_param *param = &btf_params(proto)[i];
		struct probe_field field = {
			.type = type__of(btf, param->type),
			.place = PLACE_ARG,
			.at = i,
		};

		probe->is_odd |= !param->type || abi_is_struct(&field.type);
		if (!param->type)
			break; /* "..." */
		field.name = abi_name(btf, param, i);
		field.reg = abi_take(&state, &field.type);
		field.slot = state.next_slot;
		state.next_slot += field.type.size > 16 ? 1 : (field.type.size + 7) / 8;
		probe->is_odd |= field.reg >= PROBE_ON_STACK;
		err = probe__add_field(probe, &field);
	}
	return err;
}

int find_abi__add_ret(struct probe *probe, const struct btf *btf, uint32_t proto_id)
{
	const struct btf_type *proto = abi_proto(btf, proto_id);
	struct probe_field field = {
		.type = { .kind = TYPE_INT, .size = 8, .is_signed = true },
		.place = PLACE_RET,
	};

	if (proto && !proto->type) {
		probe->returns_nothing = true;
		return 0;
	}
	if (proto)
		field.type = type__of(btf, proto->type);
	probe->is_odd |= abi_is_struct(&field.type);
	field.name = strdup("ret");
	return probe__add_field(probe, &field);
}
