/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drives_events.h: what did controllers say and suffer during the run? Events of their health, such
 * as a temperature above its threshold, resets, time-outs and changes of paths, which pass by as
 * records: no command is sent to ask. It cannot see the data of a log page that others fetch. Used
 * only by `drives`; remove it with that command.
 */
#ifndef IOSONAR_VIEW_DRIVES_EVENTS_H
#define IOSONAR_VIEW_DRIVES_EVENTS_H

#include <stddef.h>
#include <stdint.h>
#include "wire/io_record.h"

enum { DRIVES_CTRLS = 256 };

struct drives_ctrl {
	char host[65]; /* "": not known */
	int ctrl;
	uint64_t hot, sick, resets, timeouts; /* hot: temperature; sick: other health events */
	uint64_t paths, failovers; /* paths: notices that the states of paths have changed */
};

struct drives_events {
	struct drives_ctrl ctrls[DRIVES_CTRLS]; /* events of others are not kept */
	size_t nr;
};

/* A record of any kind, an end only of a command on a path; ctrl: N of nvmeN. */
void drives_events__add(struct drives_events *events, const char *host, int ctrl,
			const struct io_record *record);
/* "2 events: temperature threshold;1 resets of its controller"; returns buf. */
char *drives_events__words(const struct drives_events *events, const char *host, int ctrl,
			   char *buf, size_t size);

#endif
