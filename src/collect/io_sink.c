/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_sink.c: output of records to the view that wants them. Makes records of rings, slots and
 * ladders alike, so that a command has the same bytes on every kernel.
 */
#include "collect/io_inside.h"

#include <string.h>
#include "decode/errno.h"

void io_record_of_slot(const struct io *io, uint32_t nr, const struct io_slot *slot,
		       struct io_record *record)
{
	const char *cells = io->slot_cells.cells;
	const struct io_slot_more *more =
		(const struct io_slot_more *)(cells + io_more_at(io)) + nr;

	*record = (struct io_record){
		.first_ns = slot->first_ns,
		.last_ns = more->last_ns,
		.end_ns = slot->last_ns,
		.nsid = more->nsid,
		.bytes = slot->bytes,
		.pid = more->pid,
		.device = more->device,
		.qid = more->qid,
		.cid = more->cid,
		.status = more->status,
		.kind = slot->kind,
		.op = slot->op,
		.attempts = slot->attempts,
		.flags = slot->flags,
	};
	memcpy(record->cdw10, more->cdw10, sizeof(record->cdw10));
	memcpy(record->comm, more->comm, sizeof(record->comm));
}

/* As a record has it: the programs leave a block layer's status as it is. */
uint16_t io_status_of(const struct io *io, uint8_t kind, uint16_t status)
{
	if (kind != IO_BLOCK || !(status & BLOCK_STATUS))
		return status;
	return errno__of_block(status & ~(uint32_t)BLOCK_STATUS, io->kernel.zone_resource);
}

static void sink_finish(const struct io *io, struct io_record *record)
{
	size_t len = strnlen(record->comm, sizeof(record->comm));

	memset(record->comm + len, 0, sizeof(record->comm) - len);
	record->status = io_status_of(io, record->kind, record->status);
	if (record->kind != IO_BLOCK && !io->kernel.nvme_status_at)
		record->flags |= RECORD_NO_STATUS;
}

void io_hand_on_record(const struct io *io, struct io_record *record, enum io_record_from from)
{
	sink_finish(io, record);
	io->on_record(io->on_record_arg, record, from);
}
