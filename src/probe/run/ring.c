/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ring.c: records from one ring per CPU, in order of time. The records of a ring are nearly in
 * order; they are held until those of the other CPUs must have arrived. One pass takes only the
 * records present when it begins, so that a flood of events cannot keep us in it. The program
 * counts drops of a full ring.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include "base/clock.h"
#include "base/cpus.h"
#include "base/grow.h"
#include "base/log.h"
#include "probe/run/inside.h"

static const uint64_t ring_default_bytes = 1 << 20; /* 10,000 records; half a million a second */
static const uint64_t rings_most_bytes = 64 << 20;  /* of all CPUs online; without a default */
static const uint64_t rings_most_wanted_bytes = 256 << 20; /* or with one of the command */

/* ---- making ---- */

static uint32_t ring_size(const struct run *run, uint32_t nr_online)
{
	const struct run_wants *w = &run->wants;

	if (w->ring_bytes)
		return cpus__ring_bytes(w->ring_bytes, UINT64_MAX, nr_online);
	if (w->ring_default_bytes)
		return cpus__ring_bytes(w->ring_default_bytes, rings_most_wanted_bytes, nr_online);
	return cpus__ring_bytes(ring_default_bytes, rings_most_bytes, nr_online);
}

static int ring_map(struct run_ring *ring, int fd)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *ours = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), *theirs;

	if (ours == MAP_FAILED)
		return -errno;
	ring->read_at = ours;
	theirs = mmap(NULL, page + 2 * (size_t)ring->bytes, PROT_READ, MAP_SHARED, fd, (off_t)page);
	if (theirs == MAP_FAILED)
		return -errno;
	ring->written_to = theirs;
	return 0;
}

/* The first ring is the template of the others. */
static int ring_make(struct run *run, uint32_t cpu)
{
	struct run_ring *ring = &run->rings[cpu];
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, ring->bytes, NULL), err = 0;
	LIBBPF_OPTS(bpf_map_create_opts, opts);

	if (fd < 0)
		return fd;
	opts.inner_map_fd = (__u32)fd;
	if (run->maps.rings < 0)
		run->maps.rings =
			bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "rings", sizeof(uint32_t),
				       sizeof(uint32_t), run->nr_cpus, &opts);
	err = run->maps.rings < 0 ? run->maps.rings
				  : bpf_map_update_elem(run->maps.rings, &cpu, &fd, BPF_ANY);
	err = err ?: ring_map(ring, fd);
	close(fd); /* the map and the mapping hold it */
	return err;
}

/* Small for a CPU that is not online. */
static int ring_size_all(struct run *run)
{
	uint32_t least = cpus__ring_bytes(CPUS_RING_LEAST, UINT64_MAX, 1), size, nr_online;
	bool *is_online = calloc(run->nr_cpus, sizeof(*is_online));
	uint64_t bytes = 0;

	run->rings = calloc(run->nr_cpus, sizeof(*run->rings));
	if (!run->rings || !is_online) {
		free(is_online);
		return log_no_memory();
	}
	nr_online = cpus__online(is_online, run->nr_cpus);
	size = ring_size(run, nr_online);
	for (uint32_t cpu = 0; cpu < run->nr_cpus; cpu++) {
		run->rings[cpu].bytes = is_online[cpu] || size < least ? size : least;
		bytes += run->rings[cpu].bytes;
	}
	free(is_online);
	log_verbose("rings: %u KiB for each CPU that is online (%u of %u), %.1f MiB", size >> 10,
		    nr_online, run->nr_cpus, (double)bytes / (1 << 20));
	return 0;
}

int run_make_rings(struct run *run)
{
	int err = ring_size_all(run);

	if (err)
		return err;
	for (uint32_t cpu = 0; !err && cpu < run->nr_cpus; cpu++) {
		err = ring_make(run, cpu);
		if (err)
			log_err(err, "cannot make a ring of %u bytes for CPU %u of %u: %s",
				run->rings[cpu].bytes, cpu, run->nr_cpus, strerror(-err));
	}
	return err;
}

void run_free_rings(struct run *run)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (uint32_t cpu = 0; run->rings && cpu < run->nr_cpus; cpu++) {
		if (run->rings[cpu].read_at)
			munmap(run->rings[cpu].read_at, page);
		if (run->rings[cpu].written_to)
			munmap((void *)run->rings[cpu].written_to,
			       page + 2 * (size_t)run->rings[cpu].bytes);
	}
	free(run->rings);
	free(run->order.held);
	free(run->order.entries);
}

/* ---- holding ---- */

/* 0: not from one of our probes. */
static size_t order_record_bytes(const struct run *run, const struct probe_record *record)
{
	return record->probe < run->plan->nr_probes
		       ? plan__record_bytes(&run->plan->probes[record->probe])
		       : 0;
}

