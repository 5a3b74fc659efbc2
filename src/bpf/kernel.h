/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel.h: the kernel types we depend on, only the fields we read, relocated by CO-RE. tests/load
 * compares each width with the running kernel's BTF: a wrong one would load and read another field.
 */
#ifndef IOSONAR_BPF_KERNEL_H
#define IOSONAR_BPF_KERNEL_H

#include <linux/types.h>
#include <stdbool.h>

#define DISK_NAME_LEN 32

#ifndef KERNEL_TYPES_PLAIN /* tests/load wants the declarations without the attribute */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
#endif

struct request_queue;

struct gendisk {
	char disk_name[DISK_NAME_LEN];
	struct request_queue *queue;
	__u64 diskseq;
};

struct block_device {
	struct gendisk *bd_disk;
	__u32 bd_dev;
};

struct queue_limits {
	unsigned int logical_block_size;
};

struct request_queue {
	void *queuedata;
	const void *mq_ops;
	struct queue_limits limits;
	struct gendisk *disk;
};

struct kobject {
	const char *name;
	struct kobject *parent;
};

/* In the disk since 6.2 (2bd85221a625). */
struct request_queue___kobj {
	struct kobject kobj;
};

struct blk_mq_hw_ctx {
	unsigned int queue_num;
};

enum mq_rq_state {
	MQ_RQ_IDLE = 0,
	MQ_RQ_IN_FLIGHT = 1,
	MQ_RQ_COMPLETE = 2,
};

/* Unchanged since 4.10, 4.14 and 4.11. */
enum { REQ_OP_WRITE = 1, REQ_OP_FLUSH = 2, REQ_OP_DRV_IN = 34 };
enum { NVME_REQ_CANCELLED = 1 << 0, NVME_REQ_USERCMD = 1 << 1 };
enum { S_IFMT = 0170000, S_IFBLK = 0060000, PAGE_MAPPING_FLAGS = 3 };

struct kernfs_node {
	__u64 id;
};

struct cgroup {
	int level;
	struct kernfs_node *kn;
};

/* Each level's id; pointers (ancestors) since 6.1 (7f203bc89eb6). */
struct cgroup___ids {
	__u64 ancestor_ids[1];
};

struct cgroup___ancestors {
	int level;
	struct cgroup *ancestors[];
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct task_struct {
	int pid;
	int tgid;
	char comm[16];
	struct css_set *cgroups;
	void *mm;
	void *stack;
	__u64 self_exec_id;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct blkcg {
	struct cgroup_subsys_state css;
};

struct blkcg_gq {
	struct blkcg *blkcg;
};

struct hlist_node {
	struct hlist_node *next;
};

struct hlist_head {
	struct hlist_node *first;
};

struct super_block {
	__u32 s_dev;
};

struct inode {
	__u16 i_mode;
	struct super_block *i_sb;
	unsigned long i_ino;
	__u32 i_rdev;
	__u32 i_generation;
	struct hlist_head i_dentry;
	void *i_private; /* of sysfs: the node */
};

struct qstr {
	__u32 hash;
	const unsigned char *name;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
	struct hlist_node d_alias;
};

/* The alias is in a union, which had a name before 7.1. */
struct dentry___u {
	union {
		struct hlist_node d_alias;
	} d_u;
};

struct address_space {
	struct inode *host;
};

struct page {
	struct address_space *mapping;
	unsigned long compound_head;
};

struct page___info {
	unsigned long compound_info;
};

struct bio_vec {
	struct page *bv_page;
	unsigned int bv_len;
	unsigned int bv_offset;
};

struct file {
	struct inode *f_inode;
};

/* Mappings of a process: a tree of struct vm_area_struct, of another kind since 6.1. */
struct rb_node {
	struct rb_node *rb_right, *rb_left;
};

struct rb_root {
	struct rb_node *rb_node;
};

struct mm_struct___rb {
	struct rb_root mm_rb;
};

struct vm_area_struct___rb {
	struct rb_node vm_rb;
};

struct maple_tree {
	void *ma_root;
};

struct mm_struct___maple {
	struct maple_tree mm_mt;
};

struct maple_range_64 {
	unsigned long pivot[15];
	void *slot[16];
};

struct maple_arange_64 {
	unsigned long pivot[9];
	void *slot[10];
};

struct vm_area_struct {
	unsigned long vm_start, vm_end;
	unsigned long vm_pgoff;
	struct file *vm_file;
};

struct mm_struct___vdso {
	struct {
		void *vdso;
	} context;
};

/* When an inode changed: until 6.5, 6.6 to 6.10, and since. */
struct timespec64 {
	__s64 tv_sec;
	long tv_nsec;
};

struct inode___ctime {
	struct timespec64 i_ctime;
};

struct inode___ctime_private {
	struct timespec64 __i_ctime;
};

struct inode___ctime_parts {
	__s64 i_ctime_sec;
	__u32 i_ctime_nsec;
};

struct kiocb {
	struct file *ki_filp;
};

/* Direct I/O, now and before. */
struct iomap_dio {
	struct kiocb *iocb;
};

struct dio {
	struct inode *inode;
};

struct bvec_iter {
	__u64 bi_sector;
	unsigned int bi_size;
	unsigned int bi_idx;
};

struct bio {
	struct bio *bi_next;
	unsigned int bi_opf;
	__u8 bi_status;
	struct bvec_iter bi_iter;
	void *bi_end_io;
	void *bi_private;
	struct block_device *bi_bdev;
	struct bio_vec *bi_io_vec;
};

/* bi_bdev came in 5.12 (309dca309fc3). */
struct bio___disk {
	struct gendisk *bi_disk;
};

/* Only with CONFIG_BLK_CGROUP. */
struct bio___blkg {
	struct blkcg_gq *bi_blkg;
};

struct request {
	struct request_queue *q;
	struct blk_mq_hw_ctx *mq_hctx;
	unsigned int cmd_flags;
	unsigned int __data_len;
	__u64 __sector;
	struct bio *bio, *biotail;
	__u64 start_time_ns;
	enum mq_rq_state state;
	void *end_io; /* of who waits for it: the block layer's flushes, what is sent past it */
};

/* rq_disk went in 5.17 (f3fa33acca9f); queue.disk came in 5.15 (d152c682f03c) */
struct request___rq_disk {
	struct gendisk *rq_disk;
};

/* A task that waits in rq_qos_wait, and a bio that waits for io.cost. */
struct wait_queue_entry {
	void *func;
};

struct rq_qos_wait_data {
	struct wait_queue_entry wq;
	void *cb;
};

struct sbq_wait_state {
	int pad_; /* none of its fields is read, only its size */
};

struct sbitmap_queue {
	struct sbq_wait_state *ws;
};

/* A task that waits for a tag. */
struct sbq_wait {
	struct sbitmap_queue *sbq;
	struct wait_queue_entry wait;
};

struct iocg_wait {
	struct wait_queue_entry wait;
	struct bio *bio;
};

/* The registers of user space. */
#if defined(__TARGET_ARCH_x86) || defined(__x86_64__)
struct pt_regs___user {
	unsigned long bp, ip, cs, sp;
};
#else
struct pt_regs___user {
	__u64 regs[31];
	__u64 sp, pc, pstate;
};
#endif

#ifndef KERNEL_TYPES_PLAIN
#pragma clang attribute pop
#endif

/* The hardware's layout (NVMe base specification, "Common Command Format"): the same everywhere. */
struct nvme_command {
	__u8 opcode;
	__u8 flags;
	__u16 command_id;
	__u32 nsid;
	__u32 cdw2[8];
	__u32 cdw10[6];
};

#endif
