/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/steps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/compare.h"
#include "base/grow.h"
#include "wire/io_tables.h"

/* ---- one record ---- */

static const char stage_letters[NR_STAGES] = "HQGFISADKNVEWC";

/* Leaves out a time that is missing, or that is impossible (an old stamp of the same request). */
static void moment_add(struct moment *moments, size_t *nr, enum stage stage, uint64_t ns,
		       uint64_t end_ns)
{
	if (!ns || ns > end_ns || (*nr && ns < moments[*nr - 1].ns))
		return;
	moments[(*nr)++] = (struct moment){ stage, ns };
}

/* Before the command, which was sent then. */
static size_t moments_before(const struct io_stages *s, bool inside, uint64_t sent_ns,
			     struct moment *m)
{
	size_t nr = 0;

	if (inside)
		return 0;
	if (io_wait__cause(s->waits[0]) == IO_WAIT_HELD && io_wait__ns(s->waits[0]) < s->queued_ns)
		moment_add(m, &nr, STAGE_HELD, s->queued_ns - io_wait__ns(s->waits[0]), sent_ns);
	moment_add(m, &nr, STAGE_QUEUED, s->queued_ns, sent_ns);
	moment_add(m, &nr, STAGE_GOT, s->got_ns, sent_ns);
	moment_add(m, &nr, STAGE_FLUSHED, s->flushed_ns, sent_ns);
	moment_add(m, &nr, STAGE_INSERTED, s->inserted_ns, sent_ns);
	return nr;
}

static size_t nvme_moments(const struct io_record *r, const struct io_stages *s, bool inside,
			   struct moment *m)
{
	uint64_t end_ns = !inside && s->done_ns > r->end_ns ? s->done_ns : r->end_ns;
	size_t nr = moments_before(s, inside, r->first_ns, m);

	moment_add(m, &nr, STAGE_SETUP, r->first_ns, end_ns);
	if (r->attempts > 1)
		moment_add(m, &nr, STAGE_AGAIN, r->last_ns, end_ns);
	moment_add(m, &nr, STAGE_ISSUED, s->issued_ns, r->end_ns);
	moment_add(m, &nr, STAGE_REAPED, s->reaped_ns, r->end_ns);
	moment_add(m, &nr, STAGE_ANSWERED, r->end_ns, end_ns);
	if (!inside) {
		moment_add(m, &nr, STAGE_WRITTEN, s->written_ns, end_ns);
		moment_add(m, &nr, STAGE_DONE, s->done_ns, end_ns);
	}
	return nr;
}

static size_t block_moments(const struct io_record *r, const struct io_stages *s, bool inside,
			    struct moment *m)
{
	uint64_t issued_ns = r->attempts ? r->first_ns : 0; /* a bio that no command carried */
	size_t nr = moments_before(s, inside, issued_ns ? issued_ns : r->end_ns, m);

	moment_add(m, &nr, STAGE_ISSUED, issued_ns, r->end_ns);
	if (r->attempts > 1)
		moment_add(m, &nr, STAGE_AGAIN, r->last_ns, r->end_ns);
	if (!r->attempts) {
		moment_add(m, &nr, STAGE_BELOW, s->issued_ns, r->end_ns);
		moment_add(m, &nr, STAGE_BACK, s->reaped_ns, r->end_ns);
	}
	if (!inside && s->written_ns && s->done_ns > r->end_ns) { /* a flush followed */
		moment_add(m, &nr, STAGE_WRITTEN, s->written_ns, s->done_ns);
		moment_add(m, &nr, STAGE_DONE, s->done_ns, s->done_ns);
	} else {
		moment_add(m, &nr, STAGE_DONE, r->end_ns, r->end_ns);
	}
	return nr;
}

size_t stage__moments(const struct io_record *record, enum steps_at at,
		      struct moment moments[NR_STAGES])
{
	static const struct io_stages none;
	const struct io_stages *stages = io_record__stages(record);
	bool inside = at == STEPS_OF_COMMAND;

