/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perfetto.c: a capture for ui.perfetto.dev and its trace_processor: a track for each device, below
 * it the tracks of each queue, one per overlapping command; they share a name, so the viewer shows
 * them as one.
 */
#include <errno.h>
#include <inttypes.h>
#include "export/timeline.h"
#include "render/perfetto.h"

/* Ranges of track numbers, which do not overlap. */
#define PERFETTO_DEVICE(nr) (1ULL << 40 | (nr))
#define PERFETTO_DEPTH(nr)  (2ULL << 40 | (nr))
#define PERFETTO_LAT(nr)    (3ULL << 40 | (nr))
#define PERFETTO_LANE(nr)   (4ULL << 40 | (nr))

/* The pen is the stream itself. */
static int perfetto_begin(void **pen, struct session *s)
{
	*pen = s->out;
	perfetto__begin(s->out, s->start_ns, session__wall_ns(s, s->start_ns));
	return 0;
}

static int perfetto_device(void *pen, uint32_t device, const char *name)
{
	const uint64_t parent = PERFETTO_DEVICE(device);

	perfetto__track(pen, &(struct perfetto_track){ parent, 0, name });
	perfetto__counter_track(
		pen, &(struct perfetto_track){ PERFETTO_DEPTH(device), parent, "in flight" },
		PERFETTO_COUNT);
	perfetto__counter_track(pen,
				&(struct perfetto_track){ PERFETTO_LAT(device), parent, "latency" },
				PERFETTO_NS);
	return 0;
}

static void perfetto_put_steps(FILE *out, const struct timeline_io *io)
{
	const uint64_t track = PERFETTO_LANE(io->track);
	char name[TIMELINE_STEP];

	for (size_t i = 1; i < io->nr_moments; i++) {
		perfetto__slice_begin(out, &(struct perfetto_slice){
						   .track = track,
						   .ns = io->moments[i - 1].ns,
						   .name = timeline__step(io, i, name),
						   .category = "step",
					   });
		perfetto__slice_end(out, track, io->moments[i].ns);
	}
}

static int perfetto_command(void *pen, const struct timeline_io *io)
{
	const uint64_t track = PERFETTO_LANE(io->track);
	struct perfetto_note notes[TIMELINE_NOTES];
	char name[32];

	snprintf(name, sizeof(name), "queue %" PRIu32, io->qid);
	if (io->is_new_track)
		perfetto__track(
			pen, &(struct perfetto_track){ track, PERFETTO_DEVICE(io->device), name });
	for (size_t i = 0; i < io->nr_notes; i++)
		notes[i] = (struct perfetto_note){ io->notes[i].key, io->notes[i].text,
						   io->notes[i].number };
	perfetto__slice_begin(pen, &(struct perfetto_slice){
					   .track = track,
					   .ns = io->moments[0].ns,
					   .name = io->op,
					   .category = "command",
					   .notes = notes,
					   .nr_notes = io->nr_notes,
				   });
	if (io->nr_moments > 2) /* a single step equals the command */
		perfetto_put_steps(pen, io);
	perfetto__slice_end(pen, track, io->moments[io->nr_moments - 1].ns);
	return 0;
}

static int perfetto_counter(void *pen, uint32_t device, enum timeline_counter counter, uint64_t ns,
			    uint64_t value)
{
	perfetto__counter(pen,
			  counter == TIMELINE_DEPTH ? PERFETTO_DEPTH(device) : PERFETTO_LAT(device),
			  ns, value);
	return 0;
}

static const struct timeline_pen perfetto_pen = {
	.begin = perfetto_begin,
	.device = perfetto_device,
	.command = perfetto_command,
	.counter = perfetto_counter,
};

static int perfetto_start(void **state, struct session *s)
{
	return timeline__new(&perfetto_pen, s, state);
}

const struct exporter export_perfetto = {
	.is_binary = true,
	.start = perfetto_start,
	.put = timeline__put,
	.finish = timeline__finish,
	.free = timeline__free,
};
