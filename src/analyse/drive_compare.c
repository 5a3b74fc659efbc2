/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drive_compare.c: is a drive slower than others, and could that be an accident? In cells that both
 * have, the logarithms of typical services are compared, weighted by the commands of both. The
 * error comes from the sums of blocks, so that commands that follow each other and are alike count
 * as one. A drive is slow if it is slower than most of its peers.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include "analyse/chance.h"
#include "analyse/drives.h"
#include "base/compare.h"

/* A cell that is rare for a drive is an odd moment of it, such as the first commands of a load. */
static const double drive_rare = 0.01;

/* ---- two samples ---- */

struct drive_pair {
	const struct drive_sample *a, *b;
	enum drive_depth depth;
	double weights, shift;
	double variances[2], blocks[2];
	double nr_common;
};

static const struct drive_cells *pair_cells(const struct drive_pair *p, int side)
{
	return &(side ? p->b : p->a)->by[p->depth];
}

static bool pair_counts(const struct drive_cells *cells, const struct drive_cell *cell)
{
	return cell->nr >= DRIVES_CELL_LEAST && cell->nr >= drive_rare * cells->all;
}

/* The next cell that both have, from these places on. */
static bool pair_next(const struct drive_pair *p, size_t at[2], const struct drive_cell *both[2])
{
	const struct drive_cells *a = pair_cells(p, 0), *b = pair_cells(p, 1);

	while (at[0] < a->nr && at[1] < b->nr) {
		const struct drive_cell *x = &a->cells[at[0]], *y = &b->cells[at[1]];
		int order = COMPARE(x->kind, y->kind);

		order = order ?: COMPARE(x->depth, y->depth);
		at[0] += order <= 0;
		at[1] += order >= 0;
		if (order || !pair_counts(a, x) || !pair_counts(b, y))
			continue;
		both[0] = x;
		both[1] = y;
		return true;
	}
	return false;
}

static double pair_weight(const struct drive_cell *const both[2])
{
	return both[0]->nr * both[1]->nr / (both[0]->nr + both[1]->nr);
}

double drive_cell__log_ns(const struct drive_cell *cell)
{
	return 3 * log(cell->sum / cell->nr);
}

/* What a block adds to drive_cell__log_ns, to the first order. */
static double cell_off(const struct drive_cell *cell, uint32_t block)
{
	return 3 * (cell->block_sum[block] / cell->sum - cell->block_nr[block] / cell->nr);
}

static void pair_shift(struct drive_pair *p)
{
	const struct drive_cell *both[2];
	size_t at[2] = { 0, 0 };
	double nr[2] = { 0, 0 };

	while (pair_next(p, at, both)) {
		double weight = pair_weight(both);

		p->weights += weight;
		p->shift += weight * (drive_cell__log_ns(both[0]) - drive_cell__log_ns(both[1]));
		nr[0] += both[0]->nr;
		nr[1] += both[1]->nr;
	}
	p->shift = p->weights > 0 ? p->shift / p->weights : 0;
	p->nr_common = nr[0] < nr[1] ? nr[0] : nr[1];
}

/* What each block adds to the difference is one value; they vary as the difference would. */
static void pair_vary(struct drive_pair *p, int side)
{
	const struct drive_sample *sample = side ? p->b : p->a;
	const struct drive_cell *both[2];
	size_t at[2] = { 0, 0 };
	double blocks[DRIVES_BLOCKS] = { 0 }, errors = 0, squares = 0, nr = sample->nr_blocks;

	while (pair_next(p, at, both)) {
		const struct drive_cell *cell = both[side];
		double share = pair_weight(both) / p->weights;

		errors += share * cell->error;
		for (uint32_t i = 0; i < sample->nr_blocks; i++)
			blocks[i] += share * cell_off(cell, i);
	}
	for (uint32_t i = 0; i < sample->nr_blocks; i++)
		squares += blocks[i] * blocks[i];
	p->blocks[side] = nr;
	/* Errors of a past may have one cause: they add up. */
	p->variances[side] = sample->is_past ? errors * errors : squares * nr / (nr - 1);
}

double drive_cell__error(const struct drive_cell *cell, uint32_t nr_blocks)
{
	double squares = 0, nr = nr_blocks;

	for (uint32_t i = 0; i < nr_blocks; i++)
		squares += cell_off(cell, i) * cell_off(cell, i);
	return nr > 1 ? sqrt(squares * nr / (nr - 1)) : INFINITY;
}

