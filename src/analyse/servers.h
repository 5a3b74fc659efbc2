/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers.h: how many commands does a device serve at once? It is taken as one queue in order of
 * submission, before some servers: a command's service begins when fewer than that number of
 * earlier commands are in flight. The number is the one that fits best: commands seldom end before
 * their service begins, and services of one kind differ least. A device that serves in another
 * order appears to serve all at once.
 */
#ifndef IOSONAR_ANALYSE_SERVERS_H
#define IOSONAR_ANALYSE_SERVERS_H

#include <stddef.h>
#include <stdint.h>

enum {
	SERVERS_MOST = 1024,  /* of those that are tried */
	SERVERS_KINDS = 1024, /* of services */
	SERVERS_LEAST = 64,   /* commands that show nothing if they are fewer */
};
#define SERVERS_ALL UINT32_MAX /* nothing waits */

struct service {
	uint64_t from_ns, end_ns;
	uint32_t kind; /* below SERVERS_KINDS */
};

/* Commands that follow each other, by from_ns. */
struct service_span {
	const struct service *services;
	size_t nr;
};

/* From spans of one device. SERVERS_ALL, too, if too little is known, or without memory. */
uint32_t servers__estimate(const struct service_span *spans, size_t nr);

#endif
