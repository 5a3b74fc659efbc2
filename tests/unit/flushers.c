/* SPDX-License-Identifier: BSD-2-Clause */
/* flushers.c: who asks for flushes, as writes and flushes tell it, and of which file system. */
#include "tap.h"
#include "why/flushers.h"

static void add(struct flushers *f, const char *name, bool is_write, int nr)
{
	char comm[16] = { 0 };

	memcpy(comm, name, strnlen(name, sizeof(comm)));
	for (int i = 0; i < nr; i++)
		flushers__add(f, comm, is_write);
}

static void disk_is(const char *comm, const char *want)
{
	struct flusher flusher = { 0 };
	char disk[16] = "";

	snprintf(flusher.comm, sizeof(flusher.comm), "%s", comm);
	if (!flusher__disk(&flusher, disk, sizeof(disk)))
		disk[0] = 0;
	is_str(disk, want, comm);
}

int main(void)
{
	struct flushers f = { 0 };
	char name[16];

	ok(!flushers__main(&f), "nobody flushes");
	add(&f, "kworker/0:1H", false, 40);
	add(&f, "nvme", false, 3);
	is_str(flushers__main(&f)->comm, "kworker/0:1H", "who sends most of them");
	add(&f, "postgres", true, 9);
	is_str(flushers__main(&f)->comm, "kworker/0:1H", "few writes are not the reason of all");
	add(&f, "jbd2/sda1-8", true, 10);
	ok(flushers__are_of_writes(&f), "a write asks for two, at most");
	is_str(flushers__main(&f)->comm, "jbd2/sda1-8", "the task of most writes");
	add(&f, "sixteen_letters_", false, 1);
	is_str(f.of[4].comm, "sixteen_letters_", "a name that fills its place");
	for (int i = 0; i < 2 * FLUSHERS_MOST; i++) {
		snprintf(name, sizeof(name), "task%d", i);
		add(&f, name, false, 1);
	}
	is_u64(f.nr, FLUSHERS_MOST, "their number is bounded");
	is_u64(f.all.flushes, 44 + 2 * FLUSHERS_MOST, "all are counted");
	disk_is("jbd2/sda1-8", "sda1");
	disk_is("jbd2/dm-0-8", "dm-0");
	disk_is("jbd2/nvme10n1p1", "");
	disk_is("jbd2/-8", "");
	disk_is("postgres", "");
	return done_testing();
}
