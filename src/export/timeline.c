/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analyse/lanes.h"
#include "base/grow.h"
#include "base/index.h"
#include "base/log.h"
#include "base/spill.h"
#include "decode/record.h"
#include "session/io_source.h"
#include "wire/io_stages.h"

/* A queue of a device. */
struct timeline_queue {
	uint64_t key;
	struct lanes lanes;
	uint32_t *tracks; /* by lane */
	size_t room;
};

struct timeline_step {
	uint32_t device;
	int8_t by; /* +1: one more in flight, -1: one less */
};

struct timeline {
	const struct timeline_pen *pen;
	void *own;		       /* the pen's */
	bool *is_known;		       /* by device */
	uint64_t *depths;	       /* likewise */
	struct timeline_queue *queues; /* as they came */
	struct index index;	       /* of them */
	uint32_t nr_tracks;
	uint64_t nr_crowded;
	struct spill *steps;
	struct timeline_io io; /* at hand */
	char op_text[16], status_text[160], comm_text[17], cgroup_text[512], device_text[192];
};

int timeline__new(const struct timeline_pen *pen, struct session *s, void **timeline)
{
	struct timeline *t = calloc(1, sizeof(*t));
	size_t nr = io_source__devices(s)->nr + 1;

	*timeline = t;
	if (!t)
		return log_no_memory();
	t->pen = pen;
	t->is_known = calloc(nr, sizeof(*t->is_known));
	t->depths = calloc(nr, sizeof(*t->depths));
	t->steps = spill__new(sizeof(struct timeline_step), SPILL_MEMORY);
	if (!t->is_known || !t->depths || !t->steps)
		return log_no_memory();
	return pen->begin(&t->own, s);
}

void timeline__free(void *timeline)
{
	struct timeline *t = timeline;

	if (!t)
		return;
	for (size_t i = 0; i < t->index.nr; i++) {
		lanes__free(&t->queues[i].lanes);
		free(t->queues[i].tracks);
	}
	if (t->pen->free)
		t->pen->free(t->own);
	spill__free(t->steps);
	free(t->queues);
	index__free(&t->index);
	free(t->is_known);
	free(t->depths);
	free(t);
}

/* ---- queues and their lanes ---- */

/* -ENOSPC: the command is left out. */
static int timeline_choose_track(struct timeline *t, struct timeline_io *io)
{
	struct timeline_queue *queue = index__entry(&t->index, &t->queues, sizeof(*t->queues),
						    (uint64_t)io->device << 32 | io->qid);
	size_t known = queue ? queue->lanes.nr : 0;
	int lane = queue ? lanes__take(&queue->lanes, io->moments[0].ns,
				       io->moments[io->nr_moments - 1].ns)
			 : -ENOMEM;
	int err = lane < 0 ? lane : 0;

	io->is_new_track = !err && (size_t)lane == known;
	if (io->is_new_track)
		err = GROW(queue->tracks, queue->room, (size_t)lane + 1);
	if (!err) {
		if (io->is_new_track)
			queue->tracks[lane] = ++t->nr_tracks;
		io->lane = (uint32_t)lane;
		io->track = queue->tracks[lane];
	}
	return err;
}

/* ---- one command ---- */

static void timeline_say(struct timeline_io *io, const char *key, const char *text)
{
	if (text && io->nr_notes < TIMELINE_NOTES)
		io->notes[io->nr_notes++] = (struct timeline_note){ .key = key, .text = text };
}

static void timeline_count(struct timeline_io *io, const char *key, uint64_t number)
{
	if (io->nr_notes < TIMELINE_NOTES)
		io->notes[io->nr_notes++] = (struct timeline_note){ .key = key, .number = number };
}

