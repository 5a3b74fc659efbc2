/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inflight.c: what is made of a request that the kernel's tags hold? Entries as the six kernels
 * leave them, with and without a command, with and without a slot; ages by every clock there may
 * be; the order, and requests that were seen twice.
 */
#include <stdlib.h>
#include "decode/inflight.h"
#include "tap.h"

static const uint64_t ms = 1000000, second = 1000000000;
enum { HZ = 250, NOW_JIFFIES = 1000000 };
static const uint64_t now_ns = 4000 * 1000000000ULL;

static char *op_names[256] = {
	"read", "write", "flush", "discard", [9] = "write-zeroes", [34] = "drv-in", [35] = "drv-out"
};

static struct inflight_entry entry;
static struct inflight_context context;
static struct io_slot slot;
static struct io_slot_more more;
static struct inflight_command command;

/* Made and sent 3 s ago, with a time-out of 30 s; 4 KiB at sector 4096 of blocks of 4 KiB. */
static void begin(enum inflight_dir dir)
{
	entry = (struct inflight_entry){
		.request = 0xffff000012345680,
		.start_ns = now_ns - 3 * second,
		.io_start_ns = now_ns - 3 * second + 2000,
		.deadline = NOW_JIFFIES - 3 * HZ + 30 * HZ,
		.timeout = 30 * HZ,
		.sector = 4096,
		.bytes = 4096,
		.block_size = 4096,
		.queue = 1,
		.tag = 17,
		.disk = "nvme0n1",
	};
	context = (struct inflight_context){
		.clock = { now_ns, NOW_JIFFIES, HZ },
		.dir = dir,
		.nsid = dir == INFLIGHT_NVME ? 3 : 0,
		.op_names = op_names,
		.fua_flag = 1 << 17,
	};
}

/* We saw it sent, 2.5 s ago, for the second time. */
static void know(void)
{
	slot = (struct io_slot){ .key = entry.request,
				 .alloc_ns = entry.start_ns,
				 .first_ns = now_ns - 3 * second + 1000,
				 .bytes = 8192,
				 .kind = IO_NVME,
				 .op = 1,
				 .attempts = 2,
				 .state = IO_OPEN };
	more = (struct io_slot_more){ .last_ns = now_ns - 2500 * ms,
				      .cdw10 = { 77, 1, 1 },
				      .nsid = 3,
				      .pid = 4711,
				      .cid = 0x3011 };
	memcpy(more.comm, "sixteen-long-nam", 16);
	context.slot = &slot;
	context.more = &more;
}

static void fill(void)
{
	inflight_command__fill(&command, &entry, &context);
}

static void put_sqe(uint8_t opcode, uint16_t cid, uint32_t nsid, const uint32_t cdw10[6])
{
	entry.has_sqe = 1;
	entry.sqe[0] = opcode | (uint64_t)cid << 16 | (uint64_t)nsid << 32;
	for (int i = 0; i < 3; i++)
		entry.sqe[5 + i] = cdw10[2 * i] | (uint64_t)cdw10[2 * i + 1] << 32;
}

/* ---- what it is ---- */

static void test_block(void)
{
	begin(INFLIGHT_DISK);
	entry.cmd_flags = 1 << 17 | 1;
	entry.sector = 0x123456789;
	fill();
	is_u64(command.record.kind, IO_BLOCK, "a disk's request is of the block layer");
	is_u64(command.record.op, 1, "its operation is the low byte of its flags");
	ok(command.record.cdw10[0] == 0x23456789 && command.record.cdw10[1] == 1,
	   "its sector is where a record has it");
	is_u64(command.record.bytes, 4096, "its length");
	is_u64(command.record.qid, 1, "its queue as the driver numbers it");
	ok(!command.cid_known && !command.record.attempts && !command.is_ours,
	   "nothing is made up");
	is_str(command.dev, "nvme0n1", "its disk");
}

