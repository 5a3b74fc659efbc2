/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lives.h: what happened to each object, from its birth to its death? Turns records of calls with
 * an address into lives: addresses are reused, and a birth there starts another object. The kernel
 * counts the records of each address, so a life with a missing record is known and marked as
 * incomplete.
 */
#ifndef IOSONAR_ANALYSE_LIVES_H
#define IOSONAR_ANALYSE_LIVES_H

#include "analyse/calls.h"

/* What an event does to the object. */
enum life_role {
	LIFE_CALL,
	LIFE_BIRTH, /* another object from here on */
	LIFE_DEATH,
};

/* A record: a call was entered, or left, with the object in hand. */
struct life_step {
	struct call *call; /* NULL: entry not seen */
	bool is_return;
	enum life_role role;
	uint64_t ns;
	uint32_t function, cpu;
	const void *values; /* of the call; NULL without a call, or if the object was gone */
};

struct life {
	uint64_t object;
	uint64_t number; /* from 1, in order of start */
	bool is_born;	 /* its birth was seen */
	bool is_dead;
	bool is_whole; /* no record is missing */
	struct life_step *steps;
	size_t nr;
	/* the maker's */
	size_t room, open; /* open: calls still to return */
	uint64_t first_nth, last_nth, records, dead_ns;
	bool is_apart;		   /* another object has its address */
	bool is_over;		   /* it was handed on; its place keeps the count of its address */
	struct life *next, **back; /* list of lives apart; back: the pointer to it */
};

struct life_event {
	uint64_t object; /* 0: a return without its object; its call has it */
	uint64_t nth;	 /* number of this record at its address, from 1 */
	enum life_role role;
};

struct lives_wants {
	int (*on_life)(void *arg, const struct life *life); /* it is over */
	/* Number of records that an address should have had by the end; LIVES_UNKNOWN. */
	uint64_t (*counted)(void *arg, uint64_t object);
	/* Were records lost so far? Returns without their object are not counted for it: one
	 * that is late or missing may belong to another object, or be lost. */
	bool (*has_lost)(void *arg);
	void *arg;
	uint64_t linger_ns; /* wait after a death: the call that frees it may come later */
};

#define LIVES_UNKNOWN UINT64_MAX

struct lives;
struct lives *lives__new(const struct lives_wants *wants); /* NULL: out of memory */
void lives__free(struct lives *lives);
/* Returns what on_life returns if not 0; -ENOMEM. */
int lives__take(struct lives *lives, const struct life_event *event, struct call *call,
		const struct call_event *record);
/* A record that is no step: it only counts as one that is not missing. */
int lives__pass(struct lives *lives, const struct life_event *event);
/* Ends the lives that were dead long enough at now_ns, if all of their records have come. */
int lives__settle(struct lives *lives, uint64_t now_ns);
int lives__finish(struct lives *lives); /* all are */
/* Addresses of the lives that are not over. */
void lives__each_object(const struct lives *lives, void (*fn)(void *arg, uint64_t object),
			void *arg);

#endif
