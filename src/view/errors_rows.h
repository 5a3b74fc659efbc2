/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * errors_rows.h: a row of `errors`: a command that failed, was tried again or timed out, with each
 * attempt below its line, or what happened to a controller. Says what was wrong and how it ended,
 * in words. `report` shows them too, as that command's part.
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
	/* Texts of this row, some of them. */
	char op_text[16], status_text[256], comm_text[17], tries_text[512];
};

extern const struct object errors_rows;

bool errors_row__is_abort(const struct io_record *record);
/* "failed", "recovered"; NULL: nothing was wrong with it. */
const char *errors_row__what(const struct io_record *record, const struct trouble *trouble,
			     const struct device *device);
/* All but what and tries, of a command; all of an event. device NULL: not known. */
void errors_row__fill(struct errors_row *row, const struct session *session,
		      const struct io_record *record, const struct device *device);
void errors_row__fill_event(struct errors_row *row, const struct session *session,
			    const struct io_record *record, const struct device *device);
const char *errors_row__tries(struct errors_row *row, const struct trouble *trouble);
/* Below its line: how long each attempt took and how it ended. */
void errors_row__put_tries(const struct session *session, const struct io_record *record,
			   const struct trouble *trouble);
/* As the kernel would log it. */
void errors_row__put_kernel_line(const struct session *session, const struct io_record *record,
				 const struct device *device);

#endif
