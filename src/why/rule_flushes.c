/* SPDX-License-Identifier: BSD-2-Clause */
/* rule_flushes.c: flushes of the device's cache take the time, or commands wait for them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "why/rules.h"

static const double flushes_dominate = 0.4;

struct flush_waits {
	uint64_t all_ns, tail_ns;
	const struct actor *victim;  /* that waits most; NULL: nobody does */
	const struct actor *culprit; /* any that it waits for */
	uint64_t victim_ns;
};

/* What a task waited because of flushes. */
static void flushes_add_waits(const struct culprits *c, size_t victim, struct flush_waits *w)
{
	const struct actor *culprit = NULL;
	uint64_t ns = 0;

	for (size_t i = 0; i < c->nr; i++) {
		if (c->actors[i].class != FACT_FLUSH)
			continue;
		if (culprits__between(c, victim, i)->all_ns)
			culprit = &c->actors[i];
		ns += culprits__between(c, victim, i)->all_ns;
		w->tail_ns += culprits__between(c, victim, i)->tail_ns;
	}
	w->all_ns += ns;
	if (ns <= w->victim_ns)
		return;
	w->victim_ns = ns;
	w->victim = &c->actors[victim];
	w->culprit = culprit;
}

static void flushes_find_waits(const struct why_case *c, struct flush_waits *w)
{
	const struct culprits *all = c->culprits;

	*w = (struct flush_waits){ 0 };
	for (size_t i = 0; i < all->nr; i++)
		if (all->actors[i].device == c->device->device &&
		    all->actors[i].class != FACT_FLUSH && !all->actors[i].is_bystander)
			flushes_add_waits(all, i, w);
}

/* Beside reads and writes. */
static bool flushes_are_slow(const struct fact_sums *flushes, const struct fact_sums *data)
{
	return !data->nr || !flushes->nr ||
	       flushes->total_ns / flushes->nr >= 2 * (data->parts_ns[PART_DEVICE] / data->nr);
}

/* ---- whose they are ---- */

/* Those of another namespace of the drive are no flushes of this one: a task is all that is known.
 */
static struct flusher flushes_whose(const struct why_case *c, const struct flush_waits *w)
{
	const struct flusher *most = flushers__main(&c->device->flushers);
	struct flusher whose = { 0 };

	if (most)
		return *most;
	if (w->culprit)
		memcpy(whose.comm, w->culprit->comm, sizeof(whose.comm));
	return whose;
}

/* "jbd2/sda1-8 (journal of sda1)" */
static void flushes_name(const struct flusher *of, char *buf, size_t size)
{
	char disk[16];

	if (flusher__disk(of, disk, sizeof(disk)))
		snprintf(buf, size, "%s (journal of %s)", of->comm, disk);
	else
		snprintf(buf, size, "%s", of->comm);
}

static void flushes_prove_whose(const struct why_case *c, const struct flusher *of,
				struct why_finding *f)
{
	const struct mount *mount = NULL;
	char disk[16];

	if (flushers__are_of_writes(&c->device->flushers))
		verdict__prove(f, "%" PRIu64 " writes of %s flush before or after themselves",
			       of->writes, of->comm);
	else if (of->flushes)
		verdict__prove(
			f, "%" PRIu64 " of the flushes are sent by %s%s", of->flushes, of->comm,
			strncmp(of->comm, "kworker", 7) ? "" : ", for an fsync of some task");
	if (c->facts->mounts && flusher__disk(of, disk, sizeof(disk)))
		mount = mounts__of_disk(c->facts->mounts, disk);
	if (mount)
		verdict__prove(f, "%s is mounted at %s", disk, mount->at);
}

/* The sentence, and who waits. Their own time, if no others wait for most of it. */
static void flushes_say(const struct flusher *of, const struct flush_waits *w,
			struct why_finding *f)
{
	const bool others_wait = w->victim && 2 * w->all_ns >= f->cost_ns;
	char whose[48];

	flushes_name(of, whose, sizeof(whose));
	if (others_wait)
		verdict__say(f, "%s of %s wait for flushes of %s",
			     fact_class__word(w->victim->class), w->victim->comm, whose);
	else
		verdict__say(f, "flushes of %s take the time", whose);
	verdict__more(f, "blame", "--victim", others_wait ? w->victim->comm : of->comm);
}

static void flushes_prove(const struct why_case *c, const struct flush_waits *w,
			  const struct fact_sums *flushes, const struct fact_sums *data,
			  struct why_finding *f)
{
	const struct flusher of = flushes_whose(c, w);

	flushes_say(&of, w, f);
	verdict__prove(
		f, "%" PRIu64 " flushes, %s each", flushes->nr,
		why_ns(flushes->nr ? (double)flushes->total_ns / (double)flushes->nr : 0).text);
	flushes_prove_whose(c, &of, f);
	verdict__prove(f, "other commands waited %s for them",
		       why_ns((double)(c->all.parts_ns[PART_FLUSH] + w->all_ns)).text);
	if (data->nr)
		verdict__prove(f, "%" PRIu64 " reads and writes, %s each at the device", data->nr,
			       why_ns((double)data->parts_ns[PART_DEVICE] / (double)data->nr).text);
}

static bool flushes_test(const struct why_case *c, struct why_finding *f)
{
	const int32_t device = c->device->device;
	const struct fact_choice data_of = { .device = device,
					     .classes = FACT_DATA,
					     .bystanders = true };
	const struct fact_choice flushes_of = { .device = device,
						.classes = 1 << FACT_FLUSH,
						.bystanders = true };
	struct fact_sums own, tail, all, data, unused;
	struct flush_waits waits;

	facts__sum(c->facts, (struct fact_choice){ .device = device, .classes = 1 << FACT_FLUSH },
		   &own, &tail);
	facts__sum(c->facts, flushes_of, &all, &unused);
	facts__sum(c->facts, data_of, &data, &unused);
	flushes_find_waits(c, &waits);
	verdict__weigh(f, c, own.total_ns + c->all.parts_ns[PART_FLUSH] + waits.all_ns,
		       tail.total_ns + c->tail.parts_ns[PART_FLUSH] + waits.tail_ns);
	if (f->total < c->least || (f->total < flushes_dominate && !flushes_are_slow(&all, &data)))
		return false;
	f->affected = all.nr;
	flushes_prove(c, &waits, &all, &data, f);
	return true;
}

const struct why_rule rule_flushes = { "flushes", false, false, flushes_test, { "stalls" } };
