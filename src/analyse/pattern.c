/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/pattern.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/compare.h"

/* How long a command waits for commands submitted before it: twice the recent longest time. */
static const uint64_t pattern_hold_least_ns = 250000000, pattern_hold_most_ns = 10000000000;
enum { PATTERN_FORGETS = 12 }; /* the longest time decays by 1/4096 per command */

int pattern__init(struct pattern *p, uint32_t nr_cells)
{
	memset(p, 0, sizeof(*p));
	p->nr_cells = nr_cells < PATTERN_CELLS ? nr_cells : PATTERN_CELLS;
	p->rows = calloc(PATTERN_ROWS, sizeof(*p->rows));
	return p->rows ? index__make_room(&p->index, PATTERN_ROWS) : -ENOMEM;
}

void pattern__free(struct pattern *p)
{
	for (size_t i = 0; i < p->nr; i++) {
		for (int kind = 0; kind < PATTERN_MOVES; kind++)
			free(p->rows[i]->heat[kind]);
		time_queue__free(&p->rows[i]->ends);
		free(p->rows[i]);
	}
	time_queue__free(&p->held);
	free(p->rows);
	index__free(&p->index);
	memset(p, 0, sizeof(*p));
}

/* ---- rows ---- */

static bool pattern_is(const void *rows, uint32_t number, const void *tags)
{
	return !memcmp(&((struct pattern_row *const *)rows)[number]->tags, tags,
		       sizeof(struct pattern_tags));
}

/* The row number of these tags, or of the row for the rest; -ENOMEM. */
static int pattern_find_row(struct pattern *p, const struct pattern_tags *tags,
			    const struct pattern_disk *disk)
{
	static const struct pattern_tags rest = { .device = PATTERN_REST };
	static const struct pattern_disk nowhere;
	const uint64_t hash = index__mix_bytes(0, tags, sizeof(*tags));
	uint32_t at = index__find(&p->index, hash, pattern_is, p->rows, tags);
	struct pattern_row *row;

	if (at != INDEX_NONE)
		return (int)at;
	if (p->nr >= PATTERN_ROWS - 1 && tags->device != PATTERN_REST)
		return pattern_find_row(p, &rest, &nowhere);
	row = calloc(1, sizeof(*row));
	if (!row)
		return -ENOMEM;
	row->tags = *tags;
	row->disk = *disk;
	row->cell_bytes = pattern__cell_bytes(p, row);
	at = index__add(&p->index, hash);
	p->rows[at] = row;
	p->nr++;
	return (int)at;
}

static uint32_t pattern_hash(const struct pattern_tags *tags)
{
	uint64_t words[sizeof(*tags) / sizeof(uint64_t)], all = 0;

	memcpy(words, tags, sizeof(words));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		all ^= words[i];
	_Static_assert(PATTERN_RECENT == 1 << 6, "the hash has 64 - 58 bits");
	return (uint32_t)(all * 0x9e3779b97f4a7c15ULL >> 58);
}

/* Most commands are of a few rows: the hash of the index takes longer than to compare the tags. */
static int pattern_row_of(struct pattern *p, const struct pattern_tags *tags,
			  const struct pattern_disk *disk)
{
	uint16_t *recent = &p->recent[pattern_hash(tags)];
	int row;

	if (*recent < p->nr && pattern_is(p->rows, *recent, tags))
		return *recent;
	row = pattern_find_row(p, tags, disk);
	if (row >= 0)
		*recent = (uint16_t)row;
	return row;
}

int pattern_row__compare(const void *a, const void *b)
{
	const struct pattern_row *x = *(struct pattern_row *const *)a;
	const struct pattern_row *y = *(struct pattern_row *const *)b;
	int order = (x->tags.device == PATTERN_REST) - (y->tags.device == PATTERN_REST);

	order = order ?: COMPARE(x->tags.device, y->tags.device);
	order = order ?: COMPARE(x->tags.pid, y->tags.pid);
	order = order ?: memcmp(x->tags.comm, y->tags.comm, sizeof(x->tags.comm));
	return order ?: COMPARE(x->tags.cgroup, y->tags.cgroup);
}

/* ---- independent of order: counted at once ---- */

uint64_t pattern__cell_bytes(const struct pattern *p, const struct pattern_row *row)
{
	uint64_t size = row->disk.size_bytes;

	return p->nr_cells && size ? (size - 1) / p->nr_cells + 1 : 0;
}