static void test_sqe(void)
{
	static const uint32_t dwords[6] = { 0x89abcdef, 7, 7, 13, 14, 15 };

	begin(INFLIGHT_NVME);
	put_sqe(0x02, 0x5011, 3, dwords);
	entry.nvme_retries = 4;
	fill();
	is_u64(command.record.kind, IO_NVME, "an NVMe command of an I/O queue");
	is_u64(command.record.op, 2, "its opcode");
	is_u64(command.record.cid, 0x5011, "its id");
	is_u64(command.record.nsid, 3, "its namespace");
	ok(!memcmp(command.record.cdw10, dwords, sizeof(dwords)), "its dwords 10 to 15");
	is_u64(command.record.bytes, 8 * 4096, "its length is CDW12's, metadata aside");
	is_u64(command.record.qid, 2, "its queue is one above the driver's");
	is_u64(command.tag, 17, "its tag");
	is_u64(command.record.attempts, 5, "an attempt more than it was tried again");
	ok(command.op_known && command.cid_known, "all is known");
	put_sqe(0x09, 1, 3, dwords);
	fill();
	is_u64(command.record.bytes, 4096, "another opcode's length is the request's");
}

static void test_admin(void)
{
	static const uint32_t dwords[6] = { 0x00050001 };

	begin(INFLIGHT_CTRL);
	entry.disk[0] = 0;
	entry.queue = 0;
	put_sqe(0x08, 2, 0, dwords);
	fill();
	is_u64(command.record.kind, IO_ADMIN, "an admin command");
	is_u64(command.record.qid, 0, "of queue 0");
	put_sqe(0x7f, 2, 0x04, dwords);
	fill();
	is_u64(command.record.kind, IO_FABRICS, "a fabrics command");
	ok(command.record.op == 4 && !command.record.nsid,
	   "has its type where others have an nsid");
}

/* 5.10: the command was on its caller's stack. */
static void test_request(void)
{
	begin(INFLIGHT_NVME);
	entry.cmd_flags = 1 << 17 | 1;
	entry.bytes = 3 * 4096;
	fill();
	ok(command.op_known && command.record.op == 0x01 && command.record.kind == IO_NVME,
	   "a write is a write, although its command is not seen");
	is_u64(command.record.cdw10[0], 512, "its LBA, in the drive's blocks");
	is_u64(command.record.cdw10[2], 1u << 30 | 2, "FUA, and blocks less one");
	is_u64(command.record.nsid, 3, "the disk's namespace");
	ok(!command.cid_known, "its id is not known");
	entry.cmd_flags = 9;
	fill();
	is_u64(command.record.op, 0x08, "write zeroes");
	entry.cmd_flags = 2;
	entry.sector = UINT64_MAX;
	entry.bytes = 0;
	fill();
	ok(command.op_known && !command.record.op && !command.record.cdw10[0],
	   "a flush has no LBA");
	entry.cmd_flags = 34;
	fill();
	ok(!command.op_known, "what was sent past the block layer is not guessed");
	entry.cmd_flags = 1;
	entry.block_size = 0;
	fill();
	ok(command.op_known && !command.record.cdw10[0], "no block size, no LBA");
}

static void test_slot(void)
{
	begin(INFLIGHT_NVME);
	know();
	ok(inflight__is_same(&slot, &entry), "the slot of the same request, made at the same time");
	fill();
	ok(command.is_ours && command.record.pid == 4711, "gives the process");
	ok(!memcmp(command.record.comm, "sixteen-long-nam", 16), "and its name");
	ok(command.record.op == 1 && command.record.cid == 0x3011 && command.record.bytes == 8192 &&
		   command.record.cdw10[0] == 77 && command.record.attempts == 2,
	   "and the command");
	is_u64(command.age_ns, 3 * second, "its age is since the request was made");
	is_u64(command.sent_ns, 2500 * ms, "it was sent again since");
	slot.state = IO_IDLE;
	ok(!inflight__is_same(&slot, &entry), "one that ended is not the same");
	slot.state = IO_IGNORED;
	ok(!inflight__is_same(&slot, &entry), "nor one that was filtered out");
	slot.state = IO_RETRY;
	ok(inflight__is_same(&slot, &entry), "one that waits for its next attempt is");
	slot.alloc_ns++;
	ok(!inflight__is_same(&slot, &entry), "one made at another time is another command");
	slot.alloc_ns--;
	slot.key++;
	ok(!inflight__is_same(&slot, &entry), "one that is being swept is nobody's");
}

/* ---- time ---- */

