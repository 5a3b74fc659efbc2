/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blame.h: who made whom wait? Each command's latency is divided: the wait for commands before it
 * on the same device belongs to those that were served meanwhile, and so does the part of its
 * service that is longer beside others than alone; the rest is the device itself. The parts of a
 * party add up to its latencies, to the nanosecond. Memory is bounded: a batch of commands per
 * device, and a table of parties. It cannot see waits before the submission.
 */
#ifndef IOSONAR_ANALYSE_BLAME_H
#define IOSONAR_ANALYSE_BLAME_H

#include "analyse/blame_queue.h"
#include "base/index.h"

enum {
	BLAME_BATCH = 32768,   /* commands of a device that are judged together */
	BLAME_HELD = 1 << 18,  /* commands of all devices that wait for that */
	BLAME_DEVICES = 256,   /* later devices are not followed; each has a party of the rest */
	BLAME_SPAN = 2048,     /* commands from which the servers are estimated, twice */
	BLAME_RENEWS = 8,      /* batches after which they are estimated again */
	BLAME_REST = INT32_MIN /* device of a party of the rest */
};

/* Tags of a party. Keys that are not wanted are zero, so that tags compare as bytes. */
struct blame_tags {
	uint64_t cgroup;
	uint64_t unit, container; /* a cgroup that stands for all of the group; 0: none */
	char comm[16];
	int32_t device; /* as the caller numbers them */
	uint32_t pid;
	uint8_t kind, op; /* enum io_kind and its number */
	uint8_t size_class;
	uint8_t part;	 /* parties that differ only in this and in qid are alike where servers are
			    estimated */
	int32_t station; /* set by blame__add */
	int32_t path;	 /* 1 + the caller's number of the path to the device */
	uint16_t qid, pad;
};
_Static_assert(sizeof(struct blame_tags) == 64, "no holes: compared as bytes");

struct blame_party {
	struct blame_tags tags;
	uint64_t count, latency_ns; /* as they came */
	uint16_t like;		    /* the first party that is alike, or itself */
};

/* A command: submitted, issued to the device, ended. */
struct blame_times {
	uint64_t from_ns, issue_ns, end_ns;
};

struct blame_io {
	struct blame_times at;
	uint16_t party, flight;
};

struct blame_device {
	int32_t device;
	struct blame_io *ios; /* by end */
	size_t nr;
	uint64_t newest_ns, longest_ns;
	double depth;	  /* in flight when its servers were estimated */
	uint32_t batches; /* since then */
	struct blame_queue *queue;
};

struct service;

struct blame {
	struct blame_party parties[BLAME_PARTIES];
	struct blame_sum sums[BLAME_PARTIES]; /* by party */
	size_t nr;
	struct index index; /* of parties */
	struct blame_device devices[BLAME_DEVICES];
	size_t nr_devices, held;
	uint64_t rest;		 /* commands of parties of the rest */
	uint64_t unaccounted_ns; /* at the end: waits that no other sum confirms */
	/* Is this party to be left out? NULL: no prediction is wanted. */
	bool (*leaves_out)(const void *arg, const struct blame_tags *tags);
	const void *arg;
	struct service *submits, *issues; /* of a batch, in their order */
};

/* All zeros but leaves_out and arg before. -ENOMEM. */
int blame__init(struct blame *blame);
void blame__free(struct blame *blame);
/* In order of end_ns. station: what is shared, a disk or a controller. -ENOMEM. */
int blame__add(struct blame *blame, int32_t station, const struct blame_tags *tags,
	       const struct blame_times *times);
/* The end: judges all that are held. */
void blame__finish(struct blame *blame);

/* After the end. What `victim` waited because of `culprit`. */
uint64_t blame__between(const struct blame *blame, size_t victim, size_t culprit);
uint64_t blame__device(const struct blame *blame, size_t victim); /* the device itself */
/* By party: the mean latency without the parties left out. */
void blame__predict(const struct blame *blame, double means_ns[BLAME_PARTIES]);
/* As last estimated; 0: not known, SERVERS_ALL: nothing waits. */
uint32_t blame__servers(const struct blame *blame, int32_t station);

#endif
