/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top_troubles.h: what goes wrong while `top` runs? Commands that failed, by device, operation and
 * status, and commands that are older than a second. The programs count failed commands only when
 * one fails. The kernel's tags are looked at every interval, but for at most 1 % of the time,
 * or once a second while something is stuck. It cannot tell retried commands nor events of
 * controllers: `errors` can.
 */
#ifndef IOSONAR_VIEW_TOP_TROUBLES_H
#define IOSONAR_VIEW_TOP_TROUBLES_H

#include "collect/inflight.h"
#include "collect/io.h"
#include "session/session.h"

enum { TOP_TROUBLES = 64 }; /* kinds, of failed ones and of stuck ones each */

/* One kind. Texts are hostile. */
struct top_trouble {
	double time_s;
	const char *what, *dev, *op, *status;
	uint64_t count;	     /* failed: since the start; stuck: now */
	uint64_t recent;     /* failed: in the interval; stuck: as count, or 0: not looked at in the
				interval */
	double last_s;	     /* failed: when the last one ended; NAN: stuck */
	uint64_t oldest_ns;  /* stuck: age of the oldest; CELL_NO_NUMBER: failed */
	struct io_tags tags; /* failed: which kind it is, with its status */
	uint64_t before;     /* failed: the count at the last interval */
	uint16_t status_code;
	char dev_text[320], op_text[16], status_text[256];
};

struct top_troubles {
	struct session *session;
	struct inflight *inflight; /* NULL: stuck commands cannot be found */
	struct inflight_list list;
	double next_look_s;
	struct top_trouble failed[TOP_TROUBLES], stuck[TOP_TROUBLES];
	size_t nr_failed, nr_stuck;
	struct table *table;
};

extern const struct object top_trouble_rows;

/* In on_start of a live run. Without the right to look at tags it says so, and does without. */
int top_troubles__open(struct top_troubles *troubles, struct session *session);
void top_troubles__free(struct top_troubles *troubles);
/* An interval ended: what there is now. -errno, said. */
int top_troubles__look(struct top_troubles *troubles);
/* Those of the interval, as rows of top_trouble_rows. */
void top_troubles__print(struct top_troubles *troubles);
/* The nth to show: stuck ones first, then those that failed last; NULL: there are no more. */
const struct top_trouble *top_troubles__nth(const struct top_troubles *troubles, size_t nth);

/* For tests: one kind of failed commands, one list of commands in flight. */
void top_troubles__begin(struct top_troubles *troubles, double now_s);
void top_troubles__add_failed(void *troubles, const struct io_failed *failed);
void top_troubles__add_stuck(struct top_troubles *troubles, const struct inflight_list *list,
			     char *const *op_names);
void top_troubles__end(struct top_troubles *troubles);

#endif