static void test_hz(void)
{
	is_u64(inflight__hz(7500, 30000), 250, "7,500 ticks in 30 s are 250 Hz");
	is_u64(inflight__hz(30000, 30000), 1000, "1,000 Hz");
	is_u64(inflight__hz(3000, 30000), 100, "100 Hz");
	is_u64(inflight__hz(301, 1003), 300, "300 Hz, where 301 ticks are printed as 1003 ms");
	is_u64(inflight__hz(7500, 0), 0, "no time-out tells nothing");
	is_u64(inflight__hz(7500, 1), 0, "nor one that cannot be");
}

static void test_age(void)
{
	begin(INFLIGHT_DISK);
	fill();
	is_u64(command.age_ns, 3 * second, "since the request was made");
	is_u64(command.sent_ns, 3 * second - 2000, "and since it was sent");
	entry.start_ns = 0;
	fill();
	is_u64(command.age_ns, 3 * second - 2000, "not noted: since it was sent");
	entry.io_start_ns = 0;
	fill();
	is_u64(command.age_ns, 3 * second, "not noted either: since its timer was started");
	is_u64(command.sent_ns, INFLIGHT_NO_AGE, "which may be another time than it was sent");
	context.clock.hz = 0;
	fill();
	is_u64(command.age_ns, INFLIGHT_NO_AGE, "no ticks, no age");
	context.clock.hz = HZ;
	entry.timeout = 0;
	fill();
	is_u64(command.age_ns, INFLIGHT_NO_AGE, "no timer, no age");
	entry.timeout = 30 * HZ;
	entry.deadline = 0;
	fill();
	is_u64(command.age_ns, INFLIGHT_NO_AGE,
	       "a deadline before the machine was started: no age");
	entry.start_ns = now_ns + 5;
	fill();
	is_u64(command.age_ns, 0, "a clock that is a hair ahead: no age below 0");
}

/* ---- how it stands ---- */

static void is_state(enum inflight_state want, const char *what)
{
	fill();
	is_u64(command.state, want, what);
}

/* Sent sent_s ago; its timer, which has 30 s, was started armed_s ago. */
static void sent_ago(uint64_t sent_s, uint64_t armed_s)
{
	entry.start_ns = entry.io_start_ns = now_ns - sent_s * second;
	entry.deadline = NOW_JIFFIES - armed_s * HZ + 30 * HZ;
}

static void test_state(void)
{
	begin(INFLIGHT_NVME);
	is_state(INFLIGHT_SENT, "a command that was just sent");
	sent_ago(29, 29);
	is_state(INFLIGHT_SENT, "one whose time is nearly up");
	sent_ago(35, 5);
	is_state(INFLIGHT_TIMED_OUT, "one whose timer was started again after 30 s");
	entry.nvme_flags = 1;
	is_state(INFLIGHT_CANCELLED, "one that the driver has given up");
	entry.nvme_retries = 1;
	is_state(INFLIGHT_TIMED_OUT, "of another attempt the flag says nothing");
	entry.nvme_retries = 0;
	entry.nvme_flags = 2;
	is_state(INFLIGHT_TIMED_OUT, "a user's is not given up");
	context.dir = INFLIGHT_DISK;
	entry.nvme_flags = 1;
	is_state(INFLIGHT_TIMED_OUT, "flags are NVMe's alone");
	context.clock.hz = 0;
	is_state(INFLIGHT_SENT, "no ticks: nothing is known of its timer");
	begin(INFLIGHT_NVME);
	sent_ago(35, 5);
	entry.io_start_ns = 0;
	is_state(INFLIGHT_TIMED_OUT, "no time of issue: that of the request will do");
	begin(INFLIGHT_NVME);
	sent_ago(35, 5);
	know();
	more.last_ns = now_ns - 5 * second;
	is_state(INFLIGHT_SENT, "sent again 5 s ago, so its timer was started 5 s ago");
	begin(INFLIGHT_NVME);
	entry.is_waiting = 1;
	is_state(INFLIGHT_REQUEUED, "one that was handed back");
	ok(command.tag == -1, "has no tag");
	ok(!inflight__was_never_sent(&entry, NULL), "the kernel noted when it was sent");
	entry.io_start_ns = 0;
	ok(inflight__was_never_sent(&entry, NULL), "or did not: it was never sent");
	ok(!inflight__was_never_sent(&entry, &slot), "unless we saw it sent");
	entry.is_waiting = 0;
	ok(!inflight__was_never_sent(&entry, NULL), "what the driver has was sent");
}

