/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* asprintf */
#include "recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "capture/memory.h"
#include "capture/write.h"
#include "collect/cgroup.h"
#include "log.h"
#include "render/column.h"
#include "wire/io.h"
#include "wire/stage.h"

enum {
	RECORDER_ZSTD = 3,
	RECORDER_NUMBERS = IO_MAX_DEVICES, /* device numbers that a record may have */
	RECORDER_MEMORY = 512 << 20,	   /* that --last may take, unless --size says more */
};

/* A cgroup that a record spoke of. */
struct recorder_cgroup {
	uint64_t id;	   /* 0: free */
	char *path;	   /* NULL: it was gone before it could be looked up */
	unsigned int told; /* 1 + the last part that knows it */
};

struct recorder {
	struct recorder_run run;
	struct capture_writer *writer;	 /* of the part at hand, or of the memory */
	struct capture_memory *memory;	 /* --last */
	size_t nr_listed;		 /* devices that the file knows */
	bool known[RECORDER_NUMBERS];	 /* device numbers that it knows */
	struct recorder_cgroup *cgroups; /* open-addressed by id, at most half full */
	size_t nr_cgroups, room_cgroups;
	unsigned int part, nr_files;
	uint64_t nr_before, bytes_before; /* in the parts before */
	uint64_t nr_lost;
	struct capture_clock clock; /* the last one */
	bool has_clock, full;
};

/* ---- what a file says about itself ---- */

/* The first line of a file of the kernel's, or "". */
static char *recorder_line(const char *path, char *buf, size_t size)
{
	FILE *in = fopen(path, "re");

	buf[0] = 0;
	if (in && fgets(buf, (int)size, in))
		buf[strcspn(buf, "\n")] = 0;
	if (in)
		fclose(in);
	return buf;
}

/* Words that the kernel separates by NULs, with spaces. */
static char *recorder_command_line(char *buf, size_t size)
{
	FILE *in = fopen("/proc/self/cmdline", "re");
	size_t len = in ? fread(buf, 1, size - 1, in) : 0;

	if (in)
		fclose(in);
	while (len && !buf[len - 1])
		len--;
	buf[len] = 0;
	for (size_t i = 0; i < len; i++)
		if (!buf[i])
			buf[i] = ' ';
	return buf;
}

static int recorder_put_number(struct recorder *r, const char *key, uint64_t number)
{
	char text[24];
	struct capture_info info = { key, text };

	snprintf(text, sizeof(text), "%" PRIu64, number);
	return capture_writer__info(r->writer, &info, 1);
}

static int recorder_put_info(struct recorder *r)
{
	char boot[64], clock[64], zone[16] = "", command[4096];
	time_t now = time(NULL);
	struct utsname host;
	struct tm tm;
	int err;

	if (uname(&host))
		memset(&host, 0, sizeof(host));
	if (localtime_r(&now, &tm))
		strftime(zone, sizeof(zone), "%z", &tm);
	const struct capture_info info[] = {
		{ CAPTURE_INFO_VERSION, VERSION },
		{ CAPTURE_INFO_KERNEL, host.release },
		{ CAPTURE_INFO_MACHINE, host.machine },
		{ CAPTURE_INFO_COMMAND, recorder_command_line(command, sizeof(command)) },
		{ CAPTURE_INFO_BOOT_ID,
		  recorder_line("/proc/sys/kernel/random/boot_id", boot, sizeof(boot)) },
		{ CAPTURE_INFO_TIMEZONE, zone },
		{ CAPTURE_INFO_CLOCK,
		  recorder_line("/sys/devices/system/clocksource/clocksource0/current_clocksource",
				clock, sizeof(clock)) },
	};
	err = capture_writer__info(r->writer, info, sizeof(info) / sizeof(info[0]));
	return err ? err : recorder_put_number(r, CAPTURE_INFO_START, r->run.start_ns);
}