/* Welch: degrees of freedom of a difference. */
static double pair_freedom(const struct drive_pair *p)
{
	double all = p->variances[0] + p->variances[1], parts = 0;

	for (int i = 0; i < 2; i++)
		parts += p->variances[i] * p->variances[i] / (p->blocks[i] - 1);
	return parts > 0 ? all * all / parts : p->blocks[0] - 1;
}

struct drive_difference {
	double shift, doubt, nr_common;
};

/* By one depth; false: they have too little in common. */
static bool pair_compare(const struct drive_sample *a, const struct drive_sample *b,
			 enum drive_depth depth, struct drive_difference *out)
{
	struct drive_pair p = { .a = a, .b = b, .depth = depth };
	double error;

	if (a->nr_blocks < 4 || b->nr_blocks < 4)
		return false;
	pair_shift(&p);
	if (p.nr_common < DRIVES_LEAST)
		return false;
	pair_vary(&p, 0);
	pair_vary(&p, 1);
	error = sqrt(p.variances[0] + p.variances[1]);
	out->shift = p.shift;
	out->nr_common = p.nr_common;
	out->doubt = chance__student(p.shift / fmax(error, DBL_MIN), pair_freedom(&p));
	return true;
}

/* What both depths agree on: the smaller difference, or none. */
static double shift_of_both(double a, double b)
{
	if ((a > 0) != (b > 0))
		return 0;
	return fabs(a) < fabs(b) ? a : b;
}

static bool drive_compare(const struct drive_sample *a, const struct drive_sample *b,
			  struct drive_difference *out)
{
	struct drive_difference by[NR_DRIVE_DEPTHS];

	for (size_t i = 0; i < NR_DRIVE_DEPTHS; i++)
		if (!pair_compare(a, b, (enum drive_depth)i, &by[i]))
			return false;
	*out = by[0];
	for (size_t i = 1; i < NR_DRIVE_DEPTHS; i++) {
		out->shift = shift_of_both(out->shift, by[i].shift);
		out->doubt = fmax(out->doubt, by[i].doubt);
		out->nr_common = fmin(out->nr_common, by[i].nr_common);
	}
	return true;
}

/* ---- verdicts ---- */

static int shift_compare(const void *a, const void *b)
{
	const struct drive_difference *x = a, *y = b;

	return COMPARE(y->shift, x->shift);
}

static int doubt_compare(const void *a, const void *b)
{
	const struct drive_difference *x = a, *y = b;

	return COMPARE(x->doubt, y->doubt);
}

/* All drives of a run are asked: each of them could be off by accident. */
static void finding_judge(struct drive_finding *f, const struct drives *d, double least)
{
	f->doubt = fmin(f->doubt * (double)d->nr, 1);
	f->verdict = f->shift >= least && f->doubt <= DRIVES_DOUBT ? DRIVE_SLOW : DRIVE_FINE;
}

/*
 * Slower than `most` of the peers: that many pairs have to show it, so the pair that shows it least
 * of them counts, and any of the others might have taken its place.
 */
static void finding_settle(struct drive_finding *f, struct drive_difference *pairs)
{
	const size_t nr = f->nr_peers, most = nr / 2 + 1;

	for (size_t i = 0; i < nr; i++)
		f->nr_common = i ? fmin(f->nr_common, pairs[i].nr_common) : pairs[i].nr_common;
	qsort(pairs, nr, sizeof(*pairs), shift_compare);
	f->shift = pairs[most - 1].shift;
	qsort(pairs, nr, sizeof(*pairs), doubt_compare);
	f->doubt = (double)(nr - most + 1) * pairs[most - 1].doubt;
}

/* Of two drives, each is the other's only measure. */
static void finding_of_two(struct drive_finding *f, const struct drive_difference *back,
			   const struct drives *d, double least)
{
	const double doubt = fmin(2 * fmin(f->doubt, back->doubt), 1);
	const double apart = fmax(f->shift, back->shift);

	f->doubt = fmin(doubt * (double)d->nr, 1);
	f->verdict = apart >= least && f->doubt <= DRIVES_DOUBT ? DRIVE_DIFFERS : DRIVE_FINE;
}

void drives__beside_peers(const struct drives *d, size_t number, double least,
			  struct drive_finding *f)
{
	const struct drive *drive = d->drives[number], *peer = NULL;
	struct drive_difference pairs[DRIVES_MOST], back;

