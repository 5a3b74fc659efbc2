/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind.h: how is the caller's frame found at a given instruction? Rows by address, each with the
 * number of a rule; few rules serve many rows.
 */
#ifndef IOSONAR_WIRE_UNWIND_H
#define IOSONAR_WIRE_UNWIND_H

#include <linux/types.h>

/* The canonical frame address: the caller's stack pointer. */
enum unwind_cfa {
	UNWIND_NOTHING,	  /* no function is described there */
	UNWIND_UNKNOWN,	  /* the rules of the function are not supported there */
	UNWIND_OUTERMOST, /* the frame has no caller */
	UNWIND_SIGNAL,	  /* the caller's registers are in the frame of a signal */
	UNWIND_SP,	  /* stack pointer + cfa_off */
	UNWIND_FP,	  /* frame pointer + cfa_off */
	UNWIND_AT_FP,	  /* the word at frame pointer + cfa_off */
	UNWIND_PLT,	  /* stack pointer + 8; from byte cfa_off of each 16 on + 16 */
	NR_UNWIND_CFA,
};

/* Where a register of the caller is. */
enum unwind_saved {
	UNWIND_KEPT,	 /* in the register itself */
	UNWIND_SAVED,	 /* at CFA + offset */
	UNWIND_SAVED_FP, /* at frame pointer + offset */
	UNWIND_LOST,
	NR_UNWIND_SAVED,
};

struct unwind_rule {
	__s32 cfa_off;
	__s32 fp_off; /* of the frame pointer */
	__s32 ra_off; /* of the return address */
	__u8 cfa;     /* enum unwind_cfa; the first four need nothing else */
	__u8 fp, ra;  /* enum unwind_saved */
	__u8 pad;
};
_Static_assert(sizeof(struct unwind_rule) == 16, "no holes");

/* Valid from pc on, up to the next row. */
struct unwind_row {
	__u32 pc; /* as the file's symbols count */
	__u32 rule;
};

enum {
	UNWIND_POOL_ROWS = 1 << 21, /* of all files */
	UNWIND_POOL_RULES = 1 << 16,
	UNWIND_POOL_INDEX = 1 << 20,
	UNWIND_INDEX_SHIFT = 8,	   /* an entry of the index for each 256 bytes of code */
	UNWIND_ROW_STEPS = 23,	   /* that find one of UNWIND_ROWS_MAX rows */
	UNWIND_ROWS_MAX = 1 << 22, /* of one file */
	UNWIND_PROCESSES = 1024,
	UNWIND_PROBES = 8,
	UNWIND_MAPS = 128, /* executable mappings of a process */
	UNWIND_MAP_STEPS = 8,
	UNWIND_WANTED = 64,
	UNWIND_MAPPED = 8192,
};

/* Why a mapping has no rows. */
enum unwind_without {
	UNWIND_BY_FP,	/* the file has no table: the frame pointer is all there is */
	UNWIND_NO_ROOM, /* the pool is full */
	UNWIND_VDSO,	/* of its functions only the return from a signal has a caller's frame */
};

/* Rows of 256 bytes of code: from `low` on, those before `high`. */
struct unwind_span {
	__u32 low, high;
};

/* A mapping of a process that code runs from, by address. */
struct unwind_map {
	__u64 start, end;
	__u64 vaddr; /* of start, as the file's symbols count */
	__u32 first; /* row in the pool; without rows enum unwind_without */
	__u32 nr_rows;
	/* In the pool, an entry for each 256 bytes; 0: none. */
	__u32 index, nr_index;
	__u32 index_base; /* what the first entry is about, in 256 bytes */
	__u32 pad;
};

/*
 * A process whose mappings user space has published, found by its pid among UNWIND_PROBES cells;
 * its mappings have the same number. The programs read version before and after: it is odd while
 * user space writes.
 */
struct unwind_process {
	__u64 image; /* changes when it executes another program */
	__u32 pid;   /* 0: the cell is free */
	__u32 version;
	__u32 nr_maps;
	__u32 by_fp; /* all its files keep frame pointers: the kernel's way is faster */
	__u64 pad;
};

/* A process that did I/O and is not published, or whose mappings have changed. */
struct unwind_wanted {
	__u64 image;
	__u32 pid; /* 0: none */
	__u32 pad;
};

/*
 * A file whose tables are in the pool, as it is mapped from an offset on, found by these among
 * UNWIND_PROBES cells. For a process that is not published yet: the kernel knows its mappings.
 */
struct unwind_mapped {
	__u64 inode;
	__u64 offset;
	__s64 changed_s; /* ctime: the next file may reuse the inode's number */
	__u32 changed_ns;
	__u32 dev;	       /* as the kernel has it */
	struct unwind_map map; /* without start and end */
	__u32 is_there;
	__u32 pad;
};

/* The tables of all files are thrown away at once. It is odd while that happens. */
struct unwind_epoch {
	__u32 version;
	__u32 pad;
};

static inline __u32 unwind_mapped_cell(__u64 inode, __u64 offset, __u32 dev)
{
	__u64 mixed = (inode ^ (__u64)dev << 32 ^ offset << 20) * 0x9e3779b97f4a7c15ULL;

	return mixed >> 40;
}

static inline __u32 unwind_cell(__u32 pid)
{
	return pid * 0x9e3779b1u >> 8;
}

#endif
