/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * preset.c: what is worth tracing for a struct, on all kernels from 5.10 on: functions and members
 * that a kernel does not have are skipped. Those of bio were observed in guests under direct and
 * buffered I/O; the others come from the kernel's sources and are only known to exist.
 */
#include <stddef.h>
#include <string.h>
#include "probe/class/class.h"

/*
 * bio_init is called for a bio on the stack or inside another struct, and is inlined in
 * bio_alloc_bioset, which returns bios of a pool. bio_endio ends the I/O, not the bio. bio_free is
 * not called for a bio that goes to a CPU's cache (7.2), and is inlined on 5.10.
 */
static const struct class_preset preset_bio = {
	.name = "bio",
	.object = "bio",
	.spine = {
		"bio_init", "bio_alloc_bioset", "bio_reset", "bio_alloc_clone", "bio_await",
		"bio_associate_blkg", "bio_iov_iter_get_pages", "bio_add_page", "__bio_add_page",
		"bio_add_folio", "guard_bio_eod", "bio_split", "bio_endio_bh", "bio_split_rw",
		"__bio_split_to_limits", "bio_submit_split", "submit_bio_wait", "submit_bio",
		"submit_bio_noacct", "submit_bio_noacct_nocheck", "__submit_bio",
		"blk_throtl_bio", "__blk_throtl_bio", "blk_mq_submit_bio", "bio_integrity_prep",
		"blk_attempt_plug_merge", "blk_mq_sched_bio_merge", "__rq_qos_throttle",
		"__rq_qos_track", "bio_attempt_back_merge", "bio_attempt_front_merge",
		"__rq_qos_done_bio", "bio_endio", "submit_bio_wait_endio", "blkdev_bio_end_io",
		"iomap_dio_bio_end_io", "end_bio_bh_io_sync", "__bio_release_pages", "bio_put",
		"bio_free", "bio_uninit",
	},
	.births = { "bio_init", "bio_alloc_bioset", "bio_reset" },
	.deaths = { "bio_put", "bio_free", "bio_uninit" },
	.outlives = true, /* bio_put by one of two holders; 5.10 calls bio_uninit in bio_endio */
	.fields = {
		"bi_bdev->bd_disk->disk_name|bi_disk->disk_name", "bi_iter.bi_sector",
		"bi_iter.bi_size", "bi_opf", "bi_status", "bi_flags", "bi_vcnt",
		"__bi_remaining.counter", "bi_ioprio",
	},
};

/* Most requests come from __blk_mq_alloc_requests; those allocated in one batch with another are
 * taken from the plug's list by inlined code: their birth is not visible. */
#define REQUEST_SPINE                                                                              \
	"blk_mq_alloc_request", "blk_mq_alloc_request_hctx", "blk_get_request",                    \
		"__blk_mq_alloc_requests", "__rq_qos_track", "blk_account_io_start",               \
		"bio_attempt_back_merge", "bio_attempt_front_merge", "blk_add_rq_to_plug",         \
		"blk_insert_flush", "blk_mq_sched_insert_request", "blk_mq_insert_request",        \
		"__blk_mq_insert_request", "blk_mq_request_bypass_insert",                         \
		"blk_mq_try_issue_directly", "blk_mq_request_issue_directly",                      \
		"__blk_mq_issue_directly", "blk_mq_dequeue_from_ctx", "blk_execute_rq",            \
		"blk_execute_rq_nowait", "nvme_setup_cmd", "nvme_prep_rq", "nvme_unmap_data",      \
		"nvme_pci_complete_rq", "blk_mq_start_request", "__rq_qos_issue",                  \
		"blk_mq_complete_request", "blk_mq_complete_request_remote", "nvme_complete_rq",   \
		"nvme_complete_batch_req", "nvme_timeout", "blk_mq_requeue_request",               \
		"blk_mq_finish_request", "blk_update_request", "blk_mq_end_request",               \
		"__rq_qos_requeue", "__rq_qos_done", "blk_account_io_done", "blk_mq_free_request", \
		"__blk_mq_free_request"
#define REQUEST_BIRTHS                                                          \
	"blk_mq_alloc_request", "blk_mq_alloc_request_hctx", "blk_get_request", \
		"__blk_mq_alloc_requests"
#define REQUEST_DEATHS "blk_mq_free_request", "__blk_mq_free_request", "blk_mq_finish_request"

static const struct class_preset preset_request = {
	.name = "request",
	.object = "request",
	.spine = { REQUEST_SPINE },
	.births = { REQUEST_BIRTHS },
	.deaths = { REQUEST_DEATHS },
	.fields = {
		"q->disk->disk_name|rq_disk->disk_name", "__sector", "__data_len", "cmd_flags",
		"rq_flags", "state", "tag", "internal_tag", "nr_phys_segments", "stats_sectors",
		"mq_hctx->queue_num", "timeout",
	},
};

/* No function takes one: it is the driver's data after each request (blk_mq_rq_to_pdu). */
static const struct class_preset preset_nvme_request = {
	.name = "nvme_request",
	.object = "request",
	.behind = "nvme_request",
	.spine = { REQUEST_SPINE },
	.births = { REQUEST_BIRTHS },
	.deaths = { REQUEST_DEATHS },
	.fields = {
		"ctrl->instance", "cmd->common.opcode", "cmd->common.nsid",
		"cmd->common.command_id", "cmd->rw.slba", "cmd->rw.length", "status",
		"result.u64", "retries", "flags", "genctr",
	},
};

