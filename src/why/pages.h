/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pages.h: what did reads bring into the page cache that was wasted? Data that had been there
 * before, and pages that were read ahead and never used, by machine and disk, from captures of the
 * page cache.
 * Which data came before is known of a sample of 4 KiB units in bounded memory, at most 8 MiB. It
 * cannot see what came before the capture began, nor pages that are still cached unused at its end.
 */
#ifndef IOSONAR_WHY_PAGES_H
#define IOSONAR_WHY_PAGES_H

#include <stddef.h>
#include <stdint.h>
#include "base/index.h"
#include "wire/page_cache.h"

enum {
	PAGES_DISKS = 64,
	PAGES_DEVS = 256,	/* file systems, and pairs of one and a disk */
	PAGES_SEEN = 1 << 17,	/* units of the sample */
	PAGES_UNIT_SECTORS = 8, /* of 512 bytes */
	PAGES_MOST = 1 << 24,	/* bytes of a command: more is damage */
};

struct pages_disk {
	uint32_t disk;	      /* device number */
	uint16_t host;	      /* of several machines: disks of two may have one number */
	uint64_t commands;    /* parts of commands that read pages */
	uint64_t bytes;	      /* that they read, */
	double again_bytes;   /* of these: data that had been read before */
	double ahead, unused; /* pages of its files read ahead; removed without having been used */
	double evicted;	      /* pages of its files */
	double unused_bytes;
};

struct pages_dev {
	uint32_t dev, disk; /* of a file system; where its pages came from */
	uint16_t host;
	uint64_t page_bytes;
	uint64_t bytes, ahead, unused, evicted; /* disk 0: of all its disks */
};

struct pages_unit {
	uint64_t key; /* first: see base/index.h */
};

struct pages {
	struct pages_disk disks[PAGES_DISKS];
	struct pages_dev devs[PAGES_DEVS];
	size_t nr_disks, nr_devs;
	struct pages_unit *seen;
	struct index index;  /* of seen */
	uint64_t mask;	     /* units with these bits of their hash are in the sample */
	uint64_t page_bytes; /* of what is added next */
	uint64_t left_out;   /* rows and commands of further disks */
};

/* All zeros but page_bytes before. The growth of a row; a command that read pages: -ENOMEM. */
void pages__add_row(struct pages *pages, uint16_t host, const struct cache_key *key,
		    const uint64_t counts[NR_CACHE_COUNTS]);
int pages__add_command(struct pages *pages, uint16_t host, const struct cache_command *command);
void pages__finish(struct pages *pages); /* the end */
void pages__free(struct pages *pages);
/* After the end; NULL: none of its reads filled pages. */
const struct pages_disk *pages__disk(const struct pages *pages, uint16_t host, uint32_t disk);

#endif
