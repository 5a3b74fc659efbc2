/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "session/recorder_inside.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/log.h"
#include "capture/ring.h"
#include "capture/write.h"
#include "decode/column.h"
#include "session/origin.h"
#include "wire/io_stages.h"
#include "wire/io_tables.h"

/* ---- files ---- */

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

static const char *recorder_name(const struct recorder *r)
{
	const struct file_options *o = r->run.options;

	return o->ring ? o->ring : o->write ? o->write : "flight recorder";
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
int recorder_verdict(struct recorder *r, int err)
{
	if (err == -ENOSPC && r->run.ring)
		err = r->writer ? recorder_ring_next(r) : 0;
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
	r->last_ns = r->run.start_ns;
	if (r->run.ring)
		return recorder_ring_open(r);
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
	origin__init(&r->origin, run->options->host);
	err = recorder_open(r);
	if (r->writer || (r->run.ring && !err)) /* it must be finished, even after a failure */
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
	free(r->listed);
	free(r);
}

/* ---- the run ---- */

static int recorder_next_part(struct recorder *r)
{
	int err = capture_writer__finish(r->writer, "continued", NULL, 0);

	if (err)
		return err;
	recorder_close_file(r);
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
	err = err ?: recorder_list(r, index);
	err = err ?: recorder_put_device(r, record->device, &r->run.devices->devices[index]);
	r->known[record->device] = !err;
	return err;
}

/* It holds the place of its device. */
static int recorder_meet_event(struct recorder *r, const struct io_record *record)
{
	int index = r->run.device_of(r->run.arg, record), err = recorder_put_devices(r);

	return err || index < 0 ? err : recorder_list(r, index);
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

/* Is the file as large as it may be? */
static bool recorder_is_long(const struct recorder *r)
{
	const struct option_number *size = &r->run.options->size_bytes;

	if (r->memory || !size->given)
		return false;
	return capture_writer__bytes(r->writer) >=
	       (r->run.ring ? ring__file_bytes(r->run.ring) : size->value);
}

static void recorder_count(struct recorder *r, const struct io_record *record)
{
	uint64_t time_ns = io_record__time_ns(record);

	r->last_ns = time_ns > r->last_ns ? time_ns : r->last_ns;
	r->ring.ends += record->what == RECORD_END;
	if (r->writer)
		return;
	r->nr_unwritten++;
	r->ring.between++;
}

int recorder__record(struct recorder *r, const struct io_record *record)
{
	int err = 0;

	recorder_count(r, record);
	if (!r->writer)
		return 0;
	if (record->device < RECORDER_NUMBERS && !r->known[record->device])
		err = recorder_meet(r, record);
	else if (record->what == RECORD_EVENT)
		err = recorder_meet_event(r, record);
	if (!err && record->flags & RECORD_STAGES)
		err = recorder_meet_ids(r, record);
	err = err ?: recorder_put_record(r, record);
	if (!err && recorder_is_long(r))
		err = r->run.ring ? recorder_ring_next(r) : recorder_next_part(r);
	return err ? recorder_verdict(r, err) : 0;
}

bool recorder__lets_go(struct recorder *r, uint32_t number, uint64_t gone_ns)
{
	size_t place = (size_t)number - RECORDER_NUMBERS;
	bool *is_in = number < RECORDER_NUMBERS ? &r->known[number]
		      : place < r->nr_listed	? &r->listed[place]
						: NULL;

	if (!is_in || !*is_in || !r->writer)
		return true;
	if (!r->memory || capture_memory__from_ns(r->memory) <= gone_ns)
		return false;
	*is_in = false;
	return true;
}

/* ---- about the run ---- */

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
	int err = 0;

	r->clock = *clock;
	r->has_clock = true;
	if (r->writer)
		err = recorder_verdict(r, capture_writer__clock(r->writer, clock));
	if (!err && r->run.ring)
		err = recorder_verdict(r, recorder_ring_clock(r, clock->mono_ns));
	return err;
}

void recorder__lost(struct recorder *r, const char *reason, uint64_t nr)
{
	r->nr_lost += nr;
	if (r->writer && nr)
		capture_writer__lost(r->writer, reason, nr);
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
	if (r->nr_waits) {
		log_note("%s: %" PRIu64 " calls that waited in %s, %.1f bytes each",
			 r->run.options->write, r->nr_waits, text__bytes(size, sizeof(size), bytes),
			 (double)bytes / (double)r->nr_waits);
		return;
	}
	if (r->nr_requests) {
		log_note("%s: %" PRIu64 " requests in %s, %.1f bytes each", r->run.options->write,
			 r->nr_requests, text__bytes(size, sizeof(size), bytes),
			 (double)bytes / (double)r->nr_requests);
		return;
	}
	if (r->run.ring)
		snprintf(parts, sizeof(parts), "; %u files", r->nr_files);
	else if (r->part && files->given && r->nr_files > files->value)
		snprintf(parts, sizeof(parts), "; %u parts, the newest %" PRIu64 " are kept",
			 r->nr_files, files->value);
	else if (r->part)
		snprintf(parts, sizeof(parts), "; %u parts", r->nr_files);
	log_note("%s: %" PRIu64 " records in %s, %.1f bytes each%s", recorder_name(r), nr,
		 text__bytes(size, sizeof(size), bytes), nr ? (double)bytes / (double)nr : 0,
		 parts);
}

/* What cannot be written is in the ledger. */
static void recorder_last_ledger(const struct recorder *r, const struct ledger *ledger,
				 struct ledger *last)
{
	if (r->run.ring) {
		recorder_ring_last(r, ledger, last);
		return;
	}
	*last = ledger ? *ledger : (struct ledger){ 0 };
	last->lost[LOST_WRITE] = recorder__nr_unwritten(r);
}

int recorder__finish(struct recorder *r, uint64_t end_ns, const struct ledger *ledger)
{
	struct ledger last;
	int err, end_err;

	if (r->memory || !r->writer)
		return r->run.ring ? ring__finish(r->run.ring) : 0;
	err = capture_writer__flush(r->writer);
	recorder_last_ledger(r, ledger, &last);
	end_err = recorder_end_file(r, end_ns, "done", ledger || r->run.ring ? &last : NULL);
	err = err ?: end_err;
	if (r->run.ring && (!err || err == -ENOSPC)) {
		end_err = ring__keep(r->run.ring) ?: ring__finish(r->run.ring);
		err = end_err ? end_err : err;
	}
	if (r->run.ring && err == -ENOSPC)
		return 0; /* the ledger says it */
	err = recorder_verdict(r, err);
	if (!err && !r->full)
		recorder_say(r);
	return err;
}

bool recorder__is_full(const struct recorder *r)
{
	return r->full && !r->run.ring; /* a ring goes on */
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
