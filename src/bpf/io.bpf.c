// SPDX-License-Identifier: GPL-2.0-only
/*
 * io.bpf.c: how long does every command take? Two short programs per I/O: setup (or issue) opens a
 * slot found by the request's address, completion closes it and counts in a row of this CPU.
 * Requeue and error events are rare and only steer the slot's state. It cannot see bio-based
 * devices, nor the time before the command is built.
 */
#include "bpf/request.h"
#include <bpf/bpf_endian.h>
#include "wire/io.h"
#include "wire/record.h"

char LICENSE[] SEC("license") = "GPL";

struct io_counters counters;
__u64 attached_ns = ~0ULL; /* a request allocated before may have been sent before */
__u8 closing;		   /* starts are no longer seen: completions without one mean nothing */

/* Cells that user space maps and reads; all but the last two are sized at load. */
#define TABLE(name, cell, nr)                      \
	struct {                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY);  \
		__uint(map_flags, BPF_F_MMAPABLE); \
		__uint(max_entries, nr);           \
		__type(key, __u32);                \
		__type(value, cell);               \
	} name SEC(".maps")

TABLE(io_keys, struct io_key, 1);
TABLE(io_devices, struct io_device, IO_MAX_DEVICES);
TABLE(io_names, struct io_name, IO_MAX_NAMES);

/* A ring per CPU: one for all is six times slower with two CPUs. */
struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct ring);
} io_rings SEC(".maps");

/* 5.10 runs no atomic that returns a value, so neither do we; nesting and other CPUs lose nothing.
 */
#define count_up(counter)      __sync_fetch_and_add(&(counter), 1)
#define add_to(counter, value) __sync_fetch_and_add(&(counter), (value))
#define fresh(variable)	       (*(volatile typeof(variable) *)&(variable))

/*
 * Takes a free cell, without compare-and-swap: everyone adds his CPU's number, and he who finds
 * only his own has it. When two meet both may lose: the cell stays unused until user space sweeps
 * it.
 */
inline_always bool cell_claim(__u32 *claim)
{
	__u32 mine = bpf_get_smp_processor_id() + 1;

	if (*claim)
		return false;
	add_to(*claim, mine);
	return fresh(*claim) == mine;
}

/*
 * The lock of a cell that is filled once. Whoever finds it held goes on to the next cell, so a
 * device or key may get two numbers, which user space adds up. It costs a few hundred instructions,
 * but CPUs that race for the same cells in step cannot spoil them for each other.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, __u64);
} io_locks SEC(".maps");

enum io_lock { LOCK_DEVICE, LOCK_KEY };

inline_always bool cell_lock(enum io_lock which, __u32 nr)
{
	__u64 key = (__u64)which << 32 | nr;

	return !bpf_map_update_elem(&io_locks, &key, &key, BPF_NOEXIST);
}

inline_always void cell_unlock(enum io_lock which, __u32 nr)
{
	__u64 key = (__u64)which << 32 | nr;

	bpf_map_delete_elem(&io_locks, &key);
}

/* ---- slots ---- */

/* What the hot path keeps in registers. Behind the slots lies row_of: see row_find. */
struct tables {
	const volatile struct io_settings *set;
	void *slots;
};

inline_always struct tables the_tables(void)
{
	return (struct tables){ the_settings(), table_address(IO_MARK_SLOTS) };
}

/* `at` is a byte offset; the mask keeps that of a whole cell. */
inline_always struct io_slot *slot_at(const struct tables *t, __u32 at)
{
	return t->slots + (at & t->set->slot_mask);
}

inline_always __u32 slot_home(const void *rq)
{
	return io_hash(low_half(rq)) >> 6;
}

/* Does the search end at this cell, with the slot or, at an empty one, without? */
inline_always bool slot_ends(const struct tables *t, __u32 at, const void *rq,
			     struct io_slot **slot)
{
	*slot = slot_at(t, at);
	if ((*slot)->key == (__u64)rq)
		return true;
	if ((*slot)->key || (*slot)->claim)
		return false;
	*slot = 0;
	return true;
}

/* The slot of this request, or NULL. Written out: clang does not unroll it, 5.10 takes no such
 * loop. */
