/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fio.c: how can the same I/O be repeated? A log that `fio --read_iolog` replays: reads, writes,
 * discards and flushes at their submission times, or issue times if submission was not seen. What
 * fio cannot repeat is left out and reported: commands that failed, or whose sector is unknown.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "base/spill.h"
#include "export/exporter.h"
#include "render/iolog.h"
#include "render/job.h"
#include "session/io_source.h"
#include "wire/io_stages.h"

struct fio_io {
	uint64_t offset_bytes;
	uint32_t bytes;
	uint16_t device; /* index in the list; for a path, its head */
	uint8_t action;
};

struct export_fio {
	struct spill *spill;
	struct session *session;
	bool *used;    /* by device */
	uint16_t host; /* their machine, if captures are of several */
	uint64_t first_ns, last_us;
	uint64_t nr_failed, nr_alien, nr_unplaced, nr_unnamed;
};

static int fio_start(void **state, struct session *s)
{
	struct export_fio *f = calloc(1, sizeof(*f));

	*state = f;
	if (f) {
		f->session = s;
		f->spill = spill__new(sizeof(struct fio_io), SPILL_MEMORY);
		f->used = calloc(io_source__devices(s)->nr + 1, sizeof(*f->used));
	}
	return f && f->spill && f->used ? 0 : log_no_memory();
}

static const char *fio_name(const struct export_fio *f, size_t device)
{
	return io_source__devices(f->session)->devices[device].name;
}

/* The action and its location; false: counted by the reason it is left out. */
static bool fio_place(struct export_fio *f, struct session *s, const struct io_record *r,
		      struct fio_io *io)
{
	char buf[16];
	uint64_t sector = 0;
	enum iolog_action action = iolog__action(export__op(s, r, buf));
	bool is_moved = action != IOLOG_SYNC;

	if (r->status)
		f->nr_failed++;
	else if (action == NR_IOLOG_ACTIONS || r->kind == IO_ADMIN || r->kind == IO_FABRICS)
		f->nr_alien++;
	else if (is_moved && (!export__sector(s, r, &sector) || !r->bytes))
		f->nr_unplaced++;
	else {
		*io = (struct fio_io){ .action = (uint8_t)action };
		io->offset_bytes = is_moved ? sector * 512 : 0;
		io->bytes = is_moved ? r->bytes : 0;
		return true;
	}
	return false;
}

/* From the submission of its first bio, where that was seen. */
static uint64_t fio_begin_ns(const struct io_record *r)
{
	const struct io_stages *stages = io_record__stages(r);

	return stages && stages->queued_ns && stages->queued_ns < r->first_ns ? stages->queued_ns
									      : r->first_ns;
}

static int fio_put(void *state, struct session *s, const struct io_record *r)
{
	struct export_fio *f = state;
	int32_t device = records__device(s, r);
	char path[JOB_PATH];
	struct fio_io io;
	int err;

	if (!fio_place(f, s, r, &io))
		return 0;
	device = device < 0 ? device : device_list__head(io_source__devices(s), device);
	if (device < 0 || device > UINT16_MAX || !job__path(fio_name(f, (size_t)device), path)) {
		f->nr_unnamed++;
		return 0;
	}
	io.device = (uint16_t)device;
	f->used[device] = true;
	err = export__is_of_host(s, &io_source__devices(s)->devices[device], &f->host);
	return err ?: spill__add(f->spill, fio_begin_ns(r), &io);
}

/* ---- the log ---- */

/* A drive that came back under its name is another device of the same file. */
static bool fio_is_first(const struct export_fio *f, size_t device)
{
	for (size_t i = 0; i < device; i++)
		if (f->used[i] && !strcmp(fio_name(f, i), fio_name(f, device)))
			return false;
	return f->used[device];
}

static int fio_put_io(void *arg, uint64_t time_ns, const void *item)
{
	struct export_fio *f = arg;
	struct fio_io io;
	char path[JOB_PATH];

	memcpy(&io, item, sizeof(io));
	if (!f->last_us)
		f->first_ns = time_ns;
	f->last_us = (time_ns - f->first_ns) / 1000 + IOLOG_FIRST_US;
	job__path(fio_name(f, io.device), path);
	iolog__io(f->session->out, &(struct iolog_io){
					   .time_us = f->last_us,
					   .path = path,
					   .action = (enum iolog_action)io.action,
					   .offset_bytes = io.offset_bytes,
					   .bytes = io.bytes,
				   });
	return 0;
}

static void fio_tell(const struct export_fio *f)
{
	const struct {
		uint64_t nr;
		const char *why;
	} left_out[] = {
		{ f->nr_failed, "they failed" },
		{ f->nr_alien, "fio has no such operation" },
		{ f->nr_unplaced, "their records do not contain a sector" },
		{ f->nr_unnamed, "their device is unknown, or its name cannot be used in a path" },
	};

	for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
		if (left_out[i].nr)
			log_note("%" PRIu64 " commands are left out: %s", left_out[i].nr,
				 left_out[i].why);
}

static int fio_finish(void *state, struct session *s)
{
	struct export_fio *f = state;
	size_t nr = io_source__devices(s)->nr;
	char path[JOB_PATH];
	int err;

	fio_tell(f);
	iolog__begin(s->out);
	for (size_t i = 0; i < nr; i++)
		if (fio_is_first(f, i) && job__path(fio_name(f, i), path))
			iolog__open(s->out, path);
	err = spill__each(f->spill, fio_put_io, f);
	for (size_t i = 0; !err && i < nr; i++)
		if (fio_is_first(f, i) && job__path(fio_name(f, i), path))
			iolog__close(s->out, path, f->last_us);
	return err;
}

static void fio_free(void *state)
{
	struct export_fio *f = state;

	if (!f)
		return;
	spill__free(f->spill);
	free(f->used);
	free(f);
}

const struct exporter export_fio = {
	.start = fio_start,
	.put = fio_put,
	.finish = fio_finish,
	.free = fio_free,
};