static void order_settle(const struct run *run, struct probe_record *record)
{
	const struct plan_probe *p = &run->plan->probes[record->probe];

	for (size_t i = 0; i < p->nr_shown; i++)
		run_settle(run, &p->shown[i].part, record + 1);
	if (record->address)
		record->probe = (uint32_t)run_probe_like(run, record->probe, record->address);
}

static int order_hold(struct run *run, const struct probe_record *data, size_t len)
{
	const size_t bytes = len < sizeof(*data) ? 0 : order_record_bytes(run, data);
	struct run_order *order = &run->order;
	struct probe_record *record;
	int err;

	if (!bytes || len < bytes)
		return 0;
	err = GROW(order->entries, order->room, order->nr + 1)
		      ?: GROW(order->held, order->room_bytes, order->bytes + bytes);
	if (err)
		return err;
	record = memcpy(order->held + order->bytes, data, bytes);
	order_settle(run, record);
	order->entries[order->nr++] = (struct run_entry){ record->ns, order->bytes, bytes };
	order->bytes += bytes;
	run->gate_records++;
	return 0;
}

static int order_compare(const void *a, const void *b)
{
	const struct run_entry *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at); /* as they came */
}

/* The remaining records move up, in order of time. */
static int order_keep(struct run_order *order, size_t taken)
{
	size_t bytes = 0, nr = 0;
	char *held;

	for (size_t i = taken; i < order->nr; i++)
		bytes += order->entries[i].bytes;
	held = bytes ? malloc(bytes) : NULL;
	if (bytes && !held)
		return -ENOMEM;
	order->room_bytes = bytes;
	bytes = 0;
	for (size_t i = taken; i < order->nr; i++) {
		struct run_entry *entry = &order->entries[i];

		memcpy(held + bytes, order->held + entry->at, entry->bytes);
		order->entries[nr++] = (struct run_entry){ entry->ns, bytes, entry->bytes };
		bytes += entry->bytes;
	}
	free(order->held);
	order->held = held;
	order->bytes = bytes;
	order->nr = nr;
	return 0;
}

/* ---- reading ---- */

static int ring_read(struct run *run, struct run_ring *ring)
{
	const char *data = (const char *)ring->written_to + sysconf(_SC_PAGESIZE);
	const uint64_t until = __atomic_load_n(ring->written_to, __ATOMIC_ACQUIRE);
	uint64_t at = *ring->read_at;
	int err = 0;

	while (!err && at < until) {
		const char *header = data + (at & (ring->bytes - 1));
		uint32_t len = __atomic_load_n((const uint32_t *)header, __ATOMIC_ACQUIRE);
		uint32_t bytes = len & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (len & BPF_RINGBUF_BUSY_BIT)
			break;
		if (!(len & BPF_RINGBUF_DISCARD_BIT))
			err = order_hold(run, (const void *)(header + BPF_RINGBUF_HDR_SZ), bytes);
		at += (bytes + BPF_RINGBUF_HDR_SZ + 7) & ~7u;
	}
	__atomic_store_n(ring->read_at, at, __ATOMIC_RELEASE);
	return err;
}

static int ring_hand_on(struct run *run, uint64_t until_ns, run_record_fn fn, void *arg)
{
	struct run_order *order = &run->order;
	size_t taken = 0;
	int err = 0;

	qsort(order->entries, order->nr, sizeof(*order->entries), order_compare);
	while (!err && taken < order->nr && order->entries[taken].ns < until_ns) {
		const struct probe_record *record =
			(const void *)(order->held + order->entries[taken++].at);

		err = fn(arg, record, record + 1);
	}
	if (taken && order_keep(order, taken))
		err = err ?: log_no_memory();
	return err;
}

/* Looks at 20 ms at least: a few records in no time are not a flood. */
static void ring_watch_rate(struct run *run)
{
	static const uint64_t least_ns = 20000000;
	const uint64_t now = clock__mono_ns(), ns = now - run->gate_ns;

	if (!run->gate || !run->wants.max_rate || ns < least_ns)
		return;
	*(volatile uint64_t *)run->gate =
		(double)run->gate_records * 1e9 / (double)ns > (double)run->wants.max_rate;
	run->gate_records = 0;
	run->gate_ns = now;
}

int run__records(struct run *run, uint64_t until_ns, run_record_fn fn, void *arg)
{
	int err = 0;

	for (uint32_t cpu = 0; run->rings && !err && cpu < run->nr_cpus; cpu++)
		err = ring_read(run, &run->rings[cpu]);
	if (err)
		return log_err(err, "out of memory");
	ring_watch_rate(run);
	return run->order.nr ? ring_hand_on(run, until_ns, fn, arg) : 0;
}
