/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/perfetto.h"

#include "render/proto.h"

/* Field numbers, from protos/perfetto/trace in Perfetto's sources: they never change. */
enum {
	TRACE_PACKET = 1,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_TIMESTAMP_CLOCK = 58,
	PACKET_TRACK_DESCRIPTOR = 60,
	SNAPSHOT_CLOCKS = 1,
	SNAPSHOT_PRIMARY = 2,
	CLOCK_ID = 1,
	CLOCK_TIMESTAMP = 2,
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	COUNTER_UNIT = 3,
	EVENT_NOTES = 4,
	EVENT_TYPE = 9,
	EVENT_TRACK = 11,
	EVENT_CATEGORIES = 22,
	EVENT_NAME = 23,
	EVENT_COUNTER_VALUE = 30,
	NOTE_UINT = 3,
	NOTE_TEXT = 6,
	NOTE_NAME = 10,
};
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_COUNTER = 4 };
enum { CLOCK_WALL = 1, CLOCK_MONO = 3 };
enum { SEQUENCE = 1, SEQUENCE_STARTS = 1 };

static void perfetto_put(FILE *out, const struct proto *packet)
{
	struct proto trace;

	proto__clear(&trace);
	proto__message(&trace, TRACE_PACKET, packet);
	fwrite(trace.bytes, 1, trace.nr, out);
}

static void perfetto_put_clock(struct proto *snapshot, uint32_t id, uint64_t ns)
{
	struct proto clock;

	proto__clear(&clock);
	proto__number(&clock, CLOCK_ID, id);
	proto__number(&clock, CLOCK_TIMESTAMP, ns);
	proto__message(snapshot, SNAPSHOT_CLOCKS, &clock);
}

void perfetto__begin(FILE *out, uint64_t mono_ns, uint64_t wall_ns)
{
	struct proto packet, snapshot;

	proto__clear(&packet);
	proto__clear(&snapshot);
	perfetto_put_clock(&snapshot, CLOCK_MONO, mono_ns);
	if (wall_ns)
		perfetto_put_clock(&snapshot, CLOCK_WALL, wall_ns);
	proto__number(&snapshot, SNAPSHOT_PRIMARY, CLOCK_MONO);
	proto__message(&packet, PACKET_CLOCK_SNAPSHOT, &snapshot);
	proto__number(&packet, PACKET_SEQUENCE, SEQUENCE);
	proto__number(&packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_STARTS);
	perfetto_put(out, &packet);
}

/* ---- tracks ---- */

static void perfetto_put_track(FILE *out, const struct perfetto_track *track,
			       const struct proto *counter)
{
	struct proto packet, descriptor;

	proto__clear(&packet);
	proto__clear(&descriptor);
	proto__number(&descriptor, TRACK_UUID, track->track);
	proto__text(&descriptor, TRACK_NAME, track->name);
	if (track->parent)
		proto__number(&descriptor, TRACK_PARENT, track->parent);
	if (counter)
		proto__message(&descriptor, TRACK_COUNTER, counter);
	proto__message(&packet, PACKET_TRACK_DESCRIPTOR, &descriptor);
	proto__number(&packet, PACKET_SEQUENCE, SEQUENCE);
	perfetto_put(out, &packet);
}

void perfetto__track(FILE *out, const struct perfetto_track *track)
{
	perfetto_put_track(out, track, NULL);
}

void perfetto__counter_track(FILE *out, const struct perfetto_track *track, enum perfetto_unit unit)
{
	struct proto counter;

	proto__clear(&counter);
	proto__number(&counter, COUNTER_UNIT, unit);
	perfetto_put_track(out, track, &counter);
}

/* ---- events ---- */

static void perfetto_put_event(FILE *out, uint64_t ns, const struct proto *event)
{
	struct proto packet;

	proto__clear(&packet);
	proto__number(&packet, PACKET_TIMESTAMP, ns);
	proto__number(&packet, PACKET_TIMESTAMP_CLOCK, CLOCK_MONO);
	proto__number(&packet, PACKET_SEQUENCE, SEQUENCE);
	proto__message(&packet, PACKET_TRACK_EVENT, event);
	perfetto_put(out, &packet);
}

static void perfetto_put_note(struct proto *event, const struct perfetto_note *note)
{
	struct proto annotation;

	proto__clear(&annotation);
	proto__text(&annotation, NOTE_NAME, note->key);
	if (note->text)
		proto__text(&annotation, NOTE_TEXT, note->text);
	else
		proto__number(&annotation, NOTE_UINT, note->number);
	proto__message(event, EVENT_NOTES, &annotation);
}

void perfetto__slice_begin(FILE *out, const struct perfetto_slice *slice)
{
	struct proto event;

	proto__clear(&event);
	proto__number(&event, EVENT_TYPE, TYPE_BEGIN);
	proto__number(&event, EVENT_TRACK, slice->track);
	proto__text(&event, EVENT_NAME, slice->name);
	proto__text(&event, EVENT_CATEGORIES, slice->category);
	for (size_t i = 0; i < slice->nr_notes; i++)
		perfetto_put_note(&event, &slice->notes[i]);
	perfetto_put_event(out, slice->ns, &event);
}

void perfetto__slice_end(FILE *out, uint64_t track, uint64_t ns)
{
	struct proto event;

	proto__clear(&event);
	proto__number(&event, EVENT_TYPE, TYPE_END);
	proto__number(&event, EVENT_TRACK, track);
	perfetto_put_event(out, ns, &event);
}

void perfetto__counter(FILE *out, uint64_t track, uint64_t ns, uint64_t value)
{
	struct proto event;

	proto__clear(&event);
	proto__number(&event, EVENT_TYPE, TYPE_COUNTER);
	proto__number(&event, EVENT_TRACK, track);
	proto__number(&event, EVENT_COUNTER_VALUE, value);
	perfetto_put_event(out, ns, &event);
}
