/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lines_share.h: lines that copies of a run write for it (-j). Each line of JSON or CSV stands
 * alone, so the run prints them as they come; of text, a copy tells where its columns grew, and the
 * run makes them as wide as its own. A part is 8192 lines in memory.
 */
#ifndef IOSONAR_VIEW_LINES_SHARE_H
#define IOSONAR_VIEW_LINES_SHARE_H

#include <stdio.h>
#include "capture/bytes.h"
#include "decode/column.h"

/* Of a copy, which ends without freeing it. */
struct lines_share {
	FILE *out; /* the table's, instead of the run's */
	const struct table *table;
	struct byte_out lines;
	struct byte_out growths; /* of text: a place in the lines, and the widths from there on */
};

int lines_share__begin(struct lines_share *share, struct table *table); /* 0 or -ENOMEM */
/* Into an empty `out`, which may get more behind them. -EAGAIN: text that is not ASCII. */
int lines_share__give(struct lines_share *share, struct table *table, struct byte_out *out);
/* All that is left. */
void lines_share__take(struct table *table, struct byte_in *in);

#endif
