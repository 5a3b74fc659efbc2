/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * captures.c: captures that pages are tested with. `captures hostile FILE`: texts that would break
 * out of HTML, of a script, of JSON or of their line; tests/data/hostile.cap is one. `captures many
 * FILE`: as many commands, processes, files, devices and errors as show that a page stays small.
 */
#include <stdio.h>
#include <string.h>
#include "capture/write.h"
#include "wire/io.h"
#include "wire/stage.h"

enum { NR_HOSTILE = 48, NR_MANY = 150000, DEVICES = 24, STACK = 7 };

static const char *const names[] = {
	"</script><b>",	    "<img src=x>",	"\"'&amp;=1+1",	  "\x1b[31mred",
	"\xe2\x80\xae rtl", "\xe2\x80\xa8line", "\xff\xfe bytes", "${1+1}`id`",
};
enum { NR_NAMES = sizeof(names) / sizeof(names[0]) };

static const char *const files[] = {
	"/</script><script>document.title='broken out'</script>",
	"/<!-- <script>/]]>/<img src=x onerror=document.title='broken-out'>",
	"/a b\tc\nd\"e'f\\g\xe2\x80\xae\xff",
	"javascript:document.title='broken'",
};
enum { NR_FILES = sizeof(files) / sizeof(files[0]) };

struct staged {
	struct io_record record;
	struct io_stages stages;
};

static uint64_t noise = 88172645463325252ULL;

static uint64_t draw(uint64_t most)
{
	noise ^= noise << 13;
	noise ^= noise >> 7;
	noise ^= noise << 17;
	return (noise * 0x2545f4914f6cdd1dULL >> 16) % most;
}

/* The next command of an NVMe drive: it ends a little later than the one before. */
static struct staged next(uint64_t end_ns, uint64_t lat_ns)
{
	struct staged s = {
		.record = {
			.first_ns = end_ns - lat_ns,
			.last_ns = end_ns - lat_ns,
			.end_ns = end_ns,
			.cdw10 = { (uint32_t)draw(1 << 20) * 8, 0, 7 },
			.nsid = 1,
			.bytes = 4096u << draw(4),
			.kind = IO_NVME,
			.op = draw(3) ? 2 : 1,
			.attempts = 1,
			.flags = RECORD_STAGES,
		},
		.stages = {
			.queued_ns = end_ns - lat_ns - 3000,
			.got_ns = end_ns - lat_ns - 2000,
			.issued_ns = end_ns - lat_ns + 700,
			.reaped_ns = end_ns - 400,
			.done_ns = end_ns + 600,
			.file_dev = 0x800001,
			.depth = 1 + (uint32_t)draw(16),
			.nr_bios = 1,
		},
	};

	return s;
}

static int begin(struct capture_writer *writer, uint16_t nr_devices, const char *model)
{
	const struct capture_info info[] = {
		{ CAPTURE_INFO_VERSION, "0.1" },
		{ CAPTURE_INFO_KERNEL, "6.12 </script>" },
		{ CAPTURE_INFO_COMMAND,
		  "iosonar record -- sh -c '</script><script>alert(1)</script>'" },
	};
	struct capture_clock clock = { 1000000000, 1000000000, 1700000000000000000 };
	int err = capture_writer__info(writer, info, 3);

	for (uint16_t i = 0; i < nr_devices; i++) {
		struct device device = { .kind = DEVICE_NVME_NS,
					 .diskseq = i + 1u,
					 .size_bytes = 4ULL << 30,
					 .block_size = 512,
					 .ctrl = i,
					 .nsid = 1 };

		snprintf(device.name, sizeof(device.name), "nvme%un1", i);
		snprintf(device.model, sizeof(device.model), "%s", model);
		err |= capture_writer__device(writer, i, &device);
	}
	return err | capture_writer__clock(writer, &clock);
}

static int end(struct capture_writer *writer, uint64_t nr)
{
	const struct capture_count ledger[] = { { "issued", nr }, { "completed", nr } };

	return capture_writer__finish(writer, "done", ledger, 2);
}

static int write_hostile(struct capture_writer *writer)
{
	int err = begin(writer, 2, "</script><script>document.title=1</script>");

	for (uint64_t i = 0; i < NR_FILES; i++)
		err |= capture_writer__text(writer, GLOSSARY_FILES,
					    (struct glossary_id){ { 100 + i, 0x800001 } },
					    files[i]);
	err |= capture_writer__text(writer, GLOSSARY_CGROUPS, (struct glossary_id){ { 9 } },
				    "/<i>slice</i>");
	err |= capture_writer__text(writer, GLOSSARY_STACKS, (struct glossary_id){ { STACK } },
				    "operator<<;</script><script>alert(1);submit_bio");
	for (uint64_t i = 0; i < NR_HOSTILE; i++) {
		struct staged s = next(1000000000 + i * 1000000, 100000 + i * 10000);

		memcpy(s.record.comm, names[i % NR_NAMES], strnlen(names[i % NR_NAMES], 15));
		s.record.pid = 100 + (uint32_t)(i % NR_NAMES);
		s.record.device = (uint16_t)(i % 2);
		s.record.status = i % 12 ? 0 : 0x281;
		s.stages.inode = 100 + i % NR_FILES;
		s.stages.cgroup = 9;
		s.stages.kernel_stack = STACK;
		err |= capture_writer__records(writer, &s.record, 1);
	}
	return err | end(writer, NR_HOSTILE);
}

static int write_many(struct capture_writer *writer)
{
	int err = begin(writer, DEVICES, "many");

	for (uint64_t i = 0; i < NR_MANY; i++) {
		struct staged s = next(1000000000 + i * 20000, 5000ULL << draw(16));

		snprintf(s.record.comm, sizeof(s.record.comm), "task-%u", (unsigned)draw(50000));
		s.record.pid = (uint32_t)draw(100000);
		s.record.device = (uint16_t)draw(DEVICES);
		s.record.op = (uint8_t)draw(5);
		s.record.status = draw(3) ? 0 : 0x281;
		s.stages.inode = 1 + draw(200000);
		err |= capture_writer__records(writer, &s.record, 1);
	}
	return err | end(writer, NR_MANY);
}

int main(int argc, char **argv)
{
	struct capture_options options = { .path = argc > 2 ? argv[2] : NULL };
	struct capture_writer *writer;
	int err;

	if (argc != 3 || (strcmp(argv[1], "hostile") && strcmp(argv[1], "many"))) {
		fputs("usage: captures hostile|many FILE\n", stderr);
		return 2;
	}
	if (capture_writer__new(&options, &writer))
		return 1;
	err = strcmp(argv[1], "many") ? write_hostile(writer) : write_many(writer);
	capture_writer__free(writer);
	return err != 0;
}
