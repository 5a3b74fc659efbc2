/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/mapping_notes.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/compare.h"
#include "symbol/names.h"

enum {
	NOTES_PLACES = 1 << 12,	 /* places of the index by process */
	NOTES_LOOKED_AT = 1024,	 /* of one process, newest first */
	NOTES_GENERATIONS = 4,	 /* forks without an exec that are looked through */
	NOTES_RECORD_MAX = 8192, /* a record has a path of at most 4096 bytes */
};

/* 130 bytes a mapping, six to ten mappings a program: some 250 programs a CPU between two reads. */
static const size_t notes_ring_bytes = 256 << 10;

struct notes_ring {
	struct perf_event_mmap_page *page;
	const char *data;
};

struct mapping_notes {
	struct notes_ring *rings;
	size_t nr_rings;
	struct symbol_names paths;
	uint64_t nr;		       /* ever noted */
	uint64_t places[NOTES_PLACES]; /* number of the newest note in each, from 1 */
	struct mapping_note notes[NOTES_MOST];
};

/* ---- rings ---- */

static int notes_open_event(int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY, /* no samples, only side records */
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1, /* at the end of each record */
		.mmap = 1,
		.mmap2 = 1,
		.task = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* The mapping alone keeps the event open. */
static bool notes_open_ring(struct notes_ring *ring, int cpu)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = notes_open_event(cpu);

	if (fd < 0)
		return false;
	ring->page = mmap(NULL, page + notes_ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (ring->page == MAP_FAILED)
		return false;
	ring->data = (const char *)ring->page + page;
	return true;
}

struct mapping_notes *mapping_notes__new(void)
{
	struct mapping_notes *notes = calloc(1, sizeof(*notes));
	long nr_cpus = sysconf(_SC_NPROCESSORS_CONF);

	if (!notes)
		return NULL;
	notes->rings = calloc(nr_cpus > 0 ? (size_t)nr_cpus : 1, sizeof(*notes->rings));
	for (int cpu = 0; notes->rings && cpu < nr_cpus; cpu++)
		notes->nr_rings += notes_open_ring(&notes->rings[notes->nr_rings], cpu);
	return notes;
}

void mapping_notes__free(struct mapping_notes *notes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (!notes)
		return;
	for (size_t i = 0; i < notes->nr_rings; i++)
		munmap(notes->rings[i].page, page + notes_ring_bytes);
	free(notes->rings);
	symbol_names__free(&notes->paths);
	free(notes);
}

/* ---- records ---- */

struct notes_mmap2 {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t prot, flags;
	char path[];
};

struct notes_fork {
	struct perf_event_header header;
	uint32_t pid, parent;
};

static size_t notes_place(uint32_t pid)
{
	return pid * 0x9e3779b1u >> 20 & (NOTES_PLACES - 1);
}

static void notes_keep(struct mapping_notes *notes, struct mapping_note note)
{
	uint64_t *newest = &notes->places[notes_place(note.pid)];

	note.before = *newest;
	notes->notes[notes->nr % NOTES_MOST] = note;
	*newest = ++notes->nr;
}

/* The time follows the other fields of a record. */
static uint64_t notes_time(const struct perf_event_header *header)
{
	uint64_t time_ns;

	memcpy(&time_ns, (const char *)header + header->size - sizeof(time_ns), sizeof(time_ns));
	return time_ns;
}

static void notes_add_mapping(struct mapping_notes *notes, const struct notes_mmap2 *r)
{
	const size_t room = r->header.size - offsetof(struct notes_mmap2, path) - sizeof(uint64_t);
	const char *path = "";

	if (!r->len || r->addr + r->len < r->addr || !memchr(r->path, '\0', room))
		return;
	if (strncmp(r->path, "//", 2)) /* what perf calls memory without a file */
		path = symbol_names__keep(&notes->paths, r->path);
	if (path)
		notes_keep(notes, (struct mapping_note){ .start = r->addr,
							 .end = r->addr + r->len,
							 .offset = r->pgoff,
							 .inode = r->inode,
							 .path = path,
							 .pid = r->pid,
							 .time_ns = notes_time(&r->header) });
}

static void notes_add_fork(struct mapping_notes *notes, const struct notes_fork *r)
{
	if (r->pid != r->parent) /* else a thread */
		notes_keep(notes, (struct mapping_note){ .pid = r->pid,
							 .parent = r->parent,
							 .time_ns = notes_time(&r->header) });
}

static void notes_add_record(struct mapping_notes *notes, const struct perf_event_header *header)
{
	switch (header->type) {
	case PERF_RECORD_MMAP2:
		if (header->size > sizeof(struct notes_mmap2) + sizeof(uint64_t))
			notes_add_mapping(notes, (const void *)header);
		break;
	case PERF_RECORD_FORK:
		if (header->size >= sizeof(struct notes_fork) + sizeof(uint64_t))
			notes_add_fork(notes, (const void *)header);
		break;
	default: break;
	}
}

/* Copied: a record may begin at the ring's end and go on at its start. */
static size_t notes_copy(const char *data, uint64_t at, size_t size, char *to)
{
	const size_t from = at & (notes_ring_bytes - 1), first = notes_ring_bytes - from;

	memcpy(to, data + from, size < first ? size : first);
	if (size > first)
		memcpy(to + first, data, size - first);
	return size;
}

static void notes_take_ring(struct mapping_notes *notes, const struct notes_ring *ring)
{
	_Alignas(8) char record[NOTES_RECORD_MAX];
	const struct perf_event_header *header = (const void *)record;
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->page->data_tail;

	while (head - tail >= sizeof(*header)) {
		notes_copy(ring->data, tail, sizeof(*header), record);
		if (header->size < sizeof(*header) || header->size > head - tail)
			break; /* not the kernel's */
		if (header->size <= sizeof(record)) {
			notes_copy(ring->data, tail, header->size, record);
			notes_add_record(notes, header);
		}
		tail += header->size;
	}
	__atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
}

void mapping_notes__take(struct mapping_notes *notes)
{
	for (size_t i = 0; i < notes->nr_rings; i++)
		notes_take_ring(notes, &notes->rings[i]);
}

void mapping_notes__add(struct mapping_notes *notes, const void *records, size_t size)
{
	const char *at = records;

	while (size >= sizeof(struct perf_event_header)) {
		const struct perf_event_header *header = (const void *)at;

		if (header->size < sizeof(*header) || header->size > size)
			return;
		notes_add_record(notes, header);
		at += header->size;
		size -= header->size;
	}
}

/* ---- questions ---- */

static int notes_by_age(const void *a, const void *b)
{
	const struct mapping_note *x = *(const struct mapping_note *const *)a;
	const struct mapping_note *y = *(const struct mapping_note *const *)b;

	return COMPARE(y->time_ns, x->time_ns);
}

/* All notes of this process, newest first: it moves between CPUs; rings are read one by one. */
static size_t notes_of(const struct mapping_notes *notes, uint32_t pid,
		       const struct mapping_note *found[NOTES_LOOKED_AT])
{
	uint64_t number = notes->places[notes_place(pid)];
	size_t nr = 0;

	while (number && number + NOTES_MOST > notes->nr && nr < NOTES_LOOKED_AT) {
		const struct mapping_note *note = &notes->notes[(number - 1) % NOTES_MOST];

		if (note->pid == pid)
			found[nr++] = note;
		number = note->before;
	}
	if (nr)
		qsort(found, nr, sizeof(found[0]), notes_by_age);
	return nr;
}

struct notes_list {
	const struct mapping_note *notes[NOTES_OF_ONE];
	size_t nr;
};

/* A newer mapping replaces older ones at its addresses. */
static void notes_list_add(struct notes_list *list, const struct mapping_note *note)
{
	for (size_t i = 0; i < list->nr; i++)
		if (note->start < list->notes[i]->end && list->notes[i]->start < note->end)
			return;
	if (list->nr < NOTES_OF_ONE)
		list->notes[list->nr++] = note;
}

/* Returns the pid that forked it; 0: unknown. Older notes are of another process with this pid. */
static uint32_t notes_list_process(const struct mapping_notes *notes, uint32_t pid,
				   struct notes_list *list)
{
	const struct mapping_note *found[NOTES_LOOKED_AT];
	size_t nr = notes_of(notes, pid, found);

	for (size_t i = 0; i < nr; i++) {
		if (found[i]->parent)
			return found[i]->parent;
		notes_list_add(list, found[i]);
	}
	return 0;
}

static int notes_by_address(const void *a, const void *b)
{
	const struct mapping_note *x = *(const struct mapping_note *const *)a;
	const struct mapping_note *y = *(const struct mapping_note *const *)b;

	return COMPARE(x->start, y->start);
}

/* As the kernel writes it there; a line break in a name stays one character. */
static size_t notes_line(const struct mapping_note *note, char *text, size_t room)
{
	int len = snprintf(text, room,
			   "%" PRIx64 "-%" PRIx64 " r-xp %" PRIx64 " 00:00 %" PRIu64 " %s\n",
			   note->start, note->end, note->offset, note->inode, note->path);

	if (len < 0 || (size_t)len >= room)
		return 0;
	for (int i = 0; i < len - 1; i++)
		if (text[i] == '\n')
			text[i] = '?';
	return (size_t)len;
}

size_t mapping_notes__text(const struct mapping_notes *notes, uint32_t pid, char text[NOTES_TEXT])
{
	struct notes_list list = { .nr = 0 };
	size_t at = 0;

	for (int i = 0; pid && i < NOTES_GENERATIONS; i++)
		pid = notes_list_process(notes, pid, &list);
	qsort(list.notes, list.nr, sizeof(list.notes[0]), notes_by_address);
	for (size_t i = 0; i < list.nr; i++)
		at += notes_line(list.notes[i], text + at, NOTES_TEXT - 1 - at);
	text[at] = '\0';
	return list.nr;
}

/* The end of a file is often unmapped, or mapped again, after its first mapping was noted. */
const struct mapping_note *mapping_notes__find(const struct mapping_notes *notes, uint32_t pid,
					       uint64_t start, uint64_t end, uint64_t inode)
{
	struct notes_list list = { .nr = 0 };

	for (int i = 0; pid && i < NOTES_GENERATIONS; i++)
		pid = notes_list_process(notes, pid, &list);
	for (size_t i = 0; i < list.nr; i++)
		if (list.notes[i]->start <= start && list.notes[i]->end >= end &&
		    list.notes[i]->inode == inode)
			return list.notes[i];
	return NULL;
}

uint32_t mapping_notes__parent(const struct mapping_notes *notes, uint32_t pid)
{
	struct notes_list list = { .nr = 0 };

	return notes_list_process(notes, pid, &list);
}
