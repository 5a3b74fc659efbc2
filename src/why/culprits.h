/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * culprits.h: in front of whose commands were whose? The parties of blame, joined to actors: a task
 * and a class of commands on a device; and for each pair what the one waited because of the other,
 * in all commands and in the slowest. The slowest are known as well as they were when each ended.
 */
#ifndef IOSONAR_WHY_CULPRITS_H
#define IOSONAR_WHY_CULPRITS_H

#include "why/facts.h"

struct actor {
	char comm[17];
	int32_t device, station;
	enum fact_class class;
	bool is_swap, is_bystander;
	uint64_t count, latency_ns, tail_ns;
};

struct actor_wait {
	uint64_t all_ns, tail_ns;
};

struct culprits {
	struct actor *actors;
	size_t nr;
	struct actor_wait *waits; /* of victim * nr + culprit */
	uint16_t of[BLAME_PARTIES];
};

/* Is the culprit a task of the victim's name that nobody asked about? */
bool actor__is_other(const struct actor *victim, const struct actor *culprit);

/* After facts__finish. -ENOMEM. */
int culprits__find(struct culprits *culprits, const struct facts *facts);
void culprits__free(struct culprits *culprits);
const struct actor_wait *culprits__between(const struct culprits *culprits, size_t victim,
					   size_t culprit);

/* The worst that actors of one kind do to one victim. */
struct culprit_worst {
	size_t victim, culprit;
	struct actor_wait wait;
	uint64_t all_waits_ns; /* of the victim, for anybody else */
	double total, tail;    /* shares of the victim's time */
};
typedef bool (*culprit_is_fn)(const struct actor *victim, const struct actor *culprit);
/* On this device; false: there is none. Bystanders are no victims. Culprits of one task and class
 * are one. */
bool culprits__worst(const struct culprits *culprits, int32_t device, culprit_is_fn is,
		     struct culprit_worst *worst);

#endif
