/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * life.h: the life of a command in its slot, from setup or issue to its end: ARCHITECTURE.md draws
 * it.
 */
#ifndef IOSONAR_BPF_LIFE_H
#define IOSONAR_BPF_LIFE_H

#include "bpf/failure.h"
#include "bpf/file.h"
#include "bpf/flush.h"
#include "bpf/note.h"
#include "bpf/row.h"
#include "bpf/sample.h"
#include "bpf/slow.h"
#include "bpf/stages.h"

enum { NVME_ABORT = 0x08 };

inline_always bool is_troubled(const struct io_slot *slot, const struct outcome *o)
{
	return o->status || slot->attempts > 1 || slot->flags & RECORD_TROUBLED ||
	       (slot->kind == IO_ADMIN && slot->op == NVME_ABORT);
}

/* From the submission of its first bio to its end, as far as they were seen. */
inline_always __u64 command_whole_ns(const struct io_slot *slot, const struct outcome *o)
{
	__u64 from_ns = o->bio && o->bio->queued_ns ? o->bio->queued_ns : slot->first_ns;

	return (o->done_ns > o->end_ns ? o->done_ns : o->end_ns) - from_ns;
}

/* Record consumers build their own rows; a dropped record is counted in ours. */
inline_always bool command_has_row(const struct tables *t, const struct io_slot *slot,
				   const struct outcome *o, __u64 ns, const enum stages stages)
{
	if (ns < setting_of(t, min_ns) || (setting_of(t, only_failed) && !o->status))
		return false;
	/* Some commands have no record of their own. */
	if (settings.only_troubled && !is_troubled(slot, o))
		return true;
	if (stages && (settings.bios || (settings.slowest && !is_slow(command_whole_ns(slot, o)))))
		return true;
	if (stages && settings.files_at_end && o->bio)
		bio_file_at_end(o->bio->key);
	return !setting_of(t, records) || !record_send(t, slot, o, stages) ||
	       setting_of(t, rows_too);
}

inline_always void command_ends(const struct tables *t, struct io_slot *slot,
				const struct outcome *o, const enum stages stages)
{
	__u64 ns = o->end_ns - slot->first_ns;
	const bool failed = o->status;

	slot->state = IO_IDLE;
	if (stages && settings.depths)
		depth_change(t, slot, -1);
	if (o->end_ns < slot->first_ns) {
		count_up(counters.clock_backward);
		return;
	}
	slot->completed++;
	if (failed)
		count_up(counters.failed);
	if (!setting_of(t, not_rows_alone) || command_has_row(t, slot, o, ns, stages))
		row_count(t, slot->key_nr, ns, slot->bytes);
	if (failed && settings.failures) /* last: no register has to outlive the call */
		failure_count(slot->key_nr, o->status, o->end_ns);
}

/* An NVMe command ends with the error that parked it, or because no other attempt will come. */
inline_always void command_fails(const struct tables *t, struct io_slot *slot, __u64 end_ns,
				 const enum stages stages)
{
	struct outcome o = { .end_ns = end_ns, .status = NVME_HOST_ABORTED };

	if (setting_of(t, records) && slot->state == IO_PARKED)
		o.status = slot_more(t, slot)->status;
	else if (settings.failures && slot->state == IO_PARKED)
		o.status = slot->queue;
	command_ends(t, slot, &o, stages);
}

/* With stages an NVMe command waits for the end of its request, which is a stage itself. */
inline_always void command_is_done(const struct tables *t, struct io_slot *slot,
				   const struct outcome *o)
{
	slot->last_ns = o->end_ns;
	slot_more(t, slot)->status = o->status;
	slot_stages(t, slot)->result = o->result;
	slot->state = o->status ? IO_FAILED : IO_DONE;
}

/* o: what is known of the request's end. */
inline_always void command_was_done(const struct tables *t, struct io_slot *slot, struct outcome *o)
{
	o->end_ns = slot->last_ns;
	o->status = slot->state == IO_DONE ? 0 : slot_more(t, slot)->status;
	if (slot->state == IO_DONE)
		o->result = slot_stages(t, slot)->result;
	command_ends(t, slot, o, STAGES);
}

/*
 * Setup finds the slot not idle. True: this is another attempt of the same command, which goes on.
 * False: the slot was cleared and takes a new command.
 */
