/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nvme_status.c: does a status say what happened and whether to retry? Codes are written down again
 * here from the specifications; those that mean two things are asked for both.
 */
#include "decode/nvme.h"

#include <stdlib.h>
#include "tap.h"

static const struct {
	enum io_kind kind;
	uint16_t status;
	const char *want;
} cases[] = {
	{ IO_NVME, 0x0000, "ok" },
	{ IO_NVME, 0x2000, "ok more" },
	{ IO_NVME, 0x0001, "invalid opcode (0/01)" },
	{ IO_ADMIN, 0x4002, "invalid field (0/02) DNR" },
	{ IO_NVME, 0x0007, "aborted by request (0/07)" },
	{ IO_NVME, 0x0021, "command interrupted (0/21)" },
	{ IO_NVME, 0x0080, "LBA out of range (0/80)" },
	{ IO_NVME, 0x0083, "reservation conflict (0/83)" },
	{ IO_NVME, 0x0281, "unrecovered read error (2/81)" },
	{ IO_NVME, 0x4281, "unrecovered read error (2/81) DNR" },
	{ IO_NVME, 0x6a81, "unrecovered read error (2/81) DNR more crd=1" },
	{ IO_NVME, 0x1082, "namespace not ready (0/82) crd=2" },
	{ IO_NVME, 0x1a80, "write fault (2/80) crd=3" },
	{ IO_NVME, 0x0285, "compare failure (2/85)" },
	{ IO_NVME, 0x0287, "deallocated or unwritten block (2/87)" },
	{ IO_ADMIN, 0x0109, "invalid log page (1/09)" },
	{ IO_ADMIN, 0x0105, "async event request limit exceeded (1/05)" },
	{ IO_ADMIN, 0x010e, "feature not changeable (1/0e)" },
	{ IO_ADMIN, 0x017f, "stream resource allocation failed (1/7f)" },
	{ IO_NVME, 0x0180, "conflicting attributes (1/80)" },
	{ IO_FABRICS, 0x0180, "incompatible format (1/80)" },
	{ IO_NVME, 0x0181, "invalid protection information (1/81)" },
	{ IO_FABRICS, 0x0181, "controller busy (1/81)" },
	{ IO_NVME, 0x0182, "write to read-only range (1/82)" },
	{ IO_FABRICS, 0x0182, "invalid connect parameters (1/82)" },
	{ IO_NVME, 0x0183, "command size limit exceeded (1/83)" },
	{ IO_FABRICS, 0x0183, "restart discovery (1/83)" },
	{ IO_NVME, 0x0185, "incompatible namespace or format (1/85)" },
	{ IO_FABRICS, 0x4184, "invalid connect host (1/84) DNR" },
	{ IO_FABRICS, 0x0185, "invalid queue type (1/85)" },
	{ IO_ADMIN, 0x0190, "discovery has changed (1/90)" },
	{ IO_ADMIN, 0x0191, "authentication required (1/91)" },
	{ IO_NVME, 0x01b9, "zone is full (1/b9)" },
	{ IO_NVME, 0x01bc, "zone invalid write (1/bc)" },
	{ IO_NVME, 0x01bf, "invalid zone state transition (1/bf)" },
	{ IO_FABRICS, 0x01b8, "zone boundary error (1/b8)" },
	{ IO_NVME, 0x0300, "internal path error (3/00)" },
	{ IO_NVME, 0x0302, "ANA inaccessible (3/02)" },
	{ IO_NVME, 0x0370, "host path error (3/70)" },
	{ IO_NVME, 0x0371, "aborted by host (3/71)" },
	{ IO_NVME, 0x00c5, "vendor (0/c5)" },
	{ IO_NVME, 0x02ff, "vendor (2/ff)" },
	{ IO_NVME, 0x0742, "vendor (7/42)" },
	{ IO_NVME, 0x0017, "unknown (0/17)" },
	{ IO_NVME, 0x0512, "unknown (5/12)" },
	{ IO_NVME, 0x05c0, "unknown (5/c0)" },
	{ IO_NVME, 0x4217, "unknown (2/17) DNR" },
};

