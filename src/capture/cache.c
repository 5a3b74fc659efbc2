/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"

void capture_cache__free(struct capture_cache *c)
{
	free(c->rows);
	free(c->events);
	memset(c, 0, sizeof(*c));
}

/* An entry holds its own length: later versions may append fields. */
static void cache_put_entry(struct byte_out *out, struct byte_out *entry)
{
	byte_out__varint(out, entry->len);
	byte_out__put(out, entry->bytes, entry->len);
	out->failed |= entry->failed;
	byte_out__free(entry);
}

static void cache_put_comm(struct byte_out *out, const char comm[CACHE_COMM_LEN])
{
	size_t len = strnlen(comm, CACHE_COMM_LEN);

	byte_out__varint(out, len);
	byte_out__put(out, comm, len);
}

static void cache_get_comm(struct byte_in *in, char comm[CACHE_COMM_LEN])
{
	struct byte_in part = byte_in__part(in);
	size_t len = part.bad ? 0 : byte_in__left(&part);

	memset(comm, 0, CACHE_COMM_LEN);
	if (len)
		memcpy(comm, part.at, len < CACHE_COMM_LEN ? len : CACHE_COMM_LEN);
}

/* ---- rows ---- */

void capture_cache__put_row(struct byte_out *out, const struct capture_cache_row *row)
{
	const struct cache_key *key = &row->key;
	struct byte_out entry = { 0 };
	uint64_t there = 0;

	for (int i = 0; i < NR_CACHE_COUNTS; i++)
		there |= (uint64_t)(row->counts[i] != 0) << i;
	byte_out__varint(&entry, cache_key_op(key));
	byte_out__varint(&entry, key->pid);
	byte_out__varint(&entry, key->dev);
	byte_out__varint(&entry, key->inode);
	byte_out__varint(&entry, key->cgroup);
	cache_put_comm(&entry, key->comm);
	byte_out__varint(&entry, there);
	for (int i = 0; i < NR_CACHE_COUNTS; i++)
		if (there >> i & 1)
			byte_out__varint(&entry, row->counts[i]);
	if (cache_key_nth(key))
		byte_out__varint(&entry, cache_key_nth(key));
	cache_put_entry(out, &entry);
}

/* At the end of an entry; older captures have none. */
static uint8_t cache_get_nth(struct byte_in *in)
{
	return byte_in__left(in) && !in->bad ? (uint8_t)byte_in__varint(in) : 0;
}

static void cache_get_row(struct byte_in *in, struct capture_cache_row *row)
{
	uint64_t there, count;
	uint32_t op;

	memset(row, 0, sizeof(*row));
	op = (uint32_t)byte_in__varint(in);
	row->key.pid = (uint32_t)byte_in__varint(in);
	row->key.dev = (uint32_t)byte_in__varint(in);
	row->key.inode = byte_in__varint(in);
	row->key.cgroup = byte_in__varint(in);
	cache_get_comm(in, row->key.comm);
	there = byte_in__varint(in);
	for (int i = 0; i < 64 && !in->bad; i++) {
		count = there >> i & 1 ? byte_in__varint(in) : 0;
		if (i < NR_CACHE_COUNTS)
			row->counts[i] = count;
	}
	in->bad |= op > NR_CACHE_OPS;
	row->key.what = cache_key_what(op, cache_get_nth(in));
}

int capture_cache__get_rows(struct capture_cache *c, struct byte_in in)
{
	c->nr_rows = 0;
	while (byte_in__left(&in)) {
		struct byte_in entry = byte_in__part(&in);
		struct capture_cache_row *row;

		if (entry.bad)
			return -EBADMSG;
		if (GROW(c->rows, c->room_rows, c->nr_rows + 1))
			return -ENOMEM;
		row = &c->rows[c->nr_rows++];
		cache_get_row(&entry, row);
		if (entry.bad || c->nr_rows > CAPTURE_CACHE_MOST)
			return -EBADMSG;
	}
	return 0;
}

/* ---- events ---- */

/* A time that was not seen is 0; a time before the base is invalid, and becomes the base. */
static uint64_t cache_since(uint64_t ns, uint64_t base_ns)
{
	if (!ns)
		return 0;
	return ns > base_ns ? ns - base_ns + 1 : 1;
}

