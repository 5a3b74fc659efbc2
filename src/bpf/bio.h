/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bio.h: bios between their submission and their end: when they were submitted, when they got a
 * request, by which task. A request's first bio represents it; merged ones follow by bi_next.
 */
#ifndef IOSONAR_BPF_BIO_H
#define IOSONAR_BPF_BIO_H

#include "bpf/device.h"
#include "bpf/stack.h"

enum { BIO_MOST_MERGED = 256 };

/* queue_wait.h: what it waited for. Not static: the verifier checks each function once. */
__u32 tasks_waiting = 0; /* entries of tasks in the table of waits, */
__u32 bios_held = 0;	 /* and of bios that are not submitted yet */
int bio_was_held(__u64 bio);
int bio_ends_wait(__u64 bio);
int bio_shares_wait(__u64 front, __u64 whole);
int bio_forgets_wait(__u64 bio);

inline_always struct io_bio *bio_at(const struct tables *t, __u32 at)
{
	void *bios = t->told ? table_address(IO_TABLE_BIOS) : t->bios;

	return bios + (at & setting_of(t, bio_mask));
}

inline_always __u32 bio_home(const void *bio)
{
	return io_hash(low_half(bio)) >> 7;
}

/* The first cell alone, where most searches end. */
inline_always struct io_bio *bio_first(const void *bio)
{
	struct io_bio *cell =
		table_address_here(IO_TABLE_BIOS) + (bio_home(bio) & told_here(bio_mask));

	if (!cell)
		__builtin_unreachable();
	return cell;
}

inline_always bool bio_is_at(const struct tables *t, __u32 at, const void *bio,
			     struct io_bio **cell)
{
	*cell = bio_at(t, at);
	if (!*cell) /* it points into a table: no NULL test is needed */
		__builtin_unreachable();
	return (*cell)->key == (__u64)bio;
}

/* The cell that has this address, or NULL. */
inline_always struct io_bio *bio_cell(const struct tables *t, const void *bio)
{
	const __u32 next = sizeof(struct io_bio);
	struct io_bio *cell;
	__u32 at;

	if (t->told) {
		cell = bio_first(bio);
		if (__builtin_expect(cell->key == (__u64)bio, 1))
			return cell;
	}
	at = bio_home(bio);
	return any_of_probes(bio_is_at, t, at, next, bio, &cell) ? cell : 0;
}

inline_always struct io_bio *bio_find(const struct tables *t, const void *bio)
{
	struct io_bio *cell = bio_cell(t, bio);

	return cell && cell->busy ? cell : 0;
}

/* Its own old cell, or a free one. A bio that is submitted again starts anew. */
inline_always struct io_bio *bio_take(const struct tables *t, const void *bio)
{
	struct io_bio *cell = bio_cell(t, bio);
	const __u32 mine = 1; /* who reads any other sum is not alone */

	if (cell && cell_hold(&cell->claim, mine)) {
		bool same = cell->key == (__u64)bio;

		if (same)
			cell->busy = BIO_BUSY;
		cell_release(&cell->claim, mine);
		if (same)
			return cell;
	}
#pragma unroll
	for (__u32 i = 0; i < IO_PROBES; i++) {
		cell = bio_at(t, bio_home(bio) + i * sizeof(*cell));
		if (cell->busy || !cell_hold(&cell->claim, mine))
			continue;
		if (!fresh(cell->busy)) {
			cell->key = (__u64)bio;
			cell->busy = BIO_BUSY;
			cell_release(&cell->claim, mine);
			if (setting_of(t, waits) && fresh(bios_held))
				bio_was_held(cell->key);
			return cell;
		}
		cell_release(&cell->claim, mine);
	}
	count_up(counters.no_bio);
	return 0;
}

/* ---- who submitted it ---- */

/*
 * The group that the block layer charges: for writeback that of the task that dirtied the pages.
 * Where no controller separates groups it is the root, and the task's own group says more.
 */