inline_always struct io_slot *slot_find(const struct tables *t, const void *rq)
{
	const __u32 at = slot_home(rq), next = sizeof(struct io_slot);
	struct io_slot *slot;

	_Static_assert(IO_PROBES == 8, "as many as there are");
	if (slot_ends(t, at, rq, &slot) || slot_ends(t, at + next, rq, &slot) ||
	    slot_ends(t, at + 2 * next, rq, &slot) || slot_ends(t, at + 3 * next, rq, &slot) ||
	    slot_ends(t, at + 4 * next, rq, &slot) || slot_ends(t, at + 5 * next, rq, &slot) ||
	    slot_ends(t, at + 6 * next, rq, &slot) || slot_ends(t, at + 7 * next, rq, &slot))
		return slot;
	return 0;
}

/* Found or taken. An empty cell ends the search; a tomb is taken only if there is none. */
inline_always struct io_slot *slot_take(const struct tables *t, const void *rq)
{
	__u32 home = slot_home(rq);
	struct io_slot *slot;

#pragma unroll
	for (__u32 i = 0; i < IO_PROBES; i++) {
		slot = slot_at(t, home + i * sizeof(*slot));
		if (slot->key == (__u64)rq)
			return slot;
		if (!slot->key && cell_claim(&slot->claim)) {
			slot->key = (__u64)rq;
			return slot;
		}
	}
#pragma unroll
	for (__u32 i = 0; i < IO_PROBES; i++) {
		slot = slot_at(t, home + i * sizeof(*slot));
		if (slot->key == IO_TOMB && cell_claim(&slot->claim)) {
			slot->key = (__u64)rq;
			return slot;
		}
	}
	count_up(counters.no_slot);
	return 0;
}

/* ---- rows ---- */

inline_always struct io_row *row_at(const struct tables *t, __u32 nr)
{
	__u32 at = nr * sizeof(struct io_row);

	return at <= t->set->rows_end ? table_address(IO_MARK_ROWS) + at : 0;
}

/*
 * A row from the CPU's part of the pool; when that is used up, its row `other`. An interrupt may
 * take the same row in between: its claim tells, and the next one is tried.
 */
inline_always __u32 row_take(const struct tables *t, __u32 cpu, __u32 key_nr, __u32 *row_of)
{
	struct io_row *other = row_at(t, cpu), *row;
	__u32 first = settings.nr_cpus + cpu * settings.cpu_rows, taken;

#pragma unroll
	for (__u32 i = 0; other && i < IO_MAX_DEPTH; i++) {
		taken = other->next;
		if (taken >= settings.cpu_rows)
			break;
		fresh(other->next) = taken + 1;
		row = row_at(t, first + taken);
		if (row && cell_claim(&row->claim)) {
			row->key_nr = key_nr;
			*row_of = first + taken + 1;
			return first + taken;
		}
	}
	if (key_nr) /* else it was counted when no key was left */
		count_up(counters.row_other);
	return cpu;
}

/* row_of holds the row number + 1 of each (CPU, key), 0: none yet. */
inline_always struct io_row *row_find(const struct tables *t, __u32 key_nr)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u32 at = (cpu * (t->set->key_mask + 1) + key_nr) * sizeof(__u32);
	__u32 *row_of = t->slots + t->set->row_of_at + (at & t->set->row_of_mask);

	return row_at(t, *row_of ? *row_of - 1 : row_take(t, cpu, key_nr, row_of));
}

/* A program nested in this one (an interrupt, on 5.10) writes another depth's maximum. */
inline_always void row_max(struct io_row *row, __u64 ns)
{
	__u32 depth = row->depth & (IO_MAX_DEPTH - 1);

	fresh(row->depth) = depth + 1;
	if (ns > row->max_ns[depth])
		fresh(row->max_ns[depth]) = ns;
	fresh(row->depth) = depth;
}

inline_always void row_count(const struct tables *t, __u32 key_nr, __u64 ns, __u32 bytes)
{
	struct io_row *row = row_find(t, key_nr);
	__u32 cell = t->set->zoom ? zoom_slot(ns, settings.zoom_min_us, settings.zoom_shift)
				  : hist_slot(ns);

	if (!row)
		return;
	if (cell >= HIST_CELLS)
		cell = HIST_OVER;
	count_up(row->cells[cell]);
	add_to(row->sum_ns, ns);
	add_to(row->bytes, bytes);
	if (ns > row->max_ns[0])
		row_max(row, ns);
}

/* ---- records ---- */

