/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * life.h: the life of a command in its slot, from setup or issue to its end: ARCHITECTURE.md draws
 * it.
 */
#ifndef IOSONAR_BPF_LIFE_H
#define IOSONAR_BPF_LIFE_H

#include "bpf/command.h"
#include "bpf/row.h"
#include "bpf/sink.h"
#include "bpf/slot.h"
#include "bpf/slow.h"
#include "bpf/volume.h"

inline_always __u32 depth_change(const struct tables *t, const struct io_slot *slot, int by)
{
	__u32 nr = slot_more(t, slot)->device & (IO_MAX_DEVICES - 1);
	struct io_device *device = bpf_map_lookup_elem(&io_devices, &nr);

	if (!device)
		return 0;
	add_to(device->in_flight, by);
	return fresh(device->in_flight);
}

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

/* Who reads records makes his own rows of them; one that was dropped is in ours. */
inline_always bool command_has_row(const struct tables *t, const struct io_slot *slot,
				   const struct outcome *o, __u64 ns, const bool stages)
{
	if (ns < setting_of(t, min_ns) || (setting_of(t, only_failed) && !o->status))
		return false;
	/* Some have no record of their own. */
	if (settings.only_troubled && !is_troubled(slot, o))
		return true;
	if (stages && (settings.bios || (settings.slowest && !is_slow(command_whole_ns(slot, o)))))
		return true;
	return !setting_of(t, records) || !record_send(t, slot, o, stages) ||
	       setting_of(t, rows_too);
}

/* stages: known when it is compiled where it is often asked, so that it costs nothing there. */
inline_always void command_ends(const struct tables *t, struct io_slot *slot,
				const struct outcome *o, const bool stages)
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
	if (setting_of(t, not_rows_alone) && !command_has_row(t, slot, o, ns, stages))
		return;
	row_count(t, slot->key_nr, ns, slot->bytes);
}

/* An NVMe command ends with the error that parked it, or because no other attempt will come. */
inline_always void command_fails(const struct tables *t, struct io_slot *slot, __u64 end_ns,
				 const bool stages)
{
	struct outcome o = { .end_ns = end_ns, .status = NVME_HOST_ABORTED };

	if (setting_of(t, records) && slot->state == IO_PARKED)
		o.status = slot_more(t, slot)->status;
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
	command_ends(t, slot, o, true);
}

/*
 * A setup finds the slot not idle. True: it is another attempt of the same command, which goes on.
 * False: the slot was cleared and takes a new command.
 */
inline_always bool command_goes_on(const struct tables *t, struct io_slot *slot, __u64 alloc_ns,
				   const bool stages)
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
				  const struct io_bio *owner, __u32 op, const bool direct)
{
	if (!op_wanted(op))
		return false;
	if (settings.filter_nsid &&
	    (!cmd || field_of_command(direct, cmd, nsid) != settings.wanted_nsid))
		return false;
	if (settings.filter_qid && queue_number(rq, op >> 8, direct) != settings.wanted_qid)
		return false;
	return task_wanted(owner);
}

/* A block's log2 is below 32: the verifier does not mind a shift that it cannot bound. */
inline_always __u32 command_bytes(const struct io_slot *slot, struct request *rq,
				  struct nvme_command *cmd, const bool direct)
{
	if (cmd && slot->sized_shift)
		return ((field_of_command(direct, cmd, cdw10[2]) & 0xffff) + 1)
		       << slot->sized_shift;
	return field_of(direct, rq, __data_len);
}

/* Who sent it. Typed pointers read the task at once; the helper for its name costs 140
 * instructions. */
inline_always void more_task(struct io_slot_more *more, const struct io_bio *owner,
			     const bool direct)
{
	if (owner) {
		more->pid = owner->pid;
		__builtin_memcpy(more->comm, owner->comm, sizeof(more->comm));
	} else if (direct && settings.task_pointer) {
		struct task_struct *task = bpf_get_current_task_btf();

		more->pid = task->tgid;
		more->comm[0] = ((__u64 *)task->comm)[0];
		more->comm[1] = ((__u64 *)task->comm)[1];
	} else {
		more->pid = bpf_get_current_pid_tgid() >> 32;
		bpf_get_current_comm(more->comm, sizeof(more->comm));
	}
}

