/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * who.h: whose commands ended in this interval? Counted by the name of the task that sent them.
 * Known only where records are: with --keep. Bounded: names beyond 256 are `other`, and 20 are
 * told. Costs one lookup per record. A record that was dropped is not in it.
 */
#ifndef IOSONAR_SERVE_WHO_H
#define IOSONAR_SERVE_WHO_H

#include <stdio.h>
#include "base/index.h"
#include "decode/column.h"
#include "wire/io_record.h"

enum { WHO_MOST = 256, WHO_TOLD = 20 };

struct who {
	struct who_task *tasks;
	struct index by_comm;
};

extern const struct object who_object;

/* A record of any kind; those that end no command are left out. */
void who__add(struct who *who, const struct io_record *record);
/* As lines of JSON, {"type":"who",...}, most commands first; then all counts are 0. -ENOMEM. */
int who__end(struct who *who, double seconds, FILE *out);
void who__free(struct who *who);

#endif
