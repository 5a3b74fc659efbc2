/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE 1 /* fopencookie */
#include "view/lines_share.h"

#include <errno.h>
#include "session/share.h"

static ssize_t lines_write(void *cookie, const char *bytes, size_t nr)
{
	struct lines_share *share = cookie;

	byte_out__put(&share->lines, bytes, nr);
	return share->lines.failed ? 0 : (ssize_t)nr;
}

/* ---- a copy ---- */

/* The lines from here on are in columns of these widths. */
static void lines_note_growth(void *arg)
{
	struct lines_share *share = arg;
	uint32_t widths[TABLE_SHARED];
	size_t nr = table__widths(share->table, widths);

	if (!nr)
		return;
	if (fflush(share->out))
		share->lines.failed = true;
	byte_out__u64(&share->growths, share->lines.len);
	byte_out__put(&share->growths, widths, nr * sizeof(*widths));
}

int lines_share__begin(struct lines_share *share, struct table *table)
{
	share->table = table;
	share->out = fopencookie(share, "w", (cookie_io_functions_t){ .write = lines_write });
	if (!share->out)
		return -ENOMEM;
	setvbuf(share->out, NULL, _IONBF, 0); /* the table has a buffer */
	table__continue_in(table, share->out);
	table__tell_growth(table, lines_note_growth, share);
	return 0;
}

static void lines_put_growths(struct lines_share *share, struct byte_out *out)
{
	byte_out__put(out, share->growths.bytes, share->growths.len);
	byte_out__u64(out, share->growths.len);
	share->growths.len = 0;
}

/* One byte is one column: only then may the run put spaces between. */
static bool lines_are_ascii(const struct byte_out *lines)
{
	const uint8_t *at = lines->bytes, *end = at + lines->len;
	uint64_t any = 0;

	for (; end - at >= 8; at += 8)
		any |= le__get64(at);
	for (; at < end; at++)
		any |= *at;
	return !(any & 0x8080808080808080);
}

int lines_share__give(struct lines_share *share, struct table *table, struct byte_out *out)
{
	struct byte_out given;
	int err;

	table__hand_over(table);
	err = fflush(share->out) || share->lines.failed || share->growths.failed ? -ENOMEM : 0;
	if (!err && share->growths.len && !lines_are_ascii(&share->lines))
		err = -EAGAIN;
	given = *out; /* the memory of the part before */
	given.len = 0;
	*out = share->lines;
	share->lines = given;
	lines_put_growths(share, out);
	lines_note_growth(share); /* the next part begins with these widths */
	return err;
}

/* ---- the run ---- */

/* From one growth to the next, or to the end. */
static void lines_put_text(struct table *table, const struct byte_in *lines, struct byte_in growths)
{
	uint32_t widths[TABLE_SHARED];
	size_t bytes = table__widths(table, widths) * sizeof(*widths);

	while (byte_in__left(&growths)) {
		uint64_t from = byte_in__u64(&growths), to = byte_in__left(lines);
		struct byte_in next;

		share__get(&growths, widths, bytes);
		next = growths;
		if (byte_in__left(&next))
			to = byte_in__u64(&next);
		table__put_text_lines(table, widths, (const char *)lines->at + from, to - from);
	}
}

void lines_share__take(struct table *table, struct byte_in *in)
{
	struct byte_in last = { in->end - sizeof(uint64_t), in->end, false };
	const uint8_t *growths_end = last.at;
	struct byte_in growths = { growths_end - byte_in__u64(&last), growths_end, false };
	struct byte_in lines = { in->at, growths.at, false };

	if (byte_in__left(&growths))
		lines_put_text(table, &lines, growths);
	else
		table__put_lines(table, lines.at, byte_in__left(&lines));
	in->at = in->end;
}