/* ---- the list ---- */

static void test_sort(void)
{
	static const uint64_t ages[] = { 5, INFLIGHT_NO_AGE, 900, 5, 70, 900 };
	struct inflight_command commands[6];
	struct inflight_list list = { .commands = commands, .nr = 6 };

	memset(commands, 0, sizeof(commands));
	for (int i = 0; i < 6; i++) {
		commands[i].age_ns = ages[i];
		commands[i].request = 0x1000u + (uint64_t)i % 5;
		commands[i].state = i ? INFLIGHT_SENT : INFLIGHT_REQUEUED;
	}
	commands[5].tag = 9;
	inflight_list__sort(&list);
	is_u64(list.nr, 5, "a request that was handed back meanwhile is listed once");
	is_u64(list.commands[0].age_ns, 900, "oldest first");
	ok(list.commands[0].request == 0x1000 && list.commands[0].tag == 9, "as it was when sent");
	is_u64(list.commands[3].age_ns, 5, "youngest last");
	is_u64(list.commands[4].age_ns, INFLIGHT_NO_AGE, "but for those whose age is not known");
	list.nr = 0;
	inflight_list__sort(&list);
	is_u64(list.nr, 0, "nothing stays nothing");
}

/* ---- what is printed, byte by byte ---- */

static struct inflight_command shown[4];
static struct inflight_list shown_list = { .commands = shown, .nr = 4 };

/* A read that hangs, one whose process is hostile, a reset's own, and one nothing is known of. */
static void make_list(void)
{
	static const uint32_t read[6] = { 2048, 0, 7 }, delete_sq[6] = { 2 };

	begin(INFLIGHT_NVME);
	sent_ago(35, 5);
	entry.block_size = 512;
	put_sqe(0x02, 0x5011, 3, read);
	fill();
	shown[0] = command;
	begin(INFLIGHT_DISK);
	snprintf(entry.disk, sizeof(entry.disk), "vda");
	know();
	slot.kind = IO_BLOCK;
	memcpy(more.comm, "a,\"b\"\x1b[2J\0\0\0\0\0\0\0", 16);
	entry.is_waiting = 1;
	fill();
	shown[1] = command;
	begin(INFLIGHT_CTRL);
	snprintf(entry.disk, sizeof(entry.disk), "nvme0");
	put_sqe(0x00, 12, 0, delete_sq);
	entry.bytes = entry.nvme_flags = 0;
	entry.start_ns = entry.io_start_ns = now_ns - 1200 * ms;
	fill();
	shown[2] = command;
	entry.start_ns = entry.io_start_ns = entry.has_sqe = 0;
	context.clock.hz = 0;
	entry.cmd_flags = 35;
	fill();
	shown[3] = command;
}

static void prints(enum table_format format, const char *want, const char *what)
{
	const struct column *columns[OBJECT_COLUMNS];
	struct inflight_row row;
	struct table *table;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	table = table__new(out, format, "inflight", columns, inflight__columns(format, columns));
	for (size_t i = 0; i < shown_list.nr; i++) {
		inflight_row__fill(&row, &shown[i], 1.5, op_names);
		table__row(table, &row);
	}
	table__free(table);
	fclose(out);
	is_str(text, want, what);
	free(text);
}

