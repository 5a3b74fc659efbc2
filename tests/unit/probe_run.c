/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_run.c: do records of two rings come in order of time, each once, whatever is in the rings?
 * Whose is a hit that only tells an address? The rings are ours, laid out as the kernel lays them
 * out.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "probe/run/inside.h"
#include "tap.h"

enum { TEST_CPUS = 2, TEST_SHOWN = 8 };

/* ---- rings ---- */

struct test_ring {
	char *pages; /* the kernel's page, the data, the data once more */
	uint64_t *written_to;
};

static size_t ring_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static void make_ring(struct run_ring *ring, struct test_ring *kernel)
{
	const size_t page = ring_bytes();
	int fd = memfd_create("ring", MFD_CLOEXEC);
	char *pages =
		mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ok(fd >= 0 && !ftruncate(fd, (off_t)page), "memory for a ring");
	for (size_t i = 1; i < 3; i++)
		mmap(pages + i * page, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	close(fd);
	kernel->pages = pages;
	kernel->written_to = (uint64_t *)pages;
	ring->written_to = (const uint64_t *)pages;
	ring->bytes = (uint32_t)page;
	ring->read_at = calloc(1, sizeof(*ring->read_at));
}

/* As bpf_ringbuf_reserve and submit do it; flags: BUSY, DISCARD. */
static void put_record(struct test_ring *kernel, uint64_t ns, uint64_t shown, uint32_t flags)
{
	struct {
		uint32_t len, pad;
		struct probe_record record;
		uint64_t shown;
	} sample = { .shown = shown };

	sample.len = (uint32_t)(sizeof(sample) - 8) | flags;
	sample.record.ns = ns;
	memcpy(kernel->pages + ring_bytes() + (*kernel->written_to & (ring_bytes() - 1)), &sample,
	       sizeof(sample));
	*kernel->written_to += sizeof(sample);
}

static void clear_flags(struct test_ring *kernel, uint64_t at)
{
	uint32_t *len = (uint32_t *)(kernel->pages + ring_bytes() + (at & (ring_bytes() - 1)));

	*len &= ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
}

struct got {
	uint64_t ns[4096], shown[4096];
	size_t nr, stop_at;
};

static int note(void *arg, const struct probe_record *record, const void *values)
{
	struct got *got = arg;

	got->ns[got->nr] = record->ns;
	memcpy(&got->shown[got->nr++], values, sizeof(uint64_t));
	return got->nr == got->stop_at;
}

static bool in_order(const struct got *got)
{
	for (size_t i = 1; i < got->nr; i++)
		if (got->ns[i] < got->ns[i - 1])
			return false;
	return true;
}

static void test_order(struct run *run, struct test_ring *kernel)
{
	static struct got got;

	put_record(&kernel[0], 30, 1, 0);
	put_record(&kernel[0], 50, 2, 0);
	put_record(&kernel[1], 10, 3, 0);
	put_record(&kernel[1], 35, 4, BPF_RINGBUF_DISCARD_BIT);
	put_record(&kernel[1], 30, 5, 0);
	put_record(&kernel[1], 60, 6, 0);
	ok(!run__records(run, 50, note, &got), "two rings are read");
	is_u64(got.nr, 3, "what is not older than the moment waits, what was discarded is gone");
	ok(in_order(&got) && got.ns[0] == 10 && got.shown[0] == 3, "the oldest comes first");
	ok(got.shown[1] == 1 && got.shown[2] == 5, "of one time: as they came");
	put_record(&kernel[0], 55, 7, 0);
	ok(!run__records(run, UINT64_MAX, note, &got), "the rest");
	is_u64(got.nr, 6, "comes with what is new");
	ok(in_order(&got) && got.shown[4] == 7, "in order of time");
	ok(!run__records(run, UINT64_MAX, note, &got) && got.nr == 6, "nothing comes twice");
}

static void test_stop(struct run *run, struct test_ring *kernel)
{
	static struct got got = { .stop_at = 2 };

	for (uint64_t i = 0; i < 5; i++)
		put_record(&kernel[i & 1], 100 + i, i, 0);
	is_u64((uint64_t)run__records(run, UINT64_MAX, note, &got), 1, "its word ends it");
	is_u64(got.nr, 2, "at once");
	ok(!run__records(run, UINT64_MAX, note, &got) && got.nr == 5, "the rest is not lost");
	ok(in_order(&got), "and still in order");
}

/* One that is being written holds up its ring, not the other. */
static void test_busy(struct run *run, struct test_ring *kernel)
{
	static struct got got;
	const uint64_t at = *kernel[0].written_to;

	put_record(&kernel[0], 200, 1, BPF_RINGBUF_BUSY_BIT);
	put_record(&kernel[0], 201, 2, 0);
	put_record(&kernel[1], 202, 3, 0);
	ok(!run__records(run, UINT64_MAX, note, &got) && got.nr == 1 && got.shown[0] == 3,
	   "a record that is being written is not read, nor what is behind it");
	clear_flags(&kernel[0], at);
	ok(!run__records(run, UINT64_MAX, note, &got) && got.nr == 3 && got.shown[1] == 1,
	   "when it is written both are");
}

/* Many times round, with records across the end. */
static void test_wrap(struct run *run, struct test_ring *kernel)
{
	static struct got got;
	uint64_t ns = 1000;
	bool good = true;

	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < 20; i++, ns++)
			put_record(&kernel[i & 1], ns, ns, 0);
		good &= !run__records(run, ns - 7, note, &got);
	}
	good &= !run__records(run, UINT64_MAX, note, &got);
	for (size_t i = 0; i < got.nr; i++)
		good &= got.shown[i] == 1000 + i && got.ns[i] == 1000 + i;
	ok(good, "2,000 records through a ring of one page, with a window");
	is_u64(got.nr, 2000, "all of them");
}

