/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inflight.h: which command is a request in the kernel's tags, how old is it, what is its state?
 * From the entry alone if we did not see it sent, otherwise from its slot; then as a row of
 * columns, and the list as one line. Nothing here reads a clock or a device.
 */
#ifndef IOSONAR_DECODE_INFLIGHT_H
#define IOSONAR_DECODE_INFLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "decode/column.h"
#include "decode/words.h"
#include "wire/io_record.h"
#include "wire/io_tables.h"
#include "wire/tag_walk.h"

enum inflight_state {
	INFLIGHT_SENT,	    /* the device has it */
	INFLIGHT_TIMED_OUT, /* timed out, the driver keeps waiting; NVMe: after an abort */
	INFLIGHT_CANCELLED, /* NVMe: its controller is being reset because of it */
	INFLIGHT_REQUEUED,  /* handed back, and waits for its next attempt */
};

#define INFLIGHT_NO_AGE CELL_NO_NUMBER

struct inflight_command {
	uint64_t request;	 /* address: identifies it */
	struct io_record record; /* the command; attempts 0: unknown */
	char dev[INFLIGHT_NAME_LEN];
	uint64_t age_ns;  /* since the block layer made its request; INFLIGHT_NO_AGE: not known */
	uint64_t sent_ns; /* since it was last sent; INFLIGHT_NO_AGE: unknown */
	uint32_t block_size;
	int32_t tag; /* -1: handed back, no tag */
	enum inflight_state state;
	bool op_known, cid_known;
	bool is_ours; /* we saw it sent: its process is known */
};

/* Oldest first; unknown age last. */
struct inflight_list {
	struct inflight_command *commands;
	size_t nr, room;
	bool incomplete; /* some device could not be looked at: said */
};

/* ---- an entry into a command ---- */

/* One moment, on each clock that the entry uses. */
struct inflight_clock {
	uint64_t now_ns, jiffies;
	uint32_t hz; /* 0: not known */
};

/* What is known in addition to the entry. */
struct inflight_context {
	struct inflight_clock clock;
	enum inflight_dir dir;
	uint32_t nsid; /* of its disk; 0: none */
	char *const *op_names;
	uint32_t fua_flag;
	const struct io_slot *slot; /* of the same request; NULL: none */
	const struct io_slot_more *more;
};

/* Ticks per second, from the same time-out in jiffies and in ms. 0: they contradict each other. */
uint32_t inflight__hz(uint32_t timeout_jiffies, uint64_t timeout_ms);
/* Does the slot hold the entry's command, and is it in flight? */
bool inflight__is_same(const struct io_slot *slot, const struct inflight_entry *entry);
/* Was it never sent, as far as the kernel and we know? Then it is not in flight. */
bool inflight__was_never_sent(const struct inflight_entry *entry, const struct io_slot *slot);
void inflight_command__fill(struct inflight_command *command, const struct inflight_entry *entry,
			    const struct inflight_context *context);
/* Sorts the list. Removes the duplicate of a request that was handed back during the walk. */
void inflight_list__sort(struct inflight_list *list);

/* ---- a command into a row ---- */

/*
 *    age    sent dev     qid  tag op    command               state     try     pid comm
 *  3.21s   3.21s nvme0n1   1   16 read  lba=2048 nlb=8 len=4Ki timed-out   1       - -
 */
struct inflight_row {
	double time_s;
	uint64_t age_ns, sent_ns;
	const char *dev;
	uint64_t qid, tag, cid;
	const char *op;
	uint64_t nsid, lba, sector, bytes;
	const char *command, *state;
	uint64_t attempts, pid;
	const char *comm;
	/* Buffers for some texts of this row. */
	char op_text[16], command_text[512], comm_text[17];
};

extern const struct column inflight_columns[];
/* The columns shown in this format; returns how many. */
size_t inflight__columns(enum table_format format, const struct column *shown[OBJECT_COLUMNS]);
void inflight_row__fill(struct inflight_row *row, const struct inflight_command *command,
			double time_s, char *const *op_names);

/* ---- the list in one line ---- */

struct inflight_look {
	double time_s;
	uint64_t in_flight;
	uint64_t older; /* commands at least as old as requested; CELL_NO_NUMBER: no such request */
	uint64_t oldest_ns;
};

extern const struct column inflight_look_columns[];
/* Number of commands at least this old; 0: counts all. */
uint64_t inflight_list__older(const struct inflight_list *list, uint64_t than_ns);
bool inflight_command__is_older(const struct inflight_command *command, uint64_t than_ns);
/* "nothing in flight for 5.00s; 2 in flight". min_ns: minimum age of what is shown. */
void inflight_list__describe(struct words *w, const struct inflight_list *list, uint64_t min_ns);

#endif
