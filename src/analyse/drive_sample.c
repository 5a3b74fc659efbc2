/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drive_sample.c: how long did the drive serve each command, and how many beside it? A walk through
 * each stretch in order of time, with as many servers as the model has: a service begins when one
 * is free. Commands whose company is not known, at both ends of a stretch, are not judged.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analyse/drives.h"
#include "base/compare.h"
#include "base/grow.h"

/* ---- cells ---- */

struct drive_cell *drive_cells__at(struct drive_cells *c, uint32_t kind, uint32_t depth)
{
	size_t from = 0, to = c->nr;

	while (from < to) {
		size_t middle = (from + to) / 2;
		const struct drive_cell *cell = &c->cells[middle];

		if (cell->kind < kind || (cell->kind == kind && cell->depth < depth))
			from = middle + 1;
		else
			to = middle;
	}
	if (from < c->nr && c->cells[from].kind == kind && c->cells[from].depth == depth)
		return &c->cells[from];
	if (GROW_BY_ONE(c->cells, c->nr))
		return NULL;
	memmove(&c->cells[from + 1], &c->cells[from], (c->nr - from) * sizeof(*c->cells));
	c->cells[from] = (struct drive_cell){ .kind = kind, .depth = depth };
	c->nr++;
	return &c->cells[from];
}

void drive_sample__free(struct drive_sample *sample)
{
	for (size_t i = 0; i < NR_DRIVE_DEPTHS; i++)
		free(sample->by[i].cells);
	memset(sample, 0, sizeof(*sample));
}

/* Half octaves: 1, 1.4 (which only a mean is), 2, 3, 4, 6, 8, ... */
static uint32_t drive_depth_class(double depth)
{
	return depth > 1 ? (uint32_t)(2 * log2(depth) + 0.5) : 0;
}

/* ---- a stretch ---- */

/* Which sample a command belongs to. */
struct drive_split {
	struct drive_sample *samples; /* one; with is_split those of a part and of the others */
	bool is_split;
	enum drive_part part;
	uint16_t number;
};

struct drive_walk {
	const struct drive_io *ios; /* by end */
	size_t nr;
	uint32_t servers;
	uint64_t from_ns, to_ns;	/* commands issued between are judged */
	uint16_t order[DRIVES_STRETCH]; /* by issue */
	uint16_t ends[DRIVES_STRETCH];	/* by end */
	bool begun[DRIVES_STRETCH], ended[DRIVES_STRETCH];
	uint64_t begin_ns[DRIVES_STRETCH];
	uint32_t beside[DRIVES_STRETCH]; /* that were served when it began, itself included */
	double begin_sum[DRIVES_STRETCH];
	uint64_t now_ns;
	size_t waiting; /* the first in order that has not begun */
	size_t issued;
	uint32_t served;
	double sum; /* commands served, by time */
};

struct drive_place {
	uint64_t ns;
	uint16_t nr;
};

/* Both orders; a capture may have commands out of order. */
static int drive_walk_sort(struct drive_walk *w)
{
	struct drive_place *places = calloc(w->nr, sizeof(*places));

	if (!places)
		return -ENOMEM;
	for (size_t i = 0; i < w->nr; i++)
		places[i] = (struct drive_place){ w->ios[i].from_ns, (uint16_t)i };
	qsort(places, w->nr, sizeof(*places), compare__u64);
	for (size_t i = 0; i < w->nr; i++)
		w->order[i] = places[i].nr;
	for (size_t i = 0; i < w->nr; i++)
		places[i] = (struct drive_place){ w->ios[i].end_ns, (uint16_t)i };
	qsort(places, w->nr, sizeof(*places), compare__u64);
	w->from_ns = places[0].ns;
	w->to_ns = places[w->nr - 1].ns;
	for (size_t i = 0; i < w->nr; i++)
		w->ends[i] = places[i].nr;
	/* Longer commands that were issued near the end are missing; 99 of 100 end in this time. */
	for (size_t i = 0; i < w->nr; i++)
		places[i].ns = w->ios[i].end_ns - w->ios[i].from_ns;
	qsort(places, w->nr, sizeof(*places), compare__u64);
	w->to_ns -= places[w->nr - 1 - w->nr / 100].ns;
	free(places);
	return 0;
}

static void drive_walk_to(struct drive_walk *w, uint64_t ns)
{
	if (ns > w->now_ns) {
		w->sum += (double)w->served * (double)(ns - w->now_ns);
		w->now_ns = ns;
	}
}

/* Servers that are free take those that wait, in order of issue. */
static void drive_walk_serve(struct drive_walk *w)
{
	while (w->waiting < w->issued && w->served < w->servers) {
		uint16_t nr = w->order[w->waiting++];

		if (w->ended[nr])
			continue;
		w->begun[nr] = true;
		w->begin_ns[nr] = w->now_ns;
		w->begin_sum[nr] = w->sum;
		w->beside[nr] = ++w->served;
	}
}

