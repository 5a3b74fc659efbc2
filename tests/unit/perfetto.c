/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perfetto.c: is every byte of a message what protobuf's description of its encoding says, and can
 * a name make it anything but text? protoc reads whole traces in tests/cli/export.bats.
 */
#include <stdlib.h>
#include "render/perfetto.h"
#include "render/proto.h"
#include "tap.h"

static void test_fields(void)
{
	/* protobuf.dev: field 1 of 150 is 08 96 01, field 2 of "testing" is 12 07 and it. */
	static const unsigned char want[] = { 0x08, 0x96, 0x01, 0x12, 7,    't',  'e', 's',
					      't',  'i',  'n',	'g',  0xe0, 0x03, 0 };
	static struct proto p, outer;

	proto__clear(&p);
	proto__number(&p, 1, 150);
	proto__text(&p, 2, "testing");
	proto__number(&p, 60, 0);
	ok(p.nr == sizeof(want) && !memcmp(p.bytes, want, p.nr), "numbers and texts");
	proto__clear(&outer);
	proto__message(&outer, 3, &p);
	ok(outer.nr == p.nr + 2 && outer.bytes[0] == 0x1a && outer.bytes[1] == p.nr &&
		   !memcmp(outer.bytes + 2, p.bytes, p.nr),
	   "a message inside another");
	proto__clear(&p);
	proto__number(&p, 8, UINT64_MAX);
	ok(p.nr == 11 && p.bytes[10] == 1, "the largest number takes ten bytes");
}

static void test_hostile(void)
{
	static struct proto p;

	proto__clear(&p);
	proto__text(&p, 1, "a\n\xff\xc3\xa9");
	ok(p.nr == 2 + 11 && !memcmp(p.bytes + 2, "a\\x0a\\xff\xc3\xa9", 11),
	   "a text is UTF-8, whatever it was");
}

static void test_full(void)
{
	static struct proto p;
	size_t before;

	proto__clear(&p);
	do {
		before = p.nr;
		proto__text(&p, 1, "0123456789012345678901234567890123456789");
	} while (p.nr > before);
	ok(p.nr % 42 == 0 && p.nr + 42 > PROTO_ROOM, "what does not fit is left out whole");
}

/* Field numbers are those of Perfetto's own .proto files. */
static void test_slice(void)
{
	static const unsigned char want[] = {
		0x0a, 41,				      /* of the trace: a packet */
		0x40, 0xe8, 0x07,			      /* 8: timestamp, 1000 */
		0xd0, 0x03, 3,				      /* 58: its clock */
		0x50, 1,				      /* 10: sequence */
		0x5a, 31,				      /* 11: track event */
		0x48, 1,				      /* 9: a slice begins */
		0x58, 7,				      /* 11: its track */
		0xba, 0x01, 4,	  'r', 'e', 'a',  'd',	      /* 23: its name */
		0xb2, 0x01, 1,	  'c',			      /* 22: a category */
		0x22, 6,    0x52, 1,   'n', 0x18, 0x90, 0x4e, /* 4: 10: "n", 3: 10000 */
		0x22, 6,    0x52, 1,   't', 0x32, 1,	'x',  /* 4: 10: "t", 6: "x" */
	};
	const struct perfetto_note notes[] = { { "n", NULL, 10000 }, { "t", "x", 0 } };
	char *bytes = NULL;
	size_t size;
	FILE *out = open_memstream(&bytes, &size);

	perfetto__slice_begin(out, &(struct perfetto_slice){ .track = 7,
							     .ns = 1000,
							     .name = "read",
							     .category = "c",
							     .notes = notes,
							     .nr_notes = 2 });
	fclose(out);
	is_u64(size, sizeof(want), "a slice: every field");
	ok(size == sizeof(want) && !memcmp(bytes, want, size), "byte by byte");
	free(bytes);
}

int main(void)
{
	test_fields();
	test_hostile();
	test_full();
	test_slice();
	return done_testing();
}
