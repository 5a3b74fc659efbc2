/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ring.h: a ring per CPU: a single ring is six times slower with two CPUs. Made at load; BPF
 * objects share the rings.
 */
#ifndef IOSONAR_BPF_RING_H
#define IOSONAR_BPF_RING_H

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct ring);
} io_rings SEC(".maps");

#endif
