/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waits.h: waits in a capture: calls in which a thread waited, and what they waited for: commands,
 * commits of journals, the tasks behind these; or, in chunks of their own, asynchronous requests. A
 * chunk keeps their order of arrival, in which a reader connects them; it can be decoded alone.
 */
#ifndef IOSONAR_CAPTURE_WAITS_H
#define IOSONAR_CAPTURE_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "capture/bytes.h"
#include "wire/async.h"
#include "wire/waits.h"

enum { CAPTURE_WAITS_MOST = 65536 }; /* entries in a chunk: more is damage */

/* Append, never renumber. */
enum capture_wait_kind {
	CAPTURE_WAIT_CALL,
	CAPTURE_WAIT_COMMAND,
	CAPTURE_WAIT_COMMIT,
	CAPTURE_WAIT_TASK,
	CAPTURE_WAIT_REQUEST,
	NR_CAPTURE_WAITS, /* of a later version */
};

struct capture_wait {
	uint32_t kind;
	char fs[WAIT_FS_LEN]; /* of a call or request: the type of its file system; "": not known */
	union {
		struct wait_record call;
		struct wait_command command;
		struct wait_commit commit;
		struct wait_who task;
		struct async_record request;
	};
};

/* A decoded chunk. Its owner reuses it for the next chunk, and frees it. */
struct capture_waits {
	struct capture_wait *waits;
	size_t nr, room;
	uint64_t nr_strange; /* calls of kinds that this version does not know: skipped */
};

void capture_waits__free(struct capture_waits *waits);

/* The payload. */
void capture_waits__put(struct byte_out *out, const struct capture_wait *waits, size_t nr);
/* nr: of calls and requests, as the chunk's header has it. 0; -EBADMSG: invalid; -ENOMEM. */
int capture_waits__get(struct capture_waits *waits, struct byte_in in, uint32_t nr);
/* Does it count: a call or a request, not what it waited for? */
bool capture_wait__counts(const struct capture_wait *wait);
/* The time of an entry: when it ended, or what it belongs to began. */
uint64_t capture_wait__time_ns(const struct capture_wait *wait);

#endif
