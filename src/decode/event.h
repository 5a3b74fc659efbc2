/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event.h: what happened to a controller or a disk, in words:
 *	notice: namespace attribute changed, log page 4		state: resetting	gone
 */
#ifndef IOSONAR_DECODE_EVENT_H
#define IOSONAR_DECODE_EVENT_H

#include "decode/words.h"
#include "wire/io_record.h"

/* "async", "state", "gone", …; "event" if it is newer than this program. */
const char *event__word(uint8_t event);
void event__describe(struct words *w, const struct io_record *record);
/* Completion dword 0 of an asynchronous event request. */
void event__describe_async(struct words *w, uint32_t dword);

#endif
