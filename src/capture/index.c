/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/index.h"

enum { INDEX_CLOCK_BYTES = 24 }; /* payload of a clock chunk with one triple */

static bool index_has_times(uint8_t type)
{
	return type == CAPTURE_RECORDS || type == CAPTURE_CACHE_ROWS ||
	       type == CAPTURE_CACHE_EVENTS || type == CAPTURE_CALLS;
}

bool capture_index__holds(const struct capture_chunk *chunk)
{
	return chunk->type == CAPTURE_CLOCK && chunk->length == INDEX_CLOCK_BYTES;
}

void capture_index__begin(struct capture_index_state *state)
{
	*state = (struct capture_index_state){ .at = CAPTURE_FILE_BYTES };
}

static void index_pass(struct capture_index_state *state, const struct capture_chunk *chunk)
{
	state->at += CAPTURE_CHUNK_BYTES + (uint64_t)chunk->length;
	if (chunk->type == CAPTURE_RECORDS)
		state->nr_records += chunk->count;
	if (index_has_times(chunk->type))
		state->last_ns = chunk->max_ns;
}

/* ---- writing ---- */

static void index_put_step(struct byte_out *out, uint64_t *last, uint64_t now)
{
	byte_out__varint(out, zigzag__put((int64_t)(now - *last)));
	*last = now;
}

void capture_index__put(struct byte_out *out, struct capture_index_state *state,
			const struct capture_chunk *chunk, const uint8_t *payload)
{
	byte_out__u8(out, chunk->type);
	byte_out__u8(out, chunk->flags);
	byte_out__varint(out, chunk->length);
	byte_out__varint(out, chunk->count);
	byte_out__varint(out, chunk->lost);
	if (state->has_origins) {
		byte_out__varint(out, chunk->origin);
		byte_out__varint(out, chunk->first);
	}
	if (index_has_times(chunk->type)) {
		byte_out__varint(out, zigzag__put((int64_t)(chunk->min_ns - state->last_ns)));
		byte_out__varint(out, chunk->max_ns - chunk->min_ns);
	}
	if (capture_index__holds(chunk)) {
		index_put_step(out, &state->clock.mono_ns, le__get64(payload));
		index_put_step(out, &state->clock.boot_ns, le__get64(payload + 8));
		index_put_step(out, &state->clock.real_ns, le__get64(payload + 16));
	}
	index_pass(state, chunk);
}

void capture_index__put_tail(struct byte_out *out, uint64_t at)
{
	byte_out__u64(out, at);
}

/* ---- reading ---- */

static void index_get_origin(struct byte_in *in, struct capture_chunk *chunk)
{
	uint64_t origin = byte_in__varint(in);

	in->bad |= origin > CAPTURE_ORIGINS;
	chunk->origin = (uint16_t)origin;
	chunk->first = byte_in__varint(in);
}

static void index_get_step(struct byte_in *in, uint64_t *last)
{
	*last += (uint64_t)zigzag__get(byte_in__varint(in));
}

bool capture_index__get(struct byte_in *in, struct capture_index_state *state,
			struct capture_chunk *chunk)
{
	uint64_t length, count;

	*chunk = (struct capture_chunk){ .first = state->nr_records };
	chunk->type = byte_in__u8(in);
	chunk->flags = byte_in__u8(in);
	length = byte_in__varint(in);
	count = byte_in__varint(in);
	chunk->lost = byte_in__varint(in);
	if (state->has_origins)
		index_get_origin(in, chunk);
	if (in->bad || length > CAPTURE_CHUNK_MOST || count > UINT32_MAX)
		return false;
	chunk->length = (uint32_t)length;
	chunk->count = (uint32_t)count;
	if (index_has_times(chunk->type)) {
		chunk->min_ns = state->last_ns + (uint64_t)zigzag__get(byte_in__varint(in));
		chunk->max_ns = chunk->min_ns + byte_in__varint(in);
	}
	if (capture_index__holds(chunk)) {
		index_get_step(in, &state->clock.mono_ns);
		index_get_step(in, &state->clock.boot_ns);
		index_get_step(in, &state->clock.real_ns);
	}
	index_pass(state, chunk);
	return !in->bad;
}

bool capture_index__agrees(const struct capture_chunk *indexed, const struct capture_chunk *found)
{
	return indexed->type == found->type && indexed->flags == found->flags &&
	       indexed->origin == found->origin && indexed->length == found->length &&
	       indexed->count == found->count && indexed->first == found->first &&
	       indexed->lost == found->lost &&
	       (!index_has_times(found->type) ||
		(indexed->min_ns == found->min_ns && indexed->max_ns == found->max_ns));
}