inline_always struct io_slot_more *slot_more(const struct io_slot *slot)
{
	return (void *)slot + settings.more_at;
}

struct outcome {
	__u64 end_ns, result;
	__u32 status;
	__u8 what;
};

inline_always void record_fill(struct io_record *r, const struct io_slot *slot,
			       const struct io_slot_more *more, const struct outcome *o)
{
	r->first_ns = slot->first_ns;
	r->last_ns = more->last_ns;
	r->end_ns = o->end_ns;
	r->result = o->result;
	__builtin_memcpy(r->cdw10, more->cdw10, sizeof(r->cdw10));
	r->nsid = more->nsid;
	r->bytes = slot->bytes;
	r->pid = more->pid;
	__builtin_memcpy(r->comm, more->comm, sizeof(r->comm));
	__builtin_memcpy(&r->device, &more->device, 8);
	r->status = o->status;
	__builtin_memcpy(&r->cpu, &slot->key_nr, 8);
	r->cmd_flags = 0;
	r->what = o->what;
}

#define SAME(a, b, first_a, first_b, field)                                     \
	_Static_assert(__builtin_offsetof(struct a, field) -                    \
				       __builtin_offsetof(struct a, first_a) == \
			       __builtin_offsetof(struct b, field) -            \
				       __builtin_offsetof(struct b, first_b),   \
		       "copied at once")
SAME(io_record, io_slot, cpu, key_nr, kind);
SAME(io_record, io_slot, cpu, key_nr, op);
SAME(io_record, io_slot, cpu, key_nr, attempts);
SAME(io_record, io_slot, cpu, key_nr, flags);
SAME(io_record, io_slot_more, device, device, qid);
SAME(io_record, io_slot_more, device, device, cid);

/*
 * Into this CPU's ring. Tried is counted before the ring is asked, dropped when it had no room: I/O
 * never waits. False: it was dropped.
 */
inline_always bool record_send(const struct tables *t, const struct io_slot *slot,
			       const struct outcome *o)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct io_cpu *mine =
		t->slots + settings.cpu_at + (cpu * sizeof(*mine) & settings.cpu_mask);
	void *ring = bpf_map_lookup_elem(&io_rings, &cpu);
	struct io_record *r;
	__u32 seq = mine->tried;

	count_up(mine->tried);
	r = ring ? bpf_ringbuf_reserve(ring, sizeof(*r), 0) : 0;
	if (!r) {
		count_up(mine->dropped);
		return false;
	}
	record_fill(r, slot, slot_more(slot), o);
	r->seq = seq;
	r->cpu = cpu;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return true;
}

/* ---- the state of a command ---- */

/* Who reads records makes his own rows of them; one that was dropped is in ours. */
inline_always bool command_has_row(const struct tables *t, const struct io_slot *slot,
				   const struct outcome *o, __u64 ns)
{
	if (ns < t->set->min_ns || (t->set->only_failed && !o->status))
		return false;
	return !t->set->records || !record_send(t, slot, o) || t->set->rows_too;
}

inline_always void command_ends(const struct tables *t, struct io_slot *slot,
				const struct outcome *o)
{
	__u64 ns = o->end_ns - slot->first_ns;
	const bool failed = o->status;

	slot->state = IO_IDLE;
	if (o->end_ns < slot->first_ns) {
		count_up(counters.clock_backward);
		return;
	}
	slot->completed++;
	if (failed)
		count_up(counters.failed);
	if (t->set->not_rows_alone && !command_has_row(t, slot, o, ns))
		return;
	row_count(t, slot->key_nr, ns, slot->bytes);
}

/* An NVMe command ends with the error that parked it, or because no other attempt will come. */
inline_always void command_fails(const struct tables *t, struct io_slot *slot, __u64 end_ns)
{
	struct outcome o = { .end_ns = end_ns, .status = NVME_HOST_ABORTED };

	if (t->set->records && slot->state == IO_PARKED)
		o.status = slot_more(slot)->status;
	command_ends(t, slot, &o);
}

/*
 * A setup finds the slot not idle. True: it is another attempt of the same command, which goes on.
 * False: the slot was cleared and takes a new command.
 */
inline_always bool command_goes_on(const struct tables *t, struct io_slot *slot, __u64 alloc_ns)
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
		return false;
	case IO_PARKED: command_fails(t, slot, slot->last_ns); return false;
	default: return false;
	}
	if (t->set->records)
		slot_more(slot)->last_ns = now;
	slot->state = IO_OPEN;
	return true;
}

