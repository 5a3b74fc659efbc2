/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host_source.h: which machine is it from? Captures of several machines are shown together; a view
 * of any kind of data tells them apart by numbers from 1 on, and asks here for their names. Live
 * there is one machine, without a number.
 */
#ifndef IOSONAR_SESSION_HOST_SOURCE_H
#define IOSONAR_SESSION_HOST_SOURCE_H

#include "session/session.h"

bool host_source__are_several(const struct session *s);
/* Of what the view got last; 0: live. */
uint16_t host_source__here(const struct session *s);
/* Of a capture, by its number from 0, as its devices have it; 0: the run has one machine. */
uint16_t host_source__of(const struct session *s, size_t capture);
/* NULL: none has this number. Hostile. */
const char *host_source__label(const struct session *s, uint16_t number);
/* As session__disk; of several machines "db7:nvme0n1p1". Returns buf. */
char *host_source__disk(const struct session *s, uint16_t host, uint32_t dev, char *buf,
			size_t size);
/* --by host: -EINVAL, said, if this run has no captures. */
int host_source__check(const struct options *options, bool is_asked);

/* ---- for replays ---- */

struct capture_merge;
/* Only the order of several machines' data depends on it. */
void host_source_tell_steps(const struct capture_merge *merge);

#endif
