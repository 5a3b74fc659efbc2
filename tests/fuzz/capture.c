/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture.c: can a file break the reader? A libFuzzer target: opens, reads all, asks for everything
 * that a capture says about itself, and makes words of its calls. CRCs would keep the fuzzer out,
 * so every header and payload that looks like one gets a good CRC first; half of the inputs stay as
 * they are. Seeds: tests/data/?*.cap
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "analyse/async.h"
#include "session/cache_info.h"
#include "session/waits_info.h"
#include "session/waits_source.h"
#include "calls/calls_view.h"
#include "capture/bytes.h"
#include "capture/chunk.h"
#include "capture/crc32c.h"
#include "capture/read.h"
#include "calls/capture.h"
#include "wire/io_stages.h"
#include "counts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__asan_default_options(void);

/* What ASan keeps of freed memory, 256 MB unless told, would count against -rss_limit_mb=256. */
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=32";
}

static void mend(uint8_t *bytes, size_t size)
{
	if (size >= CAPTURE_FILE_BYTES)
		capture_file__put_header(bytes, bytes[8] == CAPTURE_VERSION_MERGED
							? CAPTURE_VERSION_MERGED
							: CAPTURE_VERSION);
	for (size_t at = CAPTURE_FILE_BYTES; size >= CAPTURE_CHUNK_BYTES;) {
		uint32_t length;

		at = capture_chunk__search(bytes, size, at);
		if (at > size - CAPTURE_CHUNK_BYTES)
			return;
		length = le__get32(bytes + at + 8);
		if (length <= size - at - CAPTURE_CHUNK_BYTES)
			le__put32(bytes + at + 48,
				  crc32c(bytes + at + CAPTURE_CHUNK_BYTES, length));
		le__put32(bytes + at + 60, crc32c(bytes + at, 60));
		at += CAPTURE_CHUNK_BYTES;
	}
}

static volatile uint64_t seen;

/* ---- calls ---- */

struct called {
	struct call_trace trace;
	struct call_trace_reader reader;
	struct calls_view view;
	struct session session;
	uint64_t nr;
};

static int on_row(void *arg, const struct call *call, const union value_slot *slots)
{
	struct called *c = arg;

	seen = call->start_ns ^ (uint64_t)(slots[CALL_FUNCTION].text != NULL);
	c->nr++;
	return 0;
}

static int on_tree(void *arg, const struct call *root)
{
	return calls_view__tree(&((struct called *)arg)->view, root);
}

static int on_known(void *arg)
{
	struct called *c = arg;
	int err = call_trace__start(&c->trace, NULL);

	c->view.on_row = on_row;
	c->view.arg = c;
	return err ? err : calls_view__start(&c->view, &c->session, &c->trace);
}

/* As calls -r and class -r do, up to the words. */
static void check_calls(struct capture_reader *reader)
{
	static const struct options options;
	struct called c = { .session = { .format = TABLE_JSON, .options = &options } };
	struct capture_part part;
	int err = 0;

	c.reader = (struct call_trace_reader){
		.trace = &c.trace, .on_known = on_known, .arg = &c, .to_ns = UINT64_MAX
	};
	c.trace.on_tree = on_tree;
	c.trace.arg = &c;
	while ((!err || err == -EBADMSG) && capture_reader__next_part(reader, &part) > 0)
		err = call_trace_reader__take(&c.reader, &part);
	if (c.reader.is_known && (!err || err == -EBADMSG))
		call_trace__finish(&c.trace);
	if (c.view.trace)
		calls_view__free(&c.view);
	call_trace_reader__free(&c.reader);
	call_trace__free(&c.trace);
}

/* As waits --async -r does. */
static void check_request(const struct async_record *request)
{
	uint64_t steps[NR_WAIT_PARTS], sum = 0;
	char name[32];

	async__split(request, steps);
	for (int i = 0; i < NR_WAIT_PARTS; i++)
		sum += steps[i];
	seen = sum ^ async__whole_ns(request) ^
	       (uint8_t)async_op__name(request->opcode, name, sizeof(name))[0];
}

/* As waits -r does: each entry, and what is known of all. */
static void check_waits(struct capture_reader *reader)
{
	struct waits_stories *stories = calloc(1, sizeof(*stories));
	struct capture_waits waits = { 0 };
	struct waits_counts counts = { 0 };

	if (!stories)
		abort();
	while (capture_reader__next_waits(reader, &waits) > 0)
		for (size_t i = 0; i < waits.nr; i++) {
			const struct capture_wait *wait = &waits.waits[i];

			if (wait->kind == CAPTURE_WAIT_COMMAND)
				waits_stories__command(stories, &wait->command,
						       wait->command.op == 1 ? "write" : "flush");
			else if (wait->kind == CAPTURE_WAIT_COMMIT)
				waits_stories__commit(stories, &wait->commit);
			else if (wait->kind == CAPTURE_WAIT_TASK)
				wait_commits__add_task(&stories->commits, &wait->task);
			else if (wait->kind == CAPTURE_WAIT_REQUEST)
				check_request(&wait->request);
			else if (wait->call.nr_sleeps > WAIT_SLEEPS)
				abort();
			else
				wait_commits__find(&stories->commits, wait->call.dev,
						   wait->call.start_ns, wait->call.end_ns);
		}
	waits_info__add(capture_reader__about(reader), &counts);
	seen = waits_info__calls(capture_reader__about(reader)) ^ counts.n.begun;
	capture_waits__free(&waits);
	wait_threads__free(&stories->threads);
	free(stories);
}

static void check(struct capture_reader *reader, size_t size)
{
	const struct capture_about *about = capture_reader__about(reader);
	const struct capture_damage *damage = capture_reader__damage(reader);
	uint64_t nr = 0, min_ns, max_ns;
	const struct io_record *record;
	const struct io_stages *stages;
	struct capture_cache cache = { 0 };
	struct cache_losses losses;
	struct cache_about cached;
	int err;

	while ((record = capture_reader__next(reader, &err))) {
		capture_about__device(about, record->device);
		capture_about__wall_ns(about, record->end_ns);
		stages = io_record__stages(record);
		if (stages)
			seen = stages->queued_ns ^ stages->nr_bios; /* its first and last bytes */
		nr++;
	}
	while (capture_reader__next_cache(reader, &cache) > 0)
		if (cache.nr_rows > CAPTURE_CACHE_MOST || cache.nr_events > CAPTURE_CACHE_MOST)
			abort();
	check_calls(reader);
	check_waits(reader);
	cache_info__get(about, &cached, &losses);
	capture_cache__free(&cache);
	capture_reader__span(reader, &min_ns, &max_ns);
	capture_about__info(about, CAPTURE_INFO_KERNEL);
	capture_about__names(about, CAPTURE_NAMES_BLOCK);
	count_of(&about->trailer.ledger, "issued");
	if (nr > capture_reader__nr_records(reader))
		abort();
	if (damage->truncated_at > size)
		abort();
	if (nr < capture_reader__nr_records(reader) && capture_damage__is_whole(damage))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes = malloc(size + 1);
	struct capture_reader *reader;

	if (!bytes)
		abort();
	memcpy(bytes, data, size);
	if (size && data[size - 1] % 2)
		mend(bytes, size);
	/* Memory of exactly this size: ASan sees what reads past it. */
	bytes = realloc(bytes, size ? size : 1);
	/* Of a merged file, any of its captures. */
	if (!capture_reader__open_memory_part(bytes, size, size ? data[size / 2] % 4 : 0, &reader))
		check(reader, size);
	capture_reader__free(reader);
	free(bytes);
	return 0;
}
