/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture.h: writes a trace of calls (functions, records) to a capture and reads it back. Reading
 * needs no kernel: the file has the names of enums. docs/capture-format.md has every byte.
 */
#ifndef IOSONAR_CALLS_CAPTURE_H
#define IOSONAR_CALLS_CAPTURE_H

#include "calls/trace.h"
#include "capture/address.h"
#include "capture/alias.h"
#include "capture/read.h"
#include "session/recorder.h"

/* ---- writing ---- */

struct call_trace_writer {
	const struct call_trace *trace;
	struct recorder *recorder;
	struct byte_out records;
	struct capture_chunk chunk; /* its count and times */
	uint64_t task;		    /* pid and tid of the last record */
	char comm[16];
	uint64_t lost; /* records lost before the last chunk */
	struct address_key addresses;
};

struct session;

/* Call after everything is attached. Addresses are replaced in the file unless `addresses` is
 * set. 0 or -errno, said. */
int call_trace_writer__start(struct call_trace_writer *writer, const struct call_trace *trace,
			     struct recorder *recorder, bool addresses);
/* As __start, for a session, with the structs of the trace; does nothing without a capture (-w). */
int call_trace_writer__begin(struct call_trace_writer *writer, struct call_trace *trace,
			     const struct session *session, bool addresses);
int call_trace_writer__put(struct call_trace_writer *writer, const struct probe_record *record,
			   const void *values);
/* Writes the last records, the record count of each open object and what became of all hits. */
int call_trace_writer__finish(struct call_trace_writer *writer, const struct run_counts *counts);
void call_trace_writer__free(struct call_trace_writer *writer);

/* ---- reading ---- */

/* Reads a chunk of calls. The first must list the functions: on_known is called then. 0;
 * -EBADMSG; or -errno, said. */
struct call_trace_reader {
	struct call_trace *trace;
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
int call_trace_reader__take(struct call_trace_reader *reader, struct capture_part *part);
/* As above, for a session's capture, with its --from, --to and --anonymous. */
int call_trace_reader__follow(struct call_trace_reader *reader, const struct session *session,
			      struct capture_part *part);
/* At the end of the capture: -EIO (said) if it did not say which functions. */
int call_trace_reader__check(const struct call_trace_reader *reader);
void call_trace_reader__free(struct call_trace_reader *reader);

#endif