	if (record->what != (at == STEPS_OF_BIO ? RECORD_BIO : RECORD_END))
		return 0;
	stages = stages ? stages : &none;
	return record->kind == IO_BLOCK ? block_moments(record, stages, inside, moments)
					: nvme_moments(record, stages, inside, moments);
}

/* ---- names ---- */

static const char *const stage_words[NR_STAGES] = {
	[STAGE_HELD] = "held back by io.max",
	[STAGE_QUEUED] = "submitted",
	[STAGE_GOT] = "has a request",
	[STAGE_FLUSHED] = "the flush before it ended",
	[STAGE_INSERTED] = "in the scheduler",
	[STAGE_SETUP] = "command built",
	[STAGE_AGAIN] = "tried again",
	[STAGE_ISSUED] = "at the driver's queue",
	[STAGE_REAPED] = "completion found",
	[STAGE_ANSWERED] = "driver has the completion",
	[STAGE_BELOW] = "passed on by a volume",
	[STAGE_BACK] = "back at the volume",
	[STAGE_WRITTEN] = "written, a flush follows",
	[STAGE_DONE] = "ended",
};

char stage__letter(enum stage stage)
{
	return stage_letters[stage];
}

const char *stage__words(enum stage stage)
{
	return stage_words[stage];
}

const char *stage__legend(uint32_t stages, char buf[STAGE_LEGEND])
{
	size_t len = 0;

	buf[0] = 0;
	for (int stage = 0; stage < NR_STAGES; stage++)
		if (stages >> stage & 1)
			len += (size_t)snprintf(buf + len, STAGE_LEGEND - len, "%s%c %s",
						len ? "; " : "", stage_letters[stage],
						stage_words[stage]);
	return buf;
}

const char *step__name(enum stage from, enum stage to, char buf[4])
{
	buf[0] = stage_letters[from];
	buf[1] = '2';
	buf[2] = stage_letters[to];
	buf[3] = 0;
	return buf;
}

const char *step__words(enum stage from, enum stage to)
{
	switch (to) {
	case STAGE_QUEUED: return "held back by io.max";
	case STAGE_GOT: return "waits for a request";
	case STAGE_FLUSHED: return "waits for a flush";
	case STAGE_INSERTED: return "to the scheduler";
	case STAGE_SETUP:
		return from == STAGE_INSERTED  ? "in the scheduler"
		       : from == STAGE_FLUSHED ? "to the driver"
					       : "plugged, to the driver";
	case STAGE_AGAIN: return "failed attempts";
	case STAGE_ISSUED:
		return from >= STAGE_SETUP	? "driver maps the data"
		       : from == STAGE_INSERTED ? "in the scheduler"
		       : from == STAGE_FLUSHED	? "to the driver"
						: "plugged, to the driver";
	case STAGE_REAPED: return "device";
	case STAGE_ANSWERED: return from == STAGE_REAPED ? "driver reads the completion" : "device";
	case STAGE_BELOW: return "volume passes it on";
	case STAGE_BACK: return "below the volume";
	case STAGE_WRITTEN: return from == STAGE_ANSWERED ? "request ends" : "device";
	case STAGE_DONE:
		return from == STAGE_WRITTEN	? "waits for a flush"
		       : from == STAGE_ANSWERED ? "request ends"
		       : from == STAGE_BACK	? "volume ends it"
		       : from == STAGE_BELOW	? "below the volume"
		       : from == STAGE_GOT	? "waits for a flush"
						: "device";
	default: return "";
	}
}

static const struct {
	const char *name, *words;
} waits[NR_IO_WAITS] = {
	[IO_WAIT_NONE] = { "", "" },
	[IO_WAIT_HELD] = { "io.max", "held back by io.max" },
	[IO_WAIT_FROZEN] = { "frozen", "queue frozen or suspended" },
	[IO_WAIT_IOCOST] = { "iocost", "waits for io.cost" },
	[IO_WAIT_IOLATENCY] = { "iolatency", "waits for io.latency" },
	[IO_WAIT_WBT] = { "wbt", "writeback throttling" },
	[IO_WAIT_TAG] = { "tag", "waits for a tag" },
};

const char *wait__name(enum io_wait wait)
{
	return waits[wait].name;
}

