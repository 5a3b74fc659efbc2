/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *words;
} wait_parts[NR_WAIT_PARTS] = {
	[PART_CPU] = { "cpu", "running" },
	[PART_RUNNABLE] = { "runnable", "ready to run, waiting for a CPU" },
	[PART_DEVICE] = { "device", "waiting for I/O, of its own" },
	[PART_OTHERS] = { "others", "waiting for I/O, of other tasks" },
	[PART_JOURNAL] = { "journal", "waiting for the file system's log" },
	[PART_DIRTY] = { "dirty", "slowed down: too many dirty pages" },
	[PART_QUEUE] = { "queue", "waiting for a place in a queue" },
	[PART_TAG] = { "tag", "waiting for a free tag" },
	[PART_WBT] = { "wbt", "writeback throttling" },
	[PART_IOMAX] = { "iomax", "held back by io.max" },
	[PART_IOCOST] = { "iocost", "held back by io.cost" },
	[PART_IOLATENCY] = { "iolatency", "held back by io.latency" },
	[PART_FROZEN] = { "frozen", "waiting for a frozen queue" },
	[PART_LOCK] = { "lock", "waiting for a lock" },
	[PART_RECLAIM] = { "reclaim", "waiting for memory" },
	[PART_NETWORK] = { "network", "waiting for a server" },
	[PART_REST] = { "rest", "sleeping elsewhere" },
};

const char *wait_part__name(enum wait_part part)
{
	return wait_parts[part].name;
}

const char *wait_part__words(enum wait_part part)
{
	return wait_parts[part].words;
}

const char *wait_call__name(enum wait_call call)
{
	static const char *const names[NR_WAIT_CALLS] = {
		[WAIT_READ] = "read",		[WAIT_WRITE] = "write",
		[WAIT_FSYNC] = "fsync",		[WAIT_SYNCWRITE] = "syncwrite",
		[WAIT_FDATASYNC] = "fdatasync", [WAIT_SYNCRANGE] = "syncrange",
		[WAIT_FAULT] = "fault",		[WAIT_OPEN] = "open",
	};

	return call < NR_WAIT_CALLS ? names[call] : "other";
}

/* ---- places ---- */

