/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/cache_info.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const methods[] = { "fentry", "kprobes", "tracepoints" };
static const char *const tellings[] = { "none", "misses", "commands" };

static const struct loss {
	const char *key;
	size_t at;
} losses_of[] = {
	{ "cache_lost_requests", offsetof(struct cache_losses, no_task) },
	{ "cache_lost_rows", offsetof(struct cache_losses, no_key) },
	{ "cache_lost_ends", offsetof(struct cache_losses, unclosed) },
	{ "cache_lost_skipped", offsetof(struct cache_losses, skipped) },
	{ "cache_lost_readahead", offsetof(struct cache_losses, ra_lost) },
	{ "cache_lost_files", offsetof(struct cache_losses, no_file) },
	{ "cache_lost_events", offsetof(struct cache_losses, events_lost) },
	{ "cache_lost_causes", offsetof(struct cache_losses, no_cause) },
	{ "cache_events_tried", offsetof(struct cache_losses, events) },
};
enum { NR_LOSSES = sizeof(losses_of) / sizeof(losses_of[0]) };

int cache_info__put_start(struct recorder *r, const struct cache_about *about,
			  enum cache_tells tells)
{
	int err = recorder__info(r, "cache_method", methods[about->method]);

	err = err ?: recorder__info(r, "cache_unseen", about->unseen);
	err = err ?: recorder__info(r, "cache_tells", tellings[tells]);
	err = err ?: recorder__info_number(r, "cache_page_bytes", about->page_bytes);
	err = err ?: recorder__info_number(r, "cache_filtered", about->filtered);
	return err ?: recorder__info_number(r, "cache_before", about->cached_before);
}

int cache_info__put_end(struct recorder *r, const struct cache_about *about,
			const struct cache_losses *losses)
{
	int err = recorder__info_number(r, "cache_after", about->cached_after);

	for (int i = 0; i < NR_LOSSES && !err; i++) {
		const void *at = (const char *)losses + losses_of[i].at;

		err = recorder__info_number(r, losses_of[i].key, *(const uint64_t *)at);
	}
	return err;
}

/* The index of a word; nr if it is not one of them. */
static int info_word(const char *text, const char *const *words, int nr)
{
	int i = 0;

	while (i < nr && (!text || strcmp(text, words[i])))
		i++;
	return i;
}

enum cache_tells cache_info__get(const struct capture_about *capture, struct cache_about *about,
				 struct cache_losses *losses)
{
	const char *unseen = capture_about__info(capture, "cache_unseen");
	int method = info_word(capture_about__info(capture, "cache_method"), methods, 3);
	int tells = info_word(capture_about__info(capture, "cache_tells"), tellings, 3);

	*about = (struct cache_about){
		.method = method < 3 ? (enum cache_method)method : CACHE_BY_TRACEPOINTS,
		.page_bytes = capture_about__info_number(capture, "cache_page_bytes", 4096),
		.filtered = capture_about__info_number(capture, "cache_filtered", 0) != 0,
		.cached_before = capture_about__info_number(capture, "cache_before", UINT64_MAX),
		.cached_after = capture_about__info_number(capture, "cache_after", UINT64_MAX),
	};
	snprintf(about->unseen, sizeof(about->unseen), "%s", unseen ? unseen : "");
	for (int i = 0; i < NR_LOSSES; i++)
		*(uint64_t *)((char *)losses + losses_of[i].at) =
			capture_about__info_number(capture, losses_of[i].key, 0);
	return tells < 3 ? (enum cache_tells)tells : CACHE_TELLS_NOTHING;
}
