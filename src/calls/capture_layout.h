/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture_layout.h: bits and bounds of the chunks of calls in a capture, for the writer (capture.c)
 * and the reader (capture_reader.c). docs/capture-format.md has every byte.
 */
#ifndef IOSONAR_CALLS_CAPTURE_LAYOUT_H
#define IOSONAR_CALLS_CAPTURE_LAYOUT_H

#include "calls/trace.h"

enum {
	CALL_TRACE_MOST = 65536,     /* functions, counts: more is damage */
	CALL_TRACE_ENUM_MOST = 4096, /* values of an enum: more means damage */
	CALL_TRACE_VALUES_MOST = PLAN_MAX_SHOWN + 8 * PLAN_MAX_PARTS,
};

/* Bits that describe a place. */
enum { PLACE_HAS_OBJECT = 1, PLACE_ROLE = 1 /* shift */, PLACE_IS_TRACED = 8 };
/* Bits that describe a part. */
enum { PART_IS_TEXT = 1, PART_IS_SIGNED = 2 };

#endif
