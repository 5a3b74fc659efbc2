/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lines_share.h: lines of JSON or CSV that copies of a run write for it (-j). Each line stands
 * alone, so the run prints them as they come; a part is 8192 lines in memory.
 */
#ifndef IOSONAR_VIEW_LINES_SHARE_H
#define IOSONAR_VIEW_LINES_SHARE_H

#include <stdio.h>
#include "capture/bytes.h"
#include "decode/column.h"

/* Of a copy, which ends without freeing it. */
struct lines_share {
	FILE *out; /* the table's, instead of the run's */
	struct byte_out lines;
};

int lines_share__begin(struct lines_share *share, struct table *table); /* 0 or -ENOMEM */
/* Into an empty `out`, which may get more behind them. */
int lines_share__give(struct lines_share *share, struct table *table, struct byte_out *out);
/* All that is left. */
void lines_share__take(struct table *table, struct byte_in *in);

#endif