/* Bytes beyond the end of the device are not counted as touched. */
static int pattern_touch(const struct pattern *p, struct pattern_row *row,
			 const struct pattern_io *io)
{
	uint64_t cell_bytes = row->cell_bytes, size = row->disk.size_bytes;
	uint64_t **heat = &row->heat[io->kind];

	if (!cell_bytes || io->from_byte >= size || io->bytes > size - io->from_byte)
		return 0;
	if (!*heat)
		*heat = calloc(p->nr_cells, sizeof(**heat));
	if (!*heat)
		return -ENOMEM;
	(*heat)[io->from_byte / cell_bytes]++;
	if (row->first_byte == row->after_byte || io->from_byte < row->first_byte)
		row->first_byte = io->from_byte;
	if (io->from_byte + io->bytes > row->after_byte)
		row->after_byte = io->from_byte + io->bytes;
	return 0;
}

/* It begins and ends on a boundary. */
static bool pattern_is_aligned(const struct pattern_io *io, uint32_t to_bytes)
{
	return !(io->from_byte % to_bytes) && !(io->bytes % to_bytes);
}

static bool pattern_has_place(const struct pattern_io *io)
{
	return io->kind < PATTERN_MOVES && io->from_byte != PATTERN_NOWHERE && io->bytes;
}

static int pattern_count(const struct pattern *p, struct pattern_row *row,
			 const struct pattern_io *io)
{
	struct pattern_sum *sum = &row->interval;
	struct pattern_moves *moves = &sum->moves[io->kind < PATTERN_MOVES ? io->kind : 0];
	uint32_t unit = row->disk.unit_bytes;

	sum->count++;
	sum->kinds[io->kind]++;
	sum->bytes[io->kind] += io->bytes;
	row->ops[io->io_kind & 3][io->op]++;
	if (io->kind < PATTERN_MOVES)
		sizes__add(&row->sizes[io->kind], io->bytes);
	if (!pattern_has_place(io))
		return 0;
	moves->placed++;
	moves->misaligned += !pattern_is_aligned(io, PATTERN_ALIGN);
	moves->off_unit += unit && !pattern_is_aligned(io, unit);
	return pattern_touch(p, row, io);
}

/* ---- dependent on order: judged in the order of submission ---- */

/* Commands submitted after it have been judged without it. */
static int pattern_is_late(struct pattern_row *row, const struct waiter *io)
{
	const struct waiter end = { .at_ns = io->end_ns };

	row->interval.late++;
	if (io->end_ns <= row->last_ns || row->ends.nr == PATTERN_DEEPEST)
		return 0;
	return time_queue__add(&row->ends, &end);
}

static int pattern_judge(struct pattern *p, const struct waiter *io)
{
	struct pattern_row *row = p->rows[io->row];
	struct pattern_sum *sum = &row->interval;
	const struct waiter end = { .at_ns = io->end_ns };
	int err = 0;

	if (row->begun && io->at_ns < row->last_ns)
		return pattern_is_late(row, io);
	if (row->begun)
		hist__add(&sum->gaps, io->at_ns - row->last_ns, 0);
	row->begun = true;
	row->last_ns = io->at_ns;
	/* Commands that had ended by then are no longer in flight. */
	while (row->ends.nr && time_queue__first(&row->ends)->at_ns <= io->at_ns)
		time_queue__take(&row->ends);
	if (row->ends.nr < PATTERN_DEEPEST)
		err = time_queue__add(&row->ends, &end);
	hist__add(&sum->depths, row->ends.nr, 0);
	if (io->kind >= PATTERN_MOVES)
		return err;
	sum->moves[io->kind].judged++;
	sum->moves[io->kind].sequential +=
		streams__access(&row->streams[io->kind], io->from_byte, io->bytes);
	return err;
}

static uint64_t pattern_hold_ns(const struct pattern *p)
{
	if (p->longest_ns < pattern_hold_least_ns / 2)
		return pattern_hold_least_ns;
	return p->longest_ns < pattern_hold_most_ns / 2 ? 2 * p->longest_ns : pattern_hold_most_ns;
}

/* Later arrivals end later: they were submitted earlier only if they took longer than the hold. */
static int pattern_release(struct pattern *p)
{
	uint64_t hold_ns = pattern_hold_ns(p);
	uint64_t until_ns = p->newest_ns > hold_ns ? p->newest_ns - hold_ns : 0;
	int err = 0;

	while (!err && p->held.nr &&
	       (p->held.nr > PATTERN_HELD || time_queue__first(&p->held)->at_ns < until_ns)) {
		struct waiter first = time_queue__take(&p->held);

		err = pattern_judge(p, &first);
	}
	return err;
}

