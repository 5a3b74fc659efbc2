/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/class/path_preset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"

/* ---- functions of all kernels ---- */

enum { PATH_GROUP = 20, PATH_MOST = 256 };

/* Lists end with an empty one. */
struct path_group {
	const char *names[PATH_GROUP]; /* NULL after the last */
};

static const struct path_group path_read[] = {
	{ { "vfs_read", "io_read" } },
	/* files and devices */
	{ { "ext4_file_read_iter", "xfs_file_read_iter", "xfs_file_buffered_read",
	    "btrfs_file_read_iter", "blkdev_read_iter", "generic_file_read_iter" } },
	/* the page cache; generic_file_buffered_read: filemap_read before 5.12 */
	{ { "filemap_read", "generic_file_buffered_read", "filemap_get_pages", "filemap_readahead",
	    "filemap_fault" } },
	/* readahead */
	{ { "page_cache_sync_readahead", "page_cache_async_readahead", "page_cache_sync_ra",
	    "page_cache_async_ra", "ondemand_readahead", "force_page_cache_ra",
	    "page_cache_ra_order", "page_cache_ra_unbounded", "read_pages", "ext4_readahead",
	    "xfs_vm_readahead", "btrfs_readahead", "blkdev_readahead", "ext4_mpage_readpages",
	    "iomap_readahead", "mpage_readahead" } },
	/* one page */
	{ { "filemap_create_page", "filemap_create_folio", "filemap_read_page",
	    "filemap_read_folio", "filemap_update_page" } },
	/* past the cache */
	{ { "iomap_dio_rw", "__iomap_dio_rw", "blkdev_direct_IO", "__blkdev_direct_IO_simple",
	    "__blkdev_direct_IO_async" } },
	/* waiting and copying */
	{ { "wait_on_page_bit_common", "folio_wait_bit_common", "io_schedule",
	    "copy_page_to_iter" } },
	{ { NULL } },
};

static const struct path_group path_write[] = {
	{ { "vfs_write", "io_write" } },
	/* files and devices */
	{ { "ext4_file_write_iter", "ext4_buffered_write_iter", "xfs_file_write_iter",
	    "xfs_file_buffered_write", "btrfs_file_write_iter", "btrfs_do_write_iter",
	    "blkdev_write_iter", "generic_file_write_iter", "__generic_file_write_iter" } },
	/* the page cache */
	{ { "generic_perform_write", "iomap_file_buffered_write", "grab_cache_page_write_begin",
	    "__filemap_get_folio", "ext4_da_write_end", "ext4_write_end", "blkdev_write_end",
	    "balance_dirty_pages_ratelimited", "balance_dirty_pages_ratelimited_flags",
	    "balance_dirty_pages" } },
	/* past the cache */
	{ { "iomap_dio_rw", "__iomap_dio_rw", "blkdev_direct_IO", "__blkdev_direct_IO_simple",
	    "__blkdev_direct_IO_async" } },
	/* fsync */
	{ { "vfs_fsync_range", "ext4_sync_file", "xfs_file_fsync", "btrfs_sync_file",
	    "blkdev_fsync", "file_write_and_wait_range", "jbd2_complete_transaction",
	    "jbd2_log_wait_commit", "blkdev_issue_flush" } },
	/* writing back */
	{ { "wb_writeback", "writeback_sb_inodes", "__writeback_single_inode", "do_writepages",
	    "ext4_writepages", "ext4_do_writepages", "xfs_vm_writepages", "btrfs_writepages",
	    "blkdev_writepages", "iomap_writepages", "mpage_writepages", "generic_writepages",
	    "write_cache_pages", "ext4_bio_write_page", "ext4_bio_write_folio", "ext4_io_submit",
	    "block_write_full_page", "block_write_full_folio", "__block_write_full_folio" } },
	/* waiting */
	{ { "__filemap_fdatawait_range", "wait_on_page_writeback", "folio_wait_writeback",
	    "io_schedule" } },
	{ { NULL } },
};

static const struct path_group path_submit[] = {
	{ { "submit_bio_wait", "submit_bio", "submit_bio_noacct", "submit_bio_noacct_nocheck",
	    "__submit_bio", "dm_submit_bio", "md_submit_bio", "blk_mq_submit_bio",
	    "blk_finish_plug", "blk_flush_plug_list", "__blk_flush_plug",
	    "blk_mq_flush_plug_list" } },
	{ { NULL } },
};

static const struct path_group path_issue[] = {
	{ { "nvme_ns_head_submit_bio" } },
	/* split and merged */
	{ { "blk_queue_split", "__blk_queue_split", "__bio_split_to_limits", "bio_split_to_limits",
	    "bio_split_rw", "blk_attempt_plug_merge", "__blk_mq_sched_bio_merge",
	    "blk_mq_sched_bio_merge" } },
	/* its request */
	{ { "__blk_mq_alloc_request", "__blk_mq_alloc_requests", "blk_add_rq_to_plug",
	    "blk_mq_sched_insert_request", "blk_mq_insert_request", "blk_mq_dispatch_list",
	    "blk_mq_dispatch_queue_requests", "blk_mq_try_issue_list_directly",
	    "blk_mq_issue_direct", "blk_mq_plug_issue_direct", "blk_mq_try_issue_directly",
	    "blk_mq_request_issue_directly", "__blk_mq_try_issue_directly",
	    "__blk_mq_issue_directly" } },
	/* queues run */
	{ { "blk_mq_run_work_fn", "blk_mq_run_hw_queue", "__blk_mq_delay_run_hw_queue",
	    "__blk_mq_run_hw_queue", "blk_mq_sched_dispatch_requests",
	    "__blk_mq_sched_dispatch_requests", "blk_mq_dispatch_rq_list" } },
	/* the driver */
	{ { "nvme_queue_rq", "nvme_queue_rqs", "nvme_tcp_queue_rq", "nvme_rdma_queue_rq",
	    "nvme_fc_queue_rq", "nvme_loop_queue_rq", "nvme_prep_rq", "nvme_setup_cmd",
	    "nvme_setup_discard" } },
	/* its data */
	{ { "nvme_map_data", "nvme_pci_setup_data_prp", "nvme_pci_setup_data_sgl",
	    "blk_rq_dma_map_iter_start", "dma_map_sgtable", "dma_map_sg_attrs",
	    "dma_map_page_attrs", "dma_map_phys" } },
	/* to the device */
	{ { "blk_mq_start_request", "nvme_submit_cmd", "nvme_submit_cmds", "nvme_sq_copy_cmd",
	    "nvme_write_sq_db", "nvme_commit_rqs" } },
	{ { NULL } },
};

