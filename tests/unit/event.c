/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event.c: what a controller says by itself, in words; every number has some. And a failed command
 * in the words of Linux, as its log had them.
 */
#include "decode/event.h"
#include "decode/nvme.h"
#include "tap.h"
#include "wire/io_tables.h"

static const char *async(uint32_t dword)
{
	static char text[128];
	struct words w = words__on(text, sizeof(text));

	event__describe_async(&w, dword);
	return words__done(&w);
}

static const char *described(uint8_t event, uint32_t value)
{
	static char text[128];
	const struct io_record r = { .op = event, .cdw10 = { value }, .what = RECORD_EVENT };
	struct words w = words__on(text, sizeof(text));

	event__describe(&w, &r);
	return words__done(&w);
}

static void check_async(void)
{
	is_str(async(0x040002), "notice: namespace attribute changed, log page 0x04", "a notice");
	is_str(async(0x020201), "health: spare below threshold, log page 0x02", "health");
	is_str(async(0x00000000), "error: write to invalid doorbell", "no log page");
	is_str(async(0x700307), "vendor: info 0x03, log page 0x70", "the vendor's");
	is_str(async(0x000004), "type 4: info 0x00", "what nobody knows is a number");
	is_str(async(0x0cf002), "notice: discovery log changed, log page 0x0c", "of fabrics");
	for (uint32_t type = 0, wrong = 0; type < 8; type++) {
		for (uint32_t info = 0; info < 256; info++)
			wrong += strlen(async(info << 8 | type)) < 8;
		if (type == 7)
			is_u64(wrong, 0, "all 2,048 have words or a number");
	}
}

static void check_events(void)
{
	is_str(described(EVENT_STATE, 2), "resetting", "a state");
	is_str(described(EVENT_STATE, 99), "state 99", "one of later days");
	is_str(described(EVENT_GONE, 0), "it is gone", "gone");
	is_str(described(EVENT_APPEARED, 0), "it appeared", "appeared");
	is_str(described(EVENT_CONNECTED, 0), "it works again", "connected");
	is_str(event__word(EVENT_ASYNC), "async", "a word for each");
	is_str(event__word(200), "event", "and for all others");
}

static const char *kernel_line(struct io_record r, uint32_t block_size)
{
	static char text[256];
	struct words w = words__on(text, sizeof(text));

	nvme_kernel__line(&w, &r, r.kind == IO_ADMIN ? "nvme0" : "nvme0n1", block_size);
	return words__done(&w);
}

static void check_kernel(void)
{
	struct io_record r = { .cdw10 = { 2048 }, .bytes = 4096, .status = 0x281, .op = 2 };

	is_str(kernel_line(r, 512),
	       "nvme0n1: Read(0x2) @ LBA 2048, 8 blocks, Unrecovered Read Error (sct 0x2 / sc "
	       "0x81) ",
	       "a read as Linux logs it");
	r.status |= 0x6000;
	is_str(kernel_line(r, 0),
	       "nvme0n1: Read(0x2) @ LBA 2048, 0 blocks, Unrecovered Read Error (sct 0x2 / sc "
	       "0x81) MORE DNR ",
	       "with MORE and DNR, and without a block size");
	r = (struct io_record){ .op = 0x09, .status = 0x1 };
	is_str(kernel_line(r, 512),
	       "nvme0n1: Dataset Management(0x9), Invalid Opcode (sct 0x0 / sc 0x1) ",
	       "a discard has no LBA");
	r = (struct io_record){ .op = 0x08, .cdw10 = { 1 }, .bytes = 512, .status = 0x7ff };
	is_str(kernel_line(r, 512),
	       "nvme0n1: Write Zeroes(0x8) @ LBA 1, 1 blocks, Unknown (sct 0x7 / sc 0xff) ",
	       "what has no word is unknown");
	r = (struct io_record){ .kind = IO_ADMIN, .op = 0x06, .status = 0x4002 };
	is_str(kernel_line(r, 0), "nvme0: Identify(0x6), Invalid Field (sct 0x0 / sc 0x2) DNR ",
	       "an admin command");
	r = (struct io_record){ .kind = IO_FABRICS, .op = 0xee, .status = 0x1 };
	ok(strstr(kernel_line(r, 0), "Unknown(0xee)"), "a fabrics command that nobody knows");
}

int main(void)
{
	check_async();
	check_events();
	check_kernel();
	return done_testing();
}
