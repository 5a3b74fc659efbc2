/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_source.h: what a view of I/O can query in its run, on this machine (io_live.c) or in captures
 * (io_replay.c): a view need not know which.
 */
#ifndef IOSONAR_SESSION_IO_SOURCE_H
#define IOSONAR_SESSION_IO_SOURCE_H

#include "capture/cache.h"
#include "collect/io.h"
#include "decode/row.h"
#include "session/session.h"

/* The device of a record; NULL: unknown. */
const struct device *io_source__device(struct session *s, const struct io_record *record);
const struct device_list *io_source__devices(const struct session *s);
char *const *io_source__op_names(const struct session *s); /* of block operations */
/* Where the current record is from; NULL: its capture does not say. Hostile. */
struct io_origin {
	char *host, *boot_id, *capture_id;
};
const struct io_origin *io_source__origin(const struct session *s);
const char *io_source__host(const struct session *s);
/* The stack of a record: functions, innermost first, "vfs_read;ksys_read"; NULL: none. */
const char *io_source__stack(const struct session *s, const struct io_record *record, bool user);
/* Number of lost stacks: another stack had their place (taken), or other reasons (failed). */
void io_source__stack_losses(const struct session *s, uint64_t *taken, uint64_t *failed);
/* The file in a record's stages, or "[swap]" and the like; NULL: no data, or unknown. Hostile. */
const char *io_source__file(const struct session *s, const struct io_stages *stages);
/* All of `row` that is known of the record. */
void io_source__fill(struct session *s, const struct io_record *record, struct command_row *row);
/* --if, --when: does the record meet the condition? NULL: yes. Fills all of `row` it can name. */
bool io_source__is_met(struct session *s, const struct condition *condition,
		       const struct io_record *record, struct command_row *row);
/* Commands of this device, by its index in the list, that failed with its path; for by_path. */
uint64_t io_source__failovers(const struct session *s, int device);
bool io_source__sees_nvme(const struct session *s);
bool io_source__sees_block(const struct session *s);
/* Like io__read: all current rows. */
void io_source__read(struct session *s, io_row_fn fn, void *arg);
/* At the end, after the last read: fills the ledger. counted: commands in the view's rows. */
#define IO_NOT_COUNTED UINT64_MAX
void io_source__take_ledger(struct session *s, uint64_t counted);
/* One of the run's captures that holds more than records of I/O. */
struct io_beside {
	const char *path;
	size_t nr;     /* from 0, in the order of -r */
	uint16_t host; /* as its devices have it; 0: the run has one machine */
};
/*
 * What captures hold of the page cache: fn gets each reading, and events, of the shown span. fn: 0
 * continues; a negative errno stops. Live there is none.
 */
typedef int (*io_cache_fn)(void *arg, const struct io_beside *of, uint64_t page_bytes,
			   const struct capture_cache *chunk);
int io_source__each_cache(struct session *s, io_cache_fn fn, void *arg);
/*
 * What captures of waits hold: fn gets each call that waited, of the shown span, and its parts, by
 * enum wait_part. fn: as above. Live there is none.
 */
struct io_call {
	const struct wait_record *record;
	const uint64_t *parts;
	uint64_t dirty_ns; /* that of dirty pages */
};
typedef int (*io_call_fn)(void *arg, const struct io_beside *of, const struct io_call *call);
int io_source__each_call(struct session *s, io_call_fn fn, void *arg);
/* Is there anything for these two to pass on? */
bool io_source__has_beside(const struct session *s);
/* The collector, for a view that works only live; NULL: a replay. */
struct io *io_source__collector(const struct session *s);

/* ---- for io_live.c and io_replay.c ---- */

struct io_answers {
	struct io *(*collector)(const struct session *s);
	const struct device *(*device)(struct session *s, const struct io_record *record);
	const struct device_list *(*devices)(const struct session *s);
	const struct io_origin *(*origin)(const struct session *s);
	void (*stack_losses)(const struct session *s, uint64_t *taken, uint64_t *failed);
	char *const *(*op_names)(const struct session *s);
	bool (*sees)(const struct session *s, bool nvme);
	int (*each_cache)(struct session *s, io_cache_fn fn, void *arg);
	int (*each_call)(struct session *s, io_call_fn fn, void *arg);
	bool (*has_beside)(const struct session *s);
	void (*read)(struct session *s, io_row_fn fn, void *arg);
	void (*take_ledger)(struct session *s, uint64_t counted);
};

/* Counts a command that ended if it failed with its path. */
void io_source_count_failover(struct session *s, const struct io_record *record, int device);

#endif
