/* SPDX-License-Identifier: BSD-2-Clause */
/* unwind_shared.c: the maps of an object that unwinds: their sizes, and their cells mapped. */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "base/log.h"
#include "collect/kernel.h"
#include "collect/unwind.h"
#include "wire/io_tables.h"

#define SHARED(member) offsetof(struct unwind_shared, member)
enum { SHARED_NOT_MAPPED = 1 };

static const struct shared_map {
	const char *name;
	uint32_t entries; /* 0: as the object says */
	size_t at;	  /* of the pointer to its cells */
} shared_maps[] = {
	{ "unwind_rows", UNWIND_POOL_ROWS, SHARED(rows) },
	{ "unwind_rules", UNWIND_POOL_RULES, SHARED(rules) },
	{ "unwind_index", UNWIND_POOL_INDEX, SHARED(index) },
	{ "unwind_maps", UNWIND_PROCESSES *UNWIND_MAPS, SHARED(maps) },
	{ "unwind_processes", 0, SHARED(processes) },
	{ "unwind_mapped", UNWIND_MAPPED, SHARED(mapped) },
	{ "unwind_epoch", 0, SHARED(epoch) },
	{ "unwind_wanted", 0, SHARED(wanted) },
	{ "unwind_stacks", 0, SHARED(stacks) }, /* not in every object */
	{ "unwind_known", IO_MAX_STACKS, SHARED_NOT_MAPPED },
	{ "unwind_walks", 0, SHARED_NOT_MAPPED },
};
enum { NR_SHARED_MAPS = sizeof(shared_maps) / sizeof(shared_maps[0]) };
_Static_assert((int)NR_SHARED_MAPS == (int)UNWIND_SHARED_MAPS, "each has its size");

int unwind_shared__size(struct bpf_object *object)
{
	int err = 0;

	for (size_t i = 0; i < NR_SHARED_MAPS; i++)
		if (shared_maps[i].entries)
			err = err
				      ?: bpf_map__set_max_entries(
						 bpf_object__find_map_by_name(object,
									      shared_maps[i].name),
						 shared_maps[i].entries);
	return err;
}

static int shared_omit(struct bpf_map *map)
{
	return map ? bpf_map__set_autocreate(map, false) : 0;
}

int unwind_shared__omit(struct bpf_object *object)
{
	int err = 0;

	for (size_t i = 0; i < NR_SHARED_MAPS; i++)
		err = err ?: shared_omit(bpf_object__find_map_by_name(object, shared_maps[i].name));
	return err;
}

/* As the kernel has it without KASAN; the programs notice where it is not so. */
static uint32_t shared_task_bytes(void)
{
	long page = sysconf(_SC_PAGESIZE);

	return page > 16384 ? (uint32_t)page : 16384;
}

/* The stack is near the highest address: its bits are those of every address. */
static uint64_t shared_user_mask(void)
{
#ifdef __aarch64__
	int here;

	return ~0ULL >> __builtin_clzll((uint64_t)(uintptr_t)&here);
#else
	return ~0ULL;
#endif
}

void unwind_shared__set(struct io_settings *settings, const struct kernel *kernel)
{
	uint64_t seed = 0;

	settings->unwind = 1;
	settings->task_registers = kernel->has_task_registers;
	settings->task_bytes = shared_task_bytes();
	settings->page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
	settings->user_mask = shared_user_mask();
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) == sizeof(seed))
		settings->stack_seed = seed;
}

static size_t shared_bytes(const struct bpf_map *map)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = (size_t)bpf_map__value_size(map) * bpf_map__max_entries(map);

	return (bytes + page - 1) / page * page;
}

static void **shared_cells(struct unwind_shared *shared, const struct shared_map *map)
{
	return (void **)((char *)shared + map->at);
}

int unwind_shared__map(struct unwind_shared *shared, const struct bpf_object *object)
{
	memset(shared, 0, sizeof(*shared));
	for (size_t i = 0; i < NR_SHARED_MAPS; i++) {
		const struct bpf_map *map =
			bpf_object__find_map_by_name(object, shared_maps[i].name);
		void *cells;

		if (!map || shared_maps[i].at == SHARED_NOT_MAPPED)
			continue;
		cells = mmap(NULL, shared_bytes(map), PROT_READ | PROT_WRITE, MAP_SHARED,
			     bpf_map__fd(map), 0);
		if (cells == MAP_FAILED)
			return log_err(-errno, "cannot map %s: %s", shared_maps[i].name,
				       strerror(errno));
		*shared_cells(shared, &shared_maps[i]) = cells;
		shared->bytes[i] = shared_bytes(map);
	}
	shared->room_rows = UNWIND_POOL_ROWS;
	shared->room_rules = UNWIND_POOL_RULES;
	shared->room_index = UNWIND_POOL_INDEX;
	return 0;
}

void unwind_shared__unmap(struct unwind_shared *shared)
{
	for (size_t i = 0; i < NR_SHARED_MAPS; i++)
		if (shared->bytes[i])
			munmap(*shared_cells(shared, &shared_maps[i]), shared->bytes[i]);
	memset(shared, 0, sizeof(*shared));
}
