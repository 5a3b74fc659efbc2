/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/contents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "capture/bytes.h"
#include "capture/index.h"

static int contents_add(struct capture_list *list, const struct capture_chunk *chunk, uint64_t at)
{
	if (GROW(list->blocks, list->room, list->nr + 1))
		return -ENOMEM;
	list->blocks[list->nr++] = (struct capture_listed){ at, *chunk };
	return 0;
}

/* The list of blocks of that type, to be read on demand; NULL: none. */
static struct capture_list *contents_list_of(struct capture_contents *contents, uint8_t type)
{
	if (type == CAPTURE_RECORDS)
		return &contents->records;
	if (type == CAPTURE_CACHE_ROWS || type == CAPTURE_CACHE_EVENTS)
		return &contents->caches;
	if (type == CAPTURE_WAITS || type == CAPTURE_REQUESTS)
		return &contents->waits;
	return type >= CAPTURE_CALLED && type <= CAPTURE_FOLLOWED ? &contents->calls : NULL;
}

bool capture_contents__is_merged(const struct capture_contents *contents)
{
	return contents->version == CAPTURE_VERSION_MERGED || contents->nr_parts;
}

bool capture_contents__has(const struct capture_contents *contents,
			   const struct capture_chunk *chunk)
{
	return chunk->origin ? chunk->origin == contents->part + 1 : !contents->part;
}

void capture_contents__count(struct capture_contents *contents, const struct capture_chunk *chunk)
{
	contents->nr_chunks++;
	contents->nr_bytes += CAPTURE_CHUNK_BYTES + (uint64_t)chunk->length;
	if (chunk->type == CAPTURE_RECORDS || chunk->type == CAPTURE_TRAILER)
		contents->damage.records_lost += chunk->lost;
	if (!chunk->type || chunk->type >= CAPTURE_TYPES)
		contents->damage.chunks_unknown++;
	if (chunk->type == CAPTURE_GAP)
		contents->damage.blocks_corrupt += chunk->count;
	if (chunk->type == CAPTURE_RESERVE)
		contents->reserve_bytes += chunk->length + CAPTURE_CHUNK_BYTES;
}

/* The end of a merged file: those of its captures say more. */
static int contents_take_end(struct capture_contents *contents, struct byte_in in)
{
	struct capture_about about = { 0 };
	int err = capture_about__take(&about, CAPTURE_TRAILER, in);

	if (!err)
		contents->merged_bytes = about.trailer.file_bytes;
	capture_about__free(&about);
	return err;
}

static int contents_take_other(struct capture_contents *contents, const struct capture_chunk *chunk,
			       struct byte_in in)
{
	if (chunk->type == CAPTURE_TRAILER && !chunk->origin &&
	    capture_contents__is_merged(contents))
		return contents_take_end(contents, in);
	return capture_about__take(&contents->about, chunk->type, in);
}

int capture_contents__take(struct capture_contents *contents, const struct capture_chunk *chunk,
			   uint64_t at)
{
	struct capture_list *list = contents_list_of(contents, chunk->type);
	struct byte_in in;
	int err;

	capture_contents__count(contents, chunk);
	if (list)
		return contents_add(list, chunk, at);
	err = capture_source__load(&contents->source, chunk, at);
	in = (struct byte_in){ contents->source.payload, contents->source.payload + chunk->length,
			       false };
	err = err ?: contents_take_other(contents, chunk, in);
	if (err == -EBADMSG) {
		contents->damage.blocks_corrupt++;
		err = 0;
	}
	return err;
}

int capture_contents__take_indexed(struct capture_contents *contents,
				   const struct capture_chunk *chunk, uint64_t at)
{
	struct capture_list *list = contents_list_of(contents, chunk->type);
	struct capture_chunk found;
	int good;

	if (list || chunk->type == CAPTURE_RESERVE) {
		capture_contents__count(contents, chunk);
		return list ? contents_add(list, chunk, at) : 0;
	}
	good = capture_source__header(&contents->source, at, &found);
	if (good < 0)
		return good;
	if (!good || !capture_index__agrees(chunk, &found))
		return -ESTALE;
	return capture_contents__take(contents, &found, at);
}

void capture_contents__free(struct capture_contents *contents)
{
	capture_source__close(&contents->source);
	capture_about__free(&contents->about);
	free(contents->records.blocks);
	free(contents->caches.blocks);
	free(contents->calls.blocks);
	free(contents->waits.blocks);
}

void capture_contents__forget(struct capture_contents *contents)
{
	contents->records.nr = contents->caches.nr = contents->calls.nr = contents->waits.nr = 0;
	capture_about__free(&contents->about);
	memset(&contents->about, 0, sizeof(contents->about));
	contents->nr_chunks = contents->reserve_bytes = 0;
	contents->nr_bytes = contents->merged_bytes = 0;
}

int capture_contents__load(struct capture_contents *contents, const struct capture_listed *block)
{
	struct capture_chunk found;
	int good;

	if (!contents->is_indexed)
		return capture_source__load(&contents->source, &block->chunk, block->at);
	good = capture_source__header(&contents->source, block->at, &found);
	if (good <= 0)
		return good ? good : -EBADMSG;
	if (!capture_index__agrees(&block->chunk, &found))
		return -EBADMSG;
	return capture_source__load(&contents->source, &found, block->at);
}
