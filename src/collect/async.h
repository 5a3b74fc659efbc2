/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * async.h: the collector of `waits --async`: requests of io_uring and libaio, with the moments at
 * which each went from one step to the next. Costs a few programs per request, nothing for other
 * system calls. Without fentry and kprobes it sees neither workers, nor bios, nor libaio. It cannot
 * see requests that were submitted before it was attached.
 */
#ifndef IOSONAR_COLLECT_ASYNC_H
#define IOSONAR_COLLECT_ASYNC_H

#include <stdbool.h>
#include <stdint.h>
#include "base/options.h"
#include "wire/async.h"

struct async;

struct async_wants {
	const struct filter_options *filter; /* of which pid, comm, cgroup and min count */
	const char *file;
	uint64_t buffer_bytes; /* 0: the default */
};

/* 0, or -errno after one line. Free it in any case. */
int async__open(struct async **async, const struct async_wants *wants);
void async__detach(struct async *async);
void async__free(struct async *async);
uint64_t async__start_ns(const struct async *async);

/* What came since the last call. fn: 0 continues; a negative errno stops. */
typedef int (*async_fn)(void *arg, const struct async_record *record);
int async__take(struct async *async, async_fn fn, void *arg);

/* Else requests of libaio are not followed here. */
bool async__follows_aio(const struct async *async);

/* So far, of all CPUs; skipped: programs that the kernel did not run, known after async__detach. */
struct async_counts {
	struct async_counters n;
	uint64_t in_flight;
	uint64_t skipped;
};
void async__counts(const struct async *async, struct async_counts *counts);

/* place: io_file_place; malloced, hostile */
char *async__file(const struct async *async, uint64_t inode, uint64_t place);
/* as feed__fs; hostile */
const char *async__fs(const struct async *async, uint64_t inode, uint32_t dev);

#endif
