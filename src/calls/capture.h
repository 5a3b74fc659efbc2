/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture.h: a trace of calls in a capture: which functions, each record, and back. What
 * comes back needs no kernel: names of numbers (enums) are in it, too. docs/capture-format.md has
 * every byte.
 */
#ifndef IOSONAR_CALLS_CAPTURE_H
#define IOSONAR_CALLS_CAPTURE_H

#include "calls/trace.h"
#include "capture/address.h"
#include "capture/alias.h"
#include "capture/read.h"
#include "session/recorder.h"

/* ---- writing ---- */

struct traced_writer {
	const struct traced *traced;
	struct recorder *recorder;
	struct byte_out records;
	struct capture_chunk chunk; /* its count and times */
	uint64_t task;		    /* pid and tid of the last record */
	char comm[16];
	uint64_t lost; /* records, before the last chunk */
	struct address_key addresses;
};

/* After everything is attached. Addresses are other numbers in the file, unless they are wanted.
 * 0 or -errno, said. */
struct traced_writer_wants {
	const struct traced *traced;
	struct recorder *recorder;
	bool addresses; /* as they are */
};
int traced_writer__start(struct traced_writer *writer, const struct traced_writer_wants *wants);
int traced_writer__put(struct traced_writer *writer, const struct probe_record *record,
		       const void *values);
/* The last records; how many each object has had that is not over; what became of all hits. */
int traced_writer__finish(struct traced_writer *writer, const struct run_counts *counts);
void traced_writer__free(struct traced_writer *writer);

/* ---- reading ---- */

/* A chunk of calls. The first has to say which functions: on_known is called then. 0; -EBADMSG; or
 * -errno, said. */
struct traced_reader {
	struct traced *traced;
	int (*on_known)(void *arg);
	void *arg;
	bool is_known;
	bool has_counts;
	struct run_counts counts; /* of the run, at its end */
	uint64_t from_ns, to_ns;  /* records outside are left out */
	struct alias *alias;	  /* --anonymous; NULL: names stay */
	uint64_t task;
	char comm[16];
	char *values;
};
int traced_reader__take(struct traced_reader *reader, struct capture_part *part);
/* The same of a session's capture: by its --from, --to and --anonymous. */
int traced_reader__follow(struct traced_reader *reader, const struct session *session,
			  struct capture_part *part);
/* At the end of the capture: -EIO (said) if it did not say which functions. */
int traced_reader__check(const struct traced_reader *reader);
void traced_reader__free(struct traced_reader *reader);

#endif
