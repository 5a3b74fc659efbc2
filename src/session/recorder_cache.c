/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "session/recorder_inside.h"

int recorder_meet_file(struct recorder *r, uint64_t inode, uint32_t dev, uint32_t nth)
{
	int err = dev ? recorder_meet_id(r, GLOSSARY_DISKS, dev, 0) : 0;

	return err || !inode ? err
			     : recorder_meet_id(r, GLOSSARY_FILES, inode, io_file_place(dev, nth));
}

int recorder__cache_rows(struct recorder *r, uint64_t time_ns, const struct capture_cache_row *rows,
			 size_t nr)
{
	int err = 0;

	if (!r->writer)
		return 0;
	for (size_t i = 0; i < nr && !err; i++) {
		const struct cache_key *key = &rows[i].key;

		err = recorder_meet_file(r, key->inode, key->dev, cache_key_nth(key));
		if (!err && key->cgroup)
			err = recorder_meet_id(r, GLOSSARY_CGROUPS, key->cgroup, 0);
	}
	err = err ?: capture_writer__cache_rows(r->writer, time_ns, rows, nr);
	r->nr_readings += !err;
	return recorder_verdict(r, err);
}

int recorder__cache_events(struct recorder *r, const struct cache_command *events, size_t nr)
{
	int err = 0;

	if (!r->writer || !nr)
		return 0;
	for (size_t i = 0; i < nr && !err; i++) {
		err = recorder_meet_file(r, events[i].event.inode, events[i].event.dev,
					 events[i].event.nth);
		if (!err && events[i].event.told == CACHE_TOLD_COMMAND)
			err = recorder_meet_id(r, GLOSSARY_DISKS, events[i].disk, 0);
	}
	err = err ?: capture_writer__cache_events(r->writer, events, nr);
	r->nr_events += err ? 0 : nr;
	return recorder_verdict(r, err);
}

int recorder__part(struct recorder *r, const struct capture_chunk *chunk, const uint8_t *payload,
		   size_t nr)
{
	int err;

	if (!r->writer)
		return 0;
	err = capture_writer__part(r->writer, chunk, payload, nr);
	if (!err && chunk->type == CAPTURE_CALLS)
		r->nr_calls += chunk->count;
	return recorder_verdict(r, err);
}
