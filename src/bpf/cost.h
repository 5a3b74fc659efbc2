/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cost.h: how long do our own programs take? About one run in 1,024 reads the clock before and
 * after; what one reading takes is taken off. A run that is not chosen pays four instructions. What
 * the kernel does before and after a program is not in it.
 */
#ifndef IOSONAR_BPF_COST_H
#define IOSONAR_BPF_COST_H

#include "bpf/table.h"

struct io_cost cost;

/* These bits of a time are all 0 in one of 1,024. Clocks tick in steps of up to 50 ns: the lowest
 * bits are left out. A request without a time is never chosen. */
enum { COST_BITS = (IO_COST_EVERY - 1) << 5 };

/* A run that takes longer was interrupted, or its virtual CPU was. */
enum { COST_MOST_NS = 16384 };

inline_always void cost_add(enum io_cost_of which, __u64 before_ns, __u64 from_ns)
{
	__u64 to_ns = bpf_ktime_get_ns();

	if (to_ns - from_ns > COST_MOST_NS)
		return;
	add_to(cost.ns[which], to_ns - from_ns);
	add_to(cost.clock_ns[which], from_ns - before_ns);
	count_up(cost.runs[which]);
}

/* A time of 0 is compared last: few come so far. */
inline_always bool cost_is_chosen(__u64 chance)
{
	if (__builtin_expect(chance & COST_BITS, 1))
		return false;
	barrier_var(chance);
	return chance;
}

/* Evaluates `run`, a program's work, and measures it if the bits of `chance` say so. Its value is
 * enum timing. */
#define measured(which, chance, run)                                                       \
	({                                                                                 \
		int result_;                                                               \
		if (cost_is_chosen(chance)) {                                              \
			__u64 before_ = bpf_ktime_get_ns();                                \
			__u64 from_ = bpf_ktime_get_ns();                                  \
			result_ = (run);                                                   \
			if (told(sampled) && result_)                                      \
				cost_add((which) + COST_OF_UNTIMED_START, before_, from_); \
			else                                                               \
				cost_add(which, before_, from_);                           \
		} else {                                                                   \
			result_ = (run);                                                   \
		}                                                                          \
		result_;                                                                   \
	})

/* By chance: to copy a request's time through a plain pointer costs more than a random number. */
#define measured_plain(which, run) \
	(told(measures) ? measured(which, (__u64)bpf_get_prandom_u32(), run) : (run))

#endif
