/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waits.c: does a stack lead to the part that a reader of the kernel would name, and do the groups
 * add up? Stacks as Linux 5.10 to 7.2 have them.
 */
#include <stdlib.h>
#include <string.h>
#include "analyse/waits.h"
#include "draw.h"
#include "tap.h"

static const struct {
	const char *stack;
	enum wait_io io;
	enum wait_part part;
	const char *place;
} stacks[] = {
	{ "__schedule;schedule;jbd2_log_wait_commit [jbd2];jbd2_complete_transaction [jbd2];"
	  "ext4_fc_commit [ext4];ext4_sync_file [ext4];vfs_fsync_range",
	  WAIT_IO_OWN, PART_JOURNAL, "jbd2_log_wait_commit [jbd2]" },
	{ "__schedule;schedule;wait_transaction_locked [jbd2];add_transaction_credits [jbd2];"
	  "start_this_handle [jbd2]",
	  WAIT_IO_NONE, PART_JOURNAL, "wait_transaction_locked [jbd2]" },
	{ "__schedule;schedule;io_schedule;folio_wait_bit_common;folio_wait_writeback;"
	  "__filemap_fdatawait_range;file_write_and_wait_range;ext4_sync_file [ext4]",
	  WAIT_IO_OWN, PART_DEVICE, "folio_wait_bit_common" },
	{ "__schedule;schedule;io_schedule;wait_on_page_bit_common;__lock_page_killable;"
	  "generic_file_buffered_read",
	  WAIT_IO_NONE, PART_OTHERS, "wait_on_page_bit_common" },
	{ "__schedule;schedule;io_schedule;blk_mq_get_tag;__blk_mq_alloc_requests;blk_mq_submit_"
	  "bio",
	  WAIT_IO_OWN, PART_TAG, "blk_mq_get_tag" },
	{ "__schedule;schedule;io_schedule;rq_qos_wait;wbt_wait;__rq_qos_throttle", WAIT_IO_OWN,
	  PART_WBT, "wbt_wait" },
	{ "__schedule;schedule;io_schedule;rq_qos_wait;blkcg_iolatency_throttle;__rq_qos_throttle",
	  WAIT_IO_OWN, PART_IOLATENCY, "blkcg_iolatency_throttle" },
	{ "__schedule;schedule;io_schedule;ioc_rqos_throttle;__rq_qos_throttle", WAIT_IO_OWN,
	  PART_IOCOST, "ioc_rqos_throttle" },
	{ "__schedule;schedule;io_schedule;rq_qos_wait;some_policy;__rq_qos_throttle", WAIT_IO_NONE,
	  PART_QUEUE, "rq_qos_wait" },
	{ "__schedule;schedule;__bio_queue_enter;blk_mq_submit_bio", WAIT_IO_OWN, PART_FROZEN,
	  "__bio_queue_enter" },
	/* A limit that holds back I/O is the reason for waiting for I/O, and for nothing else. */
	{ "__schedule;schedule;schedule_timeout;io_schedule_timeout;__iomap_dio_rw;iomap_dio_rw",
	  WAIT_IO_HELD, PART_IOMAX, "__iomap_dio_rw" },
	{ "__schedule;schedule;io_schedule;bcachefs_wait;vfs_read", WAIT_IO_HELD, PART_IOMAX,
	  "bcachefs_wait" },
	{ "__schedule;schedule;rwsem_down_write_slowpath;down_write", WAIT_IO_HELD, PART_LOCK,
	  "rwsem_down_write_slowpath" },
	{ "__schedule;schedule;schedule_timeout;io_schedule_timeout;balance_dirty_pages.isra.0;"
	  "balance_dirty_pages_ratelimited_flags;generic_perform_write",
	  WAIT_IO_NONE, PART_DIRTY, "balance_dirty_pages.isra.0" },
	{ "__schedule;schedule;rwsem_down_write_slowpath;down_write;ext4_buffered_write_iter "
	  "[ext4]",
	  WAIT_IO_OWN, PART_LOCK, "rwsem_down_write_slowpath" },
	{ "__schedule;schedule;xlog_wait_on_iclog [xfs];xfs_log_force_seq [xfs];xfs_file_fsync "
	  "[xfs]",
	  WAIT_IO_NONE, PART_JOURNAL, "xlog_wait_on_iclog [xfs]" },
	/* The thread itself writes the log of btrfs, but not its data. */
	{ "__schedule;schedule;io_schedule;folio_wait_bit_common;folio_wait_writeback;"
	  "__filemap_fdatawait_range;btrfs_wait_tree_log_extents [btrfs];btrfs_sync_log [btrfs];"
	  "btrfs_sync_file [btrfs]",
	  WAIT_IO_OWN, PART_JOURNAL, "btrfs_sync_log [btrfs]" },
	{ "__schedule;schedule;io_schedule;wait_dev_supers [btrfs];write_all_supers [btrfs];"
	  "btrfs_commit_transaction [btrfs];btrfs_sync_file [btrfs]",
	  WAIT_IO_OWN, PART_JOURNAL, "btrfs_commit_transaction [btrfs]" },
	{ "__schedule;schedule;io_schedule;folio_wait_bit_common;folio_wait_writeback;"
	  "__filemap_fdatawait_range;btrfs_wait_ordered_range [btrfs];btrfs_sync_file [btrfs]",
	  WAIT_IO_OWN, PART_DEVICE, "folio_wait_bit_common" },
	{ "__schedule;schedule;schedule_timeout;__wait_for_common;wait_for_completion_io;"
	  "submit_bio_wait;blkdev_issue_flush;ext4_sync_file [ext4]",
	  WAIT_IO_OWN, PART_DEVICE, "submit_bio_wait" },
	{ "__schedule;schedule;schedule_timeout;io_schedule_timeout;__iomap_dio_rw;iomap_dio_rw",
	  WAIT_IO_OWN, PART_DEVICE, "__iomap_dio_rw" },
	{ "__schedule;schedule;schedule_timeout;wait_for_completion;__xfs_buf_submit [xfs];"
	  "xfs_buf_read_map [xfs];xfs_trans_read_buf_map [xfs]",
	  WAIT_IO_OWN, PART_DEVICE, "__xfs_buf_submit [xfs]" },
	{ "__schedule;schedule;schedule_timeout;__down;down;xfs_buf_lock [xfs]", WAIT_IO_OWN,
	  PART_LOCK, "__down" },
	{ "__schedule;schedule;rpc_wait_bit_killable [sunrpc];__wait_on_bit", WAIT_IO_NONE,
	  PART_NETWORK, "rpc_wait_bit_killable [sunrpc]" },
	{ "__schedule;schedule;schedule_timeout;reclaim_throttle;shrink_node;try_to_free_pages",
	  WAIT_IO_NONE, PART_RECLAIM, "reclaim_throttle" },
	/* An I/O that nobody knows is still an I/O. */
	{ "__schedule;schedule;io_schedule;bcachefs_wait;vfs_read", WAIT_IO_NONE, PART_OTHERS,
	  "bcachefs_wait" },
	{ "__schedule;schedule;some_driver_wait [driver];vfs_read", WAIT_IO_OWN, PART_REST,
	  "some_driver_wait [driver]" },
	{ "__schedule;schedule", WAIT_IO_NONE, PART_REST, "" },
	{ "", WAIT_IO_NONE, PART_REST, "" },
	{ NULL, WAIT_IO_NONE, PART_REST, "" },
	/* Not a name that only begins alike. */
	{ "__schedule;schedule;submit_bio_waiting;vfs_read", WAIT_IO_OWN, PART_REST,
	  "submit_bio_waiting" },
};

