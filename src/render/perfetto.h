/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perfetto.h: what ran when, for ui.perfetto.dev: tracks, nested slices, counters, in Perfetto's
 * protobuf format. Times are CLOCK_MONOTONIC. On one track a slice must end before the next begins,
 * or lie inside it; packets must be in order of time only within a track.
 */
#ifndef IOSONAR_RENDER_PERFETTO_H
#define IOSONAR_RENDER_PERFETTO_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A note on a slice; text NULL: use the number. */
struct perfetto_note {
	const char *key, *text;
	uint64_t number;
};

struct perfetto_slice {
	uint64_t track, ns;
	const char *name, *category;
	const struct perfetto_note *notes;
	size_t nr_notes;
};

struct perfetto_track {
	uint64_t track, parent; /* any numbers but 0; parent 0: none */
	const char *name;
};

enum perfetto_unit { PERFETTO_NS = 1, PERFETTO_COUNT = 2 };

/* Texts are hostile. Call it before all others; wall_ns 0: unknown. */
void perfetto__begin(FILE *out, uint64_t mono_ns, uint64_t wall_ns);
void perfetto__track(FILE *out, const struct perfetto_track *track);
void perfetto__counter_track(FILE *out, const struct perfetto_track *track,
			     enum perfetto_unit unit);
void perfetto__slice_begin(FILE *out, const struct perfetto_slice *slice);
void perfetto__slice_end(FILE *out, uint64_t track, uint64_t ns);
void perfetto__counter(FILE *out, uint64_t track, uint64_t ns, uint64_t value);

#endif
