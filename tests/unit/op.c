/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op.c: has every operation one word, and does the word lead back to it? The numbers are those of
 * the NVMe specifications and of one kernel's REQ_OP_*, written down again here.
 */
#include "decode/op.h"
#include "tap.h"

/* As Linux 6.12 has them. */
static char *const block_names[256] = {
	[0] = (char *)"read",	      [1] = (char *)"write",	    [2] = (char *)"flush",
	[3] = (char *)"discard",      [5] = (char *)"secure-erase", [7] = (char *)"zone-append",
	[9] = (char *)"write-zeroes", [34] = (char *)"drv-in",	    [35] = (char *)"drv-out",
};

static const struct {
	enum io_kind kind;
	uint8_t op;
	const char *word;
} words[] = {
	{ IO_NVME, 0x00, "flush" },
	{ IO_NVME, 0x01, "write" },
	{ IO_NVME, 0x02, "read" },
	{ IO_NVME, 0x05, "compare" },
	{ IO_NVME, 0x08, "write-zeroes" },
	{ IO_NVME, 0x09, "dsm" },
	{ IO_NVME, 0x0c, "verify" },
	{ IO_NVME, 0x7d, "zone-append" },
	{ IO_ADMIN, 0x00, "delete-sq" },
	{ IO_ADMIN, 0x01, "create-sq" },
	{ IO_ADMIN, 0x02, "get-log-page" },
	{ IO_ADMIN, 0x06, "identify" },
	{ IO_ADMIN, 0x09, "set-features" },
	{ IO_ADMIN, 0x0c, "async-event" },
	{ IO_ADMIN, 0x18, "keep-alive" },
	{ IO_ADMIN, 0x80, "format" },
	{ IO_ADMIN, 0x84, "sanitize" },
	{ IO_FABRICS, 0x00, "property-set" },
	{ IO_FABRICS, 0x01, "connect" },
	{ IO_FABRICS, 0x04, "property-get" },
	{ IO_BLOCK, 0, "read" },
	{ IO_BLOCK, 1, "write" },
	{ IO_BLOCK, 2, "flush" },
	{ IO_BLOCK, 3, "discard" },
	{ IO_BLOCK, 9, "write-zeroes" },
	{ IO_BLOCK, 34, "drv-in" },
	{ IO_NVME, 0x93, "op-0x93" },
	{ IO_NVME, 0x03, "op-0x03" },
	{ IO_ADMIN, 0xff, "op-0xff" },
	{ IO_FABRICS, 0x07, "op-0x07" },
	{ IO_BLOCK, 4, "op-0x04" },
	{ IO_BLOCK, 255, "op-0xff" },
};

static void check_words(void)
{
	char buf[16];

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *word =
			op__word(words[i].kind, words[i].op, block_names, buf, sizeof(buf));

		if (!ok(!strcmp(word, words[i].word), "kind %d, %#x: %s", words[i].kind,
			words[i].op, words[i].word))
			printf("# got '%s'\n", word);
	}
	op__word(IO_NVME, 0x93, block_names, buf, 5);
	is_str(buf, "op-0", "a short buffer is not overrun");
}

/* ---- from words to bits ---- */

static uint64_t wanted[4][4];

static int mark(const char *word)
{
	memset(wanted, 0, sizeof(wanted));
	return op__mark(word, block_names, wanted);
}

static uint64_t nr_bits(void)
{
	uint64_t nr = 0;

	for (int kind = 0; kind < 4; kind++)
		for (int i = 0; i < 4; i++)
			nr += (uint64_t)__builtin_popcountll(wanted[kind][i]);
	return nr;
}

static bool is_marked(enum io_kind kind, uint8_t op)
{
	return wanted[kind][op / 64] >> op % 64 & 1;
}