/* Nobody but the kernel writes there; all the same. */
static void test_strange(struct run *run, struct test_ring *kernel)
{
	static struct got got;
	const uint64_t at = *kernel[0].written_to & (ring_bytes() - 1);
	struct probe_record *record;

	put_record(&kernel[0], 5000, 1, 0);
	record = (struct probe_record *)(kernel[0].pages + ring_bytes() + at + 8);
	record->probe = 17;
	put_record(&kernel[0], 5001, 2, 0);
	ok(!run__records(run, UINT64_MAX, note, &got) && got.nr == 1 && got.shown[0] == 2,
	   "a record of a probe that is none is passed over");
}

static void test_rings(void)
{
	struct probe probe = { 0 };
	struct plan_probe probes[] = { { .probe = &probe, .shown_bytes = TEST_SHOWN } };
	struct plan plan = { .action = LINE_PRINT, .probes = probes, .nr_probes = 1 };
	struct run_ring rings[TEST_CPUS];
	struct test_ring kernel[TEST_CPUS];
	struct run run = {
		.plan = &plan,
		.nr_cpus = TEST_CPUS,
		.rings = rings,
	};

	for (int cpu = 0; cpu < TEST_CPUS; cpu++)
		make_ring(&rings[cpu], &kernel[cpu]);
	test_order(&run, kernel);
	test_stop(&run, kernel);
	test_busy(&run, kernel);
	test_wrap(&run, kernel);
	test_strange(&run, kernel);
	for (int cpu = 0; cpu < TEST_CPUS; cpu++) {
		munmap(kernel[cpu].pages, 3 * ring_bytes());
		free(rings[cpu].read_at);
	}
	free(run.order.held);
	free(run.order.entries);
}

/* ---- programs that serve many ---- */

static void test_addresses(void)
{
	struct probe functions[3] = { { .address = 0xffff800010000000 },
				      { .address = 0xffff800010000400 },
				      { .address = 0xffff800010000100 } };
	struct plan_probe probes[3] = { { &functions[0] }, { &functions[1] }, { &functions[2] } };
	struct plan plan = { .probes = probes, .nr_probes = 3, .nr_keys = 2 };
	size_t by_address[3] = { 0, 2, 1 };
	struct run run = { .plan = &plan, .by_address = by_address, .nr_by_address = 3 };
	uint64_t key[2] = { 0xffff800010000404, 0xffff800010000404 };

	is_u64(run_probe_number(&run, 1), 1, "a small number is the probe's");
	is_u64(run_probe_number(&run, 0xffff800010000100), 2, "an address is its function's");
	is_u64(run_probe_number(&run, 0xffff800010000108), 2,
	       "so is one that is patched behind it");
	is_u64(run_probe_number(&run, 0xffff800010000000), 0, "the first");
	is_u64(run_probe_number(&run, 0xffff80000fffffff), 0xffff80000fffffff,
	       "one before all is none");
	ok(run__probe(&run, 0xffff800010000401) == &functions[1], "the probe itself");
	ok(!run__probe(&run, 0xffff80000fffffff), "or none");
	plan.keys[0].shape.unit = VALUE_POINTER;
	plan.keys[1].shape.unit = VALUE_FUNC_NAME;
	plan.keys[1].at = 8;
	run_settle(&run, &plan.keys[0], key);
	run_settle(&run, &plan.keys[1], key);
	is_u64(key[0], 0xffff800010000404, "a pointer in a key stays");
	is_u64(key[1], 1, "a function in it becomes a number");
}

/* kprobe.multi serves entries and returns: both say the function's address. */
static void test_entry_and_return(void)
{
	enum { ENTRIES = 3 };
	struct probe probes[2 * ENTRIES] = { 0 };
	struct plan_probe planned[2 * ENTRIES] = { 0 };
	const struct plan plan = { .probes = planned, .nr_probes = 2 * ENTRIES };
	/* Sorted by address; of two that are the same either may come first. */
	size_t by_address[] = { 0, 3, 4, 1, 2 };
	const struct run run = { .plan = &plan, .by_address = by_address, .nr_by_address = 5 };

	for (uint64_t i = 0; i < 2 * ENTRIES; i++) {
		probes[i].kind = i < ENTRIES ? PROBE_FN : PROBE_RET;
		probes[i].address = 0xffff800080010000 + 0x100 * (i % ENTRIES);
		planned[i].probe = &probes[i];
	}
	for (uint64_t i = 0; i < ENTRIES - 1; i++) {
		is_u64(run_probe_like(&run, 0, probes[i].address + 8), i, "an entry is one");
		is_u64(run_probe_like(&run, 3, probes[i].address + 8), ENTRIES + i,
		       "the return of the same function is its return");
	}
	is_u64(run_probe_like(&run, 0, 0x1000), 0, "an address of none is who said it");
}

int main(void)
{
	test_rings();
	test_addresses();
	test_entry_and_return();
	return done_testing();
}