/* What the record will say of the command itself. */
inline_always void more_command(struct io_slot_more *more, struct nvme_command *cmd,
				const bool direct)
{
	more->cid = field_of_command(direct, cmd, command_id);
	more->nsid = field_of_command(direct, cmd, nsid);
	more->cdw10[0] = field_of_command(direct, cmd, cdw10[0]);
	more->cdw10[1] = field_of_command(direct, cmd, cdw10[1]);
	more->cdw10[2] = field_of_command(direct, cmd, cdw10[2]);
	more->cdw10[3] = field_of_command(direct, cmd, cdw10[3]);
	more->cdw10[4] = field_of_command(direct, cmd, cdw10[4]);
	more->cdw10[5] = field_of_command(direct, cmd, cdw10[5]);
}

inline_always void more_sector(struct io_slot_more *more, struct request *rq, const bool direct)
{
	__u64 sector = field_of(direct, rq, __sector);

	more->cid = more->nsid = 0;
	more->cdw10[0] = sector;
	more->cdw10[1] = sector >> 32;
}

/* enum record_flag. The driver tells a user's passthrough command from its own. */
inline_always __u8 record_flags(struct request *rq, __u32 cmd_flags, const bool nvme)
{
	__u8 flags = 0;

	if ((cmd_flags & 0xff) >= REQ_OP_DRV_IN) {
		flags = RECORD_PASSTHROUGH;
		if (nvme && nvme_flags(rq) & NVME_REQ_USERCMD)
			flags |= RECORD_USER;
	}
	if (cmd_flags & settings.integrity_flag)
		flags |= RECORD_METADATA;
	if (!nvme && cmd_flags & settings.fua_flag)
		flags |= RECORD_FUA;
	return flags;
}

inline_always void more_fill(const struct tables *t, struct io_slot *slot, struct request *rq,
			     struct nvme_command *cmd, const bool direct, const bool rich)
{
	struct io_slot_more *more = slot_more(t, slot);
	__u32 cmd_flags = field_of(direct, rq, cmd_flags);
	const struct io_bio *owner;

	if (rich && settings.stages && !settings.details) {
		slot->flags = 0;
		return;
	}
	owner = owner_of(t, rq, rich);
	more_task(more, owner, direct);
	more->qid = queue_number(rq, slot->kind, direct);
	if (cmd)
		more_command(more, cmd, direct);
	else
		more_sector(more, rq, direct);
	slot->flags =
		cmd_flags & setting_of(t, rare_flags) ? record_flags(rq, cmd_flags, cmd != 0) : 0;
	if (owner)
		slot->flags |= RECORD_OWNED;
}

/*
 * Is it one we count, and in which row? Asked once per queue and operation where the answer can
 * stay. The admin queue has no namespace behind it; a fabrics command is told by its type.
 */
inline_always bool command_places(const struct tables *t, struct io_slot *slot, struct request *rq,
				  struct request_queue *q, struct nvme_command *cmd, __u32 number,
				  const bool direct, const bool rich)
{
	const struct io_bio *owner = owner_of(t, rq, rich);
	struct io_device *device;
	__u32 op = number, device_nr = 0;

	if (!cmd)
		op |= IO_BLOCK << 8;
	else if (number == NVME_FABRICS)
		op = IO_FABRICS << 8 | (field_of_command(direct, cmd, nsid) & 0xff);
	else if (!BPF_CORE_READ(q, queuedata))
		op |= IO_ADMIN << 8;
	slot->queue = 0;
	device = device_wanted(rq, q, cmd != 0, direct, &device_nr);
	if (!device || !command_wanted(rq, cmd, owner, op, direct))
		return false;
	slot->sized_shift = nvme_is_sized(op) ? device->block_shift : 0; /* IO_NVME is 0 */
	slot->kind = op >> 8;
	slot->op = op;
	slot->bytes = command_bytes(slot, rq, cmd, direct);
	/* Who reads records has no rows but of what was dropped, and those he only adds up. */
	slot->key_nr = settings.records && !settings.rows_too
			       ? 0
			       : command_key(rq, owner, device_nr, op, slot->bytes, direct);
	if (settings.records)
		slot_more(t, slot)->device = device_nr;
	if (rich && settings.stages)
		slot_stages(t, slot)->device = device_nr;
	if (remembers() && number != NVME_FABRICS)
		slot->queue = (__u64)q;
	return true;
}

