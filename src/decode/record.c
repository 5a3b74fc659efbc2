/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/record.h"

#include "decode/errno.h"
#include "decode/nvme.h"
#include "wire/io_tables.h"

/* The only block operations without a sector; all others have one, zone resets too. */
static const char *const sectorless[] = { "flush", "drv-in", "drv-out", "zone-reset-all" };

static bool record_has_sector(const struct io_record *r, char *const *block_names)
{
	const char *name = block_names ? block_names[r->op] : NULL;

	if (!name || (*name != 'f' && *name != 'd' && *name != 'z'))
		return true; /* fast path for reads and writes */
	for (size_t i = 0; i < sizeof(sectorless) / sizeof(sectorless[0]); i++)
		if (!strcmp(name, sectorless[i]))
			return false;
	return true;
}

static uint64_t record_sector(const struct io_record *r)
{
	return (uint64_t)r->cdw10[1] << 32 | r->cdw10[0];
}

bool record__start(const struct io_record *r, char *const *block_names, uint64_t *start)
{
	if (r->kind != IO_BLOCK)
		return nvme_command__lba(r, start);
	if (!record_has_sector(r, block_names))
		return false;
	*start = record_sector(r);
	return true;
}

struct record_place record__place(const struct io_record *r, char *const *block_names,
				  uint32_t block_size)
{
	struct record_place place = { UINT64_MAX, UINT64_MAX };
	uint64_t start;

	if (!record__start(r, block_names, &start))
		return place;
	if (r->kind == IO_BLOCK) {
		place.sector = start;
		return place;
	}
	place.lba = start;
	if (block_size >= 512 && start <= UINT64_MAX / (block_size / 512))
		place.sector = start * (block_size / 512);
	return place;
}

static void record_block(struct words *w, const struct io_record *r, char *const *block_names)
{
	if (record_has_sector(r, block_names)) {
		words__key(w, "sector");
		words__u64(w, record_sector(r));
	}
	if (r->bytes) {
		words__key(w, "len");
		words__size(w, r->bytes);
	}
}

/* The sender: of a command that bypassed the block layer a user, or the driver itself; else
 * whether it polls. */
static void record_sender(struct words *w, const struct io_record *r)
{
	if (r->flags & RECORD_METADATA)
		words__item(w, "metadata");
	if (r->flags & RECORD_PASSTHROUGH)
		words__item(w, r->flags & RECORD_USER ? "passthrough" : "by-driver");
	else if (io_record__is_polled(r))
		words__item(w, "polled");
}

void record__describe(struct words *w, const struct io_record *r, uint32_t block_size,
		      char *const *block_names)
{
	if (r->kind == IO_BLOCK)
		record_block(w, r, block_names);
	else
		nvme_command__describe(w, r, block_size);
	record_sender(w, r);
}

void record__status(struct words *w, const struct io_record *r)
{
	if (r->what == RECORD_SUBMIT)
		words__item(w, "-");
	else if (r->what == RECORD_ATTEMPT && !r->status) /* only NVMe reports a status */
		words__item(w, "tried again");
	else if (r->kind == IO_BLOCK)
		errno__describe(w, r->status);
	else if (r->status && (r->flags & RECORD_NO_STATUS))
		words__item(w, "failed");
	else
		nvme_status__describe(w, r->kind, r->status);
}
