/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When a recorder asks its ring to sync: every five seconds, whatever the clocks' jitter is,
 * because what is not synced is what a power loss takes. The ring is this file's own: it counts.
 */
#include <stdlib.h>
#include <unistd.h>
#include "capture/ring.h"
#include "session/recorder.h"
#include "tap.h"

enum { SECONDS = 60 };
static const uint64_t second_ns = 1000000000;

struct ring {
	int nr_syncs;
	bool busy; /* an earlier order is under way */
};

uint64_t ring__file_bytes(const struct ring *ring)
{
	(void)ring;
	return 1 << 20;
}

int ring__file(struct ring *ring)
{
	char name[] = "/tmp/iosonar-recorder-ring.XXXXXX";
	int fd = mkstemp(name);

	(void)ring;
	unlink(name);
	return fd;
}

int ring__prepare(struct ring *ring)
{
	(void)ring;
	return 0;
}

int ring__keep(struct ring *ring)
{
	(void)ring;
	return 0;
}

int ring__keep_full(struct ring *ring)
{
	(void)ring;
	return 0;
}

int ring__drop(struct ring *ring)
{
	(void)ring;
	return 0;
}

int ring__finish(struct ring *ring)
{
	(void)ring;
	return 0;
}

int ring__sync(struct ring *ring)
{
	ring->nr_syncs += !ring->busy;
	return !ring->busy;
}

static int device_of(void *arg, const struct io_record *record)
{
	(void)arg;
	(void)record;
	return -1;
}

static const char *text(void *arg, enum glossary_kind kind, struct glossary_id id)
{
	(void)arg;
	(void)kind;
	(void)id;
	return NULL;
}

static struct recorder *begin(struct ring *ring)
{
	static const struct file_options options = { .ring = "/tmp" };
	static const struct device_list none;
	static char *op_names[256];
	const struct recorder_run run = { .options = &options,
					  .devices = &none,
					  .device_of = device_of,
					  .text = text,
					  .op_names = op_names,
					  .start_ns = second_ns,
					  .ring = ring };
	struct recorder *recorder = NULL;

	return recorder__new(&run, &recorder) ? NULL : recorder;
}

/* A clock at that time; true: it was followed by a sync. */
static bool syncs_at(struct recorder *recorder, struct ring *ring, uint64_t ns)
{
	const struct capture_clock clock = { ns, ns, ns };
	int before = ring->nr_syncs;

	recorder__clock(recorder, &clock);
	return ring->nr_syncs > before;
}

static void test_every_five_seconds(const char *what, uint64_t even_ns, uint64_t odd_ns)
{
	struct ring ring = { 0 };
	struct recorder *recorder = begin(&ring);
	int most = 0, since = 0;

	for (uint64_t i = 100; recorder && i < 100 + SECONDS; i++) {
		since++;
		if (!syncs_at(recorder, &ring, i * second_ns + (i % 2 ? odd_ns : even_ns)))
			continue;
		if (ring.nr_syncs > 1 && since > most)
			most = since;
		since = 0;
	}
	ok(most == 5 && ring.nr_syncs == SECONDS / 5, "%s: %d syncs, at most %d seconds apart",
	   what, ring.nr_syncs, most);
	recorder__free(recorder);
}

static void test_busy(void)
{
	struct ring ring = { 0 };
	struct recorder *recorder = begin(&ring);
	bool first = syncs_at(recorder, &ring, 100 * second_ns), later;

	ring.busy = true;
	later = syncs_at(recorder, &ring, 105 * second_ns);
	ring.busy = false;
	ok(first && !later && syncs_at(recorder, &ring, 106 * second_ns),
	   "while a file is completed: a second later");
	ok(!syncs_at(recorder, &ring, 110 * second_ns) &&
		   syncs_at(recorder, &ring, 111 * second_ns),
	   "and five seconds after that");
	recorder__free(recorder);
}

int main(void)
{
	test_every_five_seconds("clocks that are exact", 0, 0);
	test_every_five_seconds("every other one is late", 0, 300000);
	test_every_five_seconds("every other one is early", 300000, 0);
	test_busy();
	return done_testing();
}
