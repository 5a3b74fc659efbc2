/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * struct_layout.c: does a struct's layout say what its BTF says? Of one that is made up: nameless
 * unions, bit fields, arrays, pointers to functions; and what was put into a capture comes back, or
 * is refused.
 */
#include "calls/struct_layout.h"
#include <bpf/btf.h>
#include <errno.h>
#include "tap.h"

static struct type bio, pointer, number;

/* Types come before the structs that have them: a member is added to what was added last. */
static struct btf *make(void)
{
	struct btf *btf = btf__new_empty();
	int u32 = btf__add_int(btf, "unsigned int", 4, 0);
	int u64 = btf__add_int(btf, "long unsigned int", 8, 0);
	int letter = btf__add_int(btf, "char", 1, BTF_INT_CHAR);
	int chars = btf__add_array(btf, u32, letter, 32);
	int proto = btf__add_func_proto(btf, 0), call = btf__add_ptr(btf, proto);
	int end_io = btf__add_ptr(btf, btf__add_typedef(btf, "bio_end_io_t", proto));
	int nothing = btf__add_ptr(btf, 0), next = btf__add_ptr(btf, nothing + 4);
	int iter, inside, id;

	iter = btf__add_struct(btf, "bvec_iter", 12);
	btf__add_field(btf, "bi_sector", u64, 0, 0);
	btf__add_field(btf, "bi_size", u32, 64, 0);
	inside = btf__add_union(btf, NULL, 8);
	btf__add_field(btf, "bi_integrity", nothing, 0, 0);
	btf__add_field(btf, "bi_end_io", end_io, 0, 0);
	id = btf__add_struct(btf, "bio", 72);
	btf__add_field(btf, "bi_next", next, 0, 0);
	btf__add_field(btf, "bi_iter", iter, 64, 0);
	btf__add_field(btf, "bi_low", u32, 160, 3);
	btf__add_field(btf, "bi_high", u32, 163, 29);
	btf__add_field(btf, NULL, inside, 192, 0);
	btf__add_field(btf, "name", chars, 256, 0);
	btf__add_field(btf, "call", call, 512, 0);
	bio = type__of(btf, (uint32_t)id);
	pointer = type__of(btf, (uint32_t)next);
	number = type__of(btf, (uint32_t)u32);
	return btf;
}

static const struct {
	const char *declared;
	uint32_t depth;
	uint64_t bit, bits;
} want[] = {
	{ "struct bio *bi_next", 0, 0, 64 },
	{ "struct bvec_iter bi_iter", 0, 64, 96 },
	{ "unsigned int bi_low:3", 0, 160, 3 },
	{ "unsigned int bi_high:29", 0, 163, 29 },
	{ "union {", 0, 192, 64 },
	{ "void *bi_integrity", 1, 192, 64 },
	{ "bio_end_io_t *bi_end_io", 1, 192, 64 },
	{ "char name[32]", 0, 256, 256 },
	{ "void (*call)(void)", 0, 512, 64 },
};
enum { NR_WANT = sizeof(want) / sizeof(want[0]) };

static void check(const struct struct_layouts *layouts)
{
	const struct struct_layout *layout = &layouts->layouts[0];

	is_u64(layouts->nr, 2, "the struct, and the one inside it");
	is_str(layout->name, "struct bio", "its name");
	is_u64(layout->bytes, 72, "its size");
	is_u64(layout->nr, NR_WANT, "its members");
	for (size_t i = 0; i < NR_WANT && i < layout->nr; i++) {
		is_str(layout->members[i].declared, want[i].declared, "declared as");
		is_u64(layout->members[i].depth, want[i].depth, "so deep");
		is_u64(layout->members[i].bit, want[i].bit, "begins at");
		is_u64(layout->members[i].bits, want[i].bits, "takes");
	}
	is_str(layouts->layouts[1].name, "struct bvec_iter", "what is inside");
}

static void test_capture(const struct struct_layouts *layouts)
{
	struct struct_layouts back = { 0 };
	struct byte_out out = { 0 };
	struct byte_in in;

	struct_layouts__put(layouts, &out);
	in = (struct byte_in){ out.bytes, out.bytes + out.len, false };
	is_u64(struct_layouts__get(&back, &in) == 0, 1, "it is read");
	check(&back);
	struct_layouts__free(&back);
	for (size_t len = 0; len < out.len; len++) {
		in = (struct byte_in){ out.bytes, out.bytes + len, false };
		if (struct_layouts__get(&back, &in) != -EBADMSG)
			ok(false, "cut at %zu it is refused", len);
		struct_layouts__free(&back);
	}
	byte_out__free(&out);
}

static void test_bounds(void)
{
	struct struct_layouts back = { 0 };
	struct byte_out out = { 0 };
	struct byte_in in;

	byte_out__varint(&out, STRUCT_LAYOUTS_MOST + 1);
	in = (struct byte_in){ out.bytes, out.bytes + out.len, false };
	ok(struct_layouts__get(&back, &in) == -EBADMSG, "too many structs are refused");
	out.len = 0;
	byte_out__varint(&out, 1);
	byte_out__text(&out, "struct x");
	byte_out__varint(&out, 8);
	byte_out__varint(&out, 2 * (STRUCT_MEMBERS_MOST + 1));
	in = (struct byte_in){ out.bytes, out.bytes + out.len, false };
	ok(struct_layouts__get(&back, &in) == -EBADMSG, "and too many members");
	struct_layouts__free(&back);
	byte_out__free(&out);
}

int main(void)
{
	struct struct_layouts layouts = { 0 };
	struct btf *btf = make();

	ok(!struct_layouts__add_inside(&layouts, &pointer), "what a pointer points to");
	ok(!struct_layouts__add(&layouts, &bio), "is there already");
	ok(!struct_layouts__add(&layouts, &number), "a number is passed over");
	check(&layouts);
	test_capture(&layouts);
	test_bounds();
	struct_layouts__free(&layouts);
	btf__free(btf);
	return done_testing();
}
