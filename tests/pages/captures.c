/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * captures.c: captures that are tested with. `captures hostile FILE`: texts that would break out of
 * HTML, of a script, of JSON or of their line; tests/data/hostile.cap is one. `captures many FILE`:
 * as many commands, processes, files, devices and errors as show that a page stays small.
 * `captures deep FILE LEVELS`: a function that calls itself so often, and another one each time;
 * `captures user FILE LEVELS`: the same of a program, with as many returns as the kernel keeps;
 * `captures entries FILE LEVELS`: the kernel's again, where returns are not seen. `captures
 * returned FILE`: a drive that came back under its name; `captures edges FILE`: very fast commands,
 * and two reasons of a loss; tests/data has both. `captures fleet FILE HOST`: one of three hosts, 0
 * to 2, whose captures differ in what they have; for tests/fleet.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyse/calls.h"
#include "capture/bytes.h"
#include "capture/write.h"
#include "wire/io_tables.h"
#include "wire/io_stages.h"

enum { NR_FLEET = 5003, NR_HOSTS = 3 };
enum { NR_HOSTILE = 48, NR_MANY = 150000, NR_RETURNED = 24, NR_EDGES = 6, DEVICES = 24, STACK = 7 };

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

/* ---- calls ---- */

enum { SELF, LEAF, NR_CALLED };

/* Without arguments and objects. */
static int put_functions(struct capture_writer *writer, const char *module, bool returns)
{
	static const char *const functions[NR_CALLED] = { "f", "leaf" };
	const struct capture_chunk chunk = { .type = CAPTURE_CALLED, .count = NR_CALLED };
	struct byte_out out = { 0 };
	int err;

	byte_out__text(&out, "");  /* no objects */
	byte_out__varint(&out, 0); /* fields */
	byte_out__varint(&out, 0); /* enums */
	byte_out__varint(&out, NR_CALLED);
	for (int i = 0; i < NR_CALLED; i++) {
		byte_out__text(&out, functions[i]);
		byte_out__text(&out, module);
		byte_out__text(&out, "");
		byte_out__put(&out, (const uint8_t[]){ 8, 0, returns ? 8 : 0, 0 },
			      4); /* nothing shown */
	}
	err = capture_writer__part(writer, &chunk, out.bytes, out.len);
	byte_out__free(&out);
	return err;
}

/* A chunk that grows; times go on by 1 us. */
struct deep {
	struct capture_writer *writer;
	struct capture_chunk chunk;
	struct byte_out out;
	uint64_t ns;
	int err;
};

static void deep_flush(struct deep *d)
{
	if (d->chunk.count)
		d->err |= capture_writer__part(d->writer, &d->chunk, d->out.bytes, d->out.len);
	d->chunk = (struct capture_chunk){ .type = CAPTURE_CALLS };
	d->out.len = 0;
}

static void deep_put(struct deep *d, uint64_t function, bool is_return)
{
	if (d->out.len > 1 << 16)
		deep_flush(d);
	d->ns += 1000;
	if (!d->chunk.count)
		d->chunk.min_ns = d->ns;
	byte_out__varint(&d->out, zigzag__put(d->chunk.count ? 1000 : 0));
	byte_out__varint(&d->out, 2 * function + is_return);
	byte_out__varint(&d->out, 0); /* cpu */
	byte_out__u8(&d->out, d->chunk.count > 0);
	if (!d->chunk.count) {
		byte_out__varint(&d->out, 7); /* pid, tid */
		byte_out__varint(&d->out, 7);
		byte_out__text(&d->out, "deep");
	}
	byte_out__varint(&d->out, 0); /* nth */
	d->chunk.max_ns = d->ns;
	d->chunk.count++;
}

static int write_deep(struct capture_writer *writer, uint64_t levels, const char *what)
{
	const bool is_user = !strcmp(what, "user"), returns = strcmp(what, "entries") != 0;
	const uint64_t kept = is_user && levels > CALLS_MOST_KEPT ? CALLS_MOST_KEPT
			      : returns				  ? levels
								  : 0;
	struct deep d = { .writer = writer, .ns = 1000000 };
	int err = put_functions(writer, is_user ? "/bin/deep" : "", returns);

	deep_flush(&d);
	for (uint64_t i = 0; i < levels; i++) {
		deep_put(&d, SELF, false);
		if (is_user || !returns)
			continue;
		deep_put(&d, LEAF, false);
		deep_put(&d, LEAF, true);
	}
	for (uint64_t i = 0; i < kept; i++)
		deep_put(&d, SELF, true);
	deep_flush(&d);
	byte_out__free(&d.out);
	return err | d.err | capture_writer__finish(writer, "done", NULL, 0);
}

/* Half of the commands are of the first drive, half of the second, both called nvme0n1. */
static int write_returned(struct capture_writer *writer)
{
	struct device device = { .name = "nvme0n1",
				 .kind = DEVICE_NVME_NS,
				 .diskseq = 6,
				 .size_bytes = 4ULL << 30,
				 .block_size = 512,
				 .major = 259,
				 .minor = 5,
				 .nsid = 1 };
	int err = begin(writer, 0, "") | capture_writer__device(writer, 0, &device);

	device.diskseq = 7;
	err |= capture_writer__device(writer, 1, &device);
	for (uint64_t i = 0; i < NR_RETURNED; i++) {
		struct staged s = next(1000000000 + i * 100000000, 100000 + i * 10000);

		memcpy(s.record.comm, "dd", 2);
		s.record.pid = 100;
		s.record.device = i >= NR_RETURNED / 2;
		s.record.cpu = (uint16_t)(3 + i % 2);
		s.record.status = i % 8 == 5 ? 0x281 : 0;
		s.stages.cpu = (uint16_t)(1 + i % 2);
		err |= capture_writer__records(writer, &s.record, 1);
	}
	return err | end(writer, NR_RETURNED);
}

/* Of db7: very fast commands and slower ones; records were lost for two reasons. */
static int write_edges(struct capture_writer *writer)
{
	static const uint64_t lats_ns[NR_EDGES] = { 3, 20, 26, 5000, 5999, 100000 };
	const struct capture_info host = { CAPTURE_INFO_HOST, "db7" };
	int err = begin(writer, 1, "edges") | capture_writer__info(writer, &host, 1);

	for (uint64_t i = 0; i < NR_EDGES; i++) {
		struct staged s = next(1000000000 + i * 1000000, lats_ns[i]);

		memcpy(s.record.comm, "dd", 2);
		s.record.pid = 100;
		s.record.op = 2;
		s.record.flags = 0;
		err |= capture_writer__records(writer, &s.record, 1);
	}
	capture_writer__lost(writer, "ring full", 5);
	capture_writer__lost(writer, "disk full", 7);
	return err | end(writer, NR_EDGES);
}

/* ---- one host of three ---- */

/* db7: NVMe with stages, hostile names. db8: tasks with the name 1234 only. db9: a SCSI disk, 2023.
 */
static const struct fleet_host {
	const char *name, *boot_id, *capture_id, *comm, *dev, *model, *serial;
	uint64_t wall_ns;
	bool is_nvme, has_stages;
} fleet_hosts[NR_HOSTS] = {
	{ "db7", "0b9ac5a2-7b19-4c0f-8a7e-1f6f50b1c7a1", "6d1ea4b4-5d0c-4a52-9b0e-000000000007",
	  NULL, "nvme0n1", "FLEET, \"one\"", "S7", 1793000000000000000, true, true },
	{ "db8", "d2f1c0de-55aa-4b6e-9c38-7d2c1e0a9b82", "6d1ea4b4-5d0c-4a52-9b0e-000000000008",
	  "1234", "nvme1n1", "FLEET two", "0042", 1793000000000000000, true, false },
	{ "db9", "4c7a8e13-20bd-4f7d-8f11-93e5a6b7c8d9", "6d1ea4b4-5d0c-4a52-9b0e-000000000009",
	  "postgres", "sda", "", "", 1690000000000000000, false, false },
};

static int fleet_about(struct capture_writer *writer, const struct fleet_host *host)
{
	const struct capture_info info[] = {
		{ CAPTURE_INFO_VERSION, "0.2" },	 { CAPTURE_INFO_HOST, host->name },
		{ CAPTURE_INFO_BOOT_ID, host->boot_id }, { CAPTURE_INFO_ID, host->capture_id },
		{ CAPTURE_INFO_START, "1000000000" },
	};
	const struct capture_clock clock = { 1000000000, 1000000000, host->wall_ns };
	static char *const ops[CAPTURE_NR_NAMES] = { "read", "write", "flush" };
	struct device device = { .kind = host->is_nvme ? DEVICE_NVME_NS : DEVICE_REQUEST,
				 .size_bytes = 1ULL << 40,
				 .block_size = 512,
				 .ctrl = host->is_nvme ? 0 : -1,
				 .nsid = host->is_nvme };
	int err = capture_writer__info(writer, info, sizeof(info) / sizeof(info[0]));

	snprintf(device.name, sizeof(device.name), "%s", host->dev);
	snprintf(device.model, sizeof(device.model), "%s", host->model);
	snprintf(device.serial, sizeof(device.serial), "%s", host->serial);
	err |= capture_writer__names(writer, CAPTURE_NAMES_BLOCK, ops);
	err |= capture_writer__device(writer, 0, &device);
	return err | capture_writer__clock(writer, &clock);
}

static int fleet_texts(struct capture_writer *writer)
{
	int err = 0;

	for (uint64_t i = 0; i < NR_FILES; i++)
		err |= capture_writer__text(writer, GLOSSARY_FILES,
					    (struct glossary_id){ { 100 + i, 0x800001 } },
					    files[i]);
	err |= capture_writer__text(writer, GLOSSARY_CGROUPS, (struct glossary_id){ { 9 } },
				    "/system.slice/a\x1b[2Jb");
	return err |
	       capture_writer__text(writer, GLOSSARY_STACKS, (struct glossary_id){ { STACK } },
				    "submit_bio;operator<<;\xff");
}

static struct staged fleet_next(const struct fleet_host *host, uint64_t i, uint64_t end_ns)
{
	struct staged s = next(end_ns, 8000 + draw(3000) * (draw(50) ? 10 : 3000));
	const char *comm = host->comm ? host->comm : names[draw(NR_NAMES)];

	memcpy(s.record.comm, comm, strnlen(comm, 15));
	s.record.pid = 700 + (uint32_t)draw(9);
	s.record.cpu = (uint16_t)(i % 2);
	s.record.qid = (uint16_t)(1 + i % 2);
	s.record.cid = (uint16_t)draw(1024);
	s.record.status = draw(500) ? 0 : 0x281;
	s.record.flags = host->has_stages ? RECORD_STAGES : 0;
	if (!host->is_nvme) {
		s.record.kind = IO_BLOCK;
		s.record.op = (uint8_t)draw(2);
		s.record.status = 0;
	}
	s.stages.tid = s.record.pid;
	s.stages.inode = 100 + draw(NR_FILES);
	s.stages.cgroup = 9;
	s.stages.kernel_stack = STACK;
	return s;
}

static int write_fleet(struct capture_writer *writer, const struct fleet_host *host)
{
	int err = fleet_about(writer, host) | fleet_texts(writer);
	uint64_t end_ns = 2000000000;

	for (uint64_t i = 0; i < NR_FLEET; i++) {
		struct staged s = fleet_next(host, i, end_ns += 1000 + draw(200000));

		err |= capture_writer__records(writer, &s.record, 1);
	}
	return err | end(writer, NR_FLEET);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	struct capture_options options = { .path = argc > 2 ? argv[2] : NULL };
	uint64_t levels = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;
	const bool is_calls =
		!strcmp(what, "deep") || !strcmp(what, "user") || !strcmp(what, "entries");
	const bool is_fleet = !strcmp(what, "fleet") && argc == 4 && levels < NR_HOSTS;
	struct capture_writer *writer;
	int err;

	if (is_calls ? !levels
		     : !is_fleet &&
			       (argc != 3 || (strcmp(what, "hostile") && strcmp(what, "many") &&
					      strcmp(what, "returned") && strcmp(what, "edges")))) {
		fputs("usage: captures hostile|many|returned|edges FILE\n"
		      "       captures deep|user|entries FILE LEVELS\n"
		      "       captures fleet FILE HOST\n",
		      stderr);
		return 2;
	}
	if (capture_writer__new(&options, &writer))
		return 1;
	err = is_calls			  ? write_deep(writer, levels, what)
	      : is_fleet		  ? write_fleet(writer, &fleet_hosts[levels])
	      : !strcmp(what, "returned") ? write_returned(writer)
	      : !strcmp(what, "edges")	  ? write_edges(writer)
	      : strcmp(what, "many")	  ? write_hostile(writer)
					  : write_many(writer);
	capture_writer__free(writer);
	return err != 0;
}