inline_always __u64 bio_cgroup(struct bio *bio, const enum pointers pointers)
{
	struct bio___blkg *charged = (void *)bio;
	__u64 id = 0;

	if (bpf_core_field_exists(struct bio___blkg, bi_blkg))
		id = pointers ? charged->bi_blkg->blkcg->css.cgroup->kn->id
			      : BPF_CORE_READ(charged, bi_blkg, blkcg, css.cgroup, kn, id);
	return id > 1 ? id : bpf_get_current_cgroup_id();
}

/* --cgroup matches the charged group or the task's. */
inline_always bool bio_is_of_group(struct bio *bio)
{
	struct bio___blkg *charged = (void *)bio;
	__u32 level = settings.filter_cgroup_level;
	struct cgroup *cgroup = 0;

	if (bpf_core_field_exists(struct bio___blkg, bi_blkg))
		cgroup = BPF_CORE_READ(charged, bi_blkg, blkcg, css.cgroup);
	return cgroup_ancestor_of(cgroup, level) == settings.filter_cgroup ||
	       cgroup_ancestor(level) == settings.filter_cgroup;
}

inline_always void bio_owner(struct io_bio *cell, const enum pointers pointers)
{
	if (pointers && settings.task_pointer) {
		struct task_struct *task = bpf_get_current_task_btf();

		cell->pid = task->tgid;
		cell->tid = task->pid;
		cell->comm[0] = ((__u64 *)task->comm)[0];
		cell->comm[1] = ((__u64 *)task->comm)[1];
	} else {
		__u64 both = bpf_get_current_pid_tgid();

		cell->pid = both >> 32;
		cell->tid = both;
		bpf_get_current_comm(cell->comm, sizeof(cell->comm));
	}
}

/* What the bio asks for, before splits and ends change it. */
inline_always void bio_extent(struct io_bio *cell, struct bio *bio, const enum pointers pointers)
{
	cell->sector = field_of(pointers, bio, bi_iter.bi_sector);
	cell->bytes = field_of(pointers, bio, bi_iter.bi_size);
	cell->op = field_of(pointers, bio, bi_opf);
	cell->is_part = cell->is_ended = 0;
	cell->nr_parts = 0;
	cell->above = cell->below_ns = cell->back_ns = 0;
}

/* RICH: for views that want stages or owners; other views do not pay for them. */
enum rich { LEAN, RICH };

/* The bio that tells the owner of this request; NULL: unknown, or not asked for. */
inline_always const struct io_bio *owner_of(const struct tables *t, struct request *rq,
					    const enum rich rich)
{
	struct bio *bio;

	if (!rich || !settings.owners)
		return 0;
	bio = BPF_CORE_READ(rq, bio);
	return bio ? bio_find(t, bio) : 0;
}

inline_always bool is_kernel_thread(const enum pointers pointers)
{
	struct task_struct *task;

	if (pointers && settings.task_pointer)
		return !bpf_get_current_task_btf()->mm;
	task = (void *)bpf_get_current_task();
	return !BPF_CORE_READ(task, mm);
}

/* Stacks of a disk that -d does not select would only take the places of others. */
inline_always void bio_stacks(void *ctx, struct io_bio *cell, struct bio *bio,
			      const enum pointers pointers)
{
	struct known_at at;

	cell->kernel_stack = cell->user_stack = cell->stack_losses = 0;
	if (!settings.kernel_stacks && !settings.user_stacks)
		return;
	if (!settings.follow_all && bio_is_unwanted(bio, pointers))
		return;
	fresh(cell->got_ns) =
		(__u64)ctx; /* read again, it is a number; its own value comes later */
	at.context = fresh(cell->got_ns);
	at.of_kernel_thread = is_kernel_thread(pointers);
	at.set = (field_of(pointers, bio, bi_opf) & 7) << 1 | at.of_kernel_thread;
	cell->stack_losses = stacks_take(ctx, &at, &cell->kernel_stack, &cell->user_stack);
}

