/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * steps_share.h: the steps of analyse/steps.h as bytes, from a copy of the run to the run (-j).
 */
#ifndef IOSONAR_VIEW_STEPS_SHARE_H
#define IOSONAR_VIEW_STEPS_SHARE_H

#include "analyse/steps.h"
#include "capture/bytes.h"

/* Appends all groups and clears them. -EAGAIN: a group is full, so the order of records counts. */
int steps_share__give(struct steps *steps, struct byte_out *out);
/* Adds them to `into`. part: empty memory to work in. -EAGAIN: a group would be full; -ENOMEM. */
int steps_share__take(struct steps *into, struct steps *part, struct byte_in *in);

#endif