/* ---- devices ---- */

/* Filled at a device's first command: rare, so it may take its time. */
inline_always void device_learn(struct io_device *device, struct request *rq,
				struct request_queue *q, struct gendisk *disk, const bool nvme)
{
	__u64 words[IO_NAME_LEN / 8] = {};
	struct io_name *name;
	__u32 block_size = BPF_CORE_READ(q, limits.logical_block_size);
	bool has_disk;
	__u32 at;

	if (disk)
		bpf_core_read_str(words, sizeof(words),
				  &disk->disk_name); /* 5.10 leaves junk behind it */
	has_disk = disk || (nvme && queue_name(q, words, sizeof(words)));
	device->kind = !nvme ? IO_BLOCK : has_disk ? IO_NVME : IO_ADMIN;
	device->ctrl = nvme ? nvme_instance(rq, has_disk ? 0 : q) : -1;
	device->block_shift = hist_log2(block_size);
	__builtin_memcpy(device->name, words, sizeof(words));
	if (!has_disk)
		io_ctrl_name(words, device->ctrl);
	device->verdict = settings.follow_all ? IO_WANTED : IO_UNJUDGED;
	at = io_name_hash(words);
#pragma unroll
	for (__u32 i = 0; i < IO_PROBES; i++) {
		__u32 nr = (at + i) & (IO_MAX_NAMES - 1);

		name = bpf_map_lookup_elem(&io_names, &nr);
		if (!name)
			continue;
		if (((__u64 *)name->name)[0] != words[0] || ((__u64 *)name->name)[1] != words[1])
			continue;
		__builtin_memcpy(device->ranges, name->ranges, sizeof(device->ranges));
		device->verdict = name->verdict;
		break;
	}
}

/*
 * The device's number and cell; NULL: the table is full. A queue's address can come back with
 * another disk: the disk's own number tells.
 */
inline_always struct io_device *device_find(struct request *rq, struct request_queue *q,
					    const bool nvme, __u32 *number)
{
	struct gendisk *disk = req_disk(rq, q, false);
	__u64 key = (__u64)q, diskseq = disk_seq(disk, false);
	__u32 home = io_hash(low_half((void *)key) + io_hash((__u32)diskseq)) >> 20, nr;
	struct io_device *device;

#pragma unroll
	for (__u32 i = 0; i < IO_PROBES; i++) {
		nr = (home + i) & (IO_MAX_DEVICES - 1);
		device = bpf_map_lookup_elem(&io_devices, &nr);
		if (!device)
			continue;
		*number = nr;
		if (device->key == key && device->diskseq == diskseq)
			return device;
		if (device->key || !cell_lock(LOCK_DEVICE, nr))
			continue;
		if (!fresh(device->key))
			goto empty;
		cell_unlock(LOCK_DEVICE, nr);
	}
	return 0;
empty:
	device_learn(device, rq, q, disk, nvme);
	device->diskseq = diskseq;
	fresh(device->key) = key;
	cell_unlock(LOCK_DEVICE, nr);
	return device;
}

inline_always bool device_covers(const struct io_device *device, __u64 sector)
{
	const struct io_range *r = device->ranges;

	_Static_assert(IO_MAX_RANGES == 4, "as many as there are");
	return !r[0].nr_sectors || sector - r[0].from_sector < r[0].nr_sectors ||
	       sector - r[1].from_sector < r[1].nr_sectors ||
	       sector - r[2].from_sector < r[2].nr_sectors ||
	       sector - r[3].from_sector < r[3].nr_sectors;
}

/* The device, if it is one that -d means. */
inline_always struct io_device *device_wanted(struct request *rq, struct request_queue *q,
					      const bool nvme, const bool direct, __u32 *number)
{
	struct io_device *device = device_find(rq, q, nvme, number);

	if (!device) {
		count_up(counters.unknown_device);
		return 0;
	}
	if (device->verdict == IO_UNJUDGED)
		count_up(device->unjudged);
	if (device->verdict != IO_WANTED ||
	    (settings.filter_ctrl && device->ctrl != settings.wanted_ctrl))
		return 0;
	if (settings.filter_sectors && !device_covers(device, field_of(direct, rq, __sector)))
		return 0;
	return device;
}