/* Every device of the machine, in the order of its list, under numbers that no record has. */
static int recorder_put_devices(struct recorder *r)
{
	const struct device_list *list = r->run.devices;
	int err = 0;

	for (; !err && r->nr_listed < list->nr && r->nr_listed < UINT16_MAX - RECORDER_NUMBERS;
	     r->nr_listed++)
		err = capture_writer__device(r->writer, (uint16_t)(RECORDER_NUMBERS + r->nr_listed),
					     &list->devices[r->nr_listed]);
	return err;
}

static struct recorder_cgroup *recorder_cgroup_cell(const struct recorder *r, uint64_t id)
{
	size_t at = (size_t)(id * 0x9e3779b97f4a7c15ULL >> 32) & (r->room_cgroups - 1);

	while (r->cgroups[at].id && r->cgroups[at].id != id)
		at = (at + 1) & (r->room_cgroups - 1);
	return &r->cgroups[at];
}

static int recorder_grow_cgroups(struct recorder *r)
{
	struct recorder_cgroup *old = r->cgroups;
	size_t nr_old = r->room_cgroups;

	r->room_cgroups = nr_old ? 2 * nr_old : 64;
	r->cgroups = calloc(r->room_cgroups, sizeof(*r->cgroups));
	if (!r->cgroups) {
		r->cgroups = old;
		r->room_cgroups = nr_old;
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr_old; i++)
		if (old[i].id)
			*recorder_cgroup_cell(r, old[i].id) = old[i];
	free(old);
	return 0;
}

/* "cgroup-1234" is no path. */
static char *recorder_cgroup_path(uint64_t id)
{
	char path[4096];

	return cgroup__path(id, path, sizeof(path))[0] == '/' ? strdup(path) : NULL;
}

/* An id means nothing elsewhere, nor here when it is gone: its path, once in every part. */
static int recorder_meet_cgroup(struct recorder *r, uint64_t id)
{
	struct recorder_cgroup *cgroup;

	if (2 * (r->nr_cgroups + 1) > r->room_cgroups && recorder_grow_cgroups(r))
		return -ENOMEM;
	cgroup = recorder_cgroup_cell(r, id);
	if (cgroup->told == r->part + 1)
		return 0;
	if (!cgroup->id) {
		r->nr_cgroups++;
		cgroup->id = id;
		cgroup->path = recorder_cgroup_path(id);
	}
	cgroup->told = r->part + 1;
	return cgroup->path ? capture_writer__cgroup(r->writer, id, cgroup->path) : 0;
}

static int recorder_put_about(struct recorder *r)
{
	int err = recorder_put_info(r);

	r->nr_listed = 0;
	memset(r->known, 0, sizeof(r->known));
	err = err ?: capture_writer__names(r->writer, CAPTURE_NAMES_BLOCK, r->run.op_names);
	err = err ?: recorder_put_devices(r);
	if (!err && r->has_clock)
		err = capture_writer__clock(r->writer, &r->clock);
	return err;
}

/* ---- files ---- */

/*
 * FILE, FILE.1, FILE.2, …, or NULL: no memory. With --files the names come round again, so that the
 * newest takes the oldest one's place: a process without privileges may not remove files.
 */
static char *recorder_path(const struct recorder *r, unsigned int part)
{
	const struct option_number *files = &r->run.options->files;
	char *path = NULL;

	if (files->given)
		part %= files->value;
	if (!part)
		return strdup(r->run.options->write);
	return asprintf(&path, "%s.%u", r->run.options->write, part) < 0 ? NULL : path;
}

/* The permission that is missing is the file's, not that of tracing. */
static int recorder_err(int err)
{
	return err == -EACCES || err == -EPERM ? -EIO : err;
}

static struct capture_options recorder_options(const struct recorder *r, const char *path)
{
	return (struct capture_options){
		.path = path,
		.zstd_level = r->run.options->zstd ? RECORDER_ZSTD : 0,
		.reserve_bytes = CAPTURE_RESERVE_BYTES,
	};
}