/* folio_put is inlined nearly everywhere; it calls __folio_put for the last reference. */
static const struct class_preset preset_folio = {
	.name = "folio",
	.object = "folio",
	.spine = {
		"folio_alloc", "folio_alloc_noprof", "__folio_alloc", "__folio_alloc_noprof",
		"filemap_alloc_folio", "filemap_alloc_folio_noprof", "filemap_add_folio",
		"__filemap_add_folio", "folio_add_lru", "filemap_read_folio", "mpage_read_folio",
		"blkdev_read_folio", "iomap_read_folio", "ext4_read_folio", "bio_add_folio",
		"bio_add_folio_nofail", "folio_end_read", "folio_unlock", "__folio_lock",
		"folio_wait_bit_common", "folio_mark_accessed", "folio_activate",
		"folio_mark_dirty", "filemap_dirty_folio", "block_dirty_folio",
		"folio_clear_dirty_for_io", "__folio_start_writeback", "folio_end_writeback",
		"__folio_end_writeback", "folio_wait_writeback", "folio_redirty_for_writepage",
		"page_cache_async_ra", "workingset_refault", "workingset_eviction",
		"truncate_inode_folio", "filemap_remove_folio", "__filemap_remove_folio",
		"__remove_mapping", "filemap_free_folio", "__folio_put",
	},
	.births = { "folio_alloc", "folio_alloc_noprof", "__folio_alloc", "__folio_alloc_noprof",
		    "filemap_alloc_folio", "filemap_alloc_folio_noprof" },
	.deaths = { "__folio_put" },
	.fields = {
		"mapping->host->i_ino", "mapping->host->i_sb->s_id", "index", "flags.f|flags",
		"_refcount.counter", "_mapcount.counter", "private",
	},
};

static const struct class_preset preset_inode = {
	.name = "inode",
	.object = "inode",
	.spine = {
		"alloc_inode", "new_inode", "new_inode_pseudo", "iget_locked", "iget5_locked",
		"inode_init_always", "inode_init_always_gfp", "unlock_new_inode",
		"inode_permission", "generic_permission", "do_dentry_open", "ext4_file_open",
		"blkdev_open", "atime_needs_update", "inode_update_time", "generic_update_time",
		"setattr_copy", "__mark_inode_dirty", "ext4_dirty_inode", "ext4_map_blocks",
		"inode_add_bytes", "__inode_add_bytes", "inode_sub_bytes", "truncate_pagecache",
		"truncate_setsize", "inode_dio_wait", "write_inode_now", "sync_inode_metadata",
		"__writeback_single_inode", "writeback_single_inode", "inode_io_list_del",
		"vfs_create", "vfs_unlink", "drop_nlink", "inode_add_lru", "igrab", "iput",
		"evict", "__destroy_inode", "destroy_inode",
	},
	.births = { "alloc_inode", "inode_init_always", "inode_init_always_gfp" },
	.deaths = { "__destroy_inode", "destroy_inode" },
	.fields = {
		"i_ino", "i_sb->s_id", "i_mode", "i_size", "i_blocks", "i_state.__state|i_state",
		"__i_nlink|i_nlink", "i_count.counter", "i_mapping->nrpages", "i_flags",
	},
};

static const struct class_preset preset_file = {
	.name = "file",
	.object = "file",
	.spine = {
		"alloc_empty_file", "__alloc_file", "alloc_empty_file_noaccount", "init_file",
		"security_file_free", "vfs_open", "do_dentry_open", "security_file_open",
		"blkdev_open", "ext4_file_open", "generic_file_open", "fd_install",
		"rw_verify_area", "security_file_permission", "vfs_read", "vfs_readv",
		"vfs_iter_read", "vfs_iocb_iter_read", "__kernel_read", "vfs_write",
		"vfs_writev", "vfs_iter_write", "vfs_iocb_iter_write", "__kernel_write",
		"do_iter_readv_writev", "filemap_splice_read", "file_remove_privs",
		"file_update_time", "file_modified", "vfs_fsync_range", "ext4_sync_file",
		"blkdev_fsync", "file_write_and_wait_range", "vfs_llseek", "vfs_fallocate",
		"vfs_fadvise", "filp_close", "filp_flush", "fput", "__fput",
	},
	.births = { "alloc_empty_file", "__alloc_file", "alloc_empty_file_noaccount", "init_file" },
	.deaths = { "__fput", "security_file_free" },
	.fields = {
		"f_path.dentry->d_name.name", "f_inode->i_ino", "f_inode->i_sb->s_id", "f_pos",
		"f_flags", "f_mode", "f_ra.start", "f_ra.size", "f_ra.async_size", "f_wb_err",
	},
};

const struct class_preset *const class_presets[] = {
	&preset_bio,   &preset_request, &preset_nvme_request,
	&preset_folio, &preset_inode,	&preset_file,
	NULL,
};

const struct class_preset *class_preset__find(const char *name)
{
	for (size_t i = 0; class_presets[i]; i++)
		if (!strcmp(class_presets[i]->name, name))
			return class_presets[i];
	return NULL;
}
