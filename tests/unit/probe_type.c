/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_type.c: is a type what BTF says it is, and is a member where the compiler put it? BTF is
 * built here, some of it as no compiler would; members are compared with offsetof of the same
 * struct in C.
 */
#include <bpf/btf.h>
#include <stdlib.h>
#include "probe/find/type.h"
#include "tap.h"

/* The same in C and in BTF. */
struct inner {
	int first;
	char name[16];
};
struct outer {
	unsigned char flag;
	unsigned int low : 3, middle : 7, high : 20;
	union {
		unsigned long word;
		struct {
			short left, right;
		};
	};
	struct inner inner;
	struct outer *next;
	const char *text;
	unsigned long long wide : 40;
	signed char sign;
};

static struct {
	int b_char, u8, s8, i16, u32, i32, u64, boolean;
	int flag_t, const_char, text, inner_text, inner, anonymous, either, outer, next;
	int enumeration, enum64, function, callback, fwd, unknown_fwd, user_text, names;
} id;
static struct btf *btf;

static void add_numbers(void)
{
	id.b_char = btf__add_int(btf, "char", 1, 0);
	id.u8 = btf__add_int(btf, "unsigned char", 1, 0);
	id.s8 = btf__add_int(btf, "signed char", 1, BTF_INT_SIGNED);
	id.i16 = btf__add_int(btf, "short int", 2, BTF_INT_SIGNED);
	id.u32 = btf__add_int(btf, "unsigned int", 4, 0);
	id.i32 = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	id.u64 = btf__add_int(btf, "long unsigned int", 8, 0);
	id.boolean = btf__add_int(btf, "_Bool", 1, BTF_INT_BOOL);
	id.flag_t = btf__add_typedef(btf, "flag_t", id.u8);
	id.const_char = btf__add_const(btf, id.b_char);
	id.text = btf__add_ptr(btf, id.const_char);
	id.inner_text = btf__add_array(btf, id.i32, id.b_char, 16);
	id.user_text = btf__add_ptr(btf, btf__add_type_tag(btf, "user", id.const_char));
	id.names = btf__add_ptr(btf, id.text);
}

static void add_structs(void)
{
	id.inner = btf__add_struct(btf, "inner", sizeof(struct inner));
	btf__add_field(btf, "first", id.i32, 8 * offsetof(struct inner, first), 0);
	btf__add_field(btf, "name", id.inner_text, 8 * offsetof(struct inner, name), 0);
	id.anonymous = btf__add_struct(btf, NULL, 4);
	btf__add_field(btf, "left", id.i16, 0, 0);
	btf__add_field(btf, "right", id.i16, 16, 0);
	id.either = btf__add_union(btf, NULL, 8);
	btf__add_field(btf, "word", id.u64, 0, 0);
	btf__add_field(btf, NULL, id.anonymous, 0, 0);
	id.next = btf__add_ptr(btf, id.either + 2);
	id.outer = btf__add_struct(btf, "outer", sizeof(struct outer));
	btf__add_field(btf, "flag", id.flag_t, 0, 0);
	btf__add_field(btf, "low", id.u32, 8, 3);
	btf__add_field(btf, "middle", id.u32, 11, 7);
	btf__add_field(btf, "high", id.u32, 32, 20);
	btf__add_field(btf, NULL, id.either, 8 * offsetof(struct outer, word), 0);
	btf__add_field(btf, "inner", id.inner, 8 * offsetof(struct outer, inner), 0);
	btf__add_field(btf, "next", id.next, 8 * offsetof(struct outer, next), 0);
	btf__add_field(btf, "text", id.text, 8 * offsetof(struct outer, text), 0);
	btf__add_field(btf, "wide", id.u64, 8 * (offsetof(struct outer, text) + 8), 40);
	btf__add_field(btf, "sign", id.s8, 8 * offsetof(struct outer, sign), 0);
}

static void add_others(void)
{
	id.enumeration = btf__add_enum(btf, "colour", 4);
	btf__add_enum_value(btf, "RED", 0);
	btf__add_enum_value(btf, "NONE", -1);
	id.enum64 = btf__add_enum64(btf, "large", 8, false);
	btf__add_enum64_value(btf, "HUGE", 1ULL << 40);
	id.function = btf__add_func_proto(btf, id.i32);
	btf__add_func_param(btf, "o", id.next);
	btf__add_func_param(btf, "name", id.text);
	btf__add_func_param(btf, NULL, 0);
	id.callback = btf__add_ptr(btf, id.function);
	id.fwd = btf__add_ptr(btf, btf__add_fwd(btf, "inner", BTF_FWD_STRUCT));
	id.unknown_fwd = btf__add_ptr(btf, btf__add_fwd(btf, "nobody", BTF_FWD_UNION));
}