static void test_print(void)
{
	make_list();
	prints(TABLE_TEXT,
	       "    age    sent dev     qid  tag op    command                state     try     "
	       "pid comm\n"
	       "  35.0s   35.0s nvme0n1   2   17 read  lba=2048 nlb=8 len=4Ki timed-out   1       "
	       "- -\n"
	       "  3.00s   2.50s vda       1    - write sector=4294967373 len=8Ki requeued    2    "
	       "4711 a,\"b\"\\x1b[2J\n"
	       "  1.20s   1.20s nvme0     0   17 delete-sq qid=2                     sent        1 "
	       "      - -\n"
	       "      -       - nvme0     0   17 -         -                         sent        1 "
	       "      - -\n",
	       "text");
	prints(TABLE_JSON,
	       "{\"type\":\"inflight\",\"time_s\":1.5,\"age_ns\":35000000000,\"sent_ns\":"
	       "35000000000,\"dev\":\"nvme0n1\",\"qid\":2,\"tag\":17,\"cid\":20497,\"op\":\"read\","
	       "\"nsid\":3,\"lba\":2048,\"sector\":2048,\"bytes\":4096,\"command\":\"lba=2048 "
	       "nlb=8 "
	       "len=4Ki\",\"state\":\"timed-out\",\"attempts\":1,\"pid\":null,\"comm\":null}\n"
	       "{\"type\":\"inflight\",\"time_s\":1.5,\"age_ns\":3000000000,\"sent_ns\":2500000000,"
	       "\"dev\":\"vda\",\"qid\":1,\"tag\":null,\"cid\":null,\"op\":\"write\",\"nsid\":null,"
	       "\"lba\":null,\"sector\":4294967373,\"bytes\":8192,\"command\":\"sector=4294967373 "
	       "len=8Ki\",\"state\":\"requeued\",\"attempts\":2,\"pid\":4711,\"comm\":\"a,"
	       "\\\"b\\\"\\\\x1b[2J\"}\n"
	       "{\"type\":\"inflight\",\"time_s\":1.5,\"age_ns\":1200000000,\"sent_ns\":1200000000,"
	       "\"dev\":\"nvme0\",\"qid\":0,\"tag\":17,\"cid\":12,\"op\":\"delete-sq\",\"nsid\":0,"
	       "\"lba\":null,\"sector\":null,\"bytes\":0,\"command\":\"qid=2\",\"state\":\"sent\","
	       "\"attempts\":1,"
	       "\"pid\":null,\"comm\":null}\n"
	       "{\"type\":\"inflight\",\"time_s\":1.5,\"age_ns\":null,\"sent_ns\":null,\"dev\":"
	       "\"nvme0\",\"qid\":0,\"tag\":17,\"cid\":null,\"op\":null,\"nsid\":0,\"lba\":null,"
	       "\"sector\":null,"
	       "\"bytes\":0,\"command\":null,\"state\":\"sent\",\"attempts\":1,\"pid\":null,"
	       "\"comm\":null}\n",
	       "JSON");
	prints(TABLE_CSV,
	       "time_s,age_ns,sent_ns,dev,qid,tag,cid,op,nsid,lba,sector,bytes,command,state,"
	       "attempts,pid,"
	       "comm\n"
	       "1.5,35000000000,35000000000,nvme0n1,2,17,20497,read,3,2048,2048,4096,lba=2048 "
	       "nlb=8 "
	       "len=4Ki,timed-out,1,,\n"
	       "1.5,3000000000,2500000000,vda,1,,,write,,,4294967373,8192,sector=4294967373 "
	       "len=8Ki,requeued,2,4711,\"a,\"\"b\"\"\\x1b[2J\"\n"
	       "1.5,1200000000,1200000000,nvme0,0,17,12,delete-sq,0,,,0,qid=2,sent,1,,\n"
	       "1.5,,,nvme0,0,17,,,0,,,0,,sent,1,,\n",
	       "CSV");
}

static void says(size_t nr, uint64_t min_ns, const char *want)
{
	char text[160];
	struct words w = words__on(text, sizeof(text));
	const struct inflight_list list = { .commands = shown, .nr = nr };

	inflight_list__describe(&w, &list, min_ns);
	is_str(words__done(&w), want, want);
}

static void test_say(void)
{
	make_list();
	says(0, 0, "nothing in flight");
	says(0, 5 * second, "nothing in flight");
	says(4, 0, "4 in flight, the oldest for 35.0s");
	says(1, 0, "1 in flight, the oldest for 35.0s");
	says(4, 2 * second, "2 in flight for 2.00s or more, the oldest for 35.0s; 4 in flight");
	says(2, 2 * second, "2 in flight for 2.00s or more, the oldest for 35.0s");
	says(4, 60 * second, "nothing in flight for 60.0s; 4 in flight");
	shown[0] = shown[3];
	says(1, 0, "1 in flight");
	says(1, 1, "nothing in flight for 1ns; 1 in flight");
}

int main(void)
{
	test_block();
	test_sqe();
	test_admin();
	test_request();
	test_slot();
	test_hz();
	test_age();
	test_state();
	test_sort();
	test_print();
	test_say();
	return done_testing();
}
