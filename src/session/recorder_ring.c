/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include "base/log.h"
#include "capture/ring.h"
#include "session/recorder_inside.h"

/* What a power loss may take: five clocks, each of which may be a little late or early. */
static const uint64_t recorder_sync_ns = 4500000000;

/* ---- the ledger of a file ---- */

/* Counters that only grow. */
static const size_t recorder_counters[] = {
	offsetof(struct ledger, never_sent), offsetof(struct ledger, mid_flight),
	offsetof(struct ledger, refused),    offsetof(struct ledger, retries),
	offsetof(struct ledger, requeues),   offsetof(struct ledger, failed),
};
enum { RECORDER_COUNTERS = sizeof(recorder_counters) / sizeof(recorder_counters[0]) };

static uint64_t *recorder_counter(struct ledger *l, int i)
{
	return (uint64_t *)((char *)l + recorder_counters[i]);
}

static uint64_t recorder_more(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* What has been counted since the files before. */
static void recorder_ring_growth(const struct recorder *r, struct ledger now, struct ledger *part)
{
	struct ledger told = r->ring.told;

	now.lost[LOST_RING] = r->nr_lost;
	now.lost[LOST_WRITE] = recorder__nr_unwritten(r);
	for (int i = 0; i < RECORDER_COUNTERS; i++)
		*recorder_counter(part, i) =
			recorder_more(*recorder_counter(&now, i), *recorder_counter(&told, i));
	for (int i = 0; i < NR_LOST; i++)
		part->lost[i] = recorder_more(now.lost[i], told.lost[i]);
}

/* The commands that ended in this file: those in flight end in a later one. */
static void recorder_ring_part(const struct recorder *r, struct ledger *part)
{
	struct ledger now = { 0 };

	*part = (struct ledger){
		.completed = r->ring.ends,
		.counted = r->ring.ends,
		.counted_known = r->run.counts_all,
	};
	if (r->run.ledger)
		r->run.ledger(r->run.arg, &now);
	recorder_ring_growth(r, now, part);
	part->issued = part->completed + part->never_sent + part->lost[LOST_COMPLETION] +
		       part->lost[LOST_CLOCK];
}

void recorder_ring_last(const struct recorder *r, const struct ledger *whole, struct ledger *last)
{
	const struct ledger *told = &r->ring.told;

	if (!whole) {
		recorder_ring_part(r, last);
		return;
	}
	*last = *whole;
	recorder_ring_growth(r, *whole, last);
	last->issued = recorder_more(whole->issued, told->issued);
	last->completed = recorder_more(whole->completed, told->completed);
	last->counted = whole->counted_known ? recorder_more(whole->counted, told->counted)
					     : last->completed;
	last->counted_known = r->run.counts_all;
}

static void recorder_ring_tell(struct recorder *r, struct ledger *part)
{
	struct ledger *told = &r->ring.told;

	told->issued += part->issued;
	told->completed += part->completed;
	told->counted += part->counted;
	for (int i = 0; i < RECORDER_COUNTERS; i++)
		*recorder_counter(told, i) += *recorder_counter(part, i);
	for (int i = 0; i < NR_LOST; i++)
		told->lost[i] += part->lost[i];
	r->ring.ends = 0;
}

/* ---- files ---- */

static int recorder_ring_make(void *recorder)
{
	struct recorder *r = recorder;
	int fd = ring__file(r->run.ring);

	r->ring.has_file = fd >= 0;
	return fd;
}

/* No room: it is tried again each second. */
static int recorder_ring_wait(struct recorder *r, int err)
{
	capture_writer__free(r->writer);
	r->writer = NULL;
	if (r->ring.has_file) {
		int drop_err = ring__drop(r->run.ring);

		err = drop_err ? drop_err : err;
	}
	if (err != -ENOSPC)
		return recorder_err(err);
	if (!r->full)
		log_warn("%s: the disk is full; records are not written until there is room",
			 r->run.options->ring);
	r->full = true;
	return 0;
}

int recorder_ring_open(struct recorder *r)
{
	struct capture_options options = recorder_options(r, r->run.options->ring);
	int err;

	options.open = recorder_ring_make;
	r->ring.has_file = false;
	err = capture_writer__new(&options, &r->writer);
	err = err ?: recorder_put_about(r);
	if (err)
		return recorder_ring_wait(r, err);
	r->nr_files++;
	r->full = false;
	if (r->ring.between)
		capture_writer__lost(r->writer, "disk full", r->ring.between);
	r->ring.between = 0;
	return ring__prepare(r->run.ring);
}

/* ---- the run ---- */

static void recorder_ring_say_full(const struct recorder *r, uint64_t unwritten)
{
	log_warn("%s: the disk is full: %" PRIu64
		 " records were not written, and the oldest file is removed",
		 r->run.options->ring, unwritten);
}

int recorder_ring_next(struct recorder *r)
{
	struct ledger part;
	uint64_t unwritten;
	int err = capture_writer__flush(r->writer), finish_err;
	bool full;

	recorder_ring_part(r, &part);
	finish_err = recorder_end_file(r, r->last_ns, "continued", &part);
	unwritten = capture_writer__nr_unwritten(r->writer);
	full = err == -ENOSPC || finish_err == -ENOSPC || unwritten;
	if (!full && (err || finish_err))
		return err ?: finish_err;
	recorder_ring_tell(r, &part);
	recorder_close_file(r);
	if (full)
		recorder_ring_say_full(r, unwritten);
	err = full ? ring__keep_full(r->run.ring) : ring__keep(r->run.ring);
	r->run.start_ns = r->last_ns; /* of the next file */
	return err ?: recorder_ring_open(r);
}

int recorder_ring_clock(struct recorder *r, uint64_t now_ns)
{
	int ordered = 0;

	if (!r->writer)
		return recorder_ring_open(r);
	if (now_ns - r->ring.synced_ns >= recorder_sync_ns)
		ordered = ring__sync(r->run.ring);
	if (ordered > 0)
		r->ring.synced_ns = now_ns;
	return ordered < 0 ? ordered : 0;
}