/* A name that ends with '*' stands for all that begin like that. */
static const struct wait_known {
	const char *name;
	enum wait_part part;
} wait_known[] = {
	{ "jbd2_*", PART_JOURNAL },
	{ "__jbd2_*", PART_JOURNAL },
	{ "wait_transaction_*", PART_JOURNAL },
	{ "start_this_handle", PART_JOURNAL },
	{ "add_transaction_credits", PART_JOURNAL },
	{ "do_get_write_access", PART_JOURNAL },
	{ "ext4_fc_*", PART_JOURNAL },
	{ "xlog_*", PART_JOURNAL },
	{ "xfs_log_*", PART_JOURNAL },
	{ "__xfs_log_*", PART_JOURNAL },
	{ "btrfs_sync_log", PART_JOURNAL },
	{ "btrfs_wait_for_commit", PART_JOURNAL },
	{ "btrfs_commit_transaction", PART_JOURNAL },
	{ "wait_current_trans", PART_JOURNAL },
	{ "wait_log_commit", PART_JOURNAL },
	{ "balance_dirty_pages*", PART_DIRTY },
	{ "blk_mq_get_tag", PART_TAG },
	{ "rq_qos_wait", PART_QUEUE },
	{ "wbt_wait", PART_WBT },
	{ "blkcg_iolatency_throttle", PART_IOLATENCY },
	{ "ioc_rqos_throttle", PART_IOCOST },
	{ "__rq_qos_throttle", PART_QUEUE },
	{ "blk_queue_enter", PART_FROZEN },
	{ "__bio_queue_enter", PART_FROZEN },
	{ "blk_mq_freeze_queue_wait*", PART_FROZEN },
	{ "blk_throtl_*", PART_IOMAX },
	{ "blkcg_maybe_throttle_current", PART_QUEUE },
	{ "rwsem_down_*", PART_LOCK },
	{ "__mutex_lock*", PART_LOCK },
	{ "mutex_lock*", PART_LOCK },
	{ "__down*", PART_LOCK },
	{ "down_read*", PART_LOCK },
	{ "down_write*", PART_LOCK },
	{ "percpu_rwsem_wait", PART_LOCK },
	{ "try_to_free_pages", PART_RECLAIM },
	{ "try_to_free_mem_cgroup_pages", PART_RECLAIM },
	{ "shrink_*", PART_RECLAIM },
	{ "reclaim_throttle", PART_RECLAIM },
	{ "throttle_direct_reclaim", PART_RECLAIM },
	{ "mem_cgroup_handle_over_high", PART_RECLAIM },
	{ "__mem_cgroup_handle_over_high", PART_RECLAIM },
	{ "rpc_*", PART_NETWORK },
	{ "__rpc_*", PART_NETWORK },
	{ "nfs_*", PART_NETWORK },
	{ "cifs_*", PART_NETWORK },
	{ "smb2_*", PART_NETWORK },
	{ "folio_wait_*", PART_DEVICE },
	{ "wait_on_page_*", PART_DEVICE },
	{ "__lock_page*", PART_DEVICE },
	{ "__folio_lock*", PART_DEVICE },
	{ "__filemap_fdatawait_range", PART_DEVICE },
	{ "filemap_*", PART_DEVICE },
	{ "generic_file_buffered_read", PART_DEVICE },
	{ "__wait_on_buffer", PART_DEVICE },
	{ "__lock_buffer", PART_DEVICE },
	{ "__iomap_dio_rw", PART_DEVICE },
	{ "__blockdev_direct_IO", PART_DEVICE },
	{ "do_blockdev_direct_IO", PART_DEVICE },
	{ "__blkdev_direct_IO*", PART_DEVICE },
	{ "blkdev_direct_IO*", PART_DEVICE },
	{ "submit_bio_wait", PART_DEVICE },
	{ "xfs_buf_*", PART_DEVICE }, /* waits for metadata without io_schedule */
	{ "__xfs_buf_submit", PART_DEVICE },
	{ "bio_await*", PART_DEVICE },
	{ "io_schedule*", PART_DEVICE }, /* whoever calls it waits for I/O */
	{ "bit_wait_io*", PART_DEVICE },
};

/* How every sleep ends; these say nothing about its reason. */
static const char *const wait_sleepers[] = {
	"__schedule",	     "schedule*",	   "preempt_schedule*",	 "io_schedule*",
	"bit_wait*",	     "__wait_on_bit*",	   "out_of_line_wait_*", "wait_for_completion*",
	"__wait_for_common", "do_wait_for_common", "__switch_to",	 "wait_woken",
	"blk_wait_io",	     "blk_io_schedule"
};

/* A compiler's clone counts as its function: "vfs_read.isra.0". */
static bool wait_is_named(const struct wait_place *place, const char *pattern)
{
	size_t len;

	if (*place->name != *pattern) /* nearly always; a live run asks this of each function */
		return false;
	len = strlen(pattern);
	if (pattern[len - 1] == '*')
		return place->len >= len - 1 && !strncmp(place->name, pattern, len - 1);
	return place->len >= len && !strncmp(place->name, pattern, len) &&
	       (place->len == len || place->name[len] == '.' || place->name[len] == ' ');
}

static const struct wait_known *wait_find_known(const struct wait_place *place)
{
	for (size_t i = 0; i < sizeof(wait_known) / sizeof(wait_known[0]); i++)
		if (wait_is_named(place, wait_known[i].name))
			return &wait_known[i];
	return NULL;
}

static bool wait_only_sleeps(const struct wait_place *place)
{
	for (size_t i = 0; i < sizeof(wait_sleepers) / sizeof(wait_sleepers[0]); i++)
		if (wait_is_named(place, wait_sleepers[i]))
			return true;
	return false;
}

/* The next function, from the inside out. False: there is none. */
static bool wait_next_place(const char **stack, struct wait_place *place)
{
	if (!*stack || !**stack)
		return false;
	place->name = *stack;
	place->len = strcspn(*stack, ";");
	*stack += place->len + ((*stack)[place->len] == ';');
	return true;
}

static bool wait_is_queue(enum wait_part part)
{
	return part >= PART_QUEUE && part <= PART_FROZEN;
}

