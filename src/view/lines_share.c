/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE 1 /* fopencookie */
#include "view/lines_share.h"

#include <errno.h>

static ssize_t lines_write(void *cookie, const char *bytes, size_t nr)
{
	struct lines_share *share = cookie;

	byte_out__put(&share->lines, bytes, nr);
	return share->lines.failed ? 0 : (ssize_t)nr;
}

int lines_share__begin(struct lines_share *share, struct table *table)
{
	share->out = fopencookie(share, "w", (cookie_io_functions_t){ .write = lines_write });
	if (!share->out)
		return -ENOMEM;
	setvbuf(share->out, NULL, _IONBF, 0); /* the table has a buffer */
	table__continue_in(table, share->out);
	return 0;
}

int lines_share__give(struct lines_share *share, struct table *table, struct byte_out *out)
{
	struct byte_out given;
	int err;

	table__hand_over(table);
	err = fflush(share->out) || share->lines.failed ? -ENOMEM : 0;
	given = *out; /* the memory of the part before */
	given.len = 0;
	*out = share->lines;
	share->lines = given;
	return err;
}

void lines_share__take(struct table *table, struct byte_in *in)
{
	table__put_lines(table, in->at, byte_in__left(in));
	in->at = in->end;
}