static struct type of(int which)
{
	return type__of(btf, (uint32_t)which);
}

static bool is_int(int which, uint32_t size, bool is_signed)
{
	struct type t = of(which);

	return t.kind == TYPE_INT && t.size == size && t.is_signed == is_signed && !t.bits;
}

static void check_kinds(void)
{
	struct type t;

	ok(is_int(id.i32, 4, true) && is_int(id.u64, 8, false) && is_int(id.boolean, 1, false),
	   "numbers have size and sign");
	ok(is_int(id.flag_t, 1, false), "a typedef is looked through");
	ok(is_int(id.enumeration, 4, true) && is_int(id.enum64, 8, false), "enums are numbers");
	t = of(id.inner_text);
	ok(t.kind == TYPE_TEXT && t.size == 16, "char[16] is a text");
	t = of(btf__add_array(btf, id.i32, id.u8, 6));
	ok(t.kind == TYPE_ARRAY && t.size == 6, "u8[6] is none");
	t = of(btf__add_array(btf, id.i32, id.const_char, 0));
	ok(t.kind == TYPE_TEXT && !t.size, "char[] has no size");
	t = type__of(btf, 0);
	ok(t.kind == TYPE_VOID && !t.size, "nothing is nothing");
	t = type__of(btf, 1 << 30);
	ok(t.kind == TYPE_VOID, "and so is what there is not");
	t = type__of(NULL, 3);
	ok(t.kind == TYPE_VOID && type__target(&t).kind == TYPE_VOID, "without BTF, too");
}

static void check_pointers(void)
{
	struct type t = of(id.text), target;

	ok(t.kind == TYPE_POINTER && t.size == 8 && t.is_text && !t.is_user,
	   "const char * is a text");
	t = of(id.user_text);
	ok(t.kind == TYPE_POINTER && t.is_text && t.is_user, "of the process, if it is tagged");
	t = of(id.names);
	ok(t.kind == TYPE_POINTER && !t.is_text, "char ** is none");
	target = type__target(&t);
	ok(target.kind == TYPE_POINTER && target.is_text, "but leads to one");
	t = of(id.next);
	target = type__target(&t);
	ok(target.kind == TYPE_STRUCT && target.size == sizeof(struct outer),
	   "a pointer leads to its struct");
	t = of(id.fwd);
	target = type__target(&t);
	ok(target.kind == TYPE_STRUCT && target.size == sizeof(struct inner),
	   "also if it is declared elsewhere");
	t = of(id.unknown_fwd);
	ok(type__target(&t).kind == TYPE_VOID, "or nowhere: then nothing is known");
	t = of(id.callback);
	ok(t.kind == TYPE_POINTER && type__target(&t).kind == TYPE_VOID,
	   "a function is no memory to look at");
	t = of(id.inner_text);
	ok(type__target(&t).size == 1, "an array consists of its elements");
	t = of(id.i32);
	ok(type__target(&t).kind == TYPE_VOID, "a number leads nowhere");
}

/* Reads the bits that a member says it has. */
static uint64_t read_bits(const struct outer *o, const struct type *member, uint32_t offset)
{
	uint64_t value = 0;

	memcpy(&value, (const char *)o + offset, member->size);
	return value >> member->shift & ((1ULL << member->bits) - 1);
}

static void check_bit_field(const struct outer *o, const char *name, uint64_t want, uint32_t size)
{
	struct type t = of(id.outer), member;
	uint32_t offset = 0;

	if (!ok(type__member(&t, name, &member, &offset), "%s is found", name))
		return;
	is_u64(read_bits(o, &member, offset), want, name);
	ok(offset % member.size == 0 && member.size == size, "in %u aligned bytes", size);
}

static void check_bits(void)
{
	struct outer o;

	memset(&o, 0xa5, sizeof(o));
	o.low = 5;
	o.middle = 99;
	o.high = 654321;
	o.wide = 0xabcdef0123;
	check_bit_field(&o, "low", 5, 1);
	check_bit_field(&o, "middle", 99, 4);
	check_bit_field(&o, "high", 654321, 4);
	check_bit_field(&o, "wide", 0xabcdef0123, 8);
}

static void check_member(const char *name, enum type_kind kind, uint64_t want)
{
	struct type t = of(id.outer), member;
	uint32_t offset = 0;

	if (ok(type__member(&t, name, &member, &offset) && member.kind == kind, "%s is a member",
	       name))
		is_u64(offset, want, "where the compiler has it");
}

