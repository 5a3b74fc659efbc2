/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/below.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int below__add(struct below *below, const struct io_record *record, int32_t device, uint64_t ns)
{
	if (record->what != RECORD_BIO || !record->result)
		return 0;
	if (!below->bios)
		below->bios = calloc(BELOW_KEPT, sizeof(*below->bios));
	if (!below->bios)
		return -ENOMEM;
	below->bios[below->nr++ % BELOW_KEPT] = (struct below_bio){
		.above_ns = record->result,
		.end_ns = record->end_ns,
		.ns = ns,
		.sector = (uint64_t)record->cdw10[1] << 32 | record->cdw10[0],
		.bytes = record->bytes,
		.device = device,
	};
	return 0;
}

size_t below__find(const struct below *below, const struct io_record *record,
		   const struct below_bio **found, size_t most)
{
	const struct io_stages *stages = io_record__stages(record);
	size_t at = below->nr, least = below->nr > BELOW_KEPT ? below->nr - BELOW_KEPT : 0, nr = 0;

	if (!stages || record->what != RECORD_BIO)
		return 0;
	/* The oldest candidate: every bio below ended after the bio above was submitted. */
	while (at > least && below->bios[(at - 1) % BELOW_KEPT].end_ns >= stages->queued_ns)
		at--;
	for (; at < below->nr && nr < most; at++) {
		const struct below_bio *bio = &below->bios[at % BELOW_KEPT];

		if (bio->above_ns == stages->queued_ns && bio->end_ns <= record->end_ns)
			found[nr++] = bio;
	}
	return nr;
}

void below__free(struct below *below)
{
	free(below->bios);
	memset(below, 0, sizeof(*below));
}
