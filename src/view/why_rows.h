/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * why_rows.h: the rows of `why`: findings, the most costly first, with what each explains, the
 * numbers that show it, and the command that shows more. `report` has them, too.
 */
#ifndef IOSONAR_VIEW_WHY_ROWS_H
#define IOSONAR_VIEW_WHY_ROWS_H

#include "session/session.h"
#include "view/row_conditions.h"
#include "view/why_beside.h"
#include "view/why_whose.h"
#include "why/why.h"

extern const struct object why_rows;

struct why_view {
	/* options */
	struct option_number top, at_least, watch_ns, buffer;
	struct row_conditions conditions;
	struct why_whose whose;
	/* state */
	struct options options; /* as passed to the session */
	struct facts facts;
	struct why why;
	struct why_beside beside; /* what other captures hold */
	struct mounts mounts;	  /* of this machine, live */
	uint64_t cpu_ns;	  /* of this process before the first command */
	uint32_t nr_cpus;
	const struct session *session;
	struct table *table;
	uint8_t classes[2][256]; /* enum fact_class plus 1 by operation, of NVMe and of others */
	uint64_t stageless, left_out;
};

double why_rows__least(const struct why_view *view); /* --at-least, 0 to 1 */
/* The findings so far, or that there are none. -ENOMEM, said. */
int why_rows__show(struct why_view *view, struct session *session);

#endif
