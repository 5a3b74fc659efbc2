/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * source.h: where the data of a run comes from, as one table of functions. live.c runs a source
 * that reads this machine's kernel, replay.c one that reads captures; neither knows what the data
 * means: I/O (io_live, io_replay), the page cache (cache_live, cache_replay), waits (waits_live,
 * waits_replay), asynchronous requests (async_live, async_replay), any event (probe_live) or calls
 * (calls_replay). tick.c has what sources and the two loops share.
 */
#ifndef IOSONAR_SESSION_SOURCE_H
#define IOSONAR_SESSION_SOURCE_H

#include "base/loop.h"
#include "base/output.h"
#include "base/privilege.h"
#include "base/scout.h"
#include "capture/about.h"
#include "capture/alias.h"
#include "capture/glossary.h"
#include "capture/maker.h"
#include "session/recorder.h"
#include "session/session.h"

struct capture_merge;
struct capture_reader;
struct io_answers;
struct cache_answers;
struct waits_answers;
struct async_answers;

/* How much of the pending data a source passes on. */
enum session_drain {
	DRAIN_SETTLED, /* nothing older can still come: other CPUs' records may be late */
	DRAIN_ALL,
};

/* A part of the data that another process may have read. */
struct session_share {
	bool is_made;
	uint64_t nr;		    /* records, */
	uint64_t first_ns, last_ns; /* the time of the first, and the latest of all */
};

/* Functions may be NULL where a source has nothing to do. Errors are negative errnos, and said. */
struct session_source {
	/* Attaches programs, or opens captures; afterwards s->start_ns is known. */
	int (*open)(struct session *s);
	void (*free)(struct session *s);
	/* Queries of views, for sources of this kind. */
	const struct io_answers *io;
	const struct cache_answers *cache;
	const struct waits_answers *waits;
	const struct async_answers *async;
	/* Of a replay for host_source.h: its captures, and the one of what next found; or NULL. */
	const struct capture_merge *(*captures)(const struct session *s);
	size_t (*from)(const struct session *s);

	/* ---- live, in the order of the calls ---- */
	void (*describe)(struct session *s, struct recorder_run *run); /* for -w */
	int (*keep_start)(struct session *s); /* the first data of a capture */
	int (*arm)(struct session *s);	      /* adds what else the loop waits for */
	void (*needs)(const struct session *s, struct privilege_needs *needs); /* in the loop */
	int (*tick)(struct session *s); /* an interval ends: store its data */
	int (*drain)(struct session *s, enum session_drain what); /* to the recorder and the view */
	void (*detach)(struct session *s);
	int (*settle)(struct session *s);   /* all data was passed on; the view's end is next */
	int (*keep_end)(struct session *s); /* the last data of a capture */
	/* The text of an id, or NULL; called once per id. Cgroups do not need it. */
	char *(*find_text)(const struct session *s, enum glossary_kind kind, struct glossary_id id);

	/* ---- replay ---- */
	/* The next record or chunk: 1, its time in *time_ns; 0: the end. */
	int (*next)(struct session *s, uint64_t *time_ns);
	int (*hand_on)(struct session *s); /* passes what next found to the view */
	/*
	 * -j: other processes read a part of the data each, for a view that only adds up.
	 * share: starts them; 0: there are none, next reads all; -errno.
	 * next_share: 1: the next part; next would return its records alone; 0: the end.
	 * take_share: adds what the other process made of it. -EAGAIN: read its records instead.
	 */
	int (*share)(struct session *s);
	int (*next_share)(struct session *s, struct session_share *share);
	int (*take_share)(struct session *s);
	unsigned int look_every; /* records between two checks of signals and output; 0: never */
	bool starts_view;	 /* the view starts itself: on_start is not called */
	void (*bound)(struct session *s); /* only data inside of inside->span is wanted */
	void (*seek)(struct session *s);  /* likewise, all over again; NULL: no view browses it */
	bool (*is_damaged)(const struct session *s); /* what was read since; with seek */
	void (*position)(const struct session *s, uint64_t *at, uint64_t *all); /* in bytes */
	void (*finish)(struct session *s); /* no data is left; the view's end is next */
	const struct capture_about *(*about)(const struct session *s);
	/* The wall clock where what next found is from; NULL: that of `about`. */
	uint64_t (*wall_ns)(const struct session *s, uint64_t mono_ns);

	/* ---- both, last: makes the ledger ---- */
	void (*ledger)(struct session *s);
};

extern const struct session_source session_io_live, session_io_replay, session_cache_live,
	session_cache_replay, session_probe_live, session_calls_replay, session_waits_live,
	session_waits_replay, session_async_live, session_async_replay;

/* The loops. */
int session_live(struct session *s, char **argv);
int session_replay(struct session *s);
int session_browse(struct session *s);
void session_bound(struct session *s); /* of a replay: finds inside->span */

enum { SESSION_PATHS = 1024 }; /* later devices have no count of failovers */

struct session_inside {
	const struct session_source *source;
	void *data; /* the source's own */
	const struct session_view *view;
	void *state; /* the view's own */
	struct io_wants wants;
	struct loop *loop;
	struct output output;
	bool output_failed;
	char *buffer;			/* of the output */
	bool stopped;			/* no more records */
	bool interrupted;		/* by a signal, before the end of a capture: said */
	bool view_started, view_failed; /* a view that failed is not called again */
	bool lost;			/* a capture is incomplete, or could not be written: said */
	bool drains;			/* there are records to pass on */
	bool view_rests;		/* it has no ticks: it shows single events */
	uint64_t last_ns, ticks;
	struct { /* of a replay: what is shown */
		uint64_t from_ns, to_ns, end_ns, next_tick_ns;
	} span;
	struct { /* of one that is browsed: the span before any visit */
		uint64_t from_ns, to_ns, end_ns;
	} extent;
	struct capture_about about;	      /* of a live run: its clocks */
	struct glossary known[NR_GLOSSARIES]; /* of a live run: names of ids looked up so far */
	uint64_t failovers[SESSION_PATHS];    /* by the device's index in the list */
	struct recorder *recorder;	      /* -w */
	struct maker maker;		      /* creates later files of -w */
	struct ring *ring;		      /* --ring */
	struct scout scout;		      /* opens files, if this process may not */
	struct alias *alias;		      /* --anonymous */
};

/* ---- tick.c ---- */

/* Sets the time to now_ns; a tick that is due comes after this. */
void session_set_time(struct session *s, uint64_t now_ns);
int session_tick(struct session *s);
int session_flush(struct session *s);
uint64_t session_interval(const struct session *s);  /* -i */
uint64_t session_later(uint64_t ns, uint64_t by_ns); /* saturates: a file is hostile */
bool session_has_count(const struct session *s);     /* -n is reached */
/* In a replay with data left: did a signal come? Then the run stops here. */
bool session_is_interrupted(struct session *s);
void session_check_full(struct session *s);  /* checks the disk that -w writes to */
void session_show_ledger(struct session *s); /* as JSON's last object */
/* For a capture that cannot be opened: the file's fault, not the command line's. */
int session_file_err(int err);

/* ---- lookup.c ---- */

const char *session_text(const struct session *s, enum glossary_kind kind, struct glossary_id id);
/* What a capture says of itself; of a live run its clocks. */
const struct capture_about *session_about(const struct session *s);

#endif
