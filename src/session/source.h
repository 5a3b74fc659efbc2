/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * source.h: what the files of a session share: session.c (output, ticks, how it ends),
 * live.c (this machine), replay.c (captures), probe.c (any event),
 * cache.c (the page cache), cache_replay.c (the same, of a capture), calls_replay.c
 * (calls, of a capture).
 */
#ifndef IOSONAR_SESSION_SOURCE_H
#define IOSONAR_SESSION_SOURCE_H

#include "analyse/order.h"
#include "base/loop.h"
#include "base/output.h"
#include "capture/about.h"
#include "capture/alias.h"
#include "capture/maker.h"
#include "session/recorder.h"
#include "session/session.h"

/* Where data comes from. */
struct session_source {
	int (*run)(struct session *session, char **argv);
	struct io *(*io)(const struct session *session);
	const struct cache_about *(*cache_about)(const struct session *session);
	void (*cache_read)(const struct session *session, cache_row_fn fn, void *arg);
	void (*cache_losses)(const struct session *session, struct cache_losses *losses);
	const struct device *(*device)(struct session *session, const struct io_record *record);
	const struct device_list *(*devices)(const struct session *session);
	const char *(*host)(const struct session *session); /* of the record at hand */
	void (*stack_losses)(const struct session *session, uint64_t *taken, uint64_t *failed);
	char *const *(*op_names)(const struct session *session);
	const struct capture_about *(*about)(const struct session *session); /* its clocks */
	bool (*sees)(const struct session *session, bool nvme);
	/* What an id in a record stands for, or NULL. */
	const char *(*text)(const struct session *session, enum glossary_kind kind,
			    struct glossary_id id);
	bool (*knows)(const struct session *session, enum glossary_kind kind);
	void (*read)(struct session *session, io_row_fn fn, void *arg);
	void (*take_ledger)(struct session *session, uint64_t counted);
	void (*free)(struct session *session);
};

extern const struct session_source session_live, session_replay, session_probe, session_cache,
	session_cached, session_called;

enum { SESSION_PATHS = 1024 }; /* those behind have no failovers */

struct session_inside {
	const struct session_source *source;
	const struct session_view *view;
	void *state;
	struct io_wants wants;
	struct loop *loop;
	struct output output;
	bool output_failed;
	char *buffer;	  /* of the output */
	bool stopped;	  /* no more records */
	bool interrupted; /* by a signal, before the end of a capture: said */
	bool view_failed; /* it gets no more */
	bool lost;	  /* a capture is not whole, or could not be written: said */
	uint64_t last_ns, ticks;
	uint64_t failovers[SESSION_PATHS]; /* by the device's place in the list */
	struct session_live_state *live;
	struct session_replay_state *replay;
	struct run *probes;
	struct session_cache_state *cache;
	struct session_cached_state *cached;
	struct capture_reader *called;
	struct recorder *recorder; /* -w */
	struct maker maker;	   /* of its later files */
	struct alias *alias;	   /* --anonymous */
};

/* A command ended: with its path? */
void session_count_failover(struct session *session, const struct io_record *record, int device);
/* Of a capture of which something is left: did a signal come? Then the run stops here. */
bool session_is_interrupted(struct session *session);
/* So many of the capture's bytes were read until then. */
void session_tell_interrupted(const struct session *session, uint64_t at, uint64_t all);
/* A tick at this moment. */
void session_set_time(struct session *session, uint64_t now_ns);
int session_tick(struct session *session);
int session_flush(struct session *session);
void session_check_full(struct session *session);	 /* of the disk that -w writes to */
struct capture_clock session_clock(void);		 /* the same moment on three clocks */
void session_show_ledger(const struct session *session); /* as JSON's last object */
/* -t, and a tick at every interval. */
/* -i. */
uint64_t session_interval(const struct session *session);
uint64_t session_later(uint64_t ns,
		       uint64_t by_ns); /* not past the end of time: a file is hostile */

#endif