inline_always bool command_goes_on(const struct tables *t, struct io_slot *slot, __u64 alloc_ns,
				   const enum stages stages)
{
	__u64 now = bpf_ktime_get_ns();

	switch (slot->state) {
	case IO_RETRY:
		count_up(counters.retries);
		slot->attempts++;
		break;
	case IO_REQUEUED:
		if (slot->attempts == 1)
			slot->first_ns = now;
		break;
	case IO_OPEN:
		/* A batch that could not be mapped is set up again one by one, without a requeue.
		 */
		if (alloc_ns && alloc_ns == slot->alloc_ns) {
			count_up(counters.requeues);
			if (slot->attempts == 1)
				slot->first_ns = now;
			break;
		}
		count_up(counters.overwritten);
		if (stages && settings.depths)
			depth_change(t, slot, -1);
		return false;
	case IO_PARKED: command_fails(t, slot, slot->last_ns, stages); return false;
	case IO_DONE:
	case IO_FAILED:
		if (stages)
			command_was_done(t, slot, &(struct outcome){});
		return false;
	default: return false;
	}
	if (setting_of(t, records))
		slot_more(t, slot)->last_ns = now;
	if (stages)
		slot_stages(t, slot)->issued_ns = slot_stages(t, slot)->reaped_ns = 0;
	slot->state = IO_OPEN;
	return true;
}

/* What every command of this queue and operation has in common, so that a slot can remember it. */
inline_always bool remembers(void)
{
	return !(settings.by_size || settings.by_queue || settings.by_cpu || settings.by_pid ||
		 settings.by_comm || settings.by_cgroup || settings.by_file ||
		 settings.filter_pid || settings.filter_cgroup || settings.filter_comm[0] ||
		 settings.filter_nsid || settings.filter_qid || settings.filter_sectors);
}

inline_always bool command_wanted(struct request *rq, struct nvme_command *cmd,
				  const struct io_bio *owner, __u32 op,
				  const enum pointers pointers)
{
	if (!op_wanted(op))
		return false;
	if (settings.filter_nsid &&
	    (!cmd || field_of_command(pointers, cmd, nsid) != settings.wanted_nsid))
		return false;
	if (settings.filter_qid && queue_number(rq, op >> 8, pointers) != settings.wanted_qid)
		return false;
	return task_wanted(owner);
}

/* A block's log2 is below 32: the verifier accepts a shift that it cannot bound. */
inline_always __u32 command_bytes(const struct io_slot *slot, struct request *rq,
				  struct nvme_command *cmd, const enum pointers pointers)
{
	if (cmd && slot->sized_shift)
		return ((field_of_command(pointers, cmd, cdw10[2]) & 0xffff) + 1)
		       << slot->sized_shift;
	return field_of(pointers, rq, __data_len);
}

/*
 * Is the command counted, and in which row? Asked once per queue and operation where the answer
 * cannot change. The admin queue has no namespace; a fabrics command is identified by its type.
 */
inline_always bool command_places(const struct tables *t, struct io_slot *slot, struct request *rq,
				  struct request_queue *q, struct nvme_command *cmd, __u32 number,
				  const enum pointers pointers, const enum rich rich)
{
	const struct io_bio *owner = owner_of(t, rq, rich);
	struct io_device *device;
	__u32 op = number, device_nr = 0;

	if (!cmd)
		op |= IO_BLOCK << 8;
	else if (number == NVME_FABRICS)
		op = IO_FABRICS << 8 | (field_of_command(pointers, cmd, nsid) & 0xff);
	else if (!BPF_CORE_READ(q, queuedata))
		op |= IO_ADMIN << 8;
	slot->queue = 0;
	device = device_wanted(rq, q, cmd != 0, pointers, &device_nr);
	if (!device || !command_wanted(rq, cmd, owner, op, pointers))
		return false;
	slot->sized_shift = nvme_is_sized(op) ? device->block_shift : 0; /* IO_NVME is 0 */
	slot->kind = op >> 8;
	slot->op = op;
	slot->bytes = command_bytes(slot, rq, cmd, pointers);
	/* Record consumers have rows only for dropped records, and most only add those up. */
	slot->key_nr = settings.records && !settings.rows_too && !settings.drop_rows
			       ? 0
			       : command_key(rq, owner, device_nr, op, slot->bytes, pointers);
	if (settings.records)
		slot_more(t, slot)->device = device_nr;
	if (rich && settings.stages)
		slot_stages(t, slot)->device = device_nr;
	if (remembers() && number != NVME_FABRICS)
		slot->queue = (__u64)q;
	return true;
}

