/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * feed.h: an object of BPF programs that sends a record for each thing that has ended: loaded,
 * attached, mapped and freed the same way, whatever the records say. It has a ring, counters by CPU
 * and a table of file names. What its programs cost is said by those who write them.
 */
#ifndef IOSONAR_COLLECT_FEED_H
#define IOSONAR_COLLECT_FEED_H

#include <stddef.h>
#include <stdint.h>
#include <bpf/libbpf.h>
#include "collect/obstacle.h"
#include "device/mounts.h"

struct btf;

enum { FEED_LINKS = 48 };

struct feed {
	struct btf *btf; /* the kernel's, during the start */
	struct bpf_object_skeleton *skeleton;
	struct bpf_map *counts, *files, *records;
	void *counted, *named; /* mapped: counts and files */
	uint32_t nr_cpus;
	struct mounts mounts;
	struct ring_buffer *ring;
	struct bpf_link *links[FEED_LINKS]; /* in the order of attaching */
	int nr_links;
	uint64_t start_ns, skipped; /* skipped: programs that the kernel did not run, at the end */
};

/* What differs between objects. owner: as given to feed__load. */
struct feed_steps {
	/* Opens it and sets skeleton, counts, files and records; -errno. */
	int (*open)(void *owner, const struct bpf_object_open_opts *opts);
	int (*set)(void *owner);    /* its constants; -errno after one line */
	int (*choose)(void *owner); /* which programs are loaded; -errno */
};

/* 0, or -errno after one line. Free it in any case. */
int feed__begin(struct feed *feed);
/* start->err: the kernel refused it, nothing is said yet; other errors were said. */
int feed__load(struct feed *feed, const struct feed_steps *steps, void *owner,
	       uint64_t buffer_bytes, struct start *start);
/* Kept links are detached in reverse. 0 or -errno. */
int feed__keep(struct feed *feed, struct bpf_link *link);
void feed__unlink(struct feed *feed);
/* When its programs are attached: the ring and the tables. */
int feed__map(struct feed *feed, ring_buffer_sample_fn fn, void *arg);
void feed__detach(struct feed *feed); /* once; then `skipped` is known */
void feed__free(struct feed *feed);   /* all but the object, which has to be freed later */

int feed__take(struct feed *feed); /* passes on what came since the last call */
/* Adds up the counters of all CPUs: nr of 64 bits each. */
void feed__count(const struct feed *feed, uint64_t *to, size_t nr);
/* place: io_file_place; malloced, hostile */
char *feed__file(const struct feed *feed, uint64_t inode, uint64_t place);
/*
 * The type of a file's file system, "ext4", as it is mounted, or "bdev" for a block device itself;
 * "": it is not mounted here, or was mounted later.
 */
const char *feed__fs(const struct feed *feed, uint64_t inode, uint32_t dev);

#endif