/* ---- what a command is ---- */

/* Opcodes whose CDW12 counts logical blocks: write, read, write uncorrectable, compare, write
 * zeroes, verify, zone append. */
#define NVME_FABRICS 0x7f
#define SIZED_OPCODES \
	(1ULL << 0x01 | 1ULL << 0x02 | 1ULL << 0x04 | 1ULL << 0x05 | 1ULL << 0x08 | 1ULL << 0x0c)

inline_always bool nvme_is_sized(__u32 op)
{
	return op < 64 ? SIZED_OPCODES >> op & 1 : op == 0x7d;
}

inline_always bool op_wanted(__u32 op)
{
	return !settings.filter_op ||
	       (settings.wanted_ops[op >> 8 & 3][op >> 6 & 3] >> (op & 63) & 1);
}

inline_always bool task_wanted(void)
{
	__u64 comm[2] = {}; /* 6.1 writes nothing behind the name's end */

	if (settings.filter_pid && (__u32)(bpf_get_current_pid_tgid() >> 32) != settings.filter_pid)
		return false;
	if (settings.filter_cgroup &&
	    cgroup_ancestor(settings.filter_cgroup_level) != settings.filter_cgroup)
		return false;
	if (settings.filter_comm[0]) {
		bpf_get_current_comm(comm, sizeof(comm));
		if (comm[0] != settings.filter_comm[0] || comm[1] != settings.filter_comm[1])
			return false;
	}
	return true;
}

/* NVMe: 0 is the admin queue. Other disks: as their driver numbers them. */
inline_always __u32 queue_number(struct request *rq, __u32 kind, const bool direct)
{
	struct blk_mq_hw_ctx *hctx;

	if (kind == IO_ADMIN || kind == IO_FABRICS)
		return 0;
	hctx = field_of(direct, rq, mq_hctx);
	return field_of(direct, hctx, queue_num) + (kind == IO_NVME);
}

/* ---- the key of its row ---- */

inline_always bool key_is(const struct io_key *a, const struct io_key *b)
{
	if (a->packed != b->packed)
		return false;
	if (settings.by_pid && a->pid != b->pid)
		return false;
	if (settings.by_cgroup && a->cgroup != b->cgroup)
		return false;
	return !settings.by_comm || (a->comm[0] == b->comm[0] && a->comm[1] == b->comm[1]);
}

inline_always __u32 key_hash(const struct io_key *key)
{
	__u64 h = key->packed ^ key->packed >> 32;

	if (settings.by_pid)
		h ^= key->pid;
	if (settings.by_cgroup)
		h ^= key->cgroup;
	if (settings.by_comm)
		h ^= (key->comm[0] ^ key->comm[1]) * 0x9e3779b97f4a7c15ULL >> 32;
	return io_key_home((__u32)h);
}

/* The number of this key. A full table gives number 0, which is the row `other` on every CPU. */
inline_always __u32 key_number(const struct io_key *key)
{
	__u32 home = key_hash(key), nr;
	struct io_key *cell;

#pragma unroll
	for (__u32 i = 0; i < IO_PROBES; i++) {
		nr = (home + i) & settings.key_mask;
		cell = bpf_map_lookup_elem(&io_keys, &nr);
		if (!nr || !cell)
			continue;
		if (key_is(cell, key))
			return nr;
		if (cell->packed || !cell_lock(LOCK_KEY, nr))
			continue;
		if (!fresh(cell->packed))
			goto empty;
		cell_unlock(LOCK_KEY, nr);
	}
	count_up(counters.row_other);
	return 0;
empty:
	cell->pid = key->pid;
	cell->cgroup = key->cgroup;
	cell->comm[0] = key->comm[0];
	cell->comm[1] = key->comm[1];
	fresh(cell->packed) = key->packed;
	cell_unlock(LOCK_KEY, nr);
	return nr;
}