static const char *describe(char *buf, size_t size, enum io_kind kind, uint16_t status)
{
	struct words w = words__on(buf, size);

	nvme_status__describe(&w, kind, status);
	return words__done(&w);
}

static void check_cases(void)
{
	char buf[128];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is_str(describe(buf, sizeof(buf), cases[i].kind, cases[i].status), cases[i].want,
		       cases[i].want);
}

/* The codes that Base 2.0, NVM 1.0, ZNS 1.1 and fabrics define: so many ranges. */
static const struct {
	enum io_kind kind;
	uint16_t from, to;
} defined[] = {
	{ IO_NVME, 0x000, 0x016 },    { IO_NVME, 0x018, 0x024 },  { IO_NVME, 0x080, 0x084 },
	{ IO_ADMIN, 0x100, 0x103 },   { IO_ADMIN, 0x105, 0x116 }, { IO_ADMIN, 0x118, 0x12d },
	{ IO_NVME, 0x180, 0x183 },    { IO_NVME, 0x1b6, 0x1bf },  { IO_FABRICS, 0x180, 0x185 },
	{ IO_FABRICS, 0x190, 0x191 }, { IO_NVME, 0x280, 0x288 },  { IO_NVME, 0x300, 0x303 },
	{ IO_NVME, 0x360, 0x360 },    { IO_NVME, 0x370, 0x371 },
};

static void check_defined(void)
{
	for (size_t i = 0; i < sizeof(defined) / sizeof(defined[0]); i++) {
		bool good = true;

		for (uint16_t status = defined[i].from; status <= defined[i].to; status++)
			if (!nvme_status__name(defined[i].kind, status))
				good = false;
		ok(good, "%#x to %#x have words", defined[i].from, defined[i].to);
	}
	ok(!nvme_status__name(IO_NVME, 0x742), "a vendor's status has none of its own");
}

/* Every status there is: never blank, always with its numbers, the same words whatever the rest. */
static void check_all(void)
{
	char buf[128], numbers[16];
	bool blank = false, numbered = true, differs = false;

	for (uint32_t status = 0; status < 0x8000; status++) {
		for (int kind = IO_NVME; kind <= IO_FABRICS; kind++) {
			const char *name = nvme_status__name(kind, status & 0x7ff);
			const char *text = describe(buf, sizeof(buf), kind, (uint16_t)status);

			snprintf(numbers, sizeof(numbers), "(%u/%02x)", status >> 8 & 7,
				 status & 0xff);
			blank = blank || !*text;
			numbered = numbered && (!(status & 0x7ff) || strstr(text, numbers));
			differs = differs || (name && strncmp(text, name, strlen(name)));
		}
	}
	ok(!blank, "no status is blank");
	ok(numbered, "type and code stand behind the words of every failure");
	ok(!differs, "retry bits do not change the words");
}

/* Who reads the words has to know which status it was. */
static void check_unique(void)
{
	int twice = 0;

	for (uint16_t a = 0; a < 0x800; a++)
		for (uint16_t b = a + 1; b < 0x800; b++)
			for (int kind = IO_NVME; kind <= IO_FABRICS; kind++) {
				const char *one = nvme_status__name(kind, a);
				const char *other = nvme_status__name(kind, b);

				if (!one || !other || strcmp(one, other))
					continue;
				twice++;
				printf("# %#x and %#x: %s\n", a, b, one);
			}
	ok(!twice, "no words twice");
}

static void check_cut(void)
{
	char whole[128];
	size_t len = strlen(describe(whole, sizeof(whole), IO_NVME, 0x6a81));
	bool good = true;

	for (size_t size = 1; size <= len + 2; size++) {
		char *buf = malloc(size);
		size_t fits = size - 1 < len ? size - 1 : len;

		describe(buf, size, IO_NVME, 0x6a81);
		good = good && strlen(buf) == fits && !strncmp(buf, whole, fits);
		free(buf);
	}
	ok(good, "cut at every size: terminated, and a prefix of the whole");
}

int main(void)
{
	check_cases();
	check_defined();
	check_all();
	check_unique();
	check_cut();
	return done_testing();
}