/* A part of another run would be taken for one of this. */
static int recorder_check_next(const struct recorder *r)
{
	char *path = recorder_path(r, 1); /* FILE itself, with --files 1: that is replaced */
	bool there = path && strcmp(path, r->run.options->write) && !access(path, F_OK);
	int err = 0;

	if (!path)
		err = log_err(-ENOMEM, "out of memory");
	else if (there)
		err = log_err(-EEXIST,
			      "%s is there, from another run: remove it, or choose another "
			      "name for -w",
			      path);
	free(path);
	return err;
}

static int recorder_open_part(struct recorder *r)
{
	char *path = recorder_path(r, r->part);
	struct capture_options options = recorder_options(r, path);
	int err = path ? capture_writer__new(&options, &r->writer)
		       : log_err(-ENOMEM, "out of memory");

	free(path);
	if (err)
		return recorder_err(err);
	r->nr_files++;
	return recorder_put_about(r);
}

static int recorder_open_memory(struct recorder *r)
{
	const struct file_options *o = r->run.options;
	size_t most = o->size_bytes.given ? o->size_bytes.value : RECORDER_MEMORY;
	int err = capture_memory__new(o->last_ns.value, most, o->zstd ? RECORDER_ZSTD : 0,
				      &r->memory);

	if (err)
		return err;
	r->writer = capture_memory__writer(r->memory);
	return recorder_put_about(r);
}

/* Said once: a full disk is the end of the file, anything else that of the run. */
static int recorder_verdict(struct recorder *r, int err)
{
	if (!err || r->full)
		return r->full && err == -ENOSPC ? 0 : err;
	if (err != -ENOSPC)
		return log_err(recorder_err(err), "cannot write '%s': %s", r->run.options->write,
			       strerror(-err));
	r->full = true;
	log_warn("%s: the disk is full after %" PRIu64 " records; what is written can be read",
		 r->run.options->write, recorder__nr_records(r));
	return 0;
}

int recorder__new(const struct recorder_run *run, struct recorder **recorder)
{
	struct recorder *r = calloc(1, sizeof(*r));
	int err = 0;

	*recorder = r;
	if (!r)
		return log_err(-ENOMEM, "out of memory");
	r->run = *run;
	if (run->options->last_ns.given || run->options->size_bytes.given)
		err = recorder_check_next(r);
	if (err)
		return err;
	if (run->options->last_ns.given)
		return recorder_verdict(r, recorder_open_memory(r));
	err = recorder_open_part(r);
	return r->writer ? recorder_verdict(r, err) : err;
}

void recorder__free(struct recorder *r)
{
	if (!r)
		return;
	if (r->memory)
		capture_memory__free(r->memory);
	else
		capture_writer__free(r->writer);
	for (size_t i = 0; i < r->room_cgroups; i++)
		free(r->cgroups[i].path);
	free(r->cgroups);
	free(r);
}

/* ---- the run ---- */

static int recorder_next_part(struct recorder *r)
{
	int err = capture_writer__finish(r->writer, "continued", NULL, 0);

	if (err)
		return err;
	r->nr_before += capture_writer__nr_records(r->writer);
	r->bytes_before += capture_writer__bytes(r->writer);
	capture_writer__free(r->writer);
	r->writer = NULL;
	r->part++;
	err = recorder_open_part(r);
	if (r->writer || err != -ENOSPC)
		return err;
	r->full = true; /* it was said */
	return 0;
}

/* A device is described before its first record; one that nobody knows may be known later. */
static int recorder_meet(struct recorder *r, const struct io_record *record)
{
	int index = r->run.device_of(r->run.arg, record), err;

	if (index < 0)
		return 0;
	err = recorder_put_devices(r);
	err = err
		      ?: capture_writer__device(r->writer, record->device,
						&r->run.devices->devices[index]);
	r->known[record->device] = !err;
	return err;
}

int recorder__record(struct recorder *r, const struct io_record *record)
{
	const struct option_number *size = &r->run.options->size_bytes;
	int err = 0;

	if (!r->writer)
		return 0;
	if (record->device < RECORDER_NUMBERS && !r->known[record->device])
		err = recorder_meet(r, record);
	if (!err && record->flags & RECORD_STAGES && io_record__stages(record)->cgroup)
		err = recorder_meet_cgroup(r, io_record__stages(record)->cgroup);
	err = err ?: capture_writer__records(r->writer, record, 1);
	if (!err && size->given && !r->memory && capture_writer__bytes(r->writer) >= size->value)
		err = recorder_next_part(r);
	return err ? recorder_verdict(r, err) : 0;
}