/* Of a slot that is idle they are 0: not every command passes every stage. */
inline_always void stages_empty(struct io_slot_stages *s)
{
	s->inserted_ns = s->issued_ns = s->reaped_ns = 0;
}

inline_always void stages_begin(const struct tables *t, struct io_slot *slot)
{
	struct io_slot_stages *s = slot_stages(t, slot);

	s->issued_ns = s->reaped_ns = 0;
	s->depth = settings.depths ? depth_change(t, slot, 1) : 0;
	s->cpu = bpf_get_smp_processor_id();
	s->tid = s->kernel_stack = s->user_stack = 0;
	s->cgroup = 0;
}

/* ---- flushes around a write ---- */

/*
 * A write with PREFLUSH waits for a flush of the device before it is sent. One with FUA, on a
 * device that does not know FUA, waits for one behind it: its request ends twice, its bio with the
 * second. The block layer takes away from the request what it does itself; the bio still says it.
 */
inline_always bool request_flushes_after(struct request *rq, __u32 bio_flags)
{
	return bio_flags & settings.fua_flag && !(BPF_CORE_READ(rq, cmd_flags) & settings.fua_flag);
}

/* At setup or issue. */
inline_always void stages_note_flush(const struct tables *t, struct io_slot *slot,
				     struct request *rq, const bool direct)
{
	struct bio *bio = field_of(direct, rq, bio);
	struct io_slot_stages *s = slot_stages(t, slot);
	struct io_device *device;
	__u32 nr;

	if (!bio || !(field_of(direct, bio, bi_opf) & settings.preflush_flag) || !bio_find(t, bio))
		return;
	nr = s->device & (IO_MAX_DEVICES - 1);
	device = bpf_map_lookup_elem(&io_devices, &nr);
	if (device)
		s->flushed_ns = device->flushed_ns;
}

