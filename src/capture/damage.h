/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * damage.h: what is wrong with a capture file: cut, damaged, or contradictory. The readers count
 * damage here as they go and never guess; a file without damage holds exactly what was written,
 * once. Losses of the recorder are counted separately, and are not damage.
 */
#ifndef IOSONAR_CAPTURE_DAMAGE_H
#define IOSONAR_CAPTURE_DAMAGE_H

#include <stdbool.h>
#include <stdint.h>

struct capture_counts;

/* Damage of a file. Blocks of records are counted when read, all else from the start. */
struct capture_damage {
	uint64_t blocks_corrupt;  /* chunks of any type that were skipped */
	uint64_t records_corrupt; /* that were in them, as far as their neighbours tell */
	uint64_t records_surplus; /* repeated numbers, or not counted by the trailer */
	uint64_t records_astray;  /* their times are outside the range of their block's header */
	uint64_t calls_missing;	  /* counted by the recorder, but in no block */
	uint64_t calls_surplus;	  /* in blocks, but not counted by the recorder */
	uint64_t records_lost;	  /* lost before writing: the recorder's own count */
	uint64_t chunks_unknown;  /* of later types; not damage */
	bool truncated;		  /* no trailer, or shorter than its trailer says */
	uint64_t truncated_at;	  /* bytes up to the end of the last whole chunk */
};

/* The file holds exactly what was written, once. */
bool capture_damage__is_whole(const struct capture_damage *damage);
/* Warns about cut, damaged or contradictory data. */
void capture_damage__tell(const struct capture_damage *damage, const char *path);
/*
 * Warns about records that the recorder lost, by the reasons in its trailer. The ledger has the
 * losses of the rings; only the file knows what a full disk lost. True: there are some.
 */
bool capture_damage__tell_lost(const struct capture_damage *damage,
			       const struct capture_counts *lost, const char *path);

#endif
