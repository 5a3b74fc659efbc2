/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "session/recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/log.h"
#include "capture/write.h"
#include "decode/column.h"
#include "session/origin.h"
#include "wire/io_stages.h"
#include "wire/io_tables.h"

enum {
	RECORDER_ZSTD = 3,
	RECORDER_NUMBERS = IO_MAX_DEVICES, /* device numbers that a record may have */
	RECORDER_MEMORY = 512 << 20,	   /* bytes for --last, unless --size says more */
};

struct recorder {
	struct recorder_run run;
	struct origin origin;
	struct capture_writer *writer;	    /* of the current part, or of the memory */
	struct capture_memory *memory;	    /* --last */
	size_t nr_listed;		    /* devices that are in the file */
	bool known[RECORDER_NUMBERS];	    /* device numbers that are in the file */
	struct glossary met[NR_GLOSSARIES]; /* ids in records; told: in which part, + 1 */
	unsigned int part, nr_files;
	uint64_t nr_before, bytes_before; /* in the parts before */
	uint64_t nr_lost;
	uint64_t
		nr_unwritten; /* records that no file could take, in the parts before and between */
	struct capture_clock clock; /* the last one */
	bool has_clock, full;
	bool failed;			 /* said */
	uint64_t nr_readings, nr_events; /* of the page cache */
	uint64_t nr_calls;		 /* entries and returns */
};

/* ---- what a file says about itself ---- */

static int recorder_put_number(struct recorder *r, const char *key, uint64_t number)
{
	char text[24];
	struct capture_info info = { key, text };

	snprintf(text, sizeof(text), "%" PRIu64, number);
	return capture_writer__info(r->writer, &info, 1);
}

static int recorder_put_device(struct recorder *r, uint16_t number, const struct device *device)
{
	struct device as = *device; /* with its partitions */

	if (r->run.alias)
		alias__device(r->run.alias, &as);
	return capture_writer__device(r->writer, number, &as);
}

/* Every device of the machine, in the order of its list, under numbers that no record has. */
static int recorder_put_devices(struct recorder *r)
{
	const struct device_list *list = r->run.devices;
	int err = 0;

	for (; !err && r->nr_listed < list->nr && r->nr_listed < UINT16_MAX - RECORDER_NUMBERS;
	     r->nr_listed++)
		err = recorder_put_device(r, (uint16_t)(RECORDER_NUMBERS + r->nr_listed),
					  &list->devices[r->nr_listed]);
	return err;
}

static int recorder_put_text(struct recorder *r, enum glossary_kind kind, struct glossary_id id,
			     const char *text)
{
	char *as = r->run.alias ? alias__text(r->run.alias, kind, id, text) : NULL;
	int err = r->run.alias && !as ? -ENOMEM
				      : capture_writer__text(r->writer, kind, id, as ? as : text);

	free(as);
	return err;
}

/* An id means nothing elsewhere, nor here when it is gone: its text, once in every part. */
static int recorder_meet_id(struct recorder *r, enum glossary_kind kind, uint64_t id, uint64_t and)
{
	const struct glossary_id whole = { { id, and} };
	struct glossary_entry *entry = glossary__find(&r->met[kind], whole);
	const char *text;

	if (entry && entry->told == r->part + 1)
		return 0;
	entry = entry ? entry : glossary__add(&r->met[kind], whole, NULL);
	if (!entry)
		return r->met[kind].nr < GLOSSARY_MOST ? -ENOMEM : 0;
	entry->told = r->part + 1;
	text = r->run.text(r->run.arg, kind, whole);
	return text ? recorder_put_text(r, kind, whole, text) : 0;
}

static int recorder_meet_ids(struct recorder *r, const struct io_record *record)
{
	const struct io_stages *s = io_record__stages(record);
	int err = 0;

	if (s->cgroup)
		err = recorder_meet_id(r, GLOSSARY_CGROUPS, s->cgroup, 0);
	if (!err && s->inode)
		err = recorder_meet_id(r, GLOSSARY_FILES, s->inode,
				       io_file_place(s->file_dev, s->file_nth));
	if (!err && s->kernel_stack)
		err = recorder_meet_id(r, GLOSSARY_STACKS, s->kernel_stack, 0);
	if (!err && s->user_stack)
		err = recorder_meet_id(r, GLOSSARY_STACKS, s->user_stack, record->pid);
	return err;
}

