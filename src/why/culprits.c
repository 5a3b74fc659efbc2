/* SPDX-License-Identifier: BSD-2-Clause */
#include "why/culprits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CULPRIT_VICTIMS = 20 }; /* commands of a victim, at least */

static size_t culprit_actor(struct culprits *c, const struct blame_tags *tags)
{
	struct actor actor = { .device = tags->device,
			       .station = tags->station,
			       .class = (enum fact_class)tags->op,
			       .is_swap = tags->kind & FACT_SWAP,
			       .is_bystander = tags->kind & FACT_BYSTANDER };

	memcpy(actor.comm, tags->comm, sizeof(tags->comm));
	for (size_t i = 0; i < c->nr; i++)
		if (c->actors[i].device == actor.device && c->actors[i].class == actor.class &&
		    c->actors[i].station == actor.station &&
		    c->actors[i].is_swap == actor.is_swap &&
		    c->actors[i].is_bystander == actor.is_bystander &&
		    !strcmp(c->actors[i].comm, actor.comm))
			return i;
	c->actors[c->nr] = actor;
	return c->nr++;
}

static void culprit_add_waits(struct culprits *c, const struct blame *b, size_t victim)
{
	const bool is_tail = b->parties[victim].tags.part;

	for (size_t i = 0; i < b->nr; i++) {
		struct actor_wait *wait = &c->waits[c->of[victim] * c->nr + c->of[i]];
		uint64_t ns = blame__between(b, victim, i);

		wait->all_ns += ns;
		wait->tail_ns += is_tail ? ns : 0;
	}
}

bool actor__is_other(const struct actor *victim, const struct actor *culprit)
{
	return !strcmp(victim->comm, culprit->comm) && !victim->is_bystander &&
	       culprit->is_bystander;
}

int culprits__find(struct culprits *c, const struct facts *f)
{
	const struct blame *b = &f->blame;

	memset(c, 0, sizeof(*c));
	c->actors = calloc(b->nr + 1, sizeof(*c->actors));
	if (!c->actors)
		return -ENOMEM;
	for (size_t i = 0; i < b->nr; i++) {
		const struct blame_party *party = &b->parties[i];
		struct actor *actor =
			&c->actors[c->of[i] = (uint16_t)culprit_actor(c, &party->tags)];

		actor->count += party->count;
		actor->latency_ns += party->latency_ns;
		actor->tail_ns += party->tags.part ? party->latency_ns : 0;
	}
	c->waits = calloc(c->nr * c->nr + 1, sizeof(*c->waits));
	if (!c->waits)
		return -ENOMEM;
	for (size_t i = 0; i < b->nr; i++)
		culprit_add_waits(c, b, i);
	return 0;
}

void culprits__free(struct culprits *c)
{
	free(c->actors);
	free(c->waits);
	memset(c, 0, sizeof(*c));
}

const struct actor_wait *culprits__between(const struct culprits *c, size_t victim, size_t culprit)
{
	return &c->waits[victim * c->nr + culprit];
}

static uint64_t culprit_waits_for_others(const struct culprits *c, size_t victim)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < c->nr; i++)
		ns += i == victim ? 0 : culprits__between(c, victim, i)->all_ns;
	return ns;
}

/* A victim that does next to nothing does not count. */
static bool culprit_counts(const struct culprits *c, size_t victim)
{
	uint64_t count = 0;

	for (size_t i = 0; i < c->nr; i++)
		count += c->actors[i].device == c->actors[victim].device &&
					 !c->actors[i].is_bystander
				 ? c->actors[i].count
				 : 0;
	return c->actors[victim].count >= CULPRIT_VICTIMS && c->actors[victim].count * 100 >= count;
}

static double culprit_share(uint64_t part_ns, uint64_t all_ns)
{
	return all_ns ? (double)part_ns / (double)all_ns : 0;
}

static void culprit_weigh(const struct culprits *c, size_t victim, culprit_is_fn is,
			  struct culprit_worst *worst)
{
	for (size_t i = 0; i < c->nr; i++) {
		const struct actor_wait *wait = culprits__between(c, victim, i);

		if (i == victim || !is(&c->actors[victim], &c->actors[i]) ||
		    wait->all_ns <= worst->wait.all_ns)
			continue;
		worst->victim = victim;
		worst->culprit = i;
		worst->wait = *wait;
	}
}

bool culprits__worst(const struct culprits *c, int32_t device, culprit_is_fn is,
		     struct culprit_worst *worst)
{
	memset(worst, 0, sizeof(*worst));
	for (size_t i = 0; i < c->nr; i++) {
		struct culprit_worst one = { 0 };

		if (c->actors[i].device != device || c->actors[i].is_bystander ||
		    !culprit_counts(c, i))
			continue;
		culprit_weigh(c, i, is, &one);
		one.total = culprit_share(one.wait.all_ns, c->actors[i].latency_ns);
		one.tail = culprit_share(one.wait.tail_ns, c->actors[i].tail_ns);
		if (one.total > worst->total)
			*worst = one;
	}
	worst->all_waits_ns = worst->total > 0 ? culprit_waits_for_others(c, worst->victim) : 0;
	return worst->total > 0;
}
