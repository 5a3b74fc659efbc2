/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * errors_rows.h: a row of `errors`: a command that failed, was retried or timed out, with each
 * attempt below its line, or an event of a controller. Says what was wrong and how it ended, in
 * words. `report` shows these rows too.
 */
#ifndef IOSONAR_VIEW_ERRORS_ROWS_H
#define IOSONAR_VIEW_ERRORS_ROWS_H

#include "analyse/troubles.h"
#include "session/session.h"

/*
 *        time dev     what      op  sector  size qid   cid status                    try latency
 * pid comm 0.004112873 nvme0n1 failed    read  2048 4.0Ki   1    12 unrecovered read error …
 * 6  3.21ms   2211 dd 1  812us  unrecovered read error (2/81)
 *       ...
 */
struct errors_row {
	uint64_t time_ns;
	const char *dev, *what, *op;
	uint64_t lba, sector, bytes, qid, cid;
	const char *status;
	uint64_t status_code, attempts, lat_ns, pid;
	const char *comm, *tries;
	uint64_t start_ns, end_ns;
	/* Buffers for some texts of this row. */
	char op_text[16], status_text[256], comm_text[17], tries_text[512];
};

extern const struct object errors_rows;

bool errors_row__is_abort(const struct io_record *record);
/* It ended well at once, and no trouble that may be its own is open: there is no row. */
bool errors_row__is_plain(const struct io_record *record, const struct troubles *troubles);
/* "failed", "recovered"; NULL: no trouble. */
const char *errors_row__what(const struct io_record *record, const struct trouble *trouble,
			     const struct device *device);
/* For a command, fills all but what and tries; for an event, all. device NULL: unknown. */
void errors_row__fill(struct errors_row *row, const struct session *session,
		      const struct io_record *record, const struct device *device);
void errors_row__fill_event(struct errors_row *row, const struct session *session,
			    const struct io_record *record, const struct device *device);
const char *errors_row__tries(struct errors_row *row, const struct trouble *trouble);
/* Below its line: latency and status of each attempt. */
void errors_row__put_tries(const struct session *session, const struct io_record *record,
			   const struct trouble *trouble);
/* The line that the kernel would log. */
void errors_row__put_kernel_line(const struct session *session, const struct io_record *record,
				 const struct device *device);

#endif