inline_always __u32 command_key(struct request *rq, __u32 device, __u32 op, __u32 bytes,
				const bool direct)
{
	struct io_key key = {};

	key.packed = 1ULL << IO_KEY_USED | device | (__u64)op << IO_KEY_OP;
	if (settings.by_size)
		key.packed |= (__u64)io_size_class(bytes) << IO_KEY_SIZE;
	if (settings.by_queue)
		key.packed |= (__u64)(queue_number(rq, op >> 8, direct) & 0xffff) << IO_KEY_QUEUE;
	if (settings.by_cpu)
		key.packed |= (__u64)(bpf_get_smp_processor_id() & 0xfff) << IO_KEY_CPU;
	if (settings.by_pid)
		key.pid = bpf_get_current_pid_tgid() >> 32;
	if (settings.by_cgroup)
		key.cgroup = bpf_get_current_cgroup_id();
	if (settings.by_comm)
		bpf_get_current_comm(key.comm, sizeof(key.comm));
	return key_number(&key);
}

/* ---- the life of a command ---- */

/* What every command of this queue and operation has in common, so that a slot can remember it. */
inline_always bool remembers(void)
{
	return !(settings.by_size || settings.by_queue || settings.by_cpu || settings.by_pid ||
		 settings.by_comm || settings.by_cgroup || settings.filter_pid ||
		 settings.filter_cgroup || settings.filter_comm[0] || settings.filter_nsid ||
		 settings.filter_qid || settings.filter_sectors);
}