/* Several queues share a function that sleeps; its caller tells which one it is. */
static enum wait_part wait_find_queue(const char *stack, struct wait_place *place)
{
	enum wait_part part = PART_QUEUE;
	const struct wait_known *known;
	struct wait_place at;

	while (part == PART_QUEUE && wait_next_place(&stack, &at)) {
		known = wait_find_known(&at);
		if (!known || !wait_is_queue(known->part))
			break;
		part = known->part;
		*place = at;
	}
	return part;
}

/* btrfs has no thread that writes its log: who needs it does, and waits for the I/O. */
static bool wait_is_for_log(const char *stack, struct wait_place *place)
{
	struct wait_place at;

	while (wait_next_place(&stack, &at)) {
		if (!wait_is_named(&at, "btrfs_sync_log") &&
		    !wait_is_named(&at, "btrfs_commit_transaction"))
			continue;
		*place = at;
		return true;
	}
	return false;
}

static enum wait_part wait_part_of_io(enum wait_io io)
{
	static const enum wait_part parts[] = {
		[WAIT_IO_NONE] = PART_OTHERS,
		[WAIT_IO_OWN] = PART_DEVICE,
		[WAIT_IO_HELD] = PART_IOMAX,
	};

	return parts[io <= WAIT_IO_HELD ? io : WAIT_IO_NONE];
}

enum wait_part wait_part__of(const char *stack, enum wait_io io, struct wait_place *place)
{
	const struct wait_known *found = NULL, *known;
	struct wait_place at;
	bool is_io = false;

	*place = (struct wait_place){ 0 };
	while (!found && wait_next_place(&stack, &at)) {
		known = wait_find_known(&at);
		if (wait_only_sleeps(&at)) {
			is_io |= known != NULL;
			continue;
		}
		if (!place->name || known)
			*place = at;
		found = known;
	}
	if (found && found->part == PART_QUEUE)
		return wait_find_queue(stack, place);
	if (found && found->part != PART_DEVICE)
		return found->part;
	if (wait_is_for_log(stack, place))
		return PART_JOURNAL;
	return found || is_io ? wait_part_of_io(io) : PART_REST;
}

/* ---- groups ---- */

static const struct wait_key wait_key_other = { .call = WAIT_OTHER_CALL };

static uint64_t wait_key_hash(const struct wait_key *key)
{
	return index__mix_bytes(0, key, sizeof(*key));
}

static bool wait_group_is(const void *groups, uint32_t number, const void *key)
{
	struct wait_group *const *g = groups;

	return !memcmp(&g[number]->key, key, sizeof(struct wait_key));
}

static struct wait_group *wait_groups_find(const struct wait_groups *g, const struct wait_key *key)
{
	uint32_t at = index__find(&g->index, wait_key_hash(key), wait_group_is, g->groups, key);

	return at == INDEX_NONE ? NULL : g->groups[at];
}

static struct wait_group *wait_groups_make(struct wait_groups *g, const struct wait_key *key)
{
	struct wait_group *group;

	if (index__reserve(&g->index, &g->groups, sizeof(struct wait_group *)))
		return NULL;
	group = calloc(1, sizeof(*group));
	if (!group)
		return NULL;
	group->key = *key;
	g->groups[index__add(&g->index, wait_key_hash(key))] = group;
	g->nr++;
	return group;
}

static struct wait_group *wait_groups_get(struct wait_groups *g, const struct wait_key *key)
{
	struct wait_group *group = wait_groups_find(g, key);

	if (group)
		return group;
	if (g->nr < WAIT_GROUPS)
		return wait_groups_make(g, key);
	g->is_full = true;
	group = wait_groups_find(g, &wait_key_other);
	return group ? group : wait_groups_make(g, &wait_key_other);
}

static int wait_group_tail(struct wait_group *group, uint32_t slot)
{
	if (!group->tails[slot])
		group->tails[slot] = calloc(NR_WAIT_PARTS, sizeof(uint64_t));
	return group->tails[slot] ? 0 : -ENOMEM;
}

static int wait_group_part(struct wait_group *group, int part)
{
	if (!group->parts[part])
		group->parts[part] = calloc(1, sizeof(struct hist));
	return group->parts[part] ? 0 : -ENOMEM;
}