static const struct path_group path_complete[] = {
	/* the completion is found */
	{ { "nvme_irq", "nvme_irq_check", "nvme_poll", "nvme_poll_cq", "nvme_process_cq",
	    "nvme_handle_cqe", "nvme_pci_complete_batch", "nvme_pci_complete_rq",
	    "nvme_tcp_recv_skb", "nvme_rdma_recv_done", "nvme_rdma_complete_rq" } },
	/* the driver */
	{ { "nvme_complete_batch_req", "nvme_complete_rq", "nvme_unmap_data", "nvme_pci_unmap_rq",
	    "dma_unmap_sg_attrs", "dma_unmap_page_attrs", "nvme_end_req", "nvme_retry_req",
	    "nvme_failover_req" } },
	/* the block layer */
	{ { "blk_mq_complete_request", "blk_mq_complete_request_remote",
	    "__blk_mq_complete_request_remote", "blk_done_softirq", "blk_complete_reqs",
	    "blk_mq_end_request_batch", "blk_mq_end_request", "__blk_mq_end_request",
	    "blk_update_request", "blk_account_io_done", "__blk_account_io_done",
	    "blk_mq_free_request", "__blk_mq_free_request" } },
	/* the owner of the bio */
	{ { "bio_endio", "blkdev_bio_end_io", "blkdev_bio_end_io_simple", "blkdev_bio_end_io_async",
	    "iomap_dio_bio_end_io", "iomap_read_end_io", "iomap_writepage_end_bio", "mpage_end_io",
	    "mpage_read_end_io", "mpage_write_end_io", "ext4_end_bio", "end_bio_bh_io_sync",
	    "clone_endio", "page_endio" } },
	/* its pages */
	{ { "end_page_writeback", "folio_end_read", "folio_end_writeback", "bio_put" } },
	{ { NULL } },
};

/* In the order of path_presets. */
const char *const path_preset__words[] = { "read", "write", "nvme-submit", "nvme-complete", NULL };
static const struct path_group *const path_presets[][2] = {
	{ path_read, path_submit },
	{ path_write, path_submit },
	{ path_submit, path_issue },
	{ path_complete },
};
_Static_assert(sizeof(path_write) + sizeof(path_submit) <= PATH_MOST * sizeof(char *), "they fit");

/* ---- those that this kernel has ---- */

struct path_search {
	const char *names[PATH_MOST];
	size_t nr;
	char **found; /* by place in the names */
};

static void path_add(struct path_search *s, const struct path_group *group)
{
	for (; group && group->names[0]; group++)
		for (size_t i = 0; i < PATH_GROUP && group->names[i] && s->nr < PATH_MOST; i++)
			s->names[s->nr++] = group->names[i];
}

/*
 * Without "foo.isra.0", which the compiler made of foo: its type is unknown, so only a kprobe could
 * be attached, which may be skipped without being counted and would make the whole tree doubtful.
 */
static int path_look(void *arg, const char *spec)
{
	struct path_search *s = arg;
	const char *symbol = strchr(spec, ':') ? strchr(spec, ':') + 1 : spec;

	for (size_t i = 0; i < s->nr; i++) {
		if (strcmp(s->names[i], symbol) != 0 || s->found[i])
			continue;
		s->found[i] = strdup(symbol);
		if (!s->found[i])
			return -ENOMEM;
	}
	return 0;
}

static int path_search(struct finder *finder, struct path_search *s)
{
	int err;

	s->found = calloc(s->nr, sizeof(*s->found));
	err = s->found ? finder__names(finder, "fn:*", path_look, s) : -ENOMEM;
	if (!err)
		return 0;
	for (size_t i = 0; s->found && i < s->nr; i++)
		free(s->found[i]);
	free(s->found);
	return log_err(err, "cannot read the kernel's functions: %s", strerror(-err));
}

int path_preset__find(struct finder *finder, const char *word, char ***names, size_t *nr)
{
	struct path_search s = { .nr = 0 };
	size_t i = 0;
	int err;

	while (strcmp(path_preset__words[i], word) != 0)
		i++; /* the option's choices are these words */
	path_add(&s, path_presets[i][0]);
	path_add(&s, path_presets[i][1]);
	err = path_search(finder, &s);
	if (err)
		return err;
	*names = s.found;
	*nr = 0;
	for (i = 0; i < s.nr; i++)
		if (s.found[i])
			s.found[(*nr)++] = s.found[i];
	if (*nr)
		return 0;
	free(s.found);
	return log_err(-EOPNOTSUPP,
		       "--path %s: this kernel has none of its functions, or none can be attached",
		       word);
}