/* ---- its events ---- */

inline_always int bio_queued(void *ctx, struct bio *bio, const enum pointers pointers)
{
	const struct tables t = the_tables();
	__u64 cgroup = told(details) ? bio_cgroup(bio, pointers) : 0;
	struct io_bio *cell = bio_take(&t, bio);

	if (!cell)
		return 0;
	if (told(details)) {
		cell->cgroup = cgroup;
		bio_owner(cell, pointers);
		bio_stacks(ctx, cell, bio, pointers);
	}
	if (settings.files_at_end)
		cell->is_part = 0;
	if (told(filter_cgroup))
		cell->is_of_group = bio_is_of_group(bio);
	if (told(bios))
		bio_extent(cell, bio, pointers);
	cell->got_ns = 0;
	cell->queued_ns = bpf_ktime_get_ns();
	return 0;
}

enum waits { NO_WAITS, WAITS };

inline_always int bio_got_request(const void *bio, const enum waits waits)
{
	__u64 now = bpf_ktime_get_ns();
	const struct tables t = the_tables();
	struct io_bio *cell = bio_find(&t, bio);

	if (!cell)
		return 0;
	cell->got_ns = now;
	if (waits && fresh(tasks_waiting))
		bio_ends_wait(cell->key);
	return 0;
}

/*
 * The front part is a new bio that was never submitted itself: it inherits from its parent. Where
 * no request ends it, its end is not seen, and not needed: the whole bio ends after it.
 */
inline_always int bio_was_split(struct bio *front)
{
	const struct tables t = the_tables();
	struct io_bio *parent = bio_find(&t, BPF_CORE_READ(front, bi_private)), *cell;
	struct gendisk *disk = parent ? bio_disk(front, PLAIN) : 0;

	if (!disk || !disk_has_requests(disk))
		return 0;
	cell = bio_take(&t, front);
	if (!cell || cell == parent)
		return 0;
	cell->queued_ns = parent->queued_ns;
	cell->got_ns = 0;
	__builtin_memcpy(&cell->cgroup, &parent->cgroup, 32);
	__builtin_memcpy(cell->comm, parent->comm, sizeof(cell->comm));
	cell->pid = parent->pid;
	cell->is_of_group = parent->is_of_group;
	cell->file_nth = parent->file_nth;
	cell->stack_losses = parent->stack_losses;
	cell->is_part = 1;
	cell->above = parent->key;
	add_to(parent->nr_parts, 1);
	if (parent->busy == BIO_WAITED)
		bio_shares_wait(cell->key, parent->key);
	return 0;
}

/*
 * A bio, or a part of one, ended. Returns the cell of the bio that ended with it; NULL: parts of it
 * are still in flight. Parts and whole may end on two CPUs at once: the holder of the whole's claim
 * decides. waited: it has an entry in the table of waits.
 */
inline_always struct io_bio *bio_whole_ended(const struct tables *t, struct io_bio *cell,
					     bool *waited)
{
	struct io_bio *whole = cell->is_part ? bio_find(t, (void *)cell->above) : cell;
	__u32 mine = bpf_get_smp_processor_id() + 1;
	bool held, ended;

	if (cell->is_part)
		cell->busy = BIO_ENDED;
	if (!whole)
		return 0;
	*waited = whole->busy == BIO_WAITED;
	if (whole == cell && !fresh(cell->nr_parts)) {
		cell->busy = BIO_ENDED;
		return cell;
	}
	held = cell_hold(&whole->claim, mine);
	if (cell->is_part)
		add_to(whole->nr_parts, -1);
	else
		whole->is_ended = 1;
	ended = fresh(whole->is_ended) && !fresh(whole->nr_parts);
	if (ended)
		whole->busy = BIO_ENDED;
	if (held)
		cell_release(&whole->claim, mine);
	return ended ? whole : 0;
}

#endif