int wait_groups__add(struct wait_groups *groups, const struct wait_key *key,
		     const uint64_t parts[NR_WAIT_PARTS])
{
	struct wait_group *group = wait_groups_get(groups, key);
	uint64_t total = 0;
	int err;

	for (int i = 0; i < NR_WAIT_PARTS; i++)
		total += parts[i];
	err = group ? wait_group_tail(group, hist_slot(total)) : -ENOMEM;
	for (int i = 0; i < NR_WAIT_PARTS && !err; i++) {
		if (!parts[i])
			continue;
		err = wait_group_part(group, i);
		if (err)
			break;
		hist__add(group->parts[i], parts[i], 0);
		group->tails[hist_slot(total)][i] += parts[i];
	}
	if (!err)
		hist__add(&group->total, total, 0);
	return err;
}

static int wait_group_merge(struct wait_group *into, const struct wait_group *from)
{
	int err = 0;

	hist__merge(&into->total, &from->total);
	for (int i = 0; i < NR_WAIT_PARTS && !err; i++) {
		if (!from->parts[i])
			continue;
		err = wait_group_part(into, i);
		if (!err)
			hist__merge(into->parts[i], from->parts[i]);
	}
	for (uint32_t slot = 0; slot < HIST_CELLS && !err; slot++) {
		if (!from->tails[slot])
			continue;
		err = wait_group_tail(into, slot);
		for (int i = 0; i < NR_WAIT_PARTS && !err; i++)
			into->tails[slot][i] += from->tails[slot][i];
	}
	return err;
}

int wait_groups__merge(struct wait_groups *into, const struct wait_groups *from)
{
	int err = 0;

	for (size_t i = 0; i < from->nr && !err; i++) {
		struct wait_group *group = wait_groups_get(into, &from->groups[i]->key);

		err = group ? wait_group_merge(group, from->groups[i]) : -ENOMEM;
	}
	return err;
}

void wait_groups__clear(struct wait_groups *g)
{
	for (size_t i = 0; i < g->nr; i++) {
		for (int part = 0; part < NR_WAIT_PARTS; part++)
			free(g->groups[i]->parts[part]);
		for (uint32_t slot = 0; slot < HIST_CELLS; slot++)
			free(g->groups[i]->tails[slot]);
		free(g->groups[i]);
	}
	index__clear(&g->index);
	g->nr = 0;
	g->is_full = false;
}

void wait_groups__free(struct wait_groups *g)
{
	wait_groups__clear(g);
	index__free(&g->index);
	free(g->groups);
	g->groups = NULL;
}

static int wait_group_compare(const void *a, const void *b)
{
	const struct wait_group *x = *(const struct wait_group *const *)a;
	const struct wait_group *y = *(const struct wait_group *const *)b;

	if (x->key.call != y->key.call)
		return x->key.call < y->key.call ? -1 : 1;
	if (x->total.sum_ns != y->total.sum_ns)
		return x->total.sum_ns < y->total.sum_ns ? 1 : -1;
	return x->key.host - y->key.host;
}

void wait_groups__sort(struct wait_groups *g)
{
	if (g->nr)
		qsort(g->groups, g->nr, sizeof(struct wait_group *), wait_group_compare);
	index__clear(&g->index);
	for (size_t i = 0; i < g->nr; i++)
		index__add(&g->index, wait_key_hash(&g->groups[i]->key));
}

double wait_group__share(const struct wait_group *group, enum wait_part part)
{
	const struct hist *h = group->parts[part];

	return h && group->total.sum_ns ? 100.0 * (double)h->sum_ns / (double)group->total.sum_ns
					: 0;
}

double wait_group__tail_share(const struct wait_group *group, enum wait_part part,
			      uint32_t per_10000)
{
	uint64_t beyond = group->total.count - group->total.count * per_10000 / 10000, seen = 0;
	uint64_t mine = 0, all = 0;

	/* From the top, in whole buckets, until the wanted number of calls is reached. */
	for (size_t slot = HIST_CELLS; slot-- > 0 && seen < beyond;) {
		seen += group->total.slots[slot];
		for (int i = 0; group->tails[slot] && i < NR_WAIT_PARTS; i++)
			all += group->tails[slot][i];
		mine += group->tails[slot] ? group->tails[slot][part] : 0;
	}
	return all ? 100.0 * (double)mine / (double)all : 0;
}
