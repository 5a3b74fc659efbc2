/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mapping_notes.c: what had a process mapped that has ended? Records as perf writes them, in
 * another order than they happened; then the kernel's own, of a program that ran and ended.
 */
#include "symbol/mapping_notes.h"
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tap.h"

static char text[NOTES_TEXT];

static void put(struct mapping_notes *notes, const void *body, size_t size, uint32_t type,
		uint64_t time_ns)
{
	_Alignas(8) char record[512] = { 0 };
	struct perf_event_header header = { .type = type,
					    .size = (uint16_t)(sizeof(header) + size + 8) };

	memcpy(record, &header, sizeof(header));
	memcpy(record + sizeof(header), body, size);
	memcpy(record + sizeof(header) + size, &time_ns, sizeof(time_ns));
	mapping_notes__add(notes, record, header.size);
}

static void map(struct mapping_notes *notes, uint32_t pid, uint64_t start, uint64_t len,
		const char *path, uint64_t time_ns)
{
	struct {
		uint32_t pid, tid;
		uint64_t start, len, offset;
		uint32_t major, minor;
		uint64_t inode, generation;
		uint32_t prot, flags;
		char path[64];
	} body = { pid, pid, start, len, 0x2000, 8, 1, 77, 0, 5, 2, "" };

	snprintf(body.path, sizeof(body.path), "%s", path);
	put(notes, &body, sizeof(body), PERF_RECORD_MMAP2, time_ns);
}

static void forked(struct mapping_notes *notes, uint32_t pid, uint32_t parent, uint64_t time_ns)
{
	const uint32_t body[6] = { pid, parent, pid, parent };

	put(notes, body, sizeof(body), PERF_RECORD_FORK, time_ns);
}

static void check_order(struct mapping_notes *notes)
{
	map(notes, 10, 0x9000, 0x1000, "/lib/old", 1);
	map(notes, 10, 0x5000, 0x1000, "/bin/dd", 50); /* another CPU's ring came first */
	map(notes, 10, 0x1000, 0x1000, "/lib/c", 60);
	forked(notes, 10, 4, 40);
	is_u64(mapping_notes__text(notes, 10, text), 2, "mappings since its birth");
	is_str(text, "1000-2000 r-xp 2000 00:00 77 /lib/c\n5000-6000 r-xp 2000 00:00 77 /bin/dd\n",
	       "by address, as lines of maps");
	is_u64(mapping_notes__parent(notes, 10), 4, "and who forked it");
	ok(mapping_notes__find(notes, 10, 0x5000, 0x6000, 77), "one of them is found");
	ok(mapping_notes__find(notes, 10, 0x5000, 0x5800, 77), "also when its end was unmapped");
	ok(!mapping_notes__find(notes, 10, 0x5000, 0x6800, 77), "not more than it had");
	ok(!mapping_notes__find(notes, 10, 0x5000, 0x6000, 78), "not with another inode");
	ok(!mapping_notes__find(notes, 10, 0x9000, 0xa000, 77), "not of the process before");
	is_u64(mapping_notes__text(notes, 11, text), 0, "of another process nothing is known");
	is_u64(mapping_notes__parent(notes, 11), 0, "nor its parent");
}

static void check_over(struct mapping_notes *notes)
{
	map(notes, 20, 0x1000, 0x3000, "/bin/sh", 1);
	map(notes, 20, 0x2000, 0x1000, "/bin/new", 2);
	map(notes, 20, 0x8000, 0x1000, "//anon", 3);
	is_u64(mapping_notes__text(notes, 20, text), 2, "where a newer one lies an older is gone");
	is_str(text, "2000-3000 r-xp 2000 00:00 77 /bin/new\n8000-9000 r-xp 2000 00:00 77 \n",
	       "memory without a file has no path");
	forked(notes, 21, 20, 4);
	is_u64(mapping_notes__text(notes, 21, text), 2, "a child has what its parent had");
	forked(notes, 20, 20, 5);
	is_u64(mapping_notes__text(notes, 20, text), 2, "a thread is no child");
	map(notes, 22, 0x1000, 0x1000, "/a\nb", 6);
	mapping_notes__text(notes, 22, text);
	is_str(text, "1000-2000 r-xp 2000 00:00 77 /a?b\n", "a line stays one");
}

static void check_bounds(struct mapping_notes *notes)
{
	const struct perf_event_header cut = { .type = PERF_RECORD_MMAP2, .size = 64 };

	mapping_notes__add(notes, &cut, sizeof(cut));
	map(notes, 30, ~0ULL - 10, 100, "/past/the/end", 1);
	is_u64(mapping_notes__text(notes, 30, text), 0, "what is damaged is ignored");
	for (uint64_t i = 0; i < NOTES_OF_ONE + 9; i++)
		map(notes, 31, i << 12, 0x1000, "/lib/many", i);
	is_u64(mapping_notes__text(notes, 31, text), NOTES_OF_ONE,
	       "no more than there is room for");
	for (uint64_t i = 0; i < NOTES_MOST; i++)
		map(notes, 32, 0x1000, 0x1000, "/bin/last", i);
	is_u64(mapping_notes__text(notes, 10, text), 0, "the oldest are forgotten");
	is_u64(mapping_notes__text(notes, 32, text), 1, "the newest are not");
}

/* What the kernel says of a program that is over before anybody looks. */
static void check_kernel(void)
{
	struct mapping_notes *notes = mapping_notes__new();
	pid_t pid = fork();

	if (!pid) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
	mapping_notes__take(notes);
	if (!mapping_notes__parent(notes, (uint32_t)pid)) {
		ok(true, "a program that has ended # SKIP perf_event_open takes CAP_PERFMON");
	} else {
		is_u64(mapping_notes__parent(notes, (uint32_t)pid), (uint64_t)getpid(),
		       "its parent");
		mapping_notes__text(notes, (uint32_t)pid, text);
		ok(strstr(text, "/true\n"), "a program that has ended");
		ok(strstr(text, "/libc"), "with its library");
	}
	mapping_notes__free(notes);
}

int main(void)
{
	struct mapping_notes *notes = mapping_notes__new();

	check_order(notes);
	check_over(notes);
	check_bounds(notes);
	mapping_notes__free(notes);
	check_kernel();
	return done_testing();
}
