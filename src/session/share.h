/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * share.h: sums as bytes, from a forked copy of a run to the run (-j): struct session_sharing. Both
 * are one program, so the bytes have no version and are not checked as those of a file are; only
 * buckets in use are sent.
 */
#ifndef IOSONAR_SESSION_SHARE_H
#define IOSONAR_SESSION_SHARE_H

#include "analyse/hist.h"
#include "capture/bytes.h"

void share__put_hist(struct byte_out *out, const struct hist *hist);
/* Adds it to what is there. */
void share__take_hist(struct byte_in *in, struct hist *into);
/* Copies an object of this size; zeros if the bytes end before. */
void share__get(struct byte_in *in, void *to, size_t nr);

#endif
