/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tally.h: counts and sums by key, as the programs of any event keep them: every read is a
 * snapshot, an interval is the difference of two snapshots, a group is all rows of one key. Keys
 * are opaque bytes. Pure.
 */
#ifndef IOSONAR_ANALYSE_TALLY_H
#define IOSONAR_ANALYSE_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tally_sum {
	uint64_t count;
	uint64_t sum; /* wraps; two's complement if the value is signed */
	int64_t max;  /* of the highest value; only of the whole run, not of an interval */
};

/* A bucket of a histogram; without one there is a single bucket 0. */
struct tally_bucket {
	uint32_t bucket;
	struct tally_sum sum;
};

struct tally_group {
	const uint8_t *key;
	struct tally_sum sum;
	const struct tally_bucket *buckets; /* in order of their numbers */
	size_t nr;
};

struct tally_snapshot {
	uint8_t *keys; /* key_bytes each */
	struct tally_bucket *rows;
	size_t nr, room;
};

struct tally {
	size_t key_bytes;
	struct tally_snapshot now, before;
	struct tally_bucket *buckets; /* of the groups requested last */
	struct tally_group *groups;
	size_t nr_groups, room_buckets, room_groups;
};

void tally__init(struct tally *tally, size_t key_bytes);
void tally__free(struct tally *tally);

/* Starts a new snapshot: intervals are counted from the one before. */
void tally__begin(struct tally *tally);
/* Adds up rows of the same key and bucket. -ENOMEM. */
int tally__add(struct tally *tally, const void *key, uint32_t bucket, const struct tally_sum *sum);

enum tally_span { TALLY_INTERVAL, TALLY_TOTAL };
enum tally_measure { TALLY_BY_COUNT, TALLY_BY_SUM, TALLY_BY_SIGNED_SUM };
/*
 * Groups of the newest snapshot, largest first, equal ones in order of their keys; of an interval
 * only those that grew. Valid until the next call. -ENOMEM.
 */
int tally__groups(struct tally *tally, enum tally_span span, enum tally_measure measure);

#endif
