/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waits_captures.h: what a replay of waits and one of asynchronous requests have in common:
 * captures of one kind, opened and read in order of time, and what -p, --comm, --cgroup, --file,
 * --min and the span mean in them. It lies first in the data of the source. For waits_replay.c and
 * async_replay.c.
 */
#ifndef IOSONAR_SESSION_WAITS_CAPTURES_H
#define IOSONAR_SESSION_WAITS_CAPTURES_H

#include "capture/waits_merge.h"
#include "session/session.h"

struct waits_captures_kind {
	const char *one; /* "call" */
	bool (*has)(const struct capture_reader *reader);
	/* Says that the capture has none of this kind. -EINVAL */
	int (*lacks)(const struct capture_reader *reader);
};

struct waits_captures {
	const struct waits_captures_kind *kind;
	const struct filter_options *filter;
	const char *file;
	struct capture_merge *merge;
	struct waits_merge waits;
	const struct capture_wait *wait; /* at hand */
	struct glossary files, cgroups;	 /* ids that --file and --cgroup mean */
	uint64_t nr_left_out, last_ns;
};

/* A call or a request. */
struct waits_whose {
	uint64_t start_ns, end_ns, inode, cgroup;
	uint32_t dev, pid;
	uint16_t nth;
	const char *comm; /* WAIT_COMM_LEN, or up to a zero */
};

/* kind, filter and file are set. 0, or -errno after one line. */
int waits_captures__open(struct session *s);
/* What the filters mean, once the captures are open and were found to be of the kind. */
int waits_captures__find(struct session *s);
void waits_captures__free(struct waits_captures *captures);
/* False, and counted: the filters, or the span, leave it out. */
bool waits_captures__wants(const struct session *s, const struct waits_whose *whose);
/* Has each capture, of those that should, the kind? Else -EINVAL, said. */
int waits_captures__check(const struct waits_captures *captures);
/* All captures of the kind are whole and were read. */
bool waits_captures__are_whole(const struct session *s);
/* Capture nr, if it is of the kind; or NULL. */
const struct capture_reader *waits_captures__reader(const struct waits_captures *captures,
						    size_t nr);

/* Functions of the source. */
int waits_captures__next(struct session *s, uint64_t *time_ns);
void waits_captures__finish(struct session *s); /* -n: the rest belongs in the ledger, too */
void waits_captures__position(const struct session *s, uint64_t *at, uint64_t *all);
void waits_captures__tell(struct session *s);
const struct capture_about *waits_captures__about(const struct session *s);
const struct capture_merge *waits_captures__merge(const struct session *s);
size_t waits_captures__from(const struct session *s);

#endif
