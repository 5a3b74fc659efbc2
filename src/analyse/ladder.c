/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/ladder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/compare.h"
#include "base/grow.h"
#include "wire/io_tables.h"

/* ---- one record ---- */

static const char rung_letters[NR_RUNGS] = "QGFISADKNVEWC";

/* Leaves out a time that is missing, or that is impossible (an old stamp of the same request). */
static void moment_add(struct moment *moments, size_t *nr, enum rung rung, uint64_t ns,
		       uint64_t end_ns)
{
	if (!ns || ns > end_ns || (*nr && ns < moments[*nr - 1].ns))
		return;
	moments[(*nr)++] = (struct moment){ rung, ns };
}

/* Before the command, which was sent then. */
static size_t moments_before(const struct io_stages *s, bool inside, uint64_t sent_ns,
			     struct moment *m)
{
	size_t nr = 0;

	if (inside)
		return 0;
	moment_add(m, &nr, RUNG_QUEUED, s->queued_ns, sent_ns);
	moment_add(m, &nr, RUNG_GOT, s->got_ns, sent_ns);
	moment_add(m, &nr, RUNG_FLUSHED, s->flushed_ns, sent_ns);
	moment_add(m, &nr, RUNG_INSERTED, s->inserted_ns, sent_ns);
	return nr;
}

static size_t nvme_moments(const struct io_record *r, const struct io_stages *s, bool inside,
			   struct moment *m)
{
	uint64_t end_ns = !inside && s->done_ns > r->end_ns ? s->done_ns : r->end_ns;
	size_t nr = moments_before(s, inside, r->first_ns, m);

	moment_add(m, &nr, RUNG_SETUP, r->first_ns, end_ns);
	if (r->attempts > 1)
		moment_add(m, &nr, RUNG_AGAIN, r->last_ns, end_ns);
	moment_add(m, &nr, RUNG_ISSUED, s->issued_ns, r->end_ns);
	moment_add(m, &nr, RUNG_REAPED, s->reaped_ns, r->end_ns);
	moment_add(m, &nr, RUNG_ANSWERED, r->end_ns, end_ns);
	if (!inside) {
		moment_add(m, &nr, RUNG_WRITTEN, s->written_ns, end_ns);
		moment_add(m, &nr, RUNG_DONE, s->done_ns, end_ns);
	}
	return nr;
}

static size_t block_moments(const struct io_record *r, const struct io_stages *s, bool inside,
			    struct moment *m)
{
	uint64_t issued_ns = r->attempts ? r->first_ns : 0; /* a bio that no command carried */
	size_t nr = moments_before(s, inside, issued_ns ? issued_ns : r->end_ns, m);

	moment_add(m, &nr, RUNG_ISSUED, issued_ns, r->end_ns);
	if (r->attempts > 1)
		moment_add(m, &nr, RUNG_AGAIN, r->last_ns, r->end_ns);
	if (!r->attempts) {
		moment_add(m, &nr, RUNG_BELOW, s->issued_ns, r->end_ns);
		moment_add(m, &nr, RUNG_BACK, s->reaped_ns, r->end_ns);
	}
	if (!inside && s->written_ns && s->done_ns > r->end_ns) { /* a flush followed */
		moment_add(m, &nr, RUNG_WRITTEN, s->written_ns, s->done_ns);
		moment_add(m, &nr, RUNG_DONE, s->done_ns, s->done_ns);
	} else {
		moment_add(m, &nr, RUNG_DONE, r->end_ns, r->end_ns);
	}
	return nr;
}

size_t ladder__moments(const struct io_record *record, enum ladder_at at,
		       struct moment moments[NR_RUNGS])
{
	static const struct io_stages none;
	const struct io_stages *stages = io_record__stages(record);
	bool inside = at == LADDER_COMMAND;

	if (record->what != (at == LADDER_BIO ? RECORD_BIO : RECORD_END))
		return 0;
	stages = stages ? stages : &none;
	return record->kind == IO_BLOCK ? block_moments(record, stages, inside, moments)
					: nvme_moments(record, stages, inside, moments);
}

/* ---- names ---- */

static const char *const rung_words[NR_RUNGS] = {
	[RUNG_QUEUED] = "submitted",
	[RUNG_GOT] = "has a request",
	[RUNG_FLUSHED] = "the flush before it ended",
	[RUNG_INSERTED] = "in the scheduler",
	[RUNG_SETUP] = "command built",
	[RUNG_AGAIN] = "tried again",
	[RUNG_ISSUED] = "at the driver's queue",
	[RUNG_REAPED] = "completion found",
	[RUNG_ANSWERED] = "driver has the completion",
	[RUNG_BELOW] = "passed on by a volume",
	[RUNG_BACK] = "back at the volume",
	[RUNG_WRITTEN] = "written, a flush follows",
	[RUNG_DONE] = "ended",
};

