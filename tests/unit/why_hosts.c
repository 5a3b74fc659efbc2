/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * why_hosts.c: are captures of two machines judged apart? Both have a disk with the same numbers,
 * the same sectors in use, and a writer of one name; what is wrong with one is no finding of the
 * other.
 */
#include <stdlib.h>
#include <string.h>
#include "tap.h"
#include "why/rules.h"
#include "why/why.h"
#include "wire/io_tables.h"

enum { DISK = 259 << 20, PARTITION = DISK + 1, PAGE = 4096, NR = 1000, CALL_NS = 100000 };
enum { NVME_WRITE = 1, NVME_READ = 2 };

/* What is planted on a machine. */
struct machine {
	uint32_t again;	 /* each place is read that many times */
	uint32_t unused; /* percent of the pages */
	uint32_t slowed; /* calls of 1000 that wait for dirty pages, ten times as long as others */
	uint32_t bytes;	 /* of a write */
	uint32_t page_bytes;
};

static void add_pages(struct pages *pages, uint16_t host, const struct machine *m)
{
	const struct cache_key key = { .dev = PARTITION };
	uint64_t counts[NR_CACHE_COUNTS] = { 0 };
	int err = 0;

	pages->page_bytes = m->page_bytes;
	for (uint32_t i = 0; i < NR && !err; i++) {
		const struct cache_command command = {
			.event = { .dev = PARTITION, .told = CACHE_TOLD_COMMAND },
			.disk = DISK,
			.sector = i / m->again * (uint64_t)m->page_bytes / 512,
			.bytes = m->page_bytes,
		};

		err = pages__add_command(pages, host, &command);
	}
	counts[CACHE_RA] = NR;
	counts[CACHE_UNUSED] = NR * m->unused / 100;
	pages__add_row(pages, host, &key, counts);
	if (err)
		abort();
}

static void add_calls(struct dirty *dirty, uint16_t host, const struct machine *m)
{
	static const char comm[16] = "cp";

	for (uint32_t i = 0; i < NR; i++) {
		const uint64_t dirty_ns = i < m->slowed ? 10 * CALL_NS : 0;

		dirty__add(dirty, host, comm, CALL_NS + dirty_ns, dirty_ns);
	}
}

/* Commands one after the other, each as long as any. */
static void add_commands(struct facts *facts, int32_t device, const struct machine *m)
{
	for (uint64_t i = 0; i < 2 * NR; i++) {
		const uint64_t at_ns = 1000000 * (i + 1);
		const struct io_record r = {
			.kind = IO_NVME,
			.op = i % 2 ? NVME_READ : NVME_WRITE,
			.first_ns = at_ns,
			.last_ns = at_ns,
			.end_ns = at_ns + 80000,
			.cdw10 = { (uint32_t)(i * 7919 % 65536 * 4096) },
			.bytes = i % 2 ? m->page_bytes : m->bytes,
			.attempts = 1,
			.pid = 100,
			.comm = "cp",
		};

		if (facts__add(facts, device, i % 2 ? FACT_READ : FACT_WRITE, &r))
			abort();
	}
}

static void describe(const void *arg, int32_t device, struct fact_place *place)
{
	(void)arg;
	*place = (struct fact_place){ .station = device,
				      .head = device,
				      .is_nvme = true,
				      .limit = 1023,
				      .block_bytes = 512,
				      .number = DISK,
				      .host = (uint16_t)(device + 1) };
}

/* The findings, "0 evicted, 1 dirty": by device, then as they come. */
static const char *findings(const struct machine machines[2])
{
	static char text[400];
	struct facts *facts = calloc(1, sizeof(*facts));
	struct dirty *dirty = calloc(1, sizeof(*dirty));
	struct pages *pages = calloc(1, sizeof(*pages));
	struct why *why = calloc(1, sizeof(*why));
	size_t len = 0;

	facts->describe = describe;
	if (facts__init(facts))
		abort();
	for (uint16_t i = 0; i < 2; i++) {
		add_pages(pages, i + 1, &machines[i]);
		add_calls(dirty, i + 1, &machines[i]);
		add_commands(facts, i, &machines[i]);
	}
	pages__finish(pages);
	dirty__finish(dirty);
	facts->pages = pages;
	facts->dirty = dirty;
	facts__finish(facts);
	if (why__judge(why, facts, 0.2))
		abort();
	text[0] = 0;
	for (int32_t device = 0; device < 2; device++)
		for (size_t i = 0; i < why->nr; i++) {
			const struct why_finding *f = &why->findings[i];

			if (f->device != device)
				continue;
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%d %s",
						len ? ", " : "", device, f->rule->name);
			printf("# %d %s: %s [%s]\n", device, f->rule->name, f->what, f->evidence);
		}
	facts__free(facts);
	pages__free(pages);
	free(facts);
	free(dirty);
	free(pages);
	free(why);
	return text;
}

/* Whichever of both it is. */
static void check(const struct machine *bad, const char *first, const char *second,
		  const char *what)
{
	const struct machine good = { 1, 0, 0, 1 << 20, PAGE };

	is_str(findings((struct machine[]){ *bad, good }), first, what);
	is_str(findings((struct machine[]){ good, *bad }), second, what);
}

static void check_sums(void)
{
	const struct machine small = { 4, 50, 0, PAGE, PAGE },
			     large = { 1, 50, 0, PAGE, 16 * PAGE };
	struct pages pages = { 0 };
	const struct pages_disk *disks[2];

	add_pages(&pages, 1, &small);
	add_pages(&pages, 2, &large);
	pages__finish(&pages);
	for (uint16_t i = 0; i < 2; i++)
		disks[i] = pages__disk(&pages, i + 1, DISK);
	is_u64((uint64_t)disks[0]->again_bytes, (NR - NR / 4) * (uint64_t)PAGE,
	       "what one machine read before");
	is_u64((uint64_t)disks[1]->again_bytes, 0, "the other one has not");
	is_u64((uint64_t)disks[0]->unused_bytes, NR / 2 * (uint64_t)PAGE,
	       "pages have the size that they have there");
	is_u64((uint64_t)disks[1]->unused_bytes, NR / 2 * 16ULL * PAGE, "and here");
	ok(!pages__disk(&pages, 0, DISK) && !pages__disk(&pages, 3, DISK),
	   "a third machine has no such disk");
	pages__free(&pages);
}

int main(void)
{
	check(&(struct machine){ 1, 0, 0, PAGE, PAGE }, "", "", "two machines are fine");
	check(&(struct machine){ 4, 0, 0, PAGE, PAGE }, "0 evicted", "1 evicted",
	      "one reads data again");
	check(&(struct machine){ 1, 60, 0, PAGE, PAGE }, "0 readahead", "1 readahead",
	      "one reads ahead in vain");
	check(&(struct machine){ 1, 0, 100, PAGE, PAGE }, "0 dirty", "1 dirty",
	      "one is slowed down, though the other one writes more");
	check_sums();
	return done_testing();
}