static void check_members(void)
{
	struct type t = of(id.outer), member;
	const char **names = type__member_names(&t);
	char all[256] = "";
	uint32_t offset;

	check_member("flag", TYPE_INT, offsetof(struct outer, flag));
	check_member("word", TYPE_INT, offsetof(struct outer, word));
	check_member("right", TYPE_INT, offsetof(struct outer, right));
	check_member("inner", TYPE_STRUCT, offsetof(struct outer, inner));
	check_member("next", TYPE_POINTER, offsetof(struct outer, next));
	check_member("sign", TYPE_INT, offsetof(struct outer, sign));
	for (size_t i = 0; names && names[i]; i++)
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s ", names[i]);
	free(names);
	is_str(all, "flag low middle high word left right inner next text wide sign ",
	       "all of them have names");
	ok(!type__member(&t, "first", &member, &offset), "a named struct's are not its own");
	ok(!type__member(&t, "", &member, &offset), "nobody has no name");
	t = of(id.i32);
	names = type__member_names(&t);
	ok(names && !names[0] && !type__member(&t, "first", &member, &offset),
	   "a number has no members");
	free(names);
}

static void is_printed(int which, const char *want)
{
	struct type t = of(which);
	char buf[128];

	is_str(type__print(&t, buf, sizeof(buf)), want, want);
}

static void check_words(void)
{
	struct type t = of(id.outer), member;
	char buf[128], small[8];
	uint32_t offset;

	is_printed(id.i32, "int");
	is_printed(id.flag_t, "flag_t");
	is_printed(id.text, "const char *");
	is_printed(id.names, "const char **");
	is_printed(id.user_text, "const char __user *");
	is_printed(id.next, "struct outer *");
	is_printed(id.unknown_fwd, "union nobody *");
	is_printed(id.inner_text, "char[16]");
	is_printed(id.either, "union {...}");
	is_printed(id.enumeration, "enum colour");
	is_printed(id.callback, "int (*)(struct outer *, const char *, ...)");
	is_printed(btf__add_ptr(btf, btf__add_const(btf, id.next)), "struct outer * const *");
	is_printed(btf__add_ptr(btf, 0), "void *");
	type__member(&t, "middle", &member, &offset);
	is_str(type__print(&member, buf, sizeof(buf)), "unsigned int:7",
	       "a bit field has its bits");
	is_str(type__print(&t, small, sizeof(small)), "struct ", "what is too long is cut");
	is_str(type__print(&(struct type){ .kind = TYPE_INT, .size = 4, .is_signed = true }, buf,
			   sizeof(buf)),
	       "s32", "without BTF a number has its size");
	is_str(type__print(&(struct type){ .kind = TYPE_TEXT, .is_loc = true, .size = 4 }, buf,
			   sizeof(buf)),
	       "char[]", "and a text somewhere in the record none");
}

static void check_enums(void)
{
	struct type t = of(btf__add_typedef(btf, "colour_t", id.enumeration));

	is_str(type__enum_name(&t, 0), "RED", "a value has its name");
	is_str(type__enum_name(&t, -1), "NONE", "a negative one, too");
	is_str(type__enum_name(&t, UINT32_MAX), "NONE", "however it was extended");
	ok(!type__enum_name(&t, 7) && !type__enum_name(&t, 1LL << 32), "not every value has one");
	t = of(id.enum64);
	is_str(type__enum_name(&t, 1LL << 40), "HUGE", "64 bits are enough");
	t = of(id.i32);
	ok(!type__enum_name(&t, 0), "a number is no enum");
}

/* A typedef of itself, a struct in itself: nobody writes that, but a file could. */
static void check_endless(void)
{
	int loop = btf__add_typedef(btf, "loop", (int)btf__type_cnt(btf));
	int inside = btf__add_struct(btf, "endless", 8);
	struct type t, member;
	const char **names;
	uint32_t offset;
	char buf[512];

	btf__add_field(btf, NULL, inside, 0, 0);
	t = of(loop);
	ok(t.kind == TYPE_VOID, "a typedef of itself is nothing");
	t = of(inside);
	ok(!type__member(&t, "x", &member, &offset), "a struct in itself has an end");
	names = type__member_names(&t);
	ok(names && !names[0], "and no names");
	free(names);
	t = of(btf__add_ptr(btf, (int)btf__type_cnt(btf)));
	type__print(&t, buf, sizeof(buf));
	ok(strlen(buf) < 64, "a pointer to itself is printed in time: %s", buf);
}

int main(void)
{
	btf = btf__new_empty();
	add_numbers();
	add_structs();
	add_others();
	check_kinds();
	check_pointers();
	check_bits();
	check_members();
	check_words();
	check_enums();
	check_endless();
	btf__free(btf);
	return done_testing();
}