const char *wait__words(enum io_wait wait)
{
	return waits[wait].words;
}

size_t wait__divide(const struct io_stages *s, uint64_t q2g_ns, struct wait_part parts[IO_WAITS],
		    uint64_t *rest_ns)
{
	uint64_t until = q2g_ns; /* since the submission */
	size_t nr = 0;

	for (int i = IO_WAITS - 1; i >= 0; i--) {
		enum io_wait wait = io_wait__cause(s->waits[i]);
		uint64_t from = io_wait__ns(s->waits[i]);

		if (wait == IO_WAIT_NONE || wait == IO_WAIT_HELD || from > until)
			continue;
		parts[nr++] = (struct wait_part){ wait, until - from };
		until = from;
	}
	*rest_ns = until;
	return nr;
}

/* ---- groups ---- */

static struct steps_group *group_new(int32_t device, uint8_t kind, uint8_t op)
{
	struct steps_group *group = calloc(1, sizeof(*group));

	if (!group)
		return NULL;
	*group = (struct steps_group){ .device = device, .kind = kind, .op = op };
	group->from = STAGE_DONE;
	group->to = STAGE_HELD;
	group->tails = calloc(HIST_CELLS, sizeof(*group->tails));
	if (group->tails)
		return group;
	free(group);
	return NULL;
}

struct steps_group *steps__group(struct steps *steps, int32_t device, uint8_t kind, uint8_t op)
{
	struct steps_group *group;

	for (size_t i = 0; i < steps->nr; i++) {
		group = steps->groups[i];
		if (group->device == device && group->kind == kind && group->op == op)
			return group;
	}
	if (GROW_BY_ONE(steps->groups, steps->nr))
		return NULL;
	group = group_new(device, kind, op);
	if (group)
		steps->groups[steps->nr++] = group;
	return group;
}

/* The last place takes all further steps: no kind of command has as many. */
static size_t group_step(struct steps_group *group, enum stage from, enum stage to,
			 enum io_wait wait)
{
	size_t i;

	for (i = 0; i < group->nr_steps; i++)
		if (group->steps[i].from == from && group->steps[i].to == to &&
		    group->steps[i].wait == wait)
			return i;
	if (i == STEPS_PER_GROUP)
		return STEPS_PER_GROUP - 1;
	group->steps[i].from = from;
	group->steps[i].to = to;
	group->steps[i].wait = wait;
	group->nr_steps++;
	return i;
}

static void group_widen(struct steps_group *group, enum stage from, enum stage to)
{
	group->from = from < group->from ? from : group->from;
	group->to = to > group->to ? to : group->to;
}

/* Adds to its place in the group, and to the sums of I/Os with this total. */
static void group_add(struct steps_group *group, uint64_t total, const struct moment *to,
		      enum io_wait wait, uint64_t ns)
{
	size_t step = group_step(group, to[-1].stage, to->stage, wait);

	hist__add(&group->steps[step].hist, ns, 0);
	group->tails[hist_slot(total)][step] += ns;
}

/* Cuts the named waits out of Q2G and returns the rest. */
static uint64_t group_add_waits(struct steps_group *group, uint64_t total, const struct moment *got,
				const struct io_stages *s)
{
	struct wait_part parts[IO_WAITS];
	uint64_t rest_ns;
	size_t nr = wait__divide(s, got->ns - got[-1].ns, parts, &rest_ns);

	for (size_t i = 0; i < nr; i++)
		group_add(group, total, got, parts[i].wait, parts[i].ns);
	return rest_ns;
}

int steps__add(struct steps *steps, int32_t device, const struct io_record *record,
	       enum steps_at at)
{
	const struct io_stages *stages = io_record__stages(record);
	struct moment m[NR_STAGES];
	size_t nr = stage__moments(record, at, m);
	struct steps_group *group;
	uint64_t total;

