/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "base/log.h"
#include "session/recorder_inside.h"

int recorder_open_memory(struct recorder *r)
{
	const struct file_options *o = r->run.options;
	size_t most = o->size_bytes.given ? o->size_bytes.value : RECORDER_MEMORY;
	int err = capture_memory__new(o->last_ns.value, most, o->zstd ? RECORDER_ZSTD : 0,
				      &r->memory);

	if (err)
		return err;
	r->writer = capture_memory__writer(r->memory);
	return recorder_put_about(r);
}

int recorder__save(struct recorder *r, const char *why)
{
	char *path = maker__path(r->run.options, r->part);
	struct capture_options options = recorder_options(r, path);
	int err;

	if (!path)
		return log_err(-ENOMEM, "out of memory");
	err = capture_memory__save(r->memory, &options, why, NULL, 0);
	if (err != -ENOSPC && err)
		err = recorder_err(err);
	else if (!err)
		log_note("%s: %" PRIu64 " records, triggered by %s%s", path,
			 capture_memory__nr_records(r->memory), why,
			 capture_memory__is_short(r->memory)
				 ? "; less time than --last: --size limits the memory"
				 : "");
	if (err == -ENOSPC) {
		log_warn("%s: the disk is full; the records written so far can be read", path);
		r->full = true;
		err = 0;
	}
	r->nr_files++;
	r->part++;
	free(path);
	return err;
}

int recorder__copy(struct recorder *r, uint64_t from_ns, const char *why, struct byte_out *out)
{
	return capture_memory__copy(r->memory, from_ns, why, out);
}

int recorder__each(struct recorder *r, uint64_t from_ns, uint64_t to_ns, uint64_t most,
		   struct capture_visit visit)
{
	return capture_memory__each(r->memory, from_ns, to_ns, most, visit);
}

int recorder__find(struct recorder *r, uint64_t number, struct capture_visit visit)
{
	return capture_memory__find(r->memory, number, visit);
}

uint64_t recorder__kept_from(const struct recorder *r)
{
	return capture_memory__kept_from(r->memory);
}