/* A flush of its own ended: what waited for it goes on. */
inline_always void device_note_flush(struct request *rq, __u64 now)
{
	struct gendisk *disk = req_disk(rq, BPF_CORE_READ(rq, q), false);
	struct io_device *device;
	__u32 nr;

	if (!disk || (BPF_CORE_READ(rq, cmd_flags) & 0xff) != REQ_OP_FLUSH)
		return;
	nr = device_known((__u64)disk);
	device = bpf_map_lookup_elem(&io_devices, &nr);
	if (device)
		device->flushed_ns = now;
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

/* Another attempt is sent: it has a command id of its own, and a line where each attempt has one.
 */
inline_always void command_sent_again(const struct tables *t, struct io_slot *slot,
				      struct nvme_command *cmd, const bool direct,
				      const bool stages)
{
	if (!setting_of(t, records))
		return;
	if (cmd)
		slot_more(t, slot)->cid = field_of_command(direct, cmd, command_id);
	if (settings.split && settings.troubles)
		record_send(t, slot, &(struct outcome){ .what = RECORD_SUBMIT }, stages);
}

/*
 * Setup or issue. The clock is read last: our own work is not the command's latency. rich: the
 * program is for views that want stages or owners; others do not pay for them.
 */
inline_always int command_starts(const struct tables *t, struct request *rq,
				 struct request_queue *q, struct nvme_command *cmd, __u32 number,
				 const bool direct, const bool rich)
{
	const bool stages = rich && settings.stages;
	struct io_slot *slot = slot_take(t, rq);

	if (!slot)
		return 0;
	if (slot->state > IO_IGNORED &&
	    command_goes_on(t, slot, field_of(direct, rq, start_time_ns), stages)) {
		command_sent_again(t, slot, cmd, direct, stages);
		return 0;
	}
	if (slot->queue == (__u64)q && slot->op == number) {
		slot->bytes = command_bytes(slot, rq, cmd, direct);
	} else if (!command_places(t, slot, rq, q, cmd, number, direct, rich)) {
		slot->state = IO_IGNORED;
		return 0;
	}
	slot->alloc_ns = field_of(direct, rq, start_time_ns);
	slot_opens(slot);
	slot->issued++;
	if (!setting_of(t, records)) {
		slot->first_ns = bpf_ktime_get_ns();
		return 0;
	}
	more_fill(t, slot, rq, cmd, direct, rich);
	if (stages) {
		stages_begin(t, slot);
		stages_note_flush(t, slot, rq, direct);
	}
	slot_more(t, slot)->last_ns = slot->first_ns = bpf_ktime_get_ns();
	if (settings.split)
		record_send(t, slot, &(struct outcome){ .what = RECORD_SUBMIT }, stages);
	return 0;
}

/* A completion without an open slot: sent before we attached, filtered out, or one we missed. */
inline_always void completion_unmatched(struct io_slot *slot, struct request *rq, const bool nvme,
					const bool direct)
{
	struct io_device *device;
	__u32 number;

	if (slot && slot->state == IO_IGNORED) {
		slot->state = IO_IDLE;
		return;
	}
	if (closing)
		return;
	device = device_find(rq, BPF_CORE_READ(rq, q), nvme, &number);
	if (!device || device->verdict != IO_WANTED)
		return;
	if (nvme && (nvme_status(settings.nvme_status_at, rq, false) & 0x7ff) ==
			    0x370) /* host path error: ended by the driver */
		count_up(counters.refused);
	else if (field_of(direct, rq, start_time_ns) < attached_ns)
		count_up(counters.mid_flight);
	else
		count_up(counters.no_start);
}

inline_always int nvme_setup(const struct tables *t, struct request *rq, struct nvme_command *cmd,
			     const bool direct, const bool rich)
{
	return command_starts(t, rq, field_of(direct, rq, q), cmd,
			      field_of_command(direct, cmd, opcode), direct, rich);
}

/* As the driver decides: "do not retry" in the status, or a request that asked for no retry, as all
 * that users and the driver itself send past the block layer do. */
inline_always bool nvme_never_retries(const struct tables *t, struct request *rq, __u32 status,
				      const bool direct)
{
	return status & NVME_DNR || field_of(direct, rq, cmd_flags) & setting_of(t, noretry_flags);
}

inline_always int nvme_complete(const struct tables *t, struct request *rq, __u64 now,
				const bool direct, const bool cast)
{
	struct io_slot *slot = slot_find(t, rq);
	struct outcome o = {};

	if (!slot || slot->state != IO_OPEN) {
		completion_unmatched(slot, rq, true, direct);
		return 0;
	}
	o.status = nvme_status(setting_of(t, nvme_status_at), rq, cast);
	o.end_ns = now;
	if (__builtin_expect(o.status, 0)) {
		if (nvme_never_retries(t, rq, o.status, direct)) {
			if (setting_of(t, stages))
				command_is_done(t, slot, &o);
			else
				command_ends(t, slot, &o, false);
			return 0;
		}
		slot->last_ns = now;
		slot->state = IO_PARKED;
		if (setting_of(t, records)) {
			slot_more(t, slot)->status = o.status;
			count_up(counters.parked);
		}
		return 0;
	}
	if (setting_of(t, records)) {
		o.result = nvme_result(rq, cast);
		if (setting_of(t, stages)) {
			command_is_done(t, slot, &o);
			return 0;
		}
	}
	command_ends(t, slot, &o, false);
	return 0;
}

inline_always int block_issue(const struct tables *t, struct request *rq, const bool direct,
			      const bool rich)
{
	struct request_queue *q = field_of(direct, rq, q);
	struct gendisk *disk = req_disk(rq, q, direct);

	if (!disk || disk_is_nvme(disk, direct))
		return 0;
	return command_starts(t, rq, q, 0, IO_BLOCK << 8 | (field_of(direct, rq, cmd_flags) & 0xff),
			      direct, rich);
}

/*
 * Two completions end nothing: of the request that waited while another one flushed for it (it was
 * never started), and the second one of a write whose flush came first.
 */
inline_always bool completes_a_flush(struct request *rq, __u32 nr_bytes, const bool direct)
{
	enum mq_rq_state state = field_of(direct, rq, state);

	if (state == MQ_RQ_IDLE)
		return true;
	return state == MQ_RQ_COMPLETE && !nr_bytes && !field_of(direct, rq, __data_len) &&
	       (field_of(direct, rq, cmd_flags) & 0xff) == REQ_OP_WRITE && BPF_CORE_READ(rq, bio);
}

/* An errno, or a blk_status_t since 5.16 (8a7d267b4a2c): user space knows what those mean. */
inline_always __u32 block_status(__u32 error)
{
	return (__s32)error < 0 ? -error : error ? error | BLOCK_STATUS : 0;
}

/* A request of a disk that is not NVMe, whose first bio and number of bios are known with stages.
 */
inline_always void block_ends(const struct tables *t, struct request *rq, struct io_slot *slot,
			      __u32 nr_bytes, struct outcome *o, const bool direct,
			      const bool stages)
{
	if (slot && slot->state >= IO_RETRY) { /* it waited for another attempt that never came */
		if (!o->status)
			o->status = BLOCK_EIO;
		command_ends(t, slot, o, stages);
		return;
	}
	if (!slot || slot->state != IO_OPEN) {
		if (!completes_a_flush(rq, nr_bytes, direct))
			completion_unmatched(slot, rq, false, direct);
		return;
	}
	if (nr_bytes < field_of(direct, rq, __data_len)) /* a part; the rest will follow */
		return;
	command_ends(t, slot, o, stages);
}

inline_always int block_complete(struct request *rq, __u32 error, __u32 nr_bytes, const bool direct)
{
	struct gendisk *disk = req_disk(rq, field_of(direct, rq, q), direct);
	struct outcome o = {};
	struct tables t;

	if (!disk || disk_is_nvme(disk, direct))
		return 0;
	o.end_ns = bpf_ktime_get_ns();
	t = the_tables();
	o.status = block_status(error);
	block_ends(&t, rq, slot_find(&t, rq), nr_bytes, &o, direct, false);
	return 0;
}

/* ---- with stages: the end of any request, and of its bios ---- */

/*
 * Bios merged into a request that ends, from the second on: where bios are not what is wanted they
 * only make room. No static functions: the verifier looks at each once, not at every turn of the
 * loop and for all that callers may know.
 */
__attribute__((noinline)) int bio_forget(__u64 bio)
{
	__u32 zero = 0;
	void *bios = bpf_map_lookup_elem(&io_bios, &zero);
	const struct tables t = tables_of(0, bios, 0);
	struct io_bio *cell = bios ? bio_find(&t, (void *)bio) : 0;

	if (cell)
		cell->busy = 0;
	return 0;
}

__attribute__((noinline)) int bios_forget(__u64 bio)
{
	int nr = 0;

#pragma clang loop unroll(disable)
	for (; nr < BIO_MOST_MERGED && bio; nr++) {
		bio_forget(bio);
		bio = (__u64)BPF_CORE_READ((struct bio *)bio, bi_next);
	}
	return nr;
}

/* Known once its queue had a command that was wanted. */
inline_always bool is_nvme(struct request *rq, const struct io_slot *slot)
{
	struct gendisk *disk;

	if (slot && slot->state >= IO_OPEN)
		return slot->kind != IO_BLOCK;
	disk = req_disk(rq, BPF_CORE_READ(rq, q), false);
	return !disk || disk_is_nvme(disk, false);
}

/*
 * The data are written, a flush follows, and then the request's second end. False: it is no command
 * whose end we wait for.
 */
inline_always bool request_was_written(const struct tables *t, struct io_slot *slot, __u32 error,
				       __u64 now)
{
	if (!slot)
		return false;
	if (slot->state == IO_OPEN && slot->kind == IO_BLOCK) {
		struct outcome o = { .end_ns = now, .status = block_status(error) };

		command_is_done(t, slot, &o);
	}
	if (slot->state != IO_DONE && slot->state != IO_FAILED)
		return false;
	slot_stages(t, slot)->written_ns = now;
	return true;
}

/* An NVMe command that is parked now was not tried again. */
inline_always int request_complete(const struct tables *t, struct request *rq, __u32 error,
				   __u32 nr_bytes, __u64 now, const bool direct)
{
	struct bio *bio = field_of(direct, rq, bio);
	struct bio *next = bio ? field_of(direct, bio, bi_next) : 0;
	__u32 left = field_of(direct, rq, __data_len);
	__u32 bio_flags = bio ? field_of(direct, bio, bi_opf) : 0;
	struct outcome o = { .nr_bios = bio != 0 };
	struct io_bio *first = 0;
	struct io_slot *slot;

	if (nr_bytes < left) /* a part; the rest will follow */
		return 0;
	if (left && request_flushes_after(rq, bio_flags) && bio_find(t, bio) &&
	    request_was_written(t, slot_find(t, rq), error, now))
		return 0;
	if (!bio)
		device_note_flush(rq, now);
	if (!settings.bios && next) {
		__u64 address = 0; /* a number, as the function takes it */

		bpf_core_read(&address, sizeof(address), &bio->bi_next);
		o.nr_bios += bios_forget(address);
	}
	if (!settings.bios && bio)
		o.bio = first = bio_find(t, bio);
	slot = slot_find(t, rq);
	if (slot &&
	    (slot->state == IO_DONE || slot->state == IO_FAILED || slot->state == IO_PARKED)) {
		o.done_ns = now;
		if (slot->kind == IO_BLOCK && error) { /* the flush behind it failed */
			slot_more(t, slot)->status = block_status(error);
			slot->state = IO_FAILED;
		}
		command_was_done(t, slot, &o);
	} else if (!is_nvme(rq, slot)) {
		o.end_ns = now;
		o.status = block_status(error);
		block_ends(t, rq, slot, nr_bytes, &o, direct, true);
	}
	if (slot)
		stages_empty(slot_stages(t, slot));
	if (first)
		first->busy = 0;
	return 0;
}

/* With owners, without stages: the bios of a request that ends make room. */
inline_always int request_bios_forget(struct request *rq, __u32 nr_bytes)
{
	if (nr_bytes >= BPF_CORE_READ(rq, __data_len))
		bios_forget((__u64)BPF_CORE_READ(rq, bio));
	return 0;
}

/* ---- with bios: each bio, not each command ---- */

/* Of a bio that no command carried; what a command carries was judged at its setup. */
inline_always bool bio_wanted(const struct io_bio *bio)
{
	return op_wanted(IO_BLOCK << 8 | bio->op) && owner_wanted(bio);
}

/* What the slot of a request that ends says of its command; NULL: it carried none we count. */
inline_always struct io_slot *slot_of_ending(const struct tables *t, __u64 rq, __u64 now,
					     struct outcome *o)
{
	struct io_slot *slot = rq ? slot_find(t, (void *)rq) : 0;

	if (!slot || slot->state <= IO_IGNORED)
		return 0;
	if (slot->kind != IO_BLOCK || slot->state == IO_DONE || slot->state == IO_FAILED) {
		o->end_ns = slot->last_ns;
		o->status = slot->state == IO_DONE ? 0 : slot_more(t, slot)->status;
		o->done_ns = now;
	}
	return slot;
}

/*
 * One bio ended, with the request rq or (0) without. Of a bio that no command carried, device says
 * whose it was; -1: of no interest. No static function: the verifier looks at it once, not anew
 * for each bio of a request.
 */
__attribute__((noinline)) int bio_ends(__u64 rq, __u64 bio, __u64 now, __u32 status, __s32 device)
{
	struct outcome o = { .end_ns = now, .status = status, .what = RECORD_BIO, .nr_bios = 1 };
	__u32 zero = 0;
	void *slots = bpf_map_lookup_elem(&io_slots, &zero);
	void *bios = bpf_map_lookup_elem(&io_bios, &zero);
	const struct tables t = tables_of(slots, bios, 0);
	struct io_slot *slot;
	struct io_bio *cell;

	if (!slots || !bios)
		return 0;
	cell = bio_find(&t, (void *)bio);
	if (!cell)
		return 0;
	cell = bio_whole_ended(&t, cell);
	if (!cell)
		return 0;
	if (settings.dm_end)
		o.result = volume_bio_back(&t, cell, now);
	o.bio = cell;
	slot = slot_of_ending(&t, rq, now, &o);
	if ((!slot && (device < 0 || !bio_wanted(cell))) ||
	    now - cell->queued_ns < settings.min_ns || (settings.only_failed && !o.status))
		return 0;
	if (settings.slowest && !is_slow(now - cell->queued_ns) &&
	    !(o.result && may_be_slow(now - o.result))) /* who asks for that one asks for it, too */
		return 0;
	if (slot)
		record_send(&t, slot, &o, true);
	else
		record_of_bio(&t, cell, device, &o);
	return 0;
}

/* The request that waited while another one flushed for it: if its device is wanted, which? */
inline_always __s32 flushed_device(struct request *rq, __u32 nr_bytes)
{
	struct request_queue *q = BPF_CORE_READ(rq, q);
	struct gendisk *disk = req_disk(rq, q, false);
	struct io_device *device;
	__u32 number = 0;

	if (!disk || !completes_a_flush(rq, nr_bytes, false))
		return -1;
	device = device_of_disk(disk, rq, q, disk_is_nvme(disk, false), &number);
	return device && device->verdict == IO_WANTED ? (__s32)number : -1;
}

/* Runs before the program that ends the command: its slot tells all that a record needs. */
inline_always int request_bios_end(struct request *rq, __u32 error, __u32 nr_bytes)
{
	__u64 now = bpf_ktime_get_ns();
	struct bio *bio = BPF_CORE_READ(rq, bio);
	__s32 device = flushed_device(rq, nr_bytes);
	__u32 left = BPF_CORE_READ(rq, __data_len);

	if (nr_bytes < left ||
	    (left && bio && request_flushes_after(rq, BPF_CORE_READ(bio, bi_opf))))
		return 0;
#pragma clang loop unroll(disable)
	for (int i = 0; i < BIO_MOST_MERGED && bio; i++) {
		bio_ends((__u64)rq, (__u64)bio, now, block_status(error), device);
		bio = BPF_CORE_READ(bio, bi_next);
	}
	return 0;
}

/*
 * Said for a multipath head, of whose queue it speaks: the bio, by now that of a path, ends with
 * its request, and with the others in it.
 */
inline_always bool is_of_head(const struct request_queue *q, struct bio *bio)
{
	struct gendisk *disk = bio_disk(bio);

	return disk && BPF_CORE_READ(disk, queue) != q;
}

/* A bio of a device that has no requests, or that was refused before it got one. */
inline_always int bio_ended(const struct request_queue *q, struct bio *bio)
{
	__u64 now = bpf_ktime_get_ns();
	struct gendisk *disk = bio_disk(bio);
	struct io_device *device;
	__u32 number = 0;

	if (is_of_head(q, bio))
		return 0;
	device = disk ? device_of_disk(disk, 0, BPF_CORE_READ(disk, queue), false, &number) : 0;
	return bio_ends(0, (__u64)bio, now, block_status(BPF_CORE_READ(bio, bi_status)),
			device && device->verdict == IO_WANTED ? (__s32)number : -1);
}

inline_always int bio_forgotten(const struct request_queue *q, struct bio *bio)
{
	const struct tables t = the_tables();
	struct io_bio *cell = bio_find(&t, bio);

	if (cell && !is_of_head(q, bio))
		cell->busy = 0;
	return 0;
}

/* A command that no bio asked for was submitted by who is here; after its setup. */
inline_always int nvme_submitted(void *ctx, const void *rq)
{
	const struct tables t = the_tables();
	struct io_slot *slot = slot_find(&t, rq);
	struct io_slot_stages *s;

	if (!slot || slot->state != IO_OPEN || !(slot->flags & RECORD_PASSTHROUGH))
		return 0;
	s = slot_stages(&t, slot);
	s->tid = bpf_get_current_pid_tgid();
	s->cgroup = bpf_get_current_cgroup_id();
	stack_losses_count(stacks_take(ctx, &s->kernel_stack, &s->user_stack));
	return 0;
}

/* Moments of an NVMe command that is on its way. */
inline_always int nvme_issued(const void *rq)
{
	__u64 now = bpf_ktime_get_ns();
	const struct tables t = the_tables();
	struct io_slot *slot = slot_find(&t, rq);

	if (slot && slot->state == IO_OPEN && slot->kind != IO_BLOCK)
		slot_stages(&t, slot)->issued_ns = now;
	return 0;
}

inline_always int nvme_reaped(const void *rq)
{
	__u64 now = bpf_ktime_get_ns();
	const struct tables t = the_tables();
	struct io_slot *slot = slot_find(&t, rq);

	if (slot && slot->state == IO_OPEN)
		slot_stages(&t, slot)->reaped_ns = now;
	return 0;
}

/* The scheduler has it: the slot may be its first sight of this request. */
inline_always int request_inserted(const void *rq)
{
	__u64 now = bpf_ktime_get_ns();
	const struct tables t = the_tables();
	struct io_slot *slot = slot_take(&t, rq);

	if (slot && slot->state <= IO_IGNORED)
		slot_stages(&t, slot)->inserted_ns = now;
	return 0;
}

#endif