/* The first attempt: two fields, one store, one load. */
struct first_attempt {
	__u8 attempts, state;
};

_Static_assert(__builtin_offsetof(struct io_slot, state) ==
		       __builtin_offsetof(struct io_slot, attempts) + 1,
	       "side by side");

inline_always void slot_opens(struct io_slot *slot)
{
	const struct first_attempt opened = { 1, IO_OPEN };

	__builtin_memcpy(&slot->attempts, &opened, sizeof(opened));
}

inline_always bool slot_is_at_first(const struct io_slot *slot, enum io_state state)
{
	const struct first_attempt wanted = { 1, state };
	__u16 is, should_be;

	__builtin_memcpy(&is, __builtin_assume_aligned(&slot->attempts, 2), sizeof(is));
	__builtin_memcpy(&should_be, &wanted, sizeof(should_be));
	return is == should_be;
}

/* Another attempt is sent: it has its own command id, and its own line where attempts have
 * lines. */
inline_always void command_sent_again(const struct tables *t, struct io_slot *slot,
				      struct nvme_command *cmd, const enum pointers pointers,
				      const enum stages stages)
{
	if (!setting_of(t, records))
		return;
	if (cmd)
		slot_more(t, slot)->cid = field_of_command(pointers, cmd, command_id);
	if (settings.split && settings.troubles)
		record_send(t, slot, &(struct outcome){ .what = RECORD_SUBMIT }, stages);
}

/*
 * Setup or issue. The clock is read last: our own work is not the command's latency.
 */
inline_always int command_starts(const struct tables *t, struct request *rq,
				 struct request_queue *q, struct nvme_command *cmd, __u32 number,
				 const enum pointers pointers, const enum rich rich)
{
	const enum stages stages = rich && settings.stages;
	struct io_slot *slot = slot_take(t, rq);

	if (!slot)
		return 0;
	if (slot->state > IO_IGNORED &&
	    command_goes_on(t, slot, field_of(pointers, rq, start_time_ns), stages)) {
		command_sent_again(t, slot, cmd, pointers, stages);
		return 0;
	}
	if (slot->queue == (__u64)q && slot->op == number) {
		slot->bytes = command_bytes(slot, rq, cmd, pointers);
	} else if (!command_places(t, slot, rq, q, cmd, number, pointers, rich)) {
		slot->state = IO_IGNORED;
		return 0;
	}
	slot->alloc_ns = field_of(pointers, rq, start_time_ns);
	slot_opens(slot);
	slot->issued++;
	if (!setting_of(t, records)) {
		slot->first_ns = bpf_ktime_get_ns();
		return 0;
	}
	more_fill(t, slot, rq, cmd, pointers, rich);
	if (stages) {
		stages_begin(t, slot);
		stages_note_flush(t, slot, rq, pointers);
	}
	slot_more(t, slot)->last_ns = slot->first_ns = bpf_ktime_get_ns();
	if (settings.split)
		record_send(t, slot, &(struct outcome){ .what = RECORD_SUBMIT }, stages);
	return 0;
}

enum driver { OTHER_DRIVER, NVME_DRIVER };

/* A completion without an open slot: sent before we attached, filtered out, or one we missed. */
inline_always void completion_unmatched(struct io_slot *slot, struct request *rq,
					const enum driver driver, const enum pointers pointers)
{
	const __u64 since_ns = driver == NVME_DRIVER ? attached_ns : block_attached_ns;
	struct io_device *device;
	__u32 number;

	if (slot && slot->state == IO_IGNORED) {
		slot->state = IO_IDLE;
		return;
	}
	if (closing)
		return;
	device = device_find(rq, BPF_CORE_READ(rq, q), driver == NVME_DRIVER, &number);
	if (!device || device->verdict != IO_WANTED)
		return;
	if (driver == NVME_DRIVER && (nvme_status(settings.nvme_status_at, rq, PLAIN) & 0x7ff) ==
					     0x370) /* host path error: ended by the driver */
		count_up(counters.refused);
	else if (field_of(pointers, rq, start_time_ns) < since_ns)
		count_up(counters.mid_flight);
	else
		count_up(counters.no_start);
}