static int recorder_put_about(struct recorder *r)
{
	int err = origin__put(&r->origin, r->writer, r->run.alias);

	err = err ?: recorder_put_number(r, CAPTURE_INFO_START, r->run.start_ns);
	r->nr_listed = 0;
	memset(r->known, 0, sizeof(r->known));
	if (!err && r->run.op_names)
		err = capture_writer__names(r->writer, CAPTURE_NAMES_BLOCK, r->run.op_names);
	if (!err && r->run.devices)
		err = recorder_put_devices(r);
	if (!err && r->has_clock)
		err = capture_writer__clock(r->writer, &r->clock);
	return err;
}

/* ---- files ---- */

static int recorder_make(void *recorder)
{
	const struct recorder *r = recorder;

	return maker__open(r->run.maker, r->part);
}

/* The permission is missing for the file, not for tracing. */
static int recorder_err(int err)
{
	return err == -EACCES || err == -EPERM ? -EIO : err;
}

/* The first file is opened here while there are privileges: it may be /dev/stdout. */
static struct capture_options recorder_options(struct recorder *r, const char *path)
{
	return (struct capture_options){
		.path = path,
		.open = r->run.maker && (r->part || r->memory) ? recorder_make : NULL,
		.open_arg = r,
		.mode = options__mode(r->run.options),
		.zstd_level = r->run.options->zstd ? RECORDER_ZSTD : 0,
		.reserve_bytes = CAPTURE_RESERVE_BYTES,
	};
}

/* A part of another run would be taken for one of this. */
static int recorder_check_next(const struct recorder *r)
{
	/* FILE itself, with --files 1: that is replaced. */
	char *path = maker__path(r->run.options, 1);
	bool there = path && strcmp(path, r->run.options->write) && !access(path, F_OK);
	int err = 0;

	if (!path)
		err = log_err(-ENOMEM, "out of memory");
	else if (there)
		err = log_err(-EEXIST,
			      "%s exists from another run; remove it or choose another name for -w",
			      path);
	free(path);
	return err;
}