/* The word marks these two and nothing else. */
static void marks_two(const char *word, uint8_t nvme, uint8_t block)
{
	int nr = mark(word);

	ok(nr == 2 && nr_bits() == 2 && is_marked(IO_NVME, nvme) && is_marked(IO_BLOCK, block),
	   "%s: NVMe's %#x and the block layer's %u", word, nvme, block);
}

static void marks_one(const char *word, enum io_kind kind, uint8_t op)
{
	int nr = mark(word);

	ok(nr == 1 && nr_bits() == 1 && is_marked(kind, op), "%s: only that", word);
}

static void marks_all(const char *word, enum io_kind kind)
{
	int nr = mark(word), missing = 0;

	for (int op = 0; op < 256; op++)
		missing += !is_marked(kind, (uint8_t)op);
	ok(nr == 256 && nr_bits() == 256 && !missing, "%s: all of them, with a word or without",
	   word);
}

static void marks_none(const char *word)
{
	ok(mark(word) == 0 && nr_bits() == 0, "'%s' is no operation", word);
}

static void check_marks(void)
{
	marks_two("read", 0x02, 0);
	marks_two("write", 0x01, 1);
	marks_two("flush", 0x00, 2);
	marks_two("write-zeroes", 0x08, 9);
	marks_two("zone-append", 0x7d, 7);
	marks_two("discard", 0x09, 3);
	marks_one("dsm", IO_NVME, 0x09);
	marks_one("identify", IO_ADMIN, 0x06);
	marks_one("format", IO_ADMIN, 0x80);
	marks_one("connect", IO_FABRICS, 0x01);
	marks_one("drv-out", IO_BLOCK, 35);
	marks_all("admin", IO_ADMIN);
	marks_all("fabrics", IO_FABRICS);
	marks_none("reads");
	marks_none("READ");
	marks_none("");
	marks_none("op-0x93");
}

static void check_marks_add_up(void)
{
	memset(wanted, 0, sizeof(wanted));
	op__mark("read", block_names, wanted);
	op__mark("write", block_names, wanted);
	op__mark("read", block_names, wanted);
	is_u64(nr_bits(), 4, "words add up, the same word twice does not");
}

/* ---- all words ---- */

static bool is_listed(const char *const *list, size_t nr, const char *word)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(list[i], word))
			return true;
	return false;
}

static void check_list(void)
{
	const char *list[512];
	size_t nr = op__words(block_names, list, 512), wrong = 0, twice = 0, missing = 0;
	char buf[16];

	for (size_t i = 0; i < nr; i++) {
		wrong += mark(list[i]) == 0;
		twice += is_listed(list, i, list[i]);
	}
	is_u64(wrong, 0, "every listed word means something");
	is_u64(twice, 0, "no word is listed twice");
	for (int i = 0; i < 4 * 256; i++) {
		const char *word = op__word(i / 256, (uint8_t)i, block_names, buf, sizeof(buf));

		missing += word != buf && !is_listed(list, nr, word);
	}
	is_u64(missing, 0, "every word is listed");
	ok(nr > 50 && nr < 200, "there are some dozens");
	list[3] = "untouched";
	is_u64(op__words(block_names, list, 3), 3, "no more than there is room for");
	is_str(list[3], "untouched", "and nothing after that is written");
}

/* --op takes a word for all kinds: an admin command must not bear the word of an I/O. */
static void check_words_are_apart(void)
{
	char io[16], admin[16];
	int same = 0;

	for (int i = 0; i < 256 * 256; i++) {
		const char *a = op__word(IO_ADMIN, (uint8_t)i, block_names, admin, sizeof(admin));
		const char *b = op__word(IO_NVME, (uint8_t)(i >> 8), block_names, io, sizeof(io));

		same += a != admin && b != io && !strcmp(a, b);
	}
	is_u64((uint64_t)same, 0, "no word means both an admin command and an I/O");
}

int main(void)
{
	check_words();
	check_marks();
	check_marks_add_up();
	check_list();
	check_words_are_apart();
	return done_testing();
}
