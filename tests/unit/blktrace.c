/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blktrace.c: is every byte of an event where blktrace has it? linux/blktrace_api.h lays it out;
 * what blkparse and btt make of a stream is tests/cli/export.bats' to ask.
 */
#include <linux/blktrace_api.h>
#include "render/blktrace.h"
#include "tap.h"

/* BLK_TC_ACT, without its overflow. */
static uint32_t category(uint32_t bits)
{
	return bits << 16;
}

/* The bytes as this machine's compiler lays out the kernel's own struct. */
static struct blk_io_trace seen(const unsigned char *buf)
{
	struct blk_io_trace trace;

	memcpy(&trace, buf, sizeof(trace));
	return trace;
}

static void test_issue(void)
{
	const struct blktrace_event event = {
		.time_ns = 0x0102030405060708,
		.sector = 0x1112131415161718,
		.bytes = 4096,
		.pid = 4242,
		.major = 259,
		.minor = 0x12345,
		.sequence = 7,
		.cpu = 3,
		.what = BLKTRACE_ISSUE,
		.flags = BLKTRACE_WRITE | BLKTRACE_FUA,
	};
	unsigned char buf[BLKTRACE_MOST];
	struct blk_io_trace trace;

	is_u64(blktrace__event(buf, &event), sizeof(trace), "an event has the struct's size");
	trace = seen(buf);
	is_u64(trace.magic, BLK_IO_TRACE_MAGIC | BLK_IO_TRACE_VERSION, "magic and version");
	is_u64(trace.sequence, 7, "its number");
	is_u64(trace.time, event.time_ns, "time");
	is_u64(trace.sector, event.sector, "sector");
	is_u64(trace.bytes, 4096, "bytes");
	is_u64(trace.pid, 4242, "pid");
	is_u64(trace.device, 259u << 20 | 0x12345, "device");
	is_u64(trace.cpu, 3, "CPU");
	is_u64(trace.action,
	       (__BLK_TA_ISSUE | category(BLK_TC_ISSUE | BLK_TC_WRITE | BLK_TC_FUA | BLK_TC_FS)),
	       "issue of a write to stable storage");
	is_u64(trace.pdu_len, 0, "nothing follows");
}

static uint32_t action(uint8_t what, uint8_t flags)
{
	unsigned char buf[BLKTRACE_MOST];

	blktrace__event(buf, &(struct blktrace_event){ .what = what, .flags = flags });
	return seen(buf).action;
}

static void test_actions(void)
{
	const uint32_t read = BLK_TC_READ | BLK_TC_FS;

	is_u64(action(BLKTRACE_QUEUE, 0), __BLK_TA_QUEUE | category(BLK_TC_QUEUE | read), "Q");
	is_u64(action(BLKTRACE_GET, 0), __BLK_TA_GETRQ | category(BLK_TC_QUEUE | read), "G");
	is_u64(action(BLKTRACE_INSERT, 0), __BLK_TA_INSERT | category(BLK_TC_QUEUE | read), "I");
	is_u64(action(BLKTRACE_COMPLETE, BLKTRACE_WRITE | BLKTRACE_DISCARD),
	       __BLK_TA_COMPLETE |
		       category(BLK_TC_COMPLETE | BLK_TC_WRITE | BLK_TC_DISCARD | BLK_TC_FS),
	       "C of a discard");
	is_u64(action(BLKTRACE_ISSUE, BLKTRACE_WRITE | BLKTRACE_FLUSH),
	       __BLK_TA_ISSUE | category(BLK_TC_ISSUE | BLK_TC_WRITE | BLK_TC_FLUSH | BLK_TC_FS),
	       "D of a flush");
	is_u64(action(BLKTRACE_ISSUE, BLKTRACE_PASSTHROUGH),
	       __BLK_TA_ISSUE | category(BLK_TC_ISSUE | BLK_TC_READ | BLK_TC_PC),
	       "D of a command past the file systems");
}

static void test_error(void)
{
	unsigned char buf[BLKTRACE_MOST];

	blktrace__event(buf, &(struct blktrace_event){ .what = BLKTRACE_COMPLETE, .err = 5 });
	is_u64(seen(buf).error, (uint16_t)-5, "an error is negative, as the kernel writes it");
}

static void test_notes(void)
{
	static const char full[16] = "sixteen bytes...";
	unsigned char buf[BLKTRACE_MOST];
	uint32_t wall[2];

	is_u64(blktrace__process(buf, 9, 17, full), sizeof(struct blk_io_trace) + 16,
	       "a name follows its event");
	is_u64(seen(buf).action, BLK_TN_PROCESS, "that names a process");
	is_u64(seen(buf).pid, 17, "its pid");
	is_u64(seen(buf).pdu_len, 16, "sixteen bytes");
	is_str((const char *)buf + sizeof(struct blk_io_trace), "sixteen bytes..",
	       "which end, whatever a file says");
	is_u64(blktrace__clock(buf, 9, 1234567890987654321), sizeof(struct blk_io_trace) + 8,
	       "the clock follows its event");
	is_u64(seen(buf).action, BLK_TN_TIMESTAMP, "that tells the time");
	memcpy(wall, buf + sizeof(struct blk_io_trace), sizeof(wall));
	ok(wall[0] == 1234567890 && wall[1] == 987654321, "in seconds and ns");
}

int main(void)
{
	test_issue();
	test_actions();
	test_error();
	test_notes();
	return done_testing();
}
