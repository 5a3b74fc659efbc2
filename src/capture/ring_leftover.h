/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ring_leftover.h: what a recorder left behind that was killed, or whose machine lost power: files
 * with temporary names. All blocks up to the first damaged one are kept: the rest is cut off, the
 * end of a capture is appended, and the file gets its final name. A file without records is
 * removed. Each is reported, with its size and the time of the last record that is there; but not
 * an empty spare. One that cannot be recovered is left as it is.
 */
#ifndef IOSONAR_CAPTURE_RING_LEFTOVER_H
#define IOSONAR_CAPTURE_RING_LEFTOVER_H

#include "capture/ring_list.h"

/* Recovered files are added to the list. 0 or a negative errno, after a message. */
int ring_leftover__recover(struct ring_list *list);

#endif
