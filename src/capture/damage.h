/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * damage.h: what is wrong with a capture file: cut, damaged, or contradictory. The readers count
 * here as they go, and nothing is ever guessed; a file without damage holds what was written into
 * it, once. What the recorder lost itself is counted beside it, and is no damage.
 */
#ifndef IOSONAR_CAPTURE_DAMAGE_H
#define IOSONAR_CAPTURE_DAMAGE_H

#include <stdbool.h>
#include <stdint.h>

/* What is wrong with a file. Blocks of records count as they are read, all else from the start. */
struct capture_damage {
	uint64_t blocks_corrupt;  /* chunks of any type that were skipped */
	uint64_t records_corrupt; /* that were in them, as far as their neighbours tell */
	uint64_t records_surplus; /* numbered as earlier ones, or not counted by the trailer */
	uint64_t records_astray;  /* their times are outside the range of their block's header */
	uint64_t calls_missing;	  /* that the recorder counted, and no block holds */
	uint64_t calls_surplus;	  /* that blocks hold, and the recorder did not count */
	uint64_t records_lost;	  /* before they were written: the recorder's own count */
	uint64_t chunks_unknown;  /* of types of later days; no damage */
	bool truncated;		  /* it ends without a trailer, or before its trailer says */
	uint64_t truncated_at;	  /* bytes up to the end of the last whole chunk */
};

/* The file holds what was written into it, once. */
bool capture_damage__is_whole(const struct capture_damage *damage);
/* Warns of what is cut, damaged or contradictory. */
void capture_damage__tell(const struct capture_damage *damage, const char *path);

#endif