char rung__letter(enum rung rung)
{
	return rung_letters[rung];
}

const char *rung__words(enum rung rung)
{
	return rung_words[rung];
}

const char *rung__legend(uint32_t rungs, char buf[RUNG_LEGEND])
{
	size_t len = 0;

	buf[0] = 0;
	for (int rung = 0; rung < NR_RUNGS; rung++)
		if (rungs >> rung & 1)
			len += (size_t)snprintf(buf + len, RUNG_LEGEND - len, "%s%c %s",
						len ? "; " : "", rung_letters[rung],
						rung_words[rung]);
	return buf;
}

const char *step__name(enum rung from, enum rung to, char buf[4])
{
	buf[0] = rung_letters[from];
	buf[1] = '2';
	buf[2] = rung_letters[to];
	buf[3] = 0;
	return buf;
}

const char *step__words(enum rung from, enum rung to)
{
	switch (to) {
	case RUNG_GOT: return "waits for a request";
	case RUNG_FLUSHED: return "waits for a flush";
	case RUNG_INSERTED: return "to the scheduler";
	case RUNG_SETUP:
		return from == RUNG_INSERTED  ? "in the scheduler"
		       : from == RUNG_FLUSHED ? "to the driver"
					      : "plugged, to the driver";
	case RUNG_AGAIN: return "failed attempts";
	case RUNG_ISSUED:
		return from >= RUNG_SETUP      ? "driver maps the data"
		       : from == RUNG_INSERTED ? "in the scheduler"
		       : from == RUNG_FLUSHED  ? "to the driver"
					       : "plugged, to the driver";
	case RUNG_REAPED: return "device";
	case RUNG_ANSWERED: return from == RUNG_REAPED ? "driver reads the completion" : "device";
	case RUNG_BELOW: return "volume passes it on";
	case RUNG_BACK: return "below the volume";
	case RUNG_WRITTEN: return from == RUNG_ANSWERED ? "request ends" : "device";
	case RUNG_DONE:
		return from == RUNG_WRITTEN    ? "waits for a flush"
		       : from == RUNG_ANSWERED ? "request ends"
		       : from == RUNG_BACK     ? "volume ends it"
		       : from == RUNG_BELOW    ? "below the volume"
		       : from == RUNG_GOT      ? "waits for a flush"
					       : "device";
	default: return "";
	}
}

/* ---- groups ---- */

static struct ladder_group *group_new(int32_t device, uint8_t kind, uint8_t op)
{
	struct ladder_group *group = calloc(1, sizeof(*group));

	if (!group)
		return NULL;
	*group = (struct ladder_group){ .device = device, .kind = kind, .op = op };
	group->from = RUNG_DONE;
	group->to = RUNG_QUEUED;
	group->tails = calloc(HIST_CELLS, sizeof(*group->tails));
	if (group->tails)
		return group;
	free(group);
	return NULL;
}

static struct ladder_group *ladder_group(struct ladder *ladder, int32_t device, uint8_t kind,
					 uint8_t op)
{
	struct ladder_group *group;

	for (size_t i = 0; i < ladder->nr; i++) {
		group = ladder->groups[i];
		if (group->device == device && group->kind == kind && group->op == op)
			return group;
	}
	if (GROW_BY_ONE(ladder->groups, ladder->nr))
		return NULL;
	group = group_new(device, kind, op);
	if (group)
		ladder->groups[ladder->nr++] = group;
	return group;
}

/* The last place takes all further steps: no kind of command has as many. */
static size_t group_step(struct ladder_group *group, enum rung from, enum rung to)
{
	size_t i;

	for (i = 0; i < group->nr_steps; i++)
		if (group->steps[i].from == from && group->steps[i].to == to)
			return i;
	if (i == LADDER_STEPS)
		return LADDER_STEPS - 1;
	group->steps[i].from = from;
	group->steps[i].to = to;
	group->nr_steps++;
	return i;
}

static void group_widen(struct ladder_group *group, enum rung from, enum rung to)
{
	group->from = from < group->from ? from : group->from;
	group->to = to > group->to ? to : group->to;
}

int ladder__add(struct ladder *ladder, int32_t device, const struct io_record *record,
		enum ladder_at at)
{
	struct moment m[NR_RUNGS];
	size_t nr = ladder__moments(record, at, m);
	struct ladder_group *group;
	uint64_t total;