int recorder__clock(struct recorder *r, const struct capture_clock *clock)
{
	r->clock = *clock;
	r->has_clock = true;
	if (!r->writer)
		return 0;
	return recorder_verdict(r, capture_writer__clock(r->writer, clock));
}

void recorder__lost(struct recorder *r, const char *reason, uint64_t nr)
{
	r->nr_lost += nr;
	if (r->writer && nr)
		capture_writer__lost(r->writer, reason, nr);
}

int recorder__save(struct recorder *r, const char *why)
{
	char *path = recorder_path(r, r->part);
	struct capture_options options = recorder_options(r, path);
	int err;

	if (!path)
		return log_err(-ENOMEM, "out of memory");
	err = capture_memory__save(r->memory, &options, why, NULL, 0);
	if (err != -ENOSPC && err)
		err = recorder_err(err);
	else if (!err)
		log_note("%s: %" PRIu64 " records, because of %s%s", path,
			 capture_memory__nr_records(r->memory), why,
			 capture_memory__is_short(r->memory)
				 ? "; less than --last says: --size limits the memory"
				 : "");
	if (err == -ENOSPC) {
		log_warn("%s: the disk is full; what is written can be read", path);
		r->full = true;
		err = 0;
	}
	r->nr_files++;
	r->part++;
	free(path);
	return err;
}

static int recorder_trailer(struct recorder *r, const struct ledger *ledger)
{
	struct ledger_term terms[LEDGER_TERMS];
	struct capture_count counts[LEDGER_TERMS];
	size_t nr = ledger__terms(ledger, terms);

	for (size_t i = 0; i < nr; i++)
		counts[i] = (struct capture_count){ terms[i].name, terms[i].value };
	return capture_writer__finish(r->writer, "done", counts, nr);
}

static void recorder_say(const struct recorder *r)
{
	const struct option_number *files = &r->run.options->files;
	uint64_t nr = recorder__nr_records(r), bytes = recorder__bytes(r);
	char size[16], parts[64] = "";

	if (r->part && files->given && r->nr_files > files->value)
		snprintf(parts, sizeof(parts), "; %u parts, the newest %" PRIu64 " are there",
			 r->nr_files, files->value);
	else if (r->part)
		snprintf(parts, sizeof(parts), "; %u parts", r->nr_files);
	log_note("%s: %" PRIu64 " records in %s, %.1f bytes each%s", r->run.options->write, nr,
		 text__bytes(size, sizeof(size), bytes), nr ? (double)bytes / (double)nr : 0,
		 parts);
}

int recorder__finish(struct recorder *r, uint64_t end_ns, const struct ledger *ledger)
{
	int err, trailer_err;

	if (r->memory || !r->writer)
		return 0;
	/* Before the records' last block: the trailer is what has to be last. */
	err = recorder_put_number(r, CAPTURE_INFO_END, end_ns);
	trailer_err = recorder_trailer(r, ledger);
	err = recorder_verdict(r, err ? err : trailer_err);
	if (!err && !r->full)
		recorder_say(r);
	return err;
}

bool recorder__is_full(const struct recorder *r)
{
	return r->full;
}

uint64_t recorder__nr_records(const struct recorder *r)
{
	if (r->memory)
		return capture_memory__nr_records(r->memory);
	return r->nr_before + (r->writer ? capture_writer__nr_records(r->writer) : 0);
}

uint64_t recorder__bytes(const struct recorder *r)
{
	if (r->memory)
		return capture_memory__bytes(r->memory);
	return r->bytes_before + (r->writer ? capture_writer__bytes(r->writer) : 0);
}

uint64_t recorder__nr_lost(const struct recorder *r)
{
	return r->nr_lost;
}

unsigned int recorder__nr_files(const struct recorder *r)
{
	return r->nr_files;
}
