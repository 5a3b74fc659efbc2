/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "capture/block.h"

struct memory_block {
	struct memory_block *next;
	struct capture_chunk chunk;
	uint8_t payload[];
};

struct capture_memory {
	struct capture_writer *writer;
	struct capture_about about; /* devices, names, clocks: the latest of each */
	struct memory_block *first, **end;
	uint64_t last_ns, newest_ns;
	size_t most_bytes, bytes;
	uint64_t nr_records, nr_forgotten;
	bool is_short;
};

/* Blocks differ by a few hundred bytes. Rounded up, a new one fits into the place of an old one,
 * and the heap does not grow over days. */
static size_t memory_block_bytes(uint32_t length)
{
	const size_t step = 4096;

	return (sizeof(struct memory_block) + length + CAPTURE_SLACK + step - 1) / step * step;
}

static void memory_forget_first(struct capture_memory *memory)
{
	struct memory_block *block = memory->first;

	memory->first = block->next;
	if (!memory->first)
		memory->end = &memory->first;
	memory->bytes -= memory_block_bytes(block->chunk.length);
	memory->nr_records -= block->chunk.count;
	memory->nr_forgotten += block->chunk.count;
	free(block);
}

static void memory_forget_old(struct capture_memory *memory)
{
	while (memory->first && memory->bytes > memory->most_bytes) {
		memory->is_short = true;
		memory_forget_first(memory);
	}
	while (memory->first && memory->first->chunk.max_ns < memory->newest_ns &&
	       memory->newest_ns - memory->first->chunk.max_ns > memory->last_ns)
		memory_forget_first(memory);
	capture_about__forget_clocks(&memory->about, memory->first ? memory->first->chunk.min_ns
								   : memory->newest_ns);
}

static void memory_see_clock(struct capture_memory *memory)
{
	const struct capture_about *about = &memory->about;
	uint64_t now_ns = about->nr_clocks ? about->clocks[about->nr_clocks - 1].mono_ns : 0;

	if (now_ns > memory->newest_ns)
		memory->newest_ns = now_ns;
}

static int memory_keep(struct capture_memory *memory, const struct capture_chunk *chunk,
		       const uint8_t *payload)
{
	struct memory_block *block = malloc(memory_block_bytes(chunk->length));

	if (!block)
		return -ENOMEM;
	block->next = NULL;
	block->chunk = *chunk;
	memcpy(block->payload, payload, chunk->length);
	memset(block->payload + chunk->length, 0, CAPTURE_SLACK);
	*memory->end = block;
	memory->end = &block->next;
	memory->bytes += memory_block_bytes(chunk->length);
	memory->nr_records += chunk->count;
	if (chunk->max_ns > memory->newest_ns)
		memory->newest_ns = chunk->max_ns;
	return 0;
}

static int memory_put(void *arg, const struct capture_chunk *chunk, const uint8_t *bytes, size_t nr)
{
	struct capture_memory *memory = arg;
	const uint8_t *payload = bytes + CAPTURE_CHUNK_BYTES;
	int err;

	if (chunk->type == CAPTURE_RECORDS)
		err = memory_keep(memory, chunk, payload);
	else
		err = capture_about__take(&memory->about, chunk->type,
					  (struct byte_in){ payload, bytes + nr, false });
	memory_see_clock(memory);
	memory_forget_old(memory);
	return err;
}

int capture_memory__new(uint64_t last_ns, size_t most_bytes, int zstd_level,
			struct capture_memory **memory)
{
	struct capture_memory *new = calloc(1, sizeof(*new));
	struct capture_sink sink = { memory_put, new };
	int err;

	if (!new)
		return log_err(-ENOMEM, "no memory for a flight recorder");
	new->end = &new->first;
	new->last_ns = last_ns;
	new->most_bytes = most_bytes;
	err = capture_writer__new_sink(&sink, zstd_level, &new->writer);
	if (err) {
		capture_memory__free(new);
		new = NULL;
	}
	*memory = new;
	return err;
}

void capture_memory__free(struct capture_memory *memory)
{
	if (!memory)
		return;
	while (memory->first)
		memory_forget_first(memory);
	capture_about__free(&memory->about);
	capture_writer__free(memory->writer);
	free(memory);
}

struct capture_writer *capture_memory__writer(struct capture_memory *memory)
{
	return memory->writer;
}

static int memory_save_about(struct capture_memory *memory, struct capture_writer *file)
{
	const struct capture_about *about = &memory->about;
	int err = 0;

	if (about->nr_info)
		err = capture_writer__info(file, about->info, about->nr_info);
	for (size_t i = 0; i < about->nr_sets && !err; i++)
		err = capture_writer__names(file, about->sets[i].set, about->sets[i].names);
	for (size_t i = 0; i < about->nr_devices && !err; i++)
		err = capture_writer__device(file, about->numbers[i], &about->devices[i]);
	for (int kind = 0; kind < NR_GLOSSARIES; kind++) {
		const struct glossary *glossary = &about->glossaries[kind];

		for (size_t i = 0; i < glossary->nr && !err; i++)
			err = capture_writer__text(file, (enum glossary_kind)kind,
						   glossary->entries[i].id,
						   glossary->entries[i].text);
	}
	for (size_t i = 0; i < about->nr_clocks && !err; i++)
		err = capture_writer__clock(file, &about->clocks[i]);
	return err;
}

