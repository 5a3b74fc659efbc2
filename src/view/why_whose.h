/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * why_whose.h: whose I/O does `why` explain? With -p, --comm or --cgroup that of these tasks alone;
 * all other commands are still those that they may wait for. Costs a comparison per command, with
 * --cgroup a look-up of each cgroup; it cannot see for whom a kernel worker writes. Used only by
 * that command; remove it with that command.
 */
#ifndef IOSONAR_VIEW_WHY_WHOSE_H
#define IOSONAR_VIEW_WHY_WHOSE_H

#include "session/session.h"
#include "wire/io_record.h"

enum { WHY_CGROUPS = 64 };

struct why_whose {
	/* options */
	struct filter_options asked; /* pid, comm and cgroup */
	/* state */
	struct why_cgroup {
		uint64_t id; /* 0: none */
		bool is_asked;
	} cgroups[WHY_CGROUPS];
	uint64_t unknown; /* commands without a cgroup */
	char text[400];
};

bool why_whose__is_given(const struct why_whose *whose);
/* Of a live run: do these tasks exist? -EINVAL, said. */
int why_whose__check(const struct why_whose *whose);
/* Is this command of a task that is asked about? If none is, all are. */
bool why_whose__is(struct why_whose *whose, const struct session *session,
		   const struct io_record *record);
/* "process 4711", "tasks named 'dd'"; NULL: all. */
const char *why_whose__words(struct why_whose *whose);

#endif