inline_always bool command_wanted(struct request *rq, struct nvme_command *cmd, __u32 op,
				  const bool direct)
{
	if (!op_wanted(op))
		return false;
	if (settings.filter_nsid &&
	    (!cmd || field_of_command(direct, cmd, nsid) != settings.wanted_nsid))
		return false;
	if (settings.filter_qid && queue_number(rq, op >> 8, direct) != settings.wanted_qid)
		return false;
	return task_wanted();
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
inline_always void more_task(struct io_slot_more *more, const bool direct)
{
	if (direct && settings.task_pointer) {
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
		if (nvme && nvme_is_users(rq))
			flags |= RECORD_USER;
	}
	if (cmd_flags & settings.integrity_flag)
		flags |= RECORD_METADATA;
	if (!nvme && cmd_flags & settings.fua_flag)
		flags |= RECORD_FUA;
	return flags;
}

inline_always void more_fill(const struct tables *t, struct io_slot *slot, struct request *rq,
			     struct nvme_command *cmd, const bool direct)
{
	struct io_slot_more *more = slot_more(slot);
	__u32 cmd_flags = field_of(direct, rq, cmd_flags);

	more_task(more, direct);
	more->qid = queue_number(rq, slot->kind, direct);
	if (cmd)
		more_command(more, cmd, direct);
	else
		more_sector(more, rq, direct);
	slot->flags = cmd_flags & t->set->rare_flags ? record_flags(rq, cmd_flags, cmd != 0) : 0;
}

/*
 * Is it one we count, and in which row? Asked once per queue and operation where the answer can
 * stay. The admin queue has no namespace behind it; a fabrics command is told by its type.
 */
inline_always bool command_places(struct io_slot *slot, struct request *rq, struct request_queue *q,
				  struct nvme_command *cmd, __u32 number, const bool direct)
{
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
	if (!device || !command_wanted(rq, cmd, op, direct))
		return false;
	slot->sized_shift = nvme_is_sized(op) ? device->block_shift : 0; /* IO_NVME is 0 */
	slot->kind = op >> 8;
	slot->op = op;
	slot->bytes = command_bytes(slot, rq, cmd, direct);
	/* Who reads records has no rows but of what was dropped, and those he only adds up. */
	slot->key_nr = settings.records && !settings.rows_too
			       ? 0
			       : command_key(rq, device_nr, op, slot->bytes, direct);
	if (settings.records)
		slot_more(slot)->device = device_nr;
	if (remembers() && number != NVME_FABRICS)
		slot->queue = (__u64)q;
	return true;
}

/* Setup or issue. The clock is read last: our own work is not the command's latency. */
inline_always int command_starts(struct request *rq, struct request_queue *q,
				 struct nvme_command *cmd, __u32 number, const bool direct)
{
	const struct tables t = the_tables();
	struct io_slot *slot = slot_take(&t, rq);

	if (!slot)
		return 0;
	if (slot->state > IO_IGNORED &&
	    command_goes_on(&t, slot, field_of(direct, rq, start_time_ns)))
		return 0;
	if (slot->queue == (__u64)q && slot->op == number) {
		slot->bytes = command_bytes(slot, rq, cmd, direct);
	} else if (!command_places(slot, rq, q, cmd, number, direct)) {
		slot->state = IO_IGNORED;
		return 0;
	}
	slot->alloc_ns = field_of(direct, rq, start_time_ns);
	slot->attempts = 1;
	slot->issued++;
	slot->state = IO_OPEN;
	if (!t.set->records) {
		slot->first_ns = bpf_ktime_get_ns();
		return 0;
	}
	more_fill(&t, slot, rq, cmd, direct);
	slot_more(slot)->last_ns = slot->first_ns = bpf_ktime_get_ns();
	if (settings.split)
		record_send(&t, slot, &(struct outcome){ .what = RECORD_SUBMIT });
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
	if (nvme && (nvme_status(&settings, rq, false) & 0x7ff) ==
			    0x370) /* host path error: ended by the driver */
		count_up(counters.refused);
	else if (field_of(direct, rq, start_time_ns) < attached_ns)
		count_up(counters.mid_flight);
	else
		count_up(counters.no_start);
}

inline_always int nvme_setup(struct request *rq, struct nvme_command *cmd, const bool direct)
{
	return command_starts(rq, field_of(direct, rq, q), cmd,
			      field_of_command(direct, cmd, opcode), direct);
}

/* As the driver decides: "do not retry" in the status, or a request that asked for no retry, as all
 * that users and the driver itself send past the block layer do. */
inline_always bool nvme_never_retries(const struct tables *t, struct request *rq, __u32 status,
				      const bool direct)
{
	return status & NVME_DNR || field_of(direct, rq, cmd_flags) & t->set->noretry_flags;
}

inline_always int nvme_complete(struct request *rq, const bool direct, const bool cast)
{
	__u64 now = bpf_ktime_get_ns();
	const struct tables t = the_tables();
	struct io_slot *slot = slot_find(&t, rq);
	struct outcome o = {};

	if (!slot || slot->state != IO_OPEN) {
		completion_unmatched(slot, rq, true, direct);
		return 0;
	}
	o.status = nvme_status(t.set, rq, cast);
	o.end_ns = now;
	if (o.status) {
		if (nvme_never_retries(&t, rq, o.status, direct)) {
			command_ends(&t, slot, &o);
			return 0;
		}
		slot->last_ns = now;
		slot->state = IO_PARKED;
		if (t.set->records) {
			slot_more(slot)->status = o.status;
			count_up(counters.parked);
		}
		return 0;
	}
	if (t.set->records)
		o.result = nvme_result(rq, cast);
	command_ends(&t, slot, &o);
	return 0;
}

inline_always int block_issue(struct request *rq, const bool direct)
{
	struct request_queue *q = field_of(direct, rq, q);
	struct gendisk *disk = req_disk(rq, q, direct);

	if (!disk || disk_is_nvme(disk, direct))
		return 0;
	return command_starts(rq, q, 0, IO_BLOCK << 8 | (field_of(direct, rq, cmd_flags) & 0xff),
			      direct);
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
	       (field_of(direct, rq, cmd_flags) & 0xff) == 1 /* REQ_OP_WRITE */ &&
	       BPF_CORE_READ(rq, bio);
}

/* An errno, or a blk_status_t since 5.16 (8a7d267b4a2c): user space knows what those mean. */
inline_always __u32 block_status(__u32 error)
{
	return (__s32)error < 0 ? -error : error ? error | BLOCK_STATUS : 0;
}

inline_always int block_complete(struct request *rq, __u32 error, __u32 nr_bytes, const bool direct)
{
	struct gendisk *disk = req_disk(rq, field_of(direct, rq, q), direct);
	struct outcome o = {};
	struct io_slot *slot;
	struct tables t;
	__u64 now;

	if (!disk || disk_is_nvme(disk, direct))
		return 0;
	now = bpf_ktime_get_ns();
	t = the_tables();
	slot = slot_find(&t, rq);
	o.end_ns = now;
	o.status = block_status(error);
	if (slot && slot->state >= IO_RETRY) { /* it waited for another attempt that never came */
		if (!o.status)
			o.status = BLOCK_EIO;
		command_ends(&t, slot, &o);
		return 0;
	}
	if (!slot || slot->state != IO_OPEN) {
		if (!completes_a_flush(rq, nr_bytes, direct))
			completion_unmatched(slot, rq, false, direct);
		return 0;
	}
	if (nr_bytes < field_of(direct, rq, __data_len)) /* a part; the rest will follow */
		return 0;
	command_ends(&t, slot, &o);
	return 0;
}

/* ---- programs: each event twice, for pointers the verifier knows and for plain ones ---- */

SEC("tp_btf/nvme_setup_cmd")
int BPF_PROG(io_nvme_setup, struct request *rq, struct nvme_command *cmd)
{
	return rq && cmd ? nvme_setup(rq, cmd, true) : 0;
}

SEC("raw_tp/nvme_setup_cmd")
int io_nvme_setup_r(struct bpf_raw_tracepoint_args *ctx)
{
	return nvme_setup((void *)ctx->args[0], (void *)ctx->args[1], false);
}

SEC("tp_btf/nvme_complete_rq")
int BPF_PROG(io_nvme_end, struct request *rq)
{
	return rq ? nvme_complete(rq, true, false) : 0;
}

/* Kernels with bpf_rdonly_cast read the status at a hundredth of the helper's instructions. */
SEC("tp_btf/nvme_complete_rq")
int BPF_PROG(io_nvme_end_c, struct request *rq)
{
	return rq ? nvme_complete(rq, true, true) : 0;
}

SEC("raw_tp/nvme_complete_rq")
int io_nvme_end_r(struct bpf_raw_tracepoint_args *ctx)
{
	return nvme_complete((void *)ctx->args[0], false, false);
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(io_block_issue, struct request *rq)
{
	return rq ? block_issue(rq, true) : 0;
}

/* block_rq_* lost their queue argument in 5.11 (a54895fa057c) and in 5.10.137. */
inline_always struct request *request_argument(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 first = ctx->args[0], second = 0;

	if (settings.queue_argument)
		second = ctx->args[1];
	return (void *)(settings.queue_argument ? second : first);
}

SEC("raw_tp/block_rq_issue")
int io_block_issue_r(struct bpf_raw_tracepoint_args *ctx)
{
	return block_issue(request_argument(ctx), false);
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(io_block_end, struct request *rq, __u32 error, __u32 nr_bytes)
{
	return rq ? block_complete(rq, error, nr_bytes, true) : 0;
}

SEC("raw_tp/block_rq_complete")
int io_block_end_r(struct bpf_raw_tracepoint_args *ctx)
{
	return block_complete((void *)ctx->args[0], ctx->args[1], ctx->args[2], false);
}

/* Rare from here on: plain pointers will do. */

SEC("raw_tp/block_rq_requeue")
int io_requeue(struct bpf_raw_tracepoint_args *ctx)
{
	struct request *rq = request_argument(ctx);
	const struct tables t = the_tables();
	struct io_slot *slot = slot_find(&t, rq);

	if (!slot)
		return 0;
	if (slot->state == IO_PARKED) {
		slot->state = IO_RETRY;
	} else if (slot->state == IO_OPEN) {
		/* The device had answered, or it was busy and never saw it. */
		if (BPF_CORE_READ(rq, state) == MQ_RQ_COMPLETE) {
			slot->state = IO_RETRY;
		} else {
			count_up(counters.requeues);
			slot->state = IO_REQUEUED;
		}
	}
	return 0;
}

/* An NVMe command ended with an error: one that was parked is settled, one still open never left.
 */
inline_always int nvme_error(struct request *rq)
{
	const struct tables t = the_tables();
	struct io_slot *slot = slot_find(&t, rq);
	struct gendisk *disk;

	if (!slot || slot->state <= IO_IGNORED)
		return 0;
	disk = req_disk(rq, BPF_CORE_READ(rq, q), false);
	if (!disk || !disk_is_nvme(disk, false))
		return 0;
	if (slot->state == IO_PARKED) {
		command_fails(&t, slot, slot->last_ns);
	} else if (slot->attempts > 1 || slot->state == IO_RETRY) {
		command_fails(&t, slot, bpf_ktime_get_ns());
	} else {
		count_up(counters.never_sent);
		slot->state = IO_IDLE;
	}
	return 0;
}

SEC("raw_tp/block_rq_error")
int io_error(struct bpf_raw_tracepoint_args *ctx)
{
	return nvme_error((void *)ctx->args[0]);
}

/* Kernels before 5.18 have no block_rq_error. */
SEC("raw_tp/block_rq_complete")
int io_error_old(struct bpf_raw_tracepoint_args *ctx)
{
	return ctx->args[1] ? nvme_error((void *)ctx->args[0]) : 0;
}