	if (nr < 2)
		return 0;
	group = steps__group(steps, device, record->kind, record->op);
	if (!group)
		return -ENOMEM;
	total = m[nr - 1].ns - m[0].ns;
	group_widen(group, m[0].stage, m[nr - 1].stage);
	hist__add(&group->total, total, record->bytes);
	for (size_t i = 1; i < nr; i++) {
		uint64_t ns = m[i].ns - m[i - 1].ns;

		if (stages && m[i - 1].stage == STAGE_QUEUED && m[i].stage == STAGE_GOT)
			ns = group_add_waits(group, total, &m[i], stages);
		group_add(group, total, &m[i], IO_WAIT_NONE, ns);
	}
	return 0;
}

static void group_merge(struct steps_group *into, const struct steps_group *from)
{
	hist__merge(&into->total, &from->total);
	group_widen(into, from->from, from->to);
	for (size_t i = 0; i < from->nr_steps; i++) {
		size_t step = group_step(into, from->steps[i].from, from->steps[i].to,
					 from->steps[i].wait);

		hist__merge(&into->steps[step].hist, &from->steps[i].hist);
		for (size_t slot = 0; slot < HIST_CELLS; slot++)
			into->tails[slot][step] += from->tails[slot][i];
	}
}

int steps__merge(struct steps *into, const struct steps *from)
{
	for (size_t i = 0; i < from->nr; i++) {
		const struct steps_group *group = from->groups[i];
		struct steps_group *its = steps__group(into, group->device, group->kind, group->op);

		if (!its)
			return -ENOMEM;
		if (group->total.count)
			group_merge(its, group);
	}
	return 0;
}

void steps__clear(struct steps *steps)
{
	for (size_t i = 0; i < steps->nr; i++) {
		struct steps_group *group = steps->groups[i];

		memset(&group->total, 0, sizeof(group->total));
		memset(group->steps, 0, group->nr_steps * sizeof(group->steps[0]));
		memset(group->tails, 0, HIST_CELLS * sizeof(*group->tails));
		group->nr_steps = 0;
	}
}

void steps__free(struct steps *steps)
{
	for (size_t i = 0; i < steps->nr; i++) {
		free(steps->groups[i]->tails);
		free(steps->groups[i]);
	}
	free(steps->groups);
	memset(steps, 0, sizeof(*steps));
}

/* ---- order ---- */

static int group_compare(const void *a, const void *b)
{
	const struct steps_group *x = *(struct steps_group *const *)a;
	const struct steps_group *y = *(struct steps_group *const *)b;

	return COMPARE(x->device, y->device) ?: COMPARE(x->kind, y->kind) ?: COMPARE(x->op, y->op);
}

/* Later stages come later; another attempt comes after the issue that failed. */
static int step_rank(const struct step *step)
{
	int late = step->to == STAGE_AGAIN && step->from == STAGE_ISSUED;

	return ((int)step->to * 64 + late * 64 + (int)step->from * 2 + late) * NR_IO_WAITS +
	       (int)step->wait;
}

/* Few, and nearly sorted; each step's place in the tails moves with it. */
static void group_sort(struct steps_group *group)
{
	for (size_t i = 1; i < group->nr_steps; i++)
		for (size_t j = i;
		     j && step_rank(&group->steps[j - 1]) > step_rank(&group->steps[j]); j--) {
			struct step step = group->steps[j];

			group->steps[j] = group->steps[j - 1];
			group->steps[j - 1] = step;
			for (size_t slot = 0; slot < HIST_CELLS; slot++) {
				uint64_t sum = group->tails[slot][j];

				group->tails[slot][j] = group->tails[slot][j - 1];
				group->tails[slot][j - 1] = sum;
			}
		}
}

void steps__sort(struct steps *steps)
{
	if (steps->nr) /* an empty array may be NULL, which qsort does not take */
		qsort(steps->groups, steps->nr, sizeof(struct steps_group *), group_compare);
	for (size_t i = 0; i < steps->nr; i++)
		group_sort(steps->groups[i]);
}

/* ---- parts of the whole ---- */

double steps_group__share(const struct steps_group *group, size_t step)
{
	uint64_t all = group->total.sum_ns;

	return all ? 100.0 * (double)group->steps[step].hist.sum_ns / (double)all : 0;
}

double steps_group__tail_share(const struct steps_group *group, size_t step, uint32_t per_10000)
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