	*f = (struct drive_finding){ .verdict = DRIVE_UNKNOWN, .doubt = 1 };
	for (size_t i = 0; i < d->nr; i++) {
		if (i == number || d->drives[i]->model != drive->model ||
		    !drive_compare(&drive->now, &d->drives[i]->now, &pairs[f->nr_peers]))
			continue;
		peer = d->drives[i];
		f->nr_peers++;
	}
	if (!peer)
		return;
	finding_settle(f, pairs);
	if (f->nr_peers > 1)
		finding_judge(f, d, least);
	else if (drive_compare(&peer->now, &drive->now, &back))
		finding_of_two(f, &back, d, least);
}

void drives__beside_past(const struct drives *d, size_t number, double least,
			 struct drive_finding *f)
{
	const struct drive *drive = d->drives[number];
	struct drive_difference pair;

	*f = (struct drive_finding){ .verdict = DRIVE_UNKNOWN, .doubt = 1 };
	if (!drive->past || !drive_compare(&drive->now, drive->past, &pair))
		return;
	f->shift = pair.shift;
	f->doubt = pair.doubt;
	f->nr_common = pair.nr_common;
	finding_judge(f, d, least);
}

/* ---- a part of a drive ---- */

enum { PARTS_MOST = 1024, PARTS_TRIED = 8 };

struct part {
	uint16_t number;
	uint64_t nr;
	double sum; /* of cube roots of latencies */
};

static int part_compare(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	const double means[] = { x->sum / (double)x->nr, y->sum / (double)y->nr };

	return COMPARE(means[1], means[0]);
}

/* Those with enough commands, the slowest first; later ones are not told apart. */
static size_t parts_find(const struct drive *drive, enum drive_part kind, struct part *parts)
{
	size_t nr = 0, kept = 0;

	for (size_t i = 0; i < drive->nr_ios; i++) {
		const struct drive_io *io = &drive->ios[i];
		const uint16_t number = drive_io__part(io, kind);
		size_t at = 0;

		while (at < nr && parts[at].number != number)
			at++;
		if (at == PARTS_MOST || !io->kind)
			continue;
		if (at == nr)
			parts[nr++] = (struct part){ .number = number };
		parts[at].nr++;
		parts[at].sum += cbrt((double)(io->end_ns - io->from_ns));
	}
	for (size_t i = 0; i < nr; i++)
		if (parts[i].nr >= DRIVES_LEAST && nr > 1)
			parts[kept++] = parts[i];
	qsort(parts, kept, sizeof(*parts), part_compare);
	return kept;
}

/* All parts of all drives are asked. */
static int part_judge(const struct drives *d, const struct drive *drive, enum drive_part kind,
		      const struct part *part, double least, double asked,
		      struct drive_part_finding *f)
{
	struct drive_sample samples[2];
	struct drive_difference pair;
	int err = drive_sample__split(drive, kind, part->number, samples);

	if (!err && drive_compare(&samples[0], &samples[1], &pair) && pair.shift >= least &&
	    pair.shift > f->shift && pair.doubt * asked * (double)d->nr <= DRIVES_DOUBT)
		*f = (struct drive_part_finding){ part->number,
						  (uint64_t)samples[0].by[DRIVE_DEPTH_START].all,
						  pair.shift };
	drive_sample__free(&samples[0]);
	drive_sample__free(&samples[1]);
	return err;
}

int drives__slow_part(const struct drives *d, size_t number, enum drive_part kind, double least,
		      struct drive_part_finding *f)
{
	struct part parts[PARTS_MOST] = { 0 };
	const struct drive *drive = d->drives[number];
	const size_t nr = parts_find(drive, kind, parts);
	int err = 0;

	*f = (struct drive_part_finding){ 0 };
	for (size_t i = 0; i < nr && i < PARTS_TRIED && !err; i++)
		err = part_judge(d, drive, kind, &parts[i], least, (double)nr * NR_DRIVE_PARTS, f);
	return err;
}

double drive__service(const struct drive *drive)
{
	const struct drive_cells *cells = &drive->now.by[DRIVE_DEPTH_START];
	double sum = 0;

	for (size_t i = 0; i < cells->nr; i++)
		sum += cells->cells[i].sum;
	return cells->all > 0 ? pow(sum / cells->all, 3) : 0;
}
