/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session_inside.h: what the files of a session share: session.c (output, ticks, how it ends),
 * session_live.c (this machine), session_replay.c (captures).
 */
#ifndef IOSONAR_SESSION_INSIDE_H
#define IOSONAR_SESSION_INSIDE_H

#include "analyse/order.h"
#include "capture/about.h"
#include "loop.h"
#include "recorder.h"
#include "session.h"

/* Where data comes from. */
struct session_source {
	int (*run)(struct session *session, char **argv);
	const struct device *(*device)(struct session *session, const struct io_record *record);
	const struct device_list *(*devices)(const struct session *session);
	const struct io_stack *(*stack)(const struct session *session, uint32_t number);
	void (*stack_losses)(const struct session *session, uint64_t *taken, uint64_t *failed);
	char *const *(*op_names)(const struct session *session);
	const struct capture_about *(*about)(const struct session *session); /* its clocks */
	bool (*sees)(const struct session *session, bool nvme);
	/* A cgroup's path, or NULL; no such function: as this machine has it. */
	const char *(*cgroup)(const struct session *session, uint64_t id);
	void (*read)(struct session *session, io_row_fn fn, void *arg);
	void (*take_ledger)(struct session *session, uint64_t counted);
	void (*free)(struct session *session);
};

extern const struct session_source session_live, session_replay;

struct session_inside {
	const struct session_source *source;
	const struct session_view *view;
	void *state;
	struct io_wants wants;
	struct loop *loop;
	bool output_failed;
	char *buffer; /* of the output */
	bool stopped; /* no more records */
	bool lost;    /* a capture is not whole, or could not be written: said */
	uint64_t last_ns, ticks;
	struct session_live_state *live;
	struct session_replay_state *replay;
	struct recorder *recorder; /* -w */
};

/* A tick at this moment. */
void session_set_time(struct session *session, uint64_t now_ns);
int session_tick(struct session *session);
int session_flush(struct session *session);
void session_show_ledger(const struct session *session); /* as JSON's last object */
/* -i. */
uint64_t session_interval(const struct session *session);

#endif
