/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/waits_info.h"

#include <stdio.h>
#include <string.h>
#include "analyse/waits.h"
#include "decode/words.h"

#define COUNT(field) offsetof(struct waits_counts, field)
static const struct waits_number {
	const char *key;
	size_t at;
} waits_numbers[] = {
	{ "waits_begun", COUNT(n.begun) },
	{ "waits_ended", COUNT(n.ended) },
	{ "waits_waited", COUNT(n.waited) },
	{ "waits_sent", COUNT(n.sent) },
	{ "waits_in_flight", COUNT(in_flight) },
	{ "waits_lost_ring", COUNT(n.lost) },
	{ "waits_lost_room", COUNT(n.no_room) },
	{ "waits_lost_ends", COUNT(n.unclosed) },
	{ "waits_lost_skipped", COUNT(skipped) },
	{ "waits_lost_commands", COUNT(n.lost_commands) },
	{ "waits_lost_tasks", COUNT(n.lost_shares) },
	{ "waits_no_stack", COUNT(n.no_stack) },
	{ "waits_wrong_stacks", COUNT(wrong_stacks) },
	{ "waits_no_file", COUNT(n.no_file) },
	{ "waits_no_held", COUNT(n.no_held) },
};
enum { NR_WAITS_NUMBERS = sizeof(waits_numbers) / sizeof(waits_numbers[0]) };

int waits_info__put_start(struct recorder *r, uint32_t calls)
{
	char text[NR_WAIT_CALLS * 16];
	struct words w = words__on(text, sizeof(text));
	const char *between = "";

	for (uint32_t i = 0; i < NR_WAIT_CALLS; i++) {
		if (!(calls >> i & 1))
			continue;
		words__str(&w, between);
		words__str(&w, wait_call__name((enum wait_call)i));
		between = " ";
	}
	words__done(&w);
	return recorder__info(r, CAPTURE_INFO_WAITING, text);
}

int waits_info__put_end(struct recorder *r, const struct waits_counts *counts, uint64_t nr_kept)
{
	int err = recorder__info_number(r, CAPTURE_INFO_WAITS, nr_kept);

	for (int i = 0; i < NR_WAITS_NUMBERS && !err; i++) {
		const void *at = (const char *)counts + waits_numbers[i].at;

		err = recorder__info_number(r, waits_numbers[i].key, *(const uint64_t *)at);
	}
	return err;
}

static bool info_has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at += len)
		if ((at == text || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
	return false;
}

uint32_t waits_info__calls(const struct capture_about *capture)
{
	const char *text = capture_about__info(capture, CAPTURE_INFO_WAITING);
	uint32_t calls = 0;

	for (uint32_t i = 0; text && i < NR_WAIT_CALLS; i++)
		if (info_has_word(text, wait_call__name((enum wait_call)i)))
			calls |= 1u << i;
	return calls;
}

bool waits_info__add(const struct capture_about *capture, struct waits_counts *counts)
{
	for (int i = 0; i < NR_WAITS_NUMBERS; i++)
		*(uint64_t *)((char *)counts + waits_numbers[i].at) +=
			capture_about__info_number(capture, waits_numbers[i].key, 0);
	return capture_about__info(capture, CAPTURE_INFO_WAITS);
}
