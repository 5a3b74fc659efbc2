/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_replay.h: the state of a replay of I/O, for io_replay.c, which reads records, and io_share.c,
 * which has other processes read them, io_replay_cache.c and
 * io_replay_waits.c.
 */
#ifndef IOSONAR_SESSION_IO_REPLAY_H
#define IOSONAR_SESSION_IO_REPLAY_H

#include "analyse/breakdown.h"
#include "capture/filter.h"
#include "capture/merge.h"
#include "session/io_source.h"
#include "session/source.h"
#include "wire/io_stages.h"

enum { REPLAY_PLACES = 256 }; /* cache of rows that need no lookup */

/* The members of a record that decide its row; zeros for keys that --by does not name. */
struct replay_key {
	uint64_t place; /* device, kind, op, size class, queue */
	uint64_t task;	/* pid, CPU, and whether that is known */
	uint64_t cgroup, inode, file_place;
	uint64_t comm[2];
};

struct replay_place {
	struct replay_key key;
	struct breakdown_row *row; /* NULL: none yet */
};

struct io_shares; /* io_share.c */

struct io_replay {
	struct capture_merge *merge;
	const struct capture_about *about; /* of all files */
	char *const *op_names;
	struct capture_filter filter;
	struct device_list devices;		   /* the capture's */
	struct breakdown rows;			   /* of a view that wants rows, not records */
	struct replay_place places[REPLAY_PLACES]; /* cache of some of these rows */
	const struct io_record *record;		   /* at hand */
	struct io_origin *origins;		   /* by file */
	struct record_with_stages renamed;	   /* the current record, with --anonymous */
	uint64_t nr_records, nr_submits;
	uint64_t nr_other;	  /* commands without the keys of --by */
	bool tells_cache;	  /* the view uses what captures hold of the page cache */
	bool tells_waits;	  /* and of waits */
	struct io_shares *shares; /* NULL: this process reads all records */
};

static inline struct io_replay *io_replay(const struct session *s)
{
	return s->inside->data;
}

/* As source.h has them. */
int io_replay_share(struct session *s);
int io_replay_next_share(struct session *s, struct session_share *share);
int io_replay_take_share(struct session *s);
/* As io_source.h has it. */
int io_replay_each_cache(struct session *s, io_cache_fn fn, void *arg);
int io_replay_each_call(struct session *s, io_call_fn fn, void *arg);
bool io_replay_has_beside(const struct session *s);
bool io_replay_has_commands(const struct capture_merge *merge);
/* Ends the other processes. */
void io_replay_end_shares(struct io_replay *replay);

#endif
