/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify.c: is a capture whole? Every chunk is read and every record decoded; what is found is a
 * report. What is wrong in a way that still decodes is not seen.
 */
#include <string.h>

#include "base/progress.h"
#include "capture/read_inside.h"

/* Decodes all records. */
static int reader_count(struct capture_reader *reader, uint64_t *nr)
{
	enum { READER_LOOK = 8192 }; /* records between two looks at the clock */
	struct progress progress;
	int err = 0;

	progress__begin(&progress);
	while (capture_reader__next(reader, &err))
		if (++*nr % READER_LOOK == 0)
			progress__show(&progress, capture_reader__position(reader),
				       capture_reader__bytes(reader));
	progress__clear(&progress);
	return err;
}

int capture__verify_part(const char *path, size_t nr, struct capture_report *report)
{
	struct capture_cache cache = { 0 };
	struct capture_waits waits = { 0 };
	struct capture_reader *reader;
	struct capture_part part;
	int err = reader_open(path, (uint16_t)nr, true, &reader), more;

	memset(report, 0, sizeof(*report));
	if (err)
		return err;
	report->bytes = capture_reader__bytes(reader);
	report->chunks = reader->file.nr_chunks;
	report->blocks = reader->file.records.nr;
	report->reserve_bytes = reader->file.reserve_bytes;
	for (size_t i = 0; i < reader->file.records.nr; i++)
		report->zstd_blocks += reader->file.records.blocks[i].chunk.flags & CAPTURE_ZSTD;
	err = reader_count(reader, &report->records);
	while (!err && (more = capture_reader__next_cache(reader, &cache)))
		err = more < 0 ? more : 0;
	while (!err && (more = capture_reader__next_waits(reader, &waits)))
		err = more < 0 ? more : 0;
	/* The contents of calls are unknown here: they are copied unchanged. */
	while (!err && (more = capture_reader__next_part(reader, &part)))
		err = more < 0 ? more : 0;
	capture_cache__free(&cache);
	capture_waits__free(&waits);
	report->damage = reader->file.damage;
	capture_reader__free(reader);
	return err;
}
