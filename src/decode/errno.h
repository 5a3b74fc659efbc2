/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * errno.h: how a request of the block layer ended. An errno stands for one BLK_STS_* each, and
 * means what the block layer means by it: ENODATA is a bad medium, not missing data.
 */
#ifndef IOSONAR_DECODE_ERRNO_H
#define IOSONAR_DECODE_ERRNO_H

#include "decode/words.h"

/* Of a positive errno; NULL: the block layer does not use it. */
const char *errno__name(int err);  /* "EIO" */
const char *errno__words(int err); /* "I/O error" */

/* "ok", "I/O error (EIO)", "error 200". */
void errno__describe(struct words *w, int err);

#endif