static void places(void)
{
	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
		struct wait_place place;
		enum wait_part part = wait_part__of(stacks[i].stack, stacks[i].io, &place);

		is_u64(part, stacks[i].part, stacks[i].stack ? stacks[i].stack : "no stack");
		ok(place.len == strlen(stacks[i].place) &&
			   (!place.len || !strncmp(place.name, stacks[i].place, place.len)),
		   "its place");
	}
}

/* A thousand calls: sums, shares and the tail are those of a second, plain count. */
static void groups(void)
{
	uint64_t sums[NR_WAIT_PARTS] = { 0 }, parts[NR_WAIT_PARTS], total = 0;
	struct wait_groups g = { 0 }, all = { 0 };
	struct wait_key key = { .call = WAIT_FSYNC };
	const struct wait_group *group;
	double shares = 0, tails = 0;

	for (int i = 0; i < 1000; i++) {
		for (int part = 0; part < NR_WAIT_PARTS; part++) {
			parts[part] = part == PART_NETWORK || i % (part + 1) ? 0 : draw(1000000);
			sums[part] += parts[part];
			total += parts[part];
		}
		wait_groups__add(&g, &key, parts);
		if (i == 499) {
			wait_groups__merge(&all, &g);
			wait_groups__clear(&g);
		}
	}
	wait_groups__merge(&all, &g);
	is_u64(all.nr, 1, "one group");
	group = all.groups[0];
	is_u64(group->total.count, 1000, "all calls");
	is_u64(group->total.sum_ns, total, "their time");
	ok(!group->parts[PART_NETWORK], "no part that no call has");
	for (int part = 0; part < NR_WAIT_PARTS; part++) {
		if (group->parts[part])
			is_u64(group->parts[part]->sum_ns, sums[part],
			       wait_part__name((enum wait_part)part));
		shares += wait_group__share(group, (enum wait_part)part);
		tails += wait_group__tail_share(group, (enum wait_part)part, 9900);
	}
	ok(shares > 99.999 && shares < 100.001, "shares add up to 100");
	ok(tails > 99.999 && tails < 100.001, "and so do those of the slowest");
	wait_groups__free(&g);
	wait_groups__free(&all);
}