static struct drive_sample *drive_sample_of(const struct drive_split *split,
					    const struct drive_io *io)
{
	const bool is_other = split->is_split && drive_io__part(io, split->part) != split->number;

	return &split->samples[is_other];
}

static int drive_walk_judge(struct drive_walk *w, const struct drive_split *split, uint16_t nr,
			    uint32_t block)
{
	const struct drive_io *io = &w->ios[nr];
	struct drive_sample *sample = drive_sample_of(split, io);
	const double took = (double)(w->now_ns - w->begin_ns[nr]);
	const double depths[] = {
		[DRIVE_DEPTH_START] = w->beside[nr],
		[DRIVE_DEPTH_MEAN] = (w->sum - w->begin_sum[nr]) / took,
	};

	if (!io->kind || !(took > 0) || io->from_ns < w->from_ns || io->from_ns >= w->to_ns)
		return 0;
	for (size_t i = 0; i < NR_DRIVE_DEPTHS; i++) {
		struct drive_cell *cell =
			drive_cells__at(&sample->by[i], io->kind, drive_depth_class(depths[i]));

		if (!cell)
			return -ENOMEM;
		sample->by[i].all++;
		cell->nr++;
		cell->sum += cbrt(took);
		cell->block_nr[block]++;
		cell->block_sum[block] += cbrt(took);
	}
	return 0;
}

static int drive_walk_end(struct drive_walk *w, const struct drive_split *split, uint16_t nr,
			  uint32_t block)
{
	int err = 0;

	w->ended[nr] = true;
	if (w->begun[nr]) {
		err = drive_walk_judge(w, split, nr, block);
		w->served--;
	}
	drive_walk_serve(w);
	return err;
}

/* Blocks of this stretch begin with `block`. */
static int drive_walk(struct drive_walk *w, const struct drive_split *split, uint32_t block,
		      uint32_t nr_blocks)
{
	int err = drive_walk_sort(w);

	for (size_t end = 0; !err && end < w->nr;) {
		const uint64_t ends_ns = w->ios[w->ends[end]].end_ns;

		if (w->issued < w->nr && w->ios[w->order[w->issued]].from_ns < ends_ns) {
			drive_walk_to(w, w->ios[w->order[w->issued]].from_ns);
			w->issued++;
			drive_walk_serve(w);
			continue;
		}
		drive_walk_to(w, ends_ns);
		err = drive_walk_end(w, split, w->ends[end],
				     block + (uint32_t)(end * nr_blocks / w->nr));
		end++;
	}
	return err;
}

/* ---- all of them ---- */

/* As many as there are stretches, or parts of few, if they do not become too small. */
static uint32_t drive_parts(const struct drive *drive, size_t nr_stretches)
{
	size_t parts = nr_stretches ? DRIVES_BLOCKS / nr_stretches : 0;
	size_t most = nr_stretches ? drive->nr_ios / nr_stretches / DRIVES_BLOCK_LEAST : 0;

	parts = parts < most ? parts : most;
	return parts ? (uint32_t)parts : 1;
}

static int drive_walk_all(const struct drive *drive, const struct drive_split *split)
{
	struct drive_walk *w = malloc(sizeof(*w));
	const size_t nr = (drive->nr_ios + DRIVES_STRETCH - 1) / DRIVES_STRETCH;
	const uint32_t parts = drive_parts(drive, nr);
	int err = w ? 0 : -ENOMEM;

	for (int i = 0; i < (split->is_split ? 2 : 1); i++)
		split->samples[i].nr_blocks = (uint32_t)nr * parts;
	for (size_t i = 0; i < nr && !err; i++) {
		const size_t left = drive->nr_ios - i * DRIVES_STRETCH;

		memset(w, 0, sizeof(*w));
		w->ios = drive->ios + i * DRIVES_STRETCH;
		w->nr = left < DRIVES_STRETCH ? left : DRIVES_STRETCH;
		w->servers = drive->servers;
		err = drive_walk(w, split, (uint32_t)i * parts, parts);
	}
	free(w);
	return err;
}

int drive_sample__take(struct drive *drive)
{
	return drive_walk_all(drive, &(struct drive_split){ .samples = &drive->now });
}

int drive_sample__split(const struct drive *drive, enum drive_part part, uint16_t number,
			struct drive_sample samples[2])
{
	const struct drive_split split = {
		.samples = samples, .is_split = true, .part = part, .number = number
	};

	memset(samples, 0, 2 * sizeof(*samples));
	return drive_walk_all(drive, &split);
}