inline_always int nvme_setup(const struct tables *t, struct request *rq, struct nvme_command *cmd,
			     const enum pointers pointers, const enum rich rich)
{
	return command_starts(t, rq, field_of(pointers, rq, q), cmd,
			      field_of_command(pointers, cmd, opcode), pointers, rich);
}

/* What a program of a run with a budget tells the measure of its own cost. */
enum timing { TIMED, UNTIMED };

/* Where only some commands are timed: these functions have programs of their own. */
inline_always enum timing nvme_setup_some(const struct tables *t, struct request *rq,
					  struct nvme_command *cmd, const enum pointers pointers)
{
	if (!sample_starts(rq, field_of(pointers, rq, q), pointers))
		return UNTIMED;
	nvme_setup(t, rq, cmd, pointers, LEAN);
	return TIMED;
}

inline_always int nvme_setup_rich(void *ctx, const struct tables *t, struct request *rq,
				  struct nvme_command *cmd, const enum pointers pointers)
{
	nvme_setup(t, rq, cmd, pointers, RICH);
	if ((settings.kernel_stacks || settings.user_stacks) &&
	    (field_of(pointers, rq, cmd_flags) & 0xff) >= REQ_OP_DRV_IN)
		nvme_submitted(ctx, t, rq);
	return 0;
}

/* As the driver decides: "do not retry" in the status, or a request that asked for no retry,
 * like every request that users and the driver itself send past the block layer. */
inline_always bool nvme_never_retries(const struct tables *t, struct request *rq, __u32 status,
				      const enum pointers pointers)
{
	return status & NVME_DNR ||
	       field_of(pointers, rq, cmd_flags) & setting_of(t, noretry_flags);
}

inline_always int nvme_complete(const struct tables *t, struct request *rq, __u64 now,
				const enum pointers pointers)
{
	struct io_slot *slot = slot_find(t, rq);
	struct outcome o = {};

	if (!slot || slot->state != IO_OPEN) {
		completion_unmatched(slot, rq, NVME_DRIVER, pointers);
		return 0;
	}
	o.status = nvme_status(setting_of(t, nvme_status_at), rq, pointers);
	o.end_ns = now;
	if (__builtin_expect(o.status, 0)) {
		if (nvme_never_retries(t, rq, o.status, pointers)) {
			if (setting_of(t, stages))
				command_is_done(t, slot, &o);
			else
				command_ends(t, slot, &o, NO_STAGES);
			return 0;
		}
		slot->last_ns = now;
		slot->state = IO_PARKED;
		if (setting_of(t, records)) {
			slot_more(t, slot)->status = o.status;
			count_up(counters.parked);
		} else if (settings.failures) {
			slot->queue = o.status;
		}
		return 0;
	}
	if (setting_of(t, records)) {
		o.result = nvme_result(rq, pointers);
		if (setting_of(t, stages)) {
			command_is_done(t, slot, &o);
			return 0;
		}
	}
	command_ends(t, slot, &o, NO_STAGES);
	return 0;
}

/*
 * Counts a command that is not timed. An attempt that failed is not counted if another one may
 * follow: the last one is.
 */
inline_always enum timing nvme_counted(const struct tables *t, struct request *rq,
				       const enum pointers pointers)
{
	struct io_sampled *sampled = sample_untimed(t, rq, field_of(pointers, rq, q), pointers);
	__u32 status;

	if (!sampled)
		return TIMED;
	status = nvme_status(setting_of(t, nvme_status_at), rq, pointers);
	if (__builtin_expect(status, 0)) {
		if (!nvme_never_retries(t, rq, status, pointers))
			return UNTIMED;
		count_up(counters.failed);
		if (settings.failures)
			failure_count(sampled->key_nr[sample_way(rq, pointers) & 1], status,
				      bpf_ktime_get_ns());
	}
	sample_count(sampled, rq, 1, field_of(pointers, rq, __data_len), pointers);
	return UNTIMED;
}

inline_always enum timing nvme_complete_some(const struct tables *t, struct request *rq,
					     const enum pointers pointers)
{
	if (nvme_counted(t, rq, pointers))
		return UNTIMED;
	nvme_complete(t, rq, bpf_ktime_get_ns(), pointers);
	return TIMED;
}

