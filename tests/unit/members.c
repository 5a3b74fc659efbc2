/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * members.c: are the values of a record the right words? Names without their way, flags by the
 * enums of a BTF that is made up, what changed and what did not. Texts from the kernel come out as
 * they are: who prints them escapes.
 */
#include <bpf/btf.h>
#include <stdlib.h>
#include "calls/members.h"
#include "tap.h"

struct bytes {
	uint64_t object, size, opf, flags, remaining;
	char disk[16];
};

#define PART(name, member, ...)                                                                   \
	{                                                                                         \
		.text = name, .text_len = sizeof(name) - 1, .at = offsetof(struct bytes, member), \
		.shape = { .size = sizeof(((struct bytes *)0)->member), ##__VA_ARGS__ },          \
	}

static const struct plan_part parts[] = {
	PART("arg0", object, .unit = VALUE_POINTER),
	PART("bi_iter.bi_size", size),
	PART("bi_opf", opf),
	PART("bi_flags", flags),
	PART("__bi_remaining.counter", remaining, .is_signed = true),
	PART("bi_bdev->bd_disk->disk_name", disk, .is_text = true),
};
enum { NR_PARTS = sizeof(parts) / sizeof(parts[0]) };

static struct btf *make_btf(void)
{
	struct btf *btf = btf__new_empty();

	btf__add_enum(btf, "unrelated", 4);
	btf__add_enum_value(btf, "UNRELATED", 0);
	btf__add_enum(btf, "req_op", 4);
	btf__add_enum_value(btf, "REQ_OP_READ", 0);
	btf__add_enum_value(btf, "REQ_OP_WRITE", 1);
	btf__add_enum(btf, "req_flag_bits", 4);
	btf__add_enum_value(btf, "__REQ_FAILFAST_DEV", 8);
	btf__add_enum_value(btf, "__REQ_SYNC", 11);
	btf__add_enum(btf, NULL, 4);
	btf__add_enum_value(btf, "BIO_PAGE_PINNED", 0);
	btf__add_enum_value(btf, "BIO_CLONED", 1);
	return btf;
}

static char text[512];

static const char *put(struct members *m, size_t first, const struct bytes *now,
		       const struct bytes *before, size_t *nr)
{
	FILE *out = fmemopen(text, sizeof(text), "w");

	text[0] = 0;
	*nr = members__put(m, out, first, now, before);
	fclose(out);
	return text;
}

static const char *put_value(struct members *m, size_t i, const struct bytes *bytes)
{
	FILE *out = fmemopen(text, sizeof(text), "w");

	text[0] = 0;
	members__put_value(m, out, i, bytes);
	fclose(out);
	return text;
}

static void test_all(struct members *m)
{
	const struct bytes bytes = {
		0xffff800080001000, 4096, 1 | 1 << 11, 3, (uint64_t)-1, "sda"
	};
	size_t nr;

	is_str(put(m, 1, &bytes, NULL, &nr),
	       "bi_size=4096 bi_opf=WRITE|SYNC bi_flags=PAGE_PINNED|CLONED __bi_remaining=-1 "
	       "disk_name=sda",
	       "all of them by name");
	is_u64(nr, NR_PARTS - 1, "and how many");
	is_str(put_value(m, 0, &bytes), "0xffff800080001000", "a pointer");
	put(m, NR_PARTS, &bytes, NULL, &nr);
	ok(!nr && !*text, "none of none");
}

static void test_changes(struct members *m)
{
	const struct bytes before = { 1, 4096, 1 << 11, 1, 1, "sda" };
	struct bytes now = before;
	size_t nr;

	ok(!*put(m, 1, &now, &before, &nr) && !nr, "nothing changed");
	now.object = 2;
	ok(!*put(m, 1, &now, &before, &nr) && !nr, "nor does what is left out");
	now.size = 0;
	is_str(put(m, 1, &now, &before, &nr), "bi_size 4096 -> 0", "one did");
	now.flags = 0;
	strcpy(now.disk, "sdb");
	is_str(put(m, 1, &now, &before, &nr),
	       "bi_size 4096 -> 0, bi_flags PAGE_PINNED -> 0, disk_name sda -> sdb",
	       "three did: from what, to what");
	is_u64(nr, 3, "counted");
}

/* Values that the enums do not have. */
static void test_unknown(struct members *m)
{
	struct bytes bytes = { .opf = 77 | 1 << 8 | 1ull << 40, .flags = 1 << 5 | 1 };

	is_str(put_value(m, 2, &bytes), "77|FAILFAST_DEV|40",
	       "an operation and a bit without name");
	is_str(put_value(m, 3, &bytes), "PAGE_PINNED|5", "a flag without one");
	bytes = (struct bytes){ 0 };
	is_str(put_value(m, 2, &bytes), "READ", "0 may be a word");
	is_str(put_value(m, 3, &bytes), "0", "or no flags");
	memset(bytes.disk, 'x', sizeof(bytes.disk)); /* not terminated */
	put_value(m, 5, &bytes);
	is_u64(strspn(text, "x"), strlen(text), "a text ends with its room");
	ok(strlen(text) <= sizeof(bytes.disk), "and not behind it");
}

static void test_without_btf(struct values *values)
{
	struct members *m = members__new(values, parts, NR_PARTS, NULL);
	const struct bytes bytes = { .opf = 1 | 1 << 11, .flags = 3 };

	is_str(put_value(m, 2, &bytes), "2049", "without BTF numbers are numbers");
	is_str(put_value(m, 3, &bytes), "3", "flags, too");
	members__free(m);
}

int main(void)
{
	struct request request = { 0 };
	struct values *values = values__new(&request);
	struct btf *btf = make_btf();
	struct members *m = members__new(values, parts, NR_PARTS, btf);

	test_all(m);
	test_changes(m);
	test_unknown(m);
	test_without_btf(values);
	members__free(m);
	members__free(NULL);
	btf__free(btf);
	values__free(values);
	return done_testing();
}
