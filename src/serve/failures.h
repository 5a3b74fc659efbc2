/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * failures.h: which commands failed, and how? A count for each device, operation and status, of
 * records where there are any, else as the programs count them. Bounded: what does not fit is
 * `other`. A command whose status is not known, as its record was dropped or the programs' table
 * was full, is only in the ledger's sum, and in `unknown`.
 */
#ifndef IOSONAR_SERVE_FAILURES_H
#define IOSONAR_SERVE_FAILURES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "collect/io.h"
#include "session/session.h"
#include "wire/io_record.h"

enum { FAILURES_MOST = 256 };

struct failure {
	char dev[48], op[16], status[160]; /* hostile */
	uint64_t count;
	uint64_t key;	/* looked up for each record, named once */
	uint64_t now;	/* of this reading */
	int32_t device; /* as in struct io_tags */
};

struct failures {
	struct failure all[FAILURES_MOST + 1]; /* one more for `other` */
	size_t nr;
	uint64_t unknown;   /* failed commands without a status */
	uint64_t forgotten; /* those of devices that left */
	uint64_t settled;   /* all of the ledger's, a second ago */
};

/* A record of any kind; those of commands that did not fail are left out. */
void failures__add(struct failures *failures, struct session *session,
		   const struct io_record *record);
/* Without records: begin, all that the collector tells, end. Counts do not go down. */
void failures__begin(struct failures *failures);
void failures__take(struct failures *failures, struct session *session,
		    const struct io_failed *failed);
void failures__end(struct failures *failures);
/* Once a second, with the ledger's sum: by now the status of those that failed before is known. */
void failures__settle(struct failures *failures, uint64_t failed);
/* Forgets those of the devices that fn accepts. */
void failures__drop(struct failures *failures, bool (*fn)(void *, int32_t), void *arg);
/*
 * Calls fn for every label set once: keys with equal words are added up. -ENOMEM.
 */
typedef void (*failure_fn)(void *arg, const struct failure *failure);
int failures__each(const struct failures *failures, failure_fn fn, void *arg);
/* As lines of JSON, {"type":"failed",...}. -ENOMEM. */
int failures__put(const struct failures *failures, FILE *out);

#endif
