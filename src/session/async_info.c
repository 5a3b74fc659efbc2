/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/async_info.h"

#include <stddef.h>

#define COUNT(field) offsetof(struct async_counts, field)
static const struct async_number {
	const char *key;
	size_t at;
} async_numbers[] = {
	{ "requests_submitted", COUNT(n.submitted) }, { "requests_silent", COUNT(n.silent) },
	{ "requests_refused", COUNT(n.refused) },     { "requests_ended", COUNT(n.ended) },
	{ "requests_elsewhere", COUNT(n.elsewhere) }, { "requests_shorter", COUNT(n.shorter) },
	{ "requests_sent", COUNT(n.sent) },	      { "requests_in_flight", COUNT(in_flight) },
	{ "requests_lost_ring", COUNT(n.lost) },      { "requests_lost_room", COUNT(n.no_room) },
	{ "requests_lost_twins", COUNT(n.twins) },    { "requests_lost_ends", COUNT(n.unclosed) },
	{ "requests_lost_skipped", COUNT(skipped) },  { "requests_no_issue", COUNT(n.no_issue) },
	{ "requests_no_bio", COUNT(n.no_bio) },	      { "requests_no_file", COUNT(n.no_file) },
};
enum { NR_ASYNC_NUMBERS = sizeof(async_numbers) / sizeof(async_numbers[0]) };

int async_info__put_start(struct recorder *r, bool follows_aio)
{
	return recorder__info(r, CAPTURE_INFO_ASYNC, follows_aio ? "io_uring libaio" : "io_uring");
}

int async_info__put_end(struct recorder *r, const struct async_counts *counts, uint64_t nr_kept)
{
	int err = recorder__info_number(r, CAPTURE_INFO_REQUESTS, nr_kept);

	for (int i = 0; i < NR_ASYNC_NUMBERS && !err; i++) {
		const void *at = (const char *)counts + async_numbers[i].at;

		err = recorder__info_number(r, async_numbers[i].key, *(const uint64_t *)at);
	}
	return err;
}

bool async_info__add(const struct capture_about *capture, struct async_counts *counts)
{
	for (int i = 0; i < NR_ASYNC_NUMBERS; i++)
		*(uint64_t *)((char *)counts + async_numbers[i].at) +=
			capture_about__info_number(capture, async_numbers[i].key, 0);
	return capture_about__info(capture, CAPTURE_INFO_REQUESTS);
}
