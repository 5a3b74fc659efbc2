/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwind_publish.c: is what the programs find of a process right, and does a pool that is full get
 * empty again? The tables are plain memory here; the process is this one.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "collect/unwind.h"
#include "symbol/symbols.h"
#include "tap.h"

enum { IMAGE = 4711, NO_ROOM_ROWS = 16 };

static struct unwind_shared made(uint32_t room_rows)
{
	return (struct unwind_shared){
		.rows = calloc(room_rows, sizeof(struct unwind_row)),
		.rules = calloc(UNWIND_POOL_RULES, sizeof(struct unwind_rule)),
		.index = calloc(UNWIND_POOL_INDEX, sizeof(struct unwind_span)),
		.processes = calloc(UNWIND_PROCESSES, sizeof(struct unwind_process)),
		.maps = calloc(UNWIND_PROCESSES * UNWIND_MAPS, sizeof(struct unwind_map)),
		.wanted = calloc(UNWIND_WANTED, sizeof(struct unwind_wanted)),
		.mapped = calloc(UNWIND_MAPPED, sizeof(struct unwind_mapped)),
		.epoch = calloc(1, sizeof(struct unwind_epoch)),
		.room_rows = room_rows,
		.room_rules = UNWIND_POOL_RULES,
		.room_index = UNWIND_POOL_INDEX,
	};
}

static void unmade(struct unwind_shared *shared)
{
	free(shared->rows);
	free(shared->rules);
	free(shared->index);
	free(shared->processes);
	free(shared->maps);
	free(shared->wanted);
	free(shared->mapped);
	free(shared->epoch);
}

static void ask(struct unwind_shared *shared)
{
	shared->wanted[3] = (struct unwind_wanted){ IMAGE, (uint32_t)getpid() };
}

static const struct unwind_map *find_map(const struct unwind_shared *shared, uint64_t addr)
{
	for (uint32_t cell = 0; cell < UNWIND_PROCESSES; cell++) {
		const struct unwind_process *p = &shared->processes[cell];
		const struct unwind_map *maps = &shared->maps[cell * UNWIND_MAPS];

		for (uint32_t i = 0; p->pid == (uint32_t)getpid() && i < p->nr_maps; i++)
			if (maps[i].start <= addr && addr < maps[i].end)
				return &maps[i];
	}
	return NULL;
}

/* As a program looks for it that knows the inode. */
static const struct unwind_mapped *find_mapped(const struct unwind_shared *shared, uint64_t offset)
{
	struct stat status;
	uint32_t dev, cell;

	if (stat("/proc/self/exe", &status))
		return NULL;
	dev = major(status.st_dev) << 20 | minor(status.st_dev);
	cell = unwind_mapped_cell(status.st_ino, offset, dev);
	for (uint32_t i = 0; i < UNWIND_PROBES; i++) {
		const struct unwind_mapped *m = &shared->mapped[(cell + i) & (UNWIND_MAPPED - 1)];

		if (m->is_there && m->inode == status.st_ino && m->offset == offset &&
		    m->dev == dev && m->changed_s == status.st_ctim.tv_sec &&
		    m->changed_ns == (uint32_t)status.st_ctim.tv_nsec)
			return m;
	}
	return NULL;
}

static uint64_t nr_mapped(const struct unwind_shared *shared)
{
	uint64_t nr = 0;

	for (uint32_t i = 0; i < UNWIND_MAPPED; i++)
		nr += shared->mapped[i].is_there;
	return nr;
}

static void test_publish(struct symbols *symbols)
{
	struct unwind_shared shared = made(UNWIND_POOL_ROWS);
	struct unwinder *unwinder = unwinder__new(&shared, UNWIND_HOW_DWARF);
	const struct unwind_map *map;
	const struct unwind_mapped *mapped = NULL;
	static struct symbols_unwind u;
	uint64_t here = (uint64_t)(uintptr_t)test_publish;

	ask(&shared);
	unwinder__publish(unwinder, symbols);
	map = find_map(&shared, here);
	ok(map && map->nr_rows, "this program has rows");
	symbols__unwind(symbols, &(struct symbols_process){ .pid = (uint32_t)getpid() }, &u);
	for (uint32_t i = 0; i < u.nr; i++)
		if (u.maps[i].start <= here && here < u.maps[i].end)
			mapped = find_mapped(&shared, u.maps[i].offset);
	ok(mapped, "its file is known by itself");
	if (mapped && map)
		ok(mapped->map.first == map->first && mapped->map.nr_rows == map->nr_rows &&
			   mapped->map.vaddr == map->vaddr,
		   "with the same rows");
	unwinder__free(unwinder);
	unmade(&shared);
	symbols__unwind_forget(symbols);
}

/* A stack by frame pointers: all of them may lack a frame if tables were asked for. */
static void test_cut(struct symbols *symbols)
{
	struct unwind_shared shared = made(UNWIND_POOL_ROWS);
	struct unwinder *by_tables = unwinder__new(&shared, UNWIND_HOW_DWARF),
			*as_it_is = unwinder__new(&shared, UNWIND_HOW_AUTO);
	static struct symbols_unwind u;
	uint32_t self = (uint32_t)getpid();

	symbols__unwind(symbols, &(struct symbols_process){ .pid = self }, &u);
	ok(!unwinder__is_cut_by_fp(NULL, self), "nobody unwinds: it is as the kernel took it");
	ok(unwinder__is_cut_by_fp(by_tables, self),
	   "dwarf, a process that is not known: it may be");
	ok(!unwinder__is_cut_by_fp(as_it_is, self), "auto, the same: nothing is known");
	ask(&shared);
	unwinder__publish(as_it_is, symbols);
	ok(unwinder__is_cut_by_fp(as_it_is, self) == !u.by_fp,
	   "auto: if it keeps no frame pointers");
	ok(unwinder__is_cut_by_fp(by_tables, self), "dwarf: always");
	unwinder__free(by_tables);
	unwinder__free(as_it_is);
	unmade(&shared);
	symbols__unwind_forget(symbols);
}

/* Who asks again gets what there is room for. */
static void test_full(struct symbols *symbols)
{
	struct unwind_shared shared = made(UNWIND_POOL_ROWS);
	struct unwinder *unwinder;
	uint64_t here = (uint64_t)(uintptr_t)test_full;
	uint32_t version;

	shared.room_rows = NO_ROOM_ROWS;
	unwinder = unwinder__new(&shared, UNWIND_HOW_DWARF);
	ask(&shared);
	unwinder__publish(unwinder, symbols);
	version = shared.epoch->version;
	is_u64(version, 2, "the pool was full: it is empty");
	is_u64(nr_mapped(&shared), 0, "no file is known");
	ok(!find_map(&shared, here), "no process is, either");
	ask(&shared);
	unwinder__publish(unwinder, symbols);
	ok(find_map(&shared, here), "who asks again is published again");
	is_u64(shared.epoch->version, version, "it is not emptied at once again");
	unwinder__free(unwinder);
	unmade(&shared);
}

int main(void)
{
	struct symbols *symbols = symbols__new("");

	symbols__prepare_user(symbols);
	test_publish(symbols);
	test_cut(symbols);
	test_full(symbols);
	symbols__free(symbols);
	return done_testing();
}