static uint64_t cache_time(uint64_t since, uint64_t base_ns)
{
	return since ? base_ns + since - 1 : 0;
}

static void cache_put_command(struct byte_out *out, const struct cache_command *c, uint64_t base_ns)
{
	byte_out__varint(out, cache_since(c->issued_ns, base_ns));
	byte_out__varint(out, c->sector);
	byte_out__varint(out, c->command_sector);
	byte_out__varint(out, c->disk);
	byte_out__varint(out, c->bytes);
	byte_out__varint(out, c->command_bytes);
	byte_out__varint(out, c->missed);
	byte_out__varint(out, c->failed);
}

void capture_cache__put_event(struct byte_out *out, const struct cache_event *e, uint64_t base_ns)
{
	struct byte_out entry = { 0 };

	byte_out__varint(&entry, e->told);
	byte_out__varint(&entry, cache_since(e->start_ns, base_ns));
	byte_out__varint(&entry, cache_since(e->end_ns, base_ns));
	byte_out__varint(&entry, e->inode);
	byte_out__varint(&entry, e->dev);
	byte_out__varint(&entry, e->page);
	byte_out__varint(&entry, e->pages);
	byte_out__varint(&entry, e->pid);
	byte_out__varint(&entry, e->tid);
	byte_out__varint(&entry, e->op);
	cache_put_comm(&entry, e->comm);
	if (e->told == CACHE_TOLD_COMMAND)
		cache_put_command(&entry, (const struct cache_command *)e, base_ns);
	if (e->nth)
		byte_out__varint(&entry, e->nth);
	cache_put_entry(out, &entry);
}

static void cache_get_command(struct byte_in *in, struct cache_command *c, uint64_t base_ns)
{
	c->issued_ns = cache_time(byte_in__varint(in), base_ns);
	c->sector = byte_in__varint(in);
	c->command_sector = byte_in__varint(in);
	c->disk = (uint32_t)byte_in__varint(in);
	c->bytes = (uint32_t)byte_in__varint(in);
	c->command_bytes = (uint32_t)byte_in__varint(in);
	c->missed = (uint32_t)byte_in__varint(in);
	c->failed = (uint32_t)byte_in__varint(in);
}

static void cache_get_event(struct byte_in *in, struct cache_command *c, uint64_t base_ns)
{
	struct cache_event *e = &c->event;
	uint64_t told;

	memset(c, 0, sizeof(*c));
	told = byte_in__varint(in);
	e->told = told > CACHE_TOLD_COMMAND ? CACHE_TOLD_COMMAND + 1 : (uint16_t)told;
	e->start_ns = cache_time(byte_in__varint(in), base_ns);
	e->end_ns = cache_time(byte_in__varint(in), base_ns);
	e->inode = byte_in__varint(in);
	e->dev = (uint32_t)byte_in__varint(in);
	e->page = byte_in__varint(in);
	e->pages = (uint32_t)byte_in__varint(in);
	e->pid = (uint32_t)byte_in__varint(in);
	e->tid = (uint32_t)byte_in__varint(in);
	e->op = (uint32_t)byte_in__varint(in);
	cache_get_comm(in, e->comm);
	if (e->told == CACHE_TOLD_COMMAND)
		cache_get_command(in, c, base_ns);
	if (e->told <= CACHE_TOLD_COMMAND)
		e->nth = cache_get_nth(in);
}

/* Skips events of later versions. */
int capture_cache__get_events(struct capture_cache *c, struct byte_in in, uint64_t base_ns)
{
	c->nr_events = 0;
	while (byte_in__left(&in)) {
		struct byte_in entry = byte_in__part(&in);
		struct cache_command *event;

		if (entry.bad)
			return -EBADMSG;
		if (GROW(c->events, c->room_events, c->nr_events + 1))
			return -ENOMEM;
		event = &c->events[c->nr_events++];
		cache_get_event(&entry, event, base_ns);
		if (entry.bad || c->nr_events > CAPTURE_CACHE_MOST)
			return -EBADMSG;
		if (event->event.told > CACHE_TOLD_COMMAND)
			c->nr_events--;
	}
	return 0;
}