/* More keys than groups: the others share one, and none is lost. */
static void full(void)
{
	const uint64_t parts[NR_WAIT_PARTS] = { [PART_CPU] = 5 };
	struct wait_groups g = { 0 };
	uint64_t count = 0;

	for (uint32_t i = 0; i < WAIT_GROUPS + 500; i++) {
		struct wait_key key = { .call = WAIT_READ, .pid = i + 1 };

		wait_groups__add(&g, &key, parts);
	}
	is_u64(g.nr, WAIT_GROUPS + 1, "one group for all others");
	ok(g.is_full, "and it says so");
	wait_groups__sort(&g);
	is_u64(g.groups[WAIT_GROUPS]->key.call, WAIT_OTHER_CALL, "which is the last one");
	for (size_t i = 0; i < g.nr; i++)
		count += g.groups[i]->total.count;
	is_u64(count, WAIT_GROUPS + 500, "no call is lost");
	wait_groups__free(&g);
}

/* Groups that have been sorted are found again: no key has two. */
static void sorted(void)
{
	struct wait_groups g = { 0 };
	uint64_t twice = 0;

	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 200; i++) {
			const struct wait_key key = { .call = WAIT_READ, .pid = i + 1 };
			const uint64_t parts[NR_WAIT_PARTS] = { [PART_CPU] = 7 * i + 1 };

			wait_groups__add(&g, &key, parts);
		}
		wait_groups__sort(&g);
	}
	for (size_t i = 0; i < g.nr; i++)
		twice += g.groups[i]->total.count == 2;
	is_u64(g.nr, 200, "what comes after they were sorted goes to the groups that are there");
	is_u64(twice, 200, "each to its own");
	wait_groups__free(&g);
}

int main(void)
{
	places();
	groups();
	full();
	sorted();
	return done_testing();
}
