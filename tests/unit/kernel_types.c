/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel_types.c: does an object of programs find the types that it names in the part of the
 * kernel's types that is made for it, as they are in the whole? The kernel's types are made here.
 * tests/load/objects.c compares the instructions that libbpf makes of both.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/btf.h>

#include "collect/types.h"
#include "tap.h"

/* struct leaf, other, outer (has a leaf, three leaves, a pointer to other), bio, a lot of others.
 */
static struct btf *make_kernel(void)
{
	struct btf *btf = btf__new_empty();
	int word = btf__add_int(btf, "long", 8, 0), proto, alias, constant, leaves, pointer, leaf;
	char name[32];

	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "unused%d", i);
		btf__add_struct(btf, name, 8);
		btf__add_field(btf, "word", word, 0, 0);
	}
	leaf = btf__add_struct(btf, "leaf", 8);
	btf__add_field(btf, "low", word, 0, 5);
	btf__add_field(btf, "high", word, 5, 59);
	pointer = btf__add_ptr(btf, btf__add_struct(btf, "other", 64));
	leaves = btf__add_array(btf, word, leaf, 3);
	constant = btf__add_const(btf, leaf);
	alias = btf__add_typedef(btf, "leaf_t", constant);
	proto = btf__add_func_proto(btf, word);
	btf__add_func_param(btf, "p", pointer);
	btf__add_struct(btf, "outer", 56);
	btf__add_field(btf, "p", pointer, 0, 0);
	btf__add_field(btf, "leaves", leaves, 64, 0);
	btf__add_field(btf, "alias", alias, 256, 0);
	btf__add_field(btf, "function", btf__add_ptr(btf, proto), 320, 0);
	btf__add_struct(btf, "bio", 8);
	btf__add_field(btf, "bi_next", pointer, 0, 0);
	btf__add_enum(btf, "colour", 4);
	btf__add_enum_value(btf, "RED", 7);
	return btf;
}

static struct btf *make_programs(int nr_more)
{
	struct btf *btf = btf__new_empty();
	char name[32];

	btf__add_struct(btf, "outer___old", 8);
	btf__add_struct(btf, "bio", 8);
	btf__add_struct(btf, "gone", 8);
	btf__add_enum(btf, "colour", 4);
	for (int i = 0; i < nr_more; i++) {
		snprintf(name, sizeof(name), "more%d", i);
		btf__add_struct(btf, name, 8);
	}
	return btf;
}

/* What libbpf would read. */
static struct btf *reduce(struct types *types, const struct btf *kernel, int nr_more)
{
	struct btf *programs = make_programs(nr_more), *part;
	const char *path = types__open(types);
	int err = types__fill(types, kernel, programs);

	ok(!err, "it is filled");
	part = btf__parse(path, NULL);
	btf__free(programs);
	return part;
}

static const struct btf_type *find(const struct btf *btf, const char *name, __u32 kind)
{
	int id = btf__find_by_name_kind(btf, name, kind);

	return id < 0 ? NULL : btf__type_by_id(btf, (__u32)id);
}

static void test_part(const struct btf *kernel)
{
	const struct btf_type *outer, *whole, *leaf, *leaves, *pointer, *alias;
	const struct btf_member *m, *was;
	struct types types;
	struct btf *part = reduce(&types, kernel, 0);

	if (!ok(part != NULL, "it can be parsed"))
		return;
	ok(btf__type_cnt(part) < 20, "it has few types: %u", btf__type_cnt(part));
	outer = find(part, "outer", BTF_KIND_STRUCT);
	whole = find(kernel, "outer", BTF_KIND_STRUCT);
	leaf = find(part, "leaf", BTF_KIND_STRUCT);
	ok(!find(part, "unused7", BTF_KIND_STRUCT), "a type that no program names is left out");
	ok(!find(part, "other", BTF_KIND_STRUCT), "so is one that is only pointed to");
	ok(find(part, "bio", BTF_KIND_STRUCT) && find(part, "colour", BTF_KIND_ENUM),
	   "named ones are there");
	is_str(btf__name_by_offset(part, btf_enum(find(part, "colour", BTF_KIND_ENUM))->name_off),
	       "RED", "with the values of an enum");
	if (!ok(outer && leaf, "a flavor finds its type, and what it contains"))
		return;
	m = btf_members(outer);
	was = btf_members(whole);
	is_u64(outer->size, whole->size, "its size");
	is_u64(btf_vlen(outer), btf_vlen(whole), "all its members");
	for (int i = 0; i < btf_vlen(outer); i++)
		ok(m[i].offset == was[i].offset &&
			   !strcmp(btf__name_by_offset(part, m[i].name_off),
				   btf__name_by_offset(kernel, was[i].name_off)),
		   "member %d", i);
	pointer = btf__type_by_id(part, m[0].type);
	leaves = btf__type_by_id(part, m[1].type);
	alias = btf__type_by_id(part, m[2].type);
	ok(btf_is_ptr(pointer) && !pointer->type, "a pointer is one, to void");
	ok(btf_is_array(leaves) && btf_array(leaves)->nelems == 3 &&
		   btf__type_by_id(part, btf_array(leaves)->type) == leaf,
	   "an array has its elements");
	is_u64((uint64_t)btf__resolve_size(part, m[1].type), 24, "and its size");
	ok(btf__type_by_id(part, (__u32)btf__resolve_type(part, m[2].type)) == leaf &&
		   btf_is_typedef(alias),
	   "a typedef leads to its type");
	ok(btf_member_bitfield_size(leaf, 1) == 59 && btf_member_bit_offset(leaf, 1) == 5,
	   "bit fields");
	/* Last: searching moves the types. */
	ok(btf__find_str(part, "unused7") < 0 && btf__find_str(part, "leaf") > 0,
	   "strings are those of its types");
	btf__free(part);
	types__close(&types);
}

static void test_whole(struct btf *kernel)
{
	int function = btf__add_func(kernel, "f", BTF_FUNC_STATIC, btf__add_func_proto(kernel, 0));
	struct types types;
	struct btf *part = reduce(&types, kernel, 1000);

	is_u64(part ? btf__type_cnt(part) : 0, btf__type_cnt(kernel), "too many names: all types");
	btf__free(part);
	types__close(&types);
	/* No kernel has that. */
	btf__add_struct(kernel, "gone", 8);
	btf__add_field(kernel, "f", function, 0, 0);
	part = reduce(&types, kernel, 0);
	is_u64(part ? btf__type_cnt(part) : 0, btf__type_cnt(kernel),
	       "a kind that it does not know: all types");
	btf__free(part);
	types__close(&types);
}

static void test_again(const struct btf *kernel)
{
	struct types types;
	struct btf *programs = make_programs(0), *more = make_programs(1000), *part;

	types__open(&types);
	types__fill(&types, kernel, more);
	types__fill(&types, kernel, programs);
	part = btf__parse(types.path, NULL);
	ok(part && btf__type_cnt(part) < 20, "filled again, it has what is asked for now");
	btf__free(part);
	types__close(&types);
	ok(!types__fill(&types, kernel, programs), "without a file there is nothing to do");
	btf__free(programs);
	btf__free(more);
}

int main(void)
{
	struct btf *kernel = make_kernel();

	test_part(kernel);
	test_again(kernel);
	test_whole(kernel);
	btf__free(kernel);
	return done_testing();
}
