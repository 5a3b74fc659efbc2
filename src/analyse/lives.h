/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lives.h: what happened to each object, from its birth to its death? Records of calls that were
 * about an address become lives: an address is used again, and what is born there is another
 * object. The kernel counted the records of each address, so a life of which one is missing is
 * known, and is told to be no whole one.
 */
#ifndef IOSONAR_ANALYSE_LIVES_H
#define IOSONAR_ANALYSE_LIVES_H

#include "analyse/calls.h"

/* What an event says of the object. */
enum life_role {
	LIFE_CALL,
	LIFE_BIRTH, /* it is another one from here on */
	LIFE_DEATH,
};

/* A record: a call was entered, or left, with the object in hand. */
struct life_step {
	struct call *call; /* NULL: its entry was not seen */
	bool is_return;
	enum life_role role;
	uint64_t ns;
	uint32_t function, cpu;
	const void *values; /* in the call; NULL with it, or if the object was gone by then */
};

struct life {
	uint64_t object;
	uint64_t number; /* from 1, as they begin */
	bool is_born;	 /* its birth was seen */
	bool is_dead;
	bool is_whole; /* no record is missing */
	struct life_step *steps;
	size_t nr;
	/* the maker's */
	size_t room, open; /* calls that will be left */
	uint64_t first_nth, last_nth, records, dead_ns;
	bool is_apart;		   /* another one has its address */
	bool is_over;		   /* it was handed on; its place keeps the count of its address */
	struct life *next, **back; /* of those apart; back: what points to it */
};

struct life_event {
	uint64_t object; /* 0: a return that does not know it: its call does */
	uint64_t nth;	 /* how many records the address has had, with this one */
	enum life_role role;
};

struct lives_wants {
	int (*on_life)(void *arg, const struct life *life); /* it is over */
	/* How many records an address should have had, at the end; LIVES_UNKNOWN. */
	uint64_t (*counted)(void *arg, uint64_t object);
	/* Were records lost, up to here? Returns that do not know their object are not counted for
	 * it: if one comes late, or never, it may be another's, or lost. */
	bool (*has_lost)(void *arg);
	void *arg;
	uint64_t linger_ns; /* that a dead one is waited for: what puts it away may come later */
};

#define LIVES_UNKNOWN UINT64_MAX

struct lives;
struct lives *lives__new(const struct lives_wants *wants); /* NULL: out of memory */
void lives__free(struct lives *lives);
/* What on_life returns but 0; -ENOMEM. */
int lives__take(struct lives *lives, const struct life_event *event, struct call *call,
		const struct call_event *record);
/* A record that is no step: it only counts as one that is not missing. */
int lives__pass(struct lives *lives, const struct life_event *event);
/* Those that were dead long enough at now_ns are over, if all of their records have come. */
int lives__settle(struct lives *lives, uint64_t now_ns);
int lives__finish(struct lives *lives); /* all are */
/* Addresses of those that are not over. */
void lives__each_object(const struct lives *lives, void (*fn)(void *arg, uint64_t object),
			void *arg);

#endif