static void timeline_fill_notes(struct timeline *t, struct session *s, const struct io_record *r)
{
	const struct io_stages *stages = io_record__stages(r);
	struct words status = words__on(t->status_text, sizeof(t->status_text));
	struct timeline_io *io = &t->io;
	uint64_t sector;

	io->nr_notes = 0;
	if (export__sector(s, r, &sector))
		timeline_count(io, "sector", sector);
	timeline_count(io, "bytes", r->bytes);
	record__status(&status, r);
	timeline_say(io, "status", words__done(&status));
	timeline_count(io, "attempts", r->attempts);
	timeline_count(io, "lat_ns", r->end_ns - r->first_ns);
	timeline_count(io, "pid", r->pid);
	memcpy(t->comm_text, r->comm, sizeof(r->comm));
	timeline_say(io, "comm", t->comm_text);
	if (r->kind != IO_BLOCK)
		timeline_count(io, "cid", r->cid);
	if (!stages)
		return;
	if (stages->depth)
		timeline_count(io, "depth", stages->depth);
	if (stages->cgroup)
		timeline_say(io, "cgroup",
			     session__cgroup_path(s, stages->cgroup, t->cgroup_text,
						  sizeof(t->cgroup_text)));
	timeline_say(io, "file", io_source__file(s, stages));
}

static int timeline_meet_device(struct timeline *t, struct session *s, const struct io_record *r)
{
	const struct device *device = io_source__device(s, r);
	const char *host = io_source__host(s);
	struct timeline_io *io = &t->io;

	io->device = (uint32_t)(records__device(s, r) + 1);
	snprintf(t->device_text, sizeof(t->device_text), "%s%s%.128s",
		 device ? device__shown(device) : "?", host ? " on " : "", host ? host : "");
	io->device_name = t->device_text;
	if (t->is_known[io->device])
		return 0;
	t->is_known[io->device] = true;
	return t->pen->device ? t->pen->device(t->own, io->device, t->device_text) : 0;
}

/* Between its first issue and its answer it is in flight. */
static int timeline_count_depth(struct timeline *t, const struct io_record *r)
{
	struct timeline_step step = { .device = t->io.device, .by = 1 };
	int err;

	if (r->first_ns > r->end_ns)
		return 0;
	err = spill__add(t->steps, r->first_ns, &step);
	step.by = -1;
	return err ? err : spill__add(t->steps, r->end_ns, &step);
}

int timeline__put(void *timeline, struct session *s, const struct io_record *r)
{
	struct timeline *t = timeline;
	struct timeline_io *io = &t->io;
	int err = timeline_meet_device(t, s, r);

	io->nr_moments = stage__moments(r, STEPS_OF_REQUEST, io->moments);
	if (err || !io->nr_moments)
		return err;
	io->qid = r->qid;
	io->cpu = r->cpu;
	io->op = export__op(s, r, t->op_text);
	timeline_fill_notes(t, s, r);
	err = timeline_choose_track(t, io);
	if (err == -ENOSPC)
		t->nr_crowded++;
	else if (err)
		return log_no_memory();
	else
		err = t->pen->command(t->own, io);
	if (!err || err == -ENOSPC)
		err = t->pen->counter(t->own, io->device, TIMELINE_LATENCY, r->end_ns,
				      r->end_ns - r->first_ns);
	return err ? err : timeline_count_depth(t, r);
}

const char *timeline__step(const struct timeline_io *io, size_t moment, char buf[TIMELINE_STEP])
{
	enum stage from = io->moments[moment - 1].stage, to = io->moments[moment].stage;
	char name[4];

	snprintf(buf, TIMELINE_STEP, "%s %s", step__name(from, to, name), step__words(from, to));
	return buf;
}

/* ---- the end ---- */

static int timeline_step_depth(void *arg, uint64_t time_ns, const void *item)
{
	struct timeline *t = arg;
	struct timeline_step step;

	memcpy(&step, item, sizeof(step));
	t->depths[step.device] += (uint64_t)(int64_t)step.by;
	return t->pen->counter(t->own, step.device, TIMELINE_DEPTH, time_ns,
			       t->depths[step.device]);
}

int timeline__finish(void *timeline, struct session *s)
{
	struct timeline *t = timeline;
	int err = spill__each(t->steps, timeline_step_depth, t);

	(void)s;
	if (t->nr_crowded)
		log_note("%" PRIu64 " commands are left out: more than %d overlap on a queue",
			 t->nr_crowded, LANES_MOST);
	return err || !t->pen->end ? err : t->pen->end(t->own);
}