static int recorder_open_part(struct recorder *r)
{
	char *path = maker__path(r->run.options, r->part);
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

static const char *recorder_name(const struct recorder *r)
{
	return r->run.options->write ? r->run.options->write : "flight recorder";
}

static const char *recorder_why_full(int err)
{
	switch (err) {
	case -EFBIG: return "the file has reached its size limit (ulimit -f)";
	case -EDQUOT: return "the disk quota is used up";
	default: return "the disk is full";
	}
}

/* Said once: a full disk ends the file, any other error ends the run. */
static int recorder_verdict(struct recorder *r, int err)
{
	if (!err || r->full)
		return r->full && err == -ENOSPC ? 0 : err;
	if (r->failed)
		return recorder_err(err);
	if (err != -ENOSPC) {
		r->failed = true;
		return log_err(recorder_err(err), "cannot write '%s': %s", recorder_name(r),
			       strerror(-err));
	}
	r->full = true;
	log_warn("%s: %s after %" PRIu64 " records; the records written so far can be read",
		 recorder_name(r), recorder_why_full(capture_writer__full_err(r->writer)),
		 recorder__nr_records(r));
	return 0;
}

static int recorder_open(struct recorder *r)
{
	const struct file_options *o = r->run.options;
	const bool has_parts = o->write && (o->last_ns.given || o->size_bytes.given);
	int err = has_parts ? recorder_check_next(r) : 0;

	if (err)
		return err;
	if (o->last_ns.given)
		return recorder_verdict(r, recorder_open_memory(r));
	err = recorder_open_part(r);
	return r->writer ? recorder_verdict(r, err) : err;
}

int recorder__new(const struct recorder_run *run, struct recorder **recorder)
{
	struct recorder *r = calloc(1, sizeof(*r));
	int err;

	*recorder = NULL;
	if (!r)
		return log_err(-ENOMEM, "out of memory");
	r->run = *run;
	origin__init(&r->origin);
	err = recorder_open(r);
	if (r->writer) /* if so it must be finished, even after a failure */
		*recorder = r;
	else
		recorder__free(r);
	return err;
}

void recorder__free(struct recorder *r)
{
	if (!r)
		return;
	if (r->memory)
		capture_memory__free(r->memory);
	else
		capture_writer__free(r->writer);
	for (int kind = 0; kind < NR_GLOSSARIES; kind++)
		glossary__free(&r->met[kind]);
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
	r->nr_unwritten += capture_writer__nr_unwritten(r->writer);
	capture_writer__free(r->writer);
	r->writer = NULL;
	r->part++;
	err = recorder_open_part(r);
	if (r->writer)
		return err;
	r->full = err == -ENOSPC; /* it was said */
	r->failed = !r->full;
	return r->full ? 0 : err;
}

/* A device is described before its first record; an unknown device may become known later. */
static int recorder_meet(struct recorder *r, const struct io_record *record)
{
	int index = r->run.device_of(r->run.arg, record), err;

	if (index < 0)
		return 0;
	err = recorder_put_devices(r);
	err = err ?: recorder_put_device(r, record->device, &r->run.devices->devices[index]);
	r->known[record->device] = !err;
	return err;
}

static int recorder_put_record(struct recorder *r, const struct io_record *record)
{
	struct record_with_stages as;

	if (!r->run.alias)
		return capture_writer__records(r->writer, record, 1);
	memcpy(&as, record, io_record__size(record));
	alias__comm(r->run.alias, as.record.comm);
	return capture_writer__records(r->writer, &as.record, 1);
}

int recorder__record(struct recorder *r, const struct io_record *record)
{
	const struct option_number *size = &r->run.options->size_bytes;
	int err = 0;

	if (!r->writer) {
		r->nr_unwritten++;
		return 0;
	}
	if (record->device < RECORDER_NUMBERS && !r->known[record->device])
		err = recorder_meet(r, record);
	else if (record->what == RECORD_EVENT)
		err = recorder_put_devices(r);
	if (!err && record->flags & RECORD_STAGES)
		err = recorder_meet_ids(r, record);
	err = err ?: recorder_put_record(r, record);
	if (!err && size->given && !r->memory && capture_writer__bytes(r->writer) >= size->value)
		err = recorder_next_part(r);
	return err ? recorder_verdict(r, err) : 0;
}

/* ---- the page cache ---- */

static int recorder_meet_file(struct recorder *r, uint64_t inode, uint32_t dev, uint32_t nth)
{
	int err = dev ? recorder_meet_id(r, GLOSSARY_DISKS, dev, 0) : 0;

	return err || !inode ? err
			     : recorder_meet_id(r, GLOSSARY_FILES, inode, io_file_place(dev, nth));
}

int recorder__cache_rows(struct recorder *r, uint64_t time_ns, const struct capture_cache_row *rows,
			 size_t nr)
{
	int err = 0;

	if (!r->writer)
		return 0;
	for (size_t i = 0; i < nr && !err; i++) {
		const struct cache_key *key = &rows[i].key;

		err = recorder_meet_file(r, key->inode, key->dev, cache_key_nth(key));
		if (!err && key->cgroup)
			err = recorder_meet_id(r, GLOSSARY_CGROUPS, key->cgroup, 0);
	}
	err = err ?: capture_writer__cache_rows(r->writer, time_ns, rows, nr);
	r->nr_readings += !err;
	return recorder_verdict(r, err);
}

int recorder__cache_events(struct recorder *r, const struct cache_command *events, size_t nr)
{
	int err = 0;

	if (!r->writer || !nr)
		return 0;
	for (size_t i = 0; i < nr && !err; i++) {
		err = recorder_meet_file(r, events[i].event.inode, events[i].event.dev,
					 events[i].event.nth);
		if (!err && events[i].event.told == CACHE_TOLD_COMMAND)
			err = recorder_meet_id(r, GLOSSARY_DISKS, events[i].disk, 0);
	}
	err = err ?: capture_writer__cache_events(r->writer, events, nr);
	r->nr_events += err ? 0 : nr;
	return recorder_verdict(r, err);
}

int recorder__part(struct recorder *r, const struct capture_chunk *chunk, const uint8_t *payload,
		   size_t nr)
{
	int err;

	if (!r->writer)
		return 0;
	err = capture_writer__part(r->writer, chunk, payload, nr);
	if (!err && chunk->type == CAPTURE_CALLS)
		r->nr_calls += chunk->count;
	return recorder_verdict(r, err);
}

int recorder__info(struct recorder *r, const char *key, const char *value)
{
	const struct capture_info info = { key, value };

	return r->writer ? recorder_verdict(r, capture_writer__info(r->writer, &info, 1)) : 0;
}

int recorder__info_number(struct recorder *r, const char *key, uint64_t number)
{
	return r->writer ? recorder_verdict(r, recorder_put_number(r, key, number)) : 0;
}

/* ---- continuing and ending ---- */

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
	char *path = maker__path(r->run.options, r->part);
	struct capture_options options = recorder_options(r, path);
	int err;

	if (!path)
		return log_err(-ENOMEM, "out of memory");
	err = capture_memory__save(r->memory, &options, why, NULL, 0);
	if (err != -ENOSPC && err)
		err = recorder_err(err);
	else if (!err)
		log_note("%s: %" PRIu64 " records, triggered by %s%s", path,
			 capture_memory__nr_records(r->memory), why,
			 capture_memory__is_short(r->memory)
				 ? "; less time than --last: --size limits the memory"
				 : "");
	if (err == -ENOSPC) {
		log_warn("%s: the disk is full; the records written so far can be read", path);
		r->full = true;
		err = 0;
	}
	r->nr_files++;
	r->part++;
	free(path);
	return err;
}

