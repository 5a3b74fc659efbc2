/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/share.h"

#include <string.h>

void share__get(struct byte_in *in, void *to, size_t nr)
{
	const uint8_t *at = byte_in__take(in, nr);

	if (at)
		memcpy(to, at, nr);
	else
		memset(to, 0, nr);
}

/* The distance to the next bucket in use and its count, in turn; a count of 0 ends them. */
void share__put_hist(struct byte_out *out, const struct hist *h)
{
	uint32_t last = 0;

	byte_out__varint(out, h->count);
	byte_out__varint(out, h->sum_ns);
	byte_out__varint(out, h->max_ns);
	byte_out__varint(out, h->bytes);
	for (uint32_t i = 0; i < HIST_CELLS; i++) {
		if (!h->slots[i])
			continue;
		byte_out__varint(out, h->slots[i]);
		byte_out__varint(out, i - last);
		last = i;
	}
	byte_out__varint(out, 0);
}

void share__take_hist(struct byte_in *in, struct hist *into)
{
	uint64_t count, max_ns, at = 0;

	into->count += byte_in__varint(in);
	into->sum_ns += byte_in__varint(in);
	max_ns = byte_in__varint(in);
	into->max_ns = max_ns > into->max_ns ? max_ns : into->max_ns;
	into->bytes += byte_in__varint(in);
	while ((count = byte_in__varint(in))) {
		at += byte_in__varint(in);
		if (at < HIST_CELLS)
			into->slots[at] += count;
	}
}
