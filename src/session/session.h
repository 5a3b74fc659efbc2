/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session.h: one run of a view: where its data comes from and goes to, when it ticks, when it ends.
 * A view provides a few functions; signals, -i, -t, -n, the COMMAND, uevents, rings, -w, -r, --out
 * and a closed pipe are handled here, once for all views: on this machine (live.c) or from captures
 * (replay.c). A view need not know which. More of a session: table.h (its output), loop.h (what
 * else wakes a view), browse.h (captures back and forth).
 */
#ifndef IOSONAR_SESSION_SESSION_H
#define IOSONAR_SESSION_SESSION_H

#include <stdbool.h>
#include <stdio.h>
#include "base/options.h"
#include "capture/glossary.h"
#include "collect/async.h"
#include "collect/cache.h"
#include "collect/io.h"
#include "collect/waits.h"
#include "decode/column.h"
#include "decode/ledger.h"
#include "probe/run/request.h"
#include "session/condition.h"

struct byte_in;
struct byte_out;
struct capture_part;
struct privilege_needs;
struct session_inside;

struct session {
	FILE *out;
	enum table_format format;
	const struct options *options;
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	/* At this tick: time since the start of the run, shown span (--from), interval. */
	double elapsed_s, span_s, interval_s;
	bool came_true;	      /* a --fail-if did */
	bool found;	      /* what the view watches for was present at its last check */
	bool incomplete;      /* the view could not see everything: said */
	bool ledger_known;    /* at the end; a truncated capture has no ledger */
	struct ledger ledger; /* likewise */
	struct session_inside *inside;
};

/*
 * -j: a view that only adds up lets forked copies of the run add up parts of a capture. Bytes that
 * a copy gives are taken by the run, in order of the parts; pointers in them that are older than
 * the copies stay valid.
 */
struct session_sharing {
	bool (*can)(const void *state, const struct session *session); /* NULL: always */
	size_t blocks; /* that are one part, at most: 8192 records each; 0: as many as are good */
	/* In a copy, before all others; NULL: nothing to do. */
	int (*begin)(void *state, struct session *session);
	/* Instead of on_record, in a copy: it must not print. -EAGAIN: the run reads the part. */
	int (*add)(void *state, struct session *session, const struct io_record *record);
	/* Appends what was added, and forgets it. -EAGAIN likewise; -ENOMEM. */
	int (*give)(void *state, struct session *session, struct byte_out *out);
	/* -EAGAIN: it cannot be added, nothing was, and the run reads the part; -ENOMEM. */
	int (*take)(void *state, struct session *session, struct byte_in *in);
};

struct session_view {
	/* Set by a view of any event: its request; then io is not used, on_hit gets records. */
	struct request *(*asks)(void *state);
	int (*on_hit)(void *state, struct session *session, const struct probe_record *record,
		      const void *values);
	/* For a view of calls: a chunk of a capture. -EBADMSG: it is invalid and is skipped. */
	int (*on_part)(void *state, struct session *session, struct capture_part *part);
	/* Set by a view of the page cache: what it needs; then io is not used. */
	struct cache_wants (*wants_cache)(void *state, const struct options *options);
	struct io_wants (*wants)(void *state, const struct options *options);
	/* Set by a view of waits: what it needs; then io is not used, on_wait gets each call. */
	struct waits_wants (*wants_waits)(void *state, const struct options *options);
	int (*on_wait)(void *state, struct session *session, const struct wait_record *record);
	/* Set by a view of asynchronous requests: likewise, on_async gets each. */
	struct async_wants (*wants_async)(void *state, const struct options *options);
	int (*on_async)(void *state, struct session *session, const struct async_record *record);
	/* Gets every miss, if the view wants them. */
	int (*on_miss)(void *state, struct session *session, const struct cache_event *event);
	int (*on_start)(void *state, struct session *session); /* attached, nothing counted yet */
	int (*on_tick)(void *state, struct session *session);  /* every interval; may be NULL */
	/* Does the view browse captures (browse.h), instead of all data at once? NULL: no. */
	bool (*browses)(const void *state, const struct options *options);
	/* For user stacks of any event, often: resolves them before their processes end. */
	int (*on_glance)(void *state, struct session *session);
	/* Gets every record, in order of time; NULL: none are wanted. */
	int (*on_record)(void *state, struct session *session, const struct io_record *record);
	const struct session_sharing *sharing; /* of records; NULL: the view needs each in order */
	/* Live, before the privileges are dropped: adds what the view does in the loop; or NULL. */
	void (*needs)(const void *state, struct privilege_needs *needs);
	/* Live: how records are kept in memory, without a file (session__recorder); or NULL. */
	const struct file_options *(*keeps)(const void *state);
	/* SIGUSR1; NULL: default action. */
	int (*on_signal)(void *state, struct session *session);
	int (*on_end)(void *state, struct session *session); /* detached: everything is final */
	/* For calls, instead of on_end after a failure: completes the capture of -w. */
	int (*on_keep)(void *state, struct session *session);
	void (*on_flush)(void *state); /* the output is about to be flushed; may be NULL */
	bool counts_records;  /* -n counts records, the view stops itself; else intervals */
	bool only_keeps;      /* without its capture the run is pointless */
	bool opens_nothing;   /* after the start it needs no file: another process reads /sys */
	bool runs_programs;   /* on a tick: keeps the privilege to do so */
	bool only_at_end;     /* without -i and -n there are no ticks */
	bool keeps_no_ledger; /* its output does not depend on having seen every command */
	bool owns_terminal;   /* with text it draws a screen: a status line would disturb it */
	bool follows_command; /* of any event: as if --follow were given, if there is a COMMAND */
};

/* Printed after on_end in JSON: every view's list of objects ends with it. */
extern const struct object session_ledger;

/* The whole run. A negative errno (said), or an exit code. */
int session__run(const struct session_view *view, void *state, const struct options *options,
		 char **argv);
void session__stop(struct session *session); /* -n was reached: no more records, then the end */
/* A signal ended the run before the end of its capture: the view got only a part. */
bool session__is_cut(const struct session *session);
/* "nothing yet" for a waiting user; the next status erases it. Only on a terminal. */
void session__status(const struct session *session, const char *text);

/* ---- queries of any view; more, by kind of data: *_source.h ---- */

/* A file, or "[swap]" and the like; NULL: no data, or unknown. Hostile. place: io_file_place. */
const char *session__file(const struct session *session, uint64_t inode, uint64_t place);
/* "nvme0n1p1"; "0:34" for a file system without a device. Returns buf. */
char *session__disk(const struct session *session, uint32_t dev, char *buf, size_t size);
/* Like cgroup__path, but for the machine that the data is from. */
char *session__cgroup_path(const struct session *session, uint64_t id, char *buf, size_t size);
/* Can it resolve ids of this kind? A capture may hold none. */
bool session__knows(const struct session *session, enum glossary_kind kind);
/* The value of a key of capture/about.h in a capture; NULL: none. Hostile. */
const char *session__about(const struct session *session, const char *key);
uint64_t session__wall_ns(const struct session *session, uint64_t mono_ns); /* 0: not known */
void session__span(const struct session *session, uint64_t *from_ns,
		   uint64_t *to_ns);			     /* --from, --to */
struct alias *session__alias(const struct session *session); /* --anonymous; NULL: keeps names */
/* The capture of -w so far; NULL: no -w. */
struct recorder *session__recorder(const struct session *session);

#endif