int recorder__copy(struct recorder *r, uint64_t from_ns, const char *why, struct byte_out *out)
{
	return capture_memory__copy(r->memory, from_ns, why, out);
}

int recorder__each(struct recorder *r, uint64_t from_ns, uint64_t to_ns, uint64_t most,
		   struct capture_visit visit)
{
	return capture_memory__each(r->memory, from_ns, to_ns, most, visit);
}

int recorder__find(struct recorder *r, uint64_t number, struct capture_visit visit)
{
	return capture_memory__find(r->memory, number, visit);
}

uint64_t recorder__kept_from(const struct recorder *r)
{
	return capture_memory__kept_from(r->memory);
}

static int recorder_trailer(struct recorder *r, const struct ledger *ledger)
{
	struct ledger_term terms[LEDGER_TERMS];
	struct capture_count counts[LEDGER_TERMS];
	struct ledger whole = ledger ? *ledger : (struct ledger){ 0 };
	int err = capture_writer__flush(r->writer); /* what cannot be written is in the ledger */
	size_t nr;

	whole.lost[LOST_WRITE] = recorder__nr_unwritten(r);
	nr = ledger ? ledger__terms(&whole, terms) : 0;
	for (size_t i = 0; i < nr; i++)
		counts[i] = (struct capture_count){ terms[i].name, terms[i].value };
	return capture_writer__finish(r->writer, "done", counts, nr) ?: err;
}

static void recorder_say(const struct recorder *r)
{
	const struct option_number *files = &r->run.options->files;
	uint64_t nr = recorder__nr_records(r), bytes = recorder__bytes(r);
	char size[16], parts[64] = "";

	if (r->nr_readings) {
		log_note("%s: %" PRIu64 " readings of the page cache and %" PRIu64 " events in %s",
			 r->run.options->write, r->nr_readings, r->nr_events,
			 text__bytes(size, sizeof(size), bytes));
		return;
	}
	if (r->nr_calls) {
		log_note("%s: %" PRIu64 " records of calls in %s, %.1f bytes each",
			 r->run.options->write, r->nr_calls, text__bytes(size, sizeof(size), bytes),
			 (double)bytes / (double)r->nr_calls);
		return;
	}
	if (r->part && files->given && r->nr_files > files->value)
		snprintf(parts, sizeof(parts), "; %u parts, the newest %" PRIu64 " are kept",
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
	/* Before the last block of records: the trailer must be last. */
	err = recorder_put_number(r, CAPTURE_INFO_END, end_ns);
	trailer_err = recorder_trailer(r, ledger);
	err = recorder_verdict(r, err ?: trailer_err);
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

uint64_t recorder__nr_unwritten(const struct recorder *r)
{
	if (r->memory)
		return 0;
	return r->nr_unwritten + (r->writer ? capture_writer__nr_unwritten(r->writer) : 0);
}

uint64_t recorder__nr_lost(const struct recorder *r)
{
	return r->nr_lost;
}

unsigned int recorder__nr_files(const struct recorder *r)
{
	return r->nr_files;
}