/* What a file ends with. */
struct memory_end {
	const char *ended;
	const struct capture_count *ledger;
	size_t nr;
};

static int memory_save(struct capture_memory *memory, uint64_t from_ns,
		       const struct capture_options *options, const struct memory_end *end)
{
	struct capture_writer *file;
	int err, last_err;

	err = capture_writer__flush(memory->writer);
	if (err)
		return err;
	err = capture_writer__new(options, &file);
	if (err)
		return err;
	err = memory_save_about(memory, file);
	for (struct memory_block *block = memory->first; block && !err; block = block->next)
		if (block->chunk.max_ns >= from_ns)
			err = capture_writer__chunk(file, &block->chunk, block->payload);
	last_err = capture_writer__finish(file, end->ended, end->ledger, end->nr);
	capture_writer__free(file);
	return err ?: last_err;
}

int capture_memory__save(struct capture_memory *memory, const struct capture_options *options,
			 const char *ended, const struct capture_count *ledger, size_t nr)
{
	return memory_save(memory, 0, options, &(struct memory_end){ ended, ledger, nr });
}

int capture_memory__copy(struct capture_memory *memory, uint64_t from_ns, const char *ended,
			 struct byte_out *out)
{
	const struct capture_options options = { .into = out };

	return memory_save(memory, from_ns, &options, &(struct memory_end){ ended, NULL, 0 });
}

/* ---- single records ---- */

static void memory_visit(struct capture_unblock *unblock, uint64_t from_ns, uint64_t to_ns,
			 struct capture_visit visit)
{
	const struct io_record *record, *end;

	while ((record = capture_unblock__next(unblock, &end)) != end)
		for (; record < end; record = stages__next_record(record))
			if (io_record__time_ns(record) >= from_ns &&
			    io_record__time_ns(record) < to_ns)
				visit.record(visit.arg, record);
}

int capture_memory__each(struct capture_memory *memory, uint64_t from_ns, uint64_t to_ns,
			 uint64_t most, struct capture_visit visit)
{
	const struct capture_translation none = { 0 };
	struct capture_unblock *unblock = capture_unblock__new();
	int err = unblock ? capture_writer__flush(memory->writer) : -ENOMEM;
	uint64_t seen = 0;

	for (struct memory_block *b = memory->first; b && !err && seen < most; b = b->next) {
		if (b->chunk.max_ns < from_ns || b->chunk.min_ns >= to_ns)
			continue;
		err = capture_unblock__open(unblock, &b->chunk, b->payload, &none);
		if (!err)
			memory_visit(unblock, from_ns, to_ns, visit);
		seen += b->chunk.count;
	}
	capture_unblock__free(unblock);
	return err ?: seen >= most;
}

static int memory_visit_nth(struct capture_unblock *unblock, uint64_t nth,
			    struct capture_visit visit)
{
	const struct io_record *record, *end;

	while ((record = capture_unblock__next(unblock, &end)) != end)
		for (; record < end; record = stages__next_record(record))
			if (!nth--) {
				visit.record(visit.arg, record);
				return 0;
			}
	return -ENOENT;
}

int capture_memory__find(struct capture_memory *memory, uint64_t number, struct capture_visit visit)
{
	const struct capture_translation none = { 0 };
	struct capture_unblock *unblock = capture_unblock__new();
	int err = unblock ? capture_writer__flush(memory->writer) : -ENOMEM;
	struct memory_block *block = memory->first;
	uint64_t first = capture_memory__kept_from(memory);

	if (!err && number < first)
		err = -ENOENT;
	for (; block && number - first >= block->chunk.count; block = block->next)
		first += block->chunk.count;
	if (!err)
		err = block ? capture_unblock__open(unblock, &block->chunk, block->payload, &none)
			    : -ENOENT;
	err = err ?: memory_visit_nth(unblock, number - first, visit);
	capture_unblock__free(unblock);
	return err;
}

uint64_t capture_memory__from_ns(const struct capture_memory *memory)
{
	uint64_t from_ns = UINT64_MAX;

	for (const struct memory_block *block = memory->first; block; block = block->next)
		from_ns = block->chunk.min_ns < from_ns ? block->chunk.min_ns : from_ns;
	return from_ns;
}

uint64_t capture_memory__kept_from(const struct capture_memory *memory)
{
	return memory->nr_forgotten + 1;
}

size_t capture_memory__bytes(const struct capture_memory *memory)
{
	return memory->bytes;
}

uint64_t capture_memory__nr_records(const struct capture_memory *memory)
{
	return memory->nr_records;
}

bool capture_memory__is_short(const struct capture_memory *memory)
{
	return memory->is_short;
}
