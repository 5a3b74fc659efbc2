/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/drives.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analyse/servers.h"
#include "base/compare.h"
#include "base/grow.h"

/* ---- kinds and drives ---- */

uint32_t drives__kind(struct drives *d, const char *op, uint32_t size_class)
{
	size_t nr = d->nr_kinds;

	for (size_t i = 1; i <= nr; i++)
		if (d->kinds[i].size_class == size_class &&
		    !strncmp(d->kinds[i].op, op, DRIVES_OP - 1))
			return (uint32_t)i;
	if (nr + 1 >= DRIVES_KINDS)
		return 0;
	d->nr_kinds = nr + 1;
	memcpy(d->kinds[nr + 1].op, op, strnlen(op, DRIVES_OP - 1));
	d->kinds[nr + 1].size_class = size_class;
	return (uint32_t)(nr + 1);
}

int drives__new(struct drives *d, int32_t model)
{
	struct drive *drive;

	if (d->nr == DRIVES_MOST)
		return -ENOSPC;
	drive = calloc(1, sizeof(*drive));
	if (!drive)
		return -ENOMEM;
	drive->model = model;
	drive->step = 1;
	d->drives[d->nr] = drive;
	return (int)d->nr++;
}

/* ---- stretches ---- */

/* Every second stretch leaves, and from now on every second one is not kept. */
static void drive_thin(struct drive *drive)
{
	const size_t bytes = DRIVES_STRETCH * sizeof(*drive->ios);

	for (size_t i = 1; i < DRIVES_STRETCHES / 2; i++)
		memcpy(drive->ios + i * DRIVES_STRETCH, drive->ios + 2 * i * DRIVES_STRETCH, bytes);
	drive->nr_ios = (size_t)DRIVES_STRETCH * (DRIVES_STRETCHES / 2);
	drive->step *= 2;
}

static void drive_end_stretch(struct drive *drive)
{
	drive->until = (drive->step - 1) * DRIVES_STRETCH;
	if (drive->nr_ios == (size_t)DRIVES_STRETCH * DRIVES_STRETCHES)
		drive_thin(drive);
}

static int drive_keep(struct drive *drive, const struct drive_io *io)
{
	if (drive->until) {
		drive->until--;
		return 0;
	}
	if (GROW(drive->ios, drive->room, drive->nr_ios + 1))
		return -ENOMEM;
	drive->ios[drive->nr_ios++] = *io;
	if (drive->nr_ios % DRIVES_STRETCH == 0)
		drive_end_stretch(drive);
	return 0;
}

int drives__add(struct drives *d, size_t number, const struct drive_io *io)
{
	struct drive *drive = d->drives[number];

	drive->count++;
	drive->flight_ns += (double)(io->end_ns - io->from_ns);
	return drive_keep(drive, io);
}

int drives__add_beside(struct drives *d, size_t number, const struct drive_io *io)
{
	struct drive_io beside = *io;

	beside.kind = 0;
	return drive_keep(d->drives[number], &beside);
}

/* ---- servers of a model ---- */

static size_t drive_nr_stretches(const struct drive *drive)
{
	return (drive->nr_ios + DRIVES_STRETCH - 1) / DRIVES_STRETCH;
}

static size_t drive_stretch(const struct drive *drive, size_t nr, const struct drive_io **ios)
{
	size_t from = nr * DRIVES_STRETCH;

	*ios = drive->ios + from;
	return drive->nr_ios - from < DRIVES_STRETCH ? drive->nr_ios - from : DRIVES_STRETCH;
}

/* Commands in flight, on average. */
static double drive_stretch_depth(const struct drive_io *ios, size_t nr)
{
	double flight_ns = 0, span_ns = (double)(ios[nr - 1].end_ns - ios[0].from_ns);

	for (size_t i = 0; i < nr; i++)
		flight_ns += (double)(ios[i].end_ns - ios[i].from_ns);
	return span_ns > 0 ? flight_ns / span_ns : 0;
}

static int drive_service_compare(const void *a, const void *b)
{
	const struct service *x = a, *y = b;

	return COMPARE(x->from_ns, y->from_ns) ?: COMPARE(x->end_ns, y->end_ns);
}

static uint32_t drive_estimate(const struct drive_io *ios, size_t nr)
{
	struct service *services = calloc(nr, sizeof(*services));
	struct service_span span = { services, nr };
	uint32_t servers;

	if (!services)
		return SERVERS_ALL;
	for (size_t i = 0; i < nr; i++)
		services[i] = (struct service){ ios[i].from_ns, ios[i].end_ns, ios[i].kind };
	qsort(services, nr, sizeof(*services), drive_service_compare);
	servers = servers__estimate(&span, 1);
	free(services);
	return servers;
}

/* A queue shows itself where it is longest: the drives of a model are built alike. */
static uint32_t drives_estimate(const struct drives *d, int32_t model)
{
	const struct drive_io *deepest = NULL, *ios;
	size_t deepest_nr = 0;
	double most = 0;

	for (size_t i = 0; i < d->nr; i++) {
		if (d->drives[i]->model != model)
			continue;
		for (size_t j = 0; j < drive_nr_stretches(d->drives[i]); j++) {
			size_t nr = drive_stretch(d->drives[i], j, &ios);
			double depth = drive_stretch_depth(ios, nr);

			if (nr < DRIVES_LEAST || depth <= most)
				continue;
			most = depth;
			deepest = ios;
			deepest_nr = nr;
		}
	}
	return deepest ? drive_estimate(deepest, deepest_nr) : SERVERS_ALL;
}

/* That of its baseline, of the baseline of a drive of its model, or of a drive before it. */
static uint32_t drives_servers(const struct drives *d, size_t number, const uint32_t *servers)
{
	const struct drive *drive = d->drives[number];

	if (servers && servers[number])
		return servers[number];
	for (size_t i = 0; i < d->nr; i++) {
		if (i == number || d->drives[i]->model != drive->model)
			continue;
		if (servers && servers[i])
			return servers[i];
		if (d->drives[i]->servers)
			return d->drives[i]->servers;
	}
	return drives_estimate(d, drive->model);
}

int drives__finish(struct drives *d, const uint32_t *servers)
{
	int err = 0;

	for (size_t i = 0; i < d->nr && !err; i++) {
		d->drives[i]->servers = drives_servers(d, i, servers);
		err = drive_sample__take(d->drives[i]);
	}
	return err;
}

void drives__free(struct drives *d)
{
	for (size_t i = 0; i < d->nr; i++) {
		drive_sample__free(&d->drives[i]->now);
		free(d->drives[i]->ios);
		free(d->drives[i]);
	}
	d->nr = 0;
}
