/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * failures.h: which commands failed, and how? A count for each device, operation and status. Known
 * only where records are: with --keep. Bounded: what does not fit is `other`. A record that was
 * dropped is not in it; the ledger has those.
 */
#ifndef IOSONAR_SERVE_FAILURES_H
#define IOSONAR_SERVE_FAILURES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "session/session.h"
#include "wire/io_record.h"

enum { FAILURES_MOST = 256 };

struct failure {
	char dev[48], op[16], status[160]; /* hostile */
	uint64_t count;
	uint64_t key; /* of the record: looked up for each, named once */
};

struct failures {
	struct failure all[FAILURES_MOST + 1]; /* one more for `other` */
	size_t nr;
};

/* A record of any kind; those of commands that did not fail are left out. */
void failures__add(struct failures *failures, struct session *session,
		   const struct io_record *record);
/*
 * Calls fn for every label set once: keys with equal words are added up. -ENOMEM.
 */
typedef void (*failure_fn)(void *arg, const struct failure *failure);
int failures__each(const struct failures *failures, failure_fn fn, void *arg);
/* As lines of JSON, {"type":"failed",...}. -ENOMEM. */
int failures__put(const struct failures *failures, FILE *out);

#endif