	if (nr < 2)
		return 0;
	group = ladder_group(ladder, device, record->kind, record->op);
	if (!group)
		return -ENOMEM;
	total = m[nr - 1].ns - m[0].ns;
	group_widen(group, m[0].rung, m[nr - 1].rung);
	hist__add(&group->total, total, record->bytes);
	for (size_t i = 1; i < nr; i++) {
		size_t step = group_step(group, m[i - 1].rung, m[i].rung);
		uint64_t ns = m[i].ns - m[i - 1].ns;

		hist__add(&group->steps[step].hist, ns, 0);
		group->tails[hist_slot(total)][step] += ns;
	}
	return 0;
}

static void group_merge(struct ladder_group *into, const struct ladder_group *from)
{
	hist__merge(&into->total, &from->total);
	group_widen(into, from->from, from->to);
	for (size_t i = 0; i < from->nr_steps; i++) {
		size_t step = group_step(into, from->steps[i].from, from->steps[i].to);

		hist__merge(&into->steps[step].hist, &from->steps[i].hist);
		for (size_t slot = 0; slot < HIST_CELLS; slot++)
			into->tails[slot][step] += from->tails[slot][i];
	}
}

int ladder__merge(struct ladder *into, const struct ladder *from)
{
	for (size_t i = 0; i < from->nr; i++) {
		const struct ladder_group *group = from->groups[i];
		struct ladder_group *its =
			ladder_group(into, group->device, group->kind, group->op);

		if (!its)
			return -ENOMEM;
		if (group->total.count)
			group_merge(its, group);
	}
	return 0;
}

void ladder__clear(struct ladder *ladder)
{
	for (size_t i = 0; i < ladder->nr; i++) {
		struct ladder_group *group = ladder->groups[i];

		memset(&group->total, 0, sizeof(group->total));
		memset(group->steps, 0, group->nr_steps * sizeof(group->steps[0]));
		memset(group->tails, 0, HIST_CELLS * sizeof(*group->tails));
		group->nr_steps = 0;
	}
}

void ladder__free(struct ladder *ladder)
{
	for (size_t i = 0; i < ladder->nr; i++) {
		free(ladder->groups[i]->tails);
		free(ladder->groups[i]);
	}
	free(ladder->groups);
	memset(ladder, 0, sizeof(*ladder));
}

/* ---- order ---- */

static int group_compare(const void *a, const void *b)
{
	const struct ladder_group *x = *(struct ladder_group *const *)a;
	const struct ladder_group *y = *(struct ladder_group *const *)b;

	return COMPARE(x->device, y->device) ?: COMPARE(x->kind, y->kind) ?: COMPARE(x->op, y->op);
}

/* Later rungs come later; another attempt comes after the issue that failed. */
static int step_rank(const struct ladder_step *step)
{
	int late = step->to == RUNG_AGAIN && step->from == RUNG_ISSUED;

	return (int)step->to * 64 + late * 64 + (int)step->from * 2 + late;
}

/* Few, and nearly sorted; each step's place in the tails moves with it. */
static void group_sort(struct ladder_group *group)
{
	for (size_t i = 1; i < group->nr_steps; i++)
		for (size_t j = i;
		     j && step_rank(&group->steps[j - 1]) > step_rank(&group->steps[j]); j--) {
			struct ladder_step step = group->steps[j];

			group->steps[j] = group->steps[j - 1];
			group->steps[j - 1] = step;
			for (size_t slot = 0; slot < HIST_CELLS; slot++) {
				uint64_t sum = group->tails[slot][j];

				group->tails[slot][j] = group->tails[slot][j - 1];
				group->tails[slot][j - 1] = sum;
			}
		}
}

void ladder__sort(struct ladder *ladder)
{
	if (ladder->nr) /* an empty array may be NULL, which qsort does not take */
		qsort(ladder->groups, ladder->nr, sizeof(struct ladder_group *), group_compare);
	for (size_t i = 0; i < ladder->nr; i++)
		group_sort(ladder->groups[i]);
}

/* ---- parts of the whole ---- */

double ladder_group__share(const struct ladder_group *group, size_t step)
{
	uint64_t all = group->total.sum_ns;

	return all ? 100.0 * (double)group->steps[step].hist.sum_ns / (double)all : 0;
}

double ladder_group__tail_share(const struct ladder_group *group, size_t step, uint32_t per_10000)
{
	uint64_t beyond = group->total.count - group->total.count * per_10000 / 10000, seen = 0;
	uint64_t mine = 0, all = 0;

	/* From the top, in whole buckets, until the wanted number of commands is reached. */
	for (size_t slot = HIST_CELLS; slot-- > 0 && seen < beyond;) {
		seen += group->total.slots[slot];
		mine += group->tails[slot][step];
		for (size_t i = 0; i < group->nr_steps; i++)
			all += group->tails[slot][i];
	}
	return all ? 100.0 * (double)mine / (double)all : 0;
}
