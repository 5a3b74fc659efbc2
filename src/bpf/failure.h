/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * failure.h: how did commands fail? Counted by row key and status where a view wants it, without
 * records: a command that does not fail pays nothing. A kind that finds no place is in the count of
 * all failed commands only.
 */
#ifndef IOSONAR_BPF_FAILURE_H
#define IOSONAR_BPF_FAILURE_H

#include "bpf/table.h"

struct io_failure failures[IO_FAILURES];

/* A function of its own: the usual command pays no register for it. */
static __attribute__((noinline)) int failure_count(__u32 key_nr, __u32 status, __u64 now_ns)
{
	const __u64 key = (__u64)key_nr << 32 | status;
	const __u32 home = io_hash(key_nr << 16 ^ status) >> 16;

#pragma unroll
	for (__u32 i = 0; i < IO_PROBES; i++) {
		const __u32 nr = (home + i) & (IO_FAILURES - 1);
		struct io_failure *failure = &failures[nr];

		if (!failure->key && cell_lock(LOCK_FAILURE, nr)) {
			if (!failure->key)
				failure->key = key;
			cell_unlock(LOCK_FAILURE, nr);
		}
		if (failure->key != key)
			continue;
		count_up(failure->count);
		failure->last_ns = now_ns;
		return 0;
	}
	return 0;
}

#endif