inline_always int block_issue(const struct tables *t, struct request *rq,
			      const enum pointers pointers, const enum rich rich)
{
	struct request_queue *q = field_of(pointers, rq, q);
	struct gendisk *disk = req_disk(rq, q, pointers);

	if (!disk || disk_is_nvme(disk, pointers))
		return 0;
	return command_starts(t, rq, q, 0,
			      IO_BLOCK << 8 | (field_of(pointers, rq, cmd_flags) & 0xff), pointers,
			      rich);
}

inline_always enum timing block_issue_some(const struct tables *t, struct request *rq,
					   const enum pointers pointers)
{
	struct request_queue *q = field_of(pointers, rq, q);
	struct gendisk *disk = req_disk(rq, q, pointers);

	if (disk && !disk_is_nvme(disk, pointers) && !sample_starts(rq, q, pointers))
		return UNTIMED;
	block_issue(t, rq, pointers, LEAN);
	return TIMED;
}

/* An errno, or since 5.16 (8a7d267b4a2c) a blk_status_t: user space knows their meaning. */
inline_always __u32 block_status(__u32 error)
{
	return (__s32)error < 0 ? -error : error ? error | BLOCK_STATUS : 0;
}

/* A request of a disk other than NVMe; with stages, its first bio and number of bios are known. */
inline_always void block_ends(const struct tables *t, struct request *rq, struct io_slot *slot,
			      __u32 nr_bytes, struct outcome *o, const enum pointers pointers,
			      const enum stages stages)
{
	if (slot && slot->state >= IO_RETRY) { /* another attempt was expected, and never came */
		if (!o->status)
			o->status = BLOCK_EIO;
		command_ends(t, slot, o, stages);
		return;
	}
	if (!slot || slot->state != IO_OPEN) {
		if (!completes_a_flush(rq, nr_bytes, pointers))
			completion_unmatched(slot, rq, OTHER_DRIVER, pointers);
		return;
	}
	if (nr_bytes < field_of(pointers, rq, __data_len)) /* a part; the rest will follow */
		return;
	command_ends(t, slot, o, stages);
}

/* Of a request that ends in parts, the last one counts. */
inline_always enum timing block_counted(const struct tables *t, struct request *rq,
					struct request_queue *q, __u32 error, __u32 nr_bytes,
					const enum pointers pointers)
{
	struct io_sampled *sampled = sample_untimed(t, rq, q, pointers);
	bool is_last;

	if (!sampled)
		return TIMED;
	if (__builtin_expect(!nr_bytes, 0) && completes_a_flush(rq, nr_bytes, pointers))
		return UNTIMED;
	is_last = nr_bytes >= field_of(pointers, rq, __data_len);
	if (__builtin_expect(error && is_last, 0)) {
		count_up(counters.failed);
		if (settings.failures)
			failure_count(sampled->key_nr[sample_way(rq, pointers) & 1],
				      block_status(error), bpf_ktime_get_ns());
	}
	sample_count(sampled, rq, is_last, nr_bytes, pointers);
	return UNTIMED;
}

inline_always int block_complete(struct request *rq, __u32 error, __u32 nr_bytes,
				 const enum pointers pointers)
{
	struct gendisk *disk = req_disk(rq, field_of(pointers, rq, q), pointers);
	struct outcome o = {};
	struct tables t;

	if (!disk || disk_is_nvme(disk, pointers))
		return 0;
	o.end_ns = bpf_ktime_get_ns();
	t = the_tables();
	o.status = block_status(error);
	block_ends(&t, rq, slot_find(&t, rq), nr_bytes, &o, pointers, NO_STAGES);
	return 0;
}

inline_always enum timing block_complete_some(struct request *rq, __u32 error, __u32 nr_bytes,
					      const enum pointers pointers)
{
	struct request_queue *q = field_of(pointers, rq, q);
	struct gendisk *disk = req_disk(rq, q, pointers);

	if (disk && !disk_is_nvme(disk, pointers) &&
	    block_counted(MY_TABLES, rq, q, error, nr_bytes, pointers))
		return UNTIMED;
	block_complete(rq, error, nr_bytes, pointers);
	return TIMED;
}

#endif