static int pattern_hold(struct pattern *p, int row, const struct pattern_io *io)
{
	struct waiter waiter = {
		.at_ns = io->submit_ns < io->end_ns ? io->submit_ns : io->end_ns,
		.from_byte = io->from_byte,
		.end_ns = io->end_ns,
		.bytes = io->bytes,
		.row = (uint16_t)row,
		/* A command without a place takes its turn, but cannot continue another. */
		.kind = pattern_has_place(io) ? (uint8_t)io->kind : PATTERN_OTHER,
	};
	uint64_t took_ns = waiter.end_ns - waiter.at_ns;

	p->longest_ns -= p->longest_ns >> PATTERN_FORGETS;
	if (took_ns > p->longest_ns)
		p->longest_ns = took_ns;
	if (io->end_ns > p->newest_ns)
		p->newest_ns = io->end_ns;
	return time_queue__add(&p->held, &waiter) ?: pattern_release(p);
}

int pattern__add(struct pattern *p, const struct pattern_tags *tags,
		 const struct pattern_disk *disk, const struct pattern_io *io)
{
	int row = pattern_row_of(p, tags, disk), err;

	if (row < 0)
		return row;
	err = pattern_count(p, p->rows[row], io);
	if (err || p->rows[row]->tags.device != PATTERN_REST)
		return err ?: pattern_hold(p, row, io);
	p->rest++; /* mixes devices and tasks: order is meaningless */
	return 0;
}

/* ---- sums ---- */

void pattern_row__end_interval(struct pattern_row *row)
{
	struct pattern_sum *to = &row->total, *from = &row->interval;

	to->count += from->count;
	to->late += from->late;
	for (int i = 0; i < NR_PATTERN_KINDS; i++) {
		to->kinds[i] += from->kinds[i];
		to->bytes[i] += from->bytes[i];
	}
	for (int i = 0; i < PATTERN_MOVES; i++) {
		to->moves[i].placed += from->moves[i].placed;
		to->moves[i].misaligned += from->moves[i].misaligned;
		to->moves[i].off_unit += from->moves[i].off_unit;
		to->moves[i].judged += from->moves[i].judged;
		to->moves[i].sequential += from->moves[i].sequential;
	}
	hist__merge(&to->gaps, &from->gaps);
	hist__merge(&to->depths, &from->depths);
	memset(from, 0, sizeof(*from));
}

int pattern__finish(struct pattern *p)
{
	int err = 0;

	while (!err && p->held.nr) {
		struct waiter first = time_queue__take(&p->held);

		err = pattern_judge(p, &first);
	}
	for (size_t i = 0; i < p->nr; i++) {
		pattern_row__end_interval(p->rows[i]);
		for (int kind = 0; kind < PATTERN_MOVES; kind++)
			sizes__sort(&p->rows[i]->sizes[kind]);
	}
	return err;
}

static double pattern_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * ((double)part / (double)whole) : NAN;
}

double pattern_sum__sequential(const struct pattern_sum *sum, enum pattern_kind kind)
{
	const struct pattern_moves *r = &sum->moves[PATTERN_READ], *w = &sum->moves[PATTERN_WRITE];

	if (kind < PATTERN_MOVES)
		return pattern_percent(sum->moves[kind].sequential, sum->moves[kind].judged);
	return pattern_percent(r->sequential + w->sequential, r->judged + w->judged);
}

double pattern_sum__aligned(const struct pattern_sum *sum)
{
	const struct pattern_moves *r = &sum->moves[PATTERN_READ], *w = &sum->moves[PATTERN_WRITE];
	uint64_t placed = r->placed + w->placed;

	return pattern_percent(placed - r->misaligned - w->misaligned, placed);
}

double pattern_sum__in_units(const struct pattern_sum *sum)
{
	const struct pattern_moves *r = &sum->moves[PATTERN_READ], *w = &sum->moves[PATTERN_WRITE];
	uint64_t placed = r->placed + w->placed;

	return pattern_percent(placed - r->off_unit - w->off_unit, placed);
}

double pattern_sum__share(const struct pattern_sum *sum, enum pattern_kind kind)
{
	return pattern_percent(sum->kinds[kind], sum->count);
}
