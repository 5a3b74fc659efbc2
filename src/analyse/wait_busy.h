/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wait_busy.h: for how much of a time was at least one of several commands under way? Keeps what
 * the commands cover, as spans without overlap in the order of time. Commands come in about the
 * order of their ends: then one more costs a comparison or two. Pure.
 */
#ifndef IOSONAR_ANALYSE_WAIT_BUSY_H
#define IOSONAR_ANALYSE_WAIT_BUSY_H

#include <stddef.h>
#include <stdint.h>

struct wait_span {
	uint64_t from_ns, to_ns;
};

struct wait_busy {
	struct wait_span *spans;
	size_t nr, room;
};

int wait_busy__add(struct wait_busy *busy, uint64_t from_ns, uint64_t to_ns); /* -ENOMEM */
/* How much of the time between two moments is covered. */
uint64_t wait_busy__within(const struct wait_busy *busy, uint64_t from_ns, uint64_t to_ns);
void wait_busy__clear(struct wait_busy *busy);
void wait_busy__free(struct wait_busy *busy); /* what it contains */

#endif
