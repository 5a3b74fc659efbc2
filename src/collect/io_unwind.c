/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_unwind.c: hands the programs what they unwind user stacks with: mappings of the processes that
 * do I/O, and the tables of their files. A process is published within some 20 ms of its first I/O;
 * its stacks before that are taken by frame pointers. All tables are mapped: this needs no
 * privilege. Tables are never removed; a file that finds the pool full has none.
 */
#include "collect/io_inside.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "base/clock.h"
#include "base/log.h"
#include "bpf/io.skel.h"
#include "symbol/symbols.h"
#include "wire/unwind.h"

/* A process whose mappings change, or that runs code without a file, asks again and again. */
static const uint64_t unwind_first_pause_ns = 50000000, unwind_last_pause_ns = 5000000000;

struct io_unwind {
	struct io_table rows, rules, index, processes, maps, wanted;
	uint32_t nr_rows, nr_rules, nr_index;
	struct {
		bool is_fetched;
		uint32_t first, nr;
		uint32_t index, nr_index, index_base;
	} files[UNWIND_FILES];
	struct {
		uint64_t published_ns, pause_ns;
		bool keeps_fp;
	} cells[UNWIND_PROCESSES];
	/* for the note at the end */
	uint64_t nr_by_fp, nr_by_tables, nr_files, nr_no_room;
	struct symbols_unwind found;
};

/* ---- before the programs are loaded ---- */

int io_size_unwind(const struct io *io)
{
	struct io_bpf *s = io->skel;
	struct bpf_map *const maps[] = {
		s->maps.unwind_rows,   s->maps.unwind_rules, s->maps.unwind_index,
		s->maps.unwind_maps,   s->maps.io_unwound,   s->maps.unwind_processes,
		s->maps.unwind_wanted, s->maps.unwind_walks,
	};
	const uint32_t sizes[] = { UNWIND_POOL_ROWS, UNWIND_POOL_RULES, UNWIND_POOL_INDEX,
				   UNWIND_PROCESSES * UNWIND_MAPS, IO_MAX_STACKS };
	int err = 0;

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		if (!io_knows_bios(io)) /* no program that takes stacks is loaded */
			err = err ?: bpf_map__set_autocreate(maps[i], false);
		else if (i < sizeof(sizes) / sizeof(sizes[0]) && io_unwinds(io))
			err = err ?: bpf_map__set_max_entries(maps[i], sizes[i]);
	return err;
}

int io_map_unwind(struct io *io)
{
	struct io_bpf *s = io->skel;
	struct io_unwind *u;
	int err;

	if (!io_unwinds(io))
		return 0;
	io->unwind = u = calloc(1, sizeof(*u));
	if (!u)
		return log_err(-ENOMEM, "out of memory");
	u->nr_rules = 1; /* the first one is UNWIND_NOTHING */
	err = io_map_own(&u->rows, s->maps.unwind_rows);
	err = err ?: io_map_own(&u->rules, s->maps.unwind_rules);
	err = err ?: io_map_own(&u->index, s->maps.unwind_index);
	err = err ?: io_map_own(&u->processes, s->maps.unwind_processes);
	err = err ?: io_map_own(&u->maps, s->maps.unwind_maps);
	return err ?: io_map_own(&u->wanted, s->maps.unwind_wanted);
}

void io_unmap_unwind(struct io *io)
{
	struct io_unwind *u = io->unwind;

	if (!u)
		return;
	io_unmap(&u->rows);
	io_unmap(&u->rules);
	io_unmap(&u->index);
	io_unmap(&u->processes);
	io_unmap(&u->maps);
	io_unmap(&u->wanted);
	free(u);
}

/* ---- tables of files ---- */

/* Rows ascend. Without room for an index all rows are searched. */
static void unwind_make_index(struct io_unwind *u, uint32_t file)
{
	const struct unwind_row *rows = (struct unwind_row *)u->rows.cells + u->files[file].first;
	struct unwind_span *index = (struct unwind_span *)u->index.cells + u->nr_index;
	uint32_t nr = u->files[file].nr, row = 0, base = rows[0].pc >> UNWIND_INDEX_SHIFT;
	uint32_t nr_index = (rows[nr - 1].pc >> UNWIND_INDEX_SHIFT) - base + 1;

	if (nr_index > UNWIND_POOL_INDEX - u->nr_index)
		return;
	for (uint32_t i = 0; i < nr_index; i++) {
		index[i].low = row;
		while (row < nr && (rows[row].pc >> UNWIND_INDEX_SHIFT) == base + i)
			row++;
		index[i].high = row;
	}
	u->files[file].index = u->nr_index;
	u->files[file].nr_index = nr_index;
	u->files[file].index_base = base;
	u->nr_index += nr_index;
}

/* Asks once for each file, whether that succeeds or not. */
static void unwind_fetch(struct io_unwind *u, struct symbols *symbols, uint32_t file)
{
	struct unwind_row *rows = u->rows.cells;
	struct unwind_rule *rules = u->rules.cells;
	uint32_t nr_rows, nr_rules;

	u->files[file].is_fetched = true;
	if (!symbols__unwind_size(symbols, file, &nr_rows, &nr_rules))
		return;
	if (nr_rows > UNWIND_POOL_ROWS - u->nr_rows || nr_rules > UNWIND_POOL_RULES - u->nr_rules) {
		u->nr_no_room++;
		return;
	}
	if (!symbols__unwind_copy(symbols, file, u->nr_rules, rows + u->nr_rows, nr_rows,
				  rules + u->nr_rules, nr_rules))
		return;
	u->files[file].first = u->nr_rows;
	u->files[file].nr = nr_rows;
	u->nr_rows += nr_rows;
	u->nr_rules += nr_rules;
	u->nr_files++;
	if (nr_rows)
		unwind_make_index(u, file);
}

static struct unwind_map unwind_map(struct io_unwind *u, struct symbols *symbols,
				    const struct symbols_unwind_map *from)
{
	struct unwind_map map = { from->start, from->end, from->vaddr, .first = UNWIND_BY_FP };

	if (from->file == UNWIND_FILE_VDSO)
		map.first = UNWIND_VDSO;
	if (from->file >= UNWIND_FILES)
		return map;
	if (!u->files[from->file].is_fetched)
		unwind_fetch(u, symbols, from->file);
	map.nr_rows = u->files[from->file].nr;
	map.first = map.nr_rows ? u->files[from->file].first : UNWIND_NO_ROOM;
	map.index = u->files[from->file].index;
	map.nr_index = u->files[from->file].nr_index;
	map.index_base = u->files[from->file].index_base;
	return map;
}

/* ---- processes ---- */

static struct unwind_process *unwind_find(const struct io_unwind *u, uint32_t pid, uint32_t *cell)
{
	struct unwind_process *processes = u->processes.cells;

	for (uint32_t i = 0; i < UNWIND_PROBES; i++) {
		*cell = (unwind_cell(pid) + i) & (UNWIND_PROCESSES - 1);
		if (processes[*cell].pid == pid)
			return &processes[*cell];
	}
	return NULL;
}

/* Its own cell, else a free one, else that of the process that was published first. */
static struct unwind_process *unwind_place(const struct io_unwind *u, uint32_t pid, uint32_t *cell)
{
	struct unwind_process *processes = u->processes.cells, *own = unwind_find(u, pid, cell);

	if (own)
		return own;
	*cell = unwind_cell(pid) & (UNWIND_PROCESSES - 1);
	for (uint32_t i = 1; i < UNWIND_PROBES; i++) {
		uint32_t at = (unwind_cell(pid) + i) & (UNWIND_PROCESSES - 1);

		if (u->cells[at].published_ns < u->cells[*cell].published_ns)
			*cell = at;
	}
	return &processes[*cell];
}

/* Where nothing changes, the same process is published less and less often. */
static bool unwind_is_due(struct io_unwind *u, uint32_t cell, bool is_same)
{
	uint64_t now = clock__mono_ns(), *pause = &u->cells[cell].pause_ns;

	if (is_same && now - u->cells[cell].published_ns < *pause)
		return false;
	*pause = !is_same			     ? unwind_first_pause_ns
		 : 2 * *pause < unwind_last_pause_ns ? 2 * *pause
						     : unwind_last_pause_ns;
	u->cells[cell].published_ns = now;
	return true;
}

static void unwind_write(struct io_unwind *u, struct symbols *symbols, uint32_t cell, bool by_fp)
{
	struct unwind_map *maps = (struct unwind_map *)u->maps.cells + cell * UNWIND_MAPS;

	for (uint32_t i = 0; i < u->found.nr && !by_fp; i++)
		maps[i] = unwind_map(u, symbols, &u->found.maps[i]);
}

static void unwind_publish(struct io *io, struct symbols *symbols,
			   const struct unwind_wanted *wanted)
{
	struct io_unwind *u = io->unwind;
	uint32_t cell;
	struct unwind_process *process = unwind_place(u, wanted->pid, &cell);
	bool is_same = process->pid == wanted->pid && process->image == wanted->image, by_fp;

	if (!unwind_is_due(u, cell, is_same) ||
	    !symbols__unwind(symbols, &(struct symbols_process){ .pid = wanted->pid }, &u->found))
		return;
	u->cells[cell].keeps_fp = u->found.by_fp;
	by_fp = io->wants.unwind == IO_UNWIND_AUTO && u->found.by_fp;
	u->nr_by_fp += by_fp && !is_same;
	u->nr_by_tables += !by_fp && !is_same;
	__atomic_fetch_add(&process->version, 1, __ATOMIC_SEQ_CST);
	process->pid = wanted->pid;
	process->image = wanted->image;
	process->by_fp = by_fp;
	unwind_write(u, symbols, cell, by_fp);
	process->nr_maps = u->found.nr;
	__atomic_fetch_add(&process->version, 1, __ATOMIC_SEQ_CST);
}

void io__unwind_first(struct io *io, struct symbols *symbols)
{
	struct io_unwind *u = io->unwind;

	if (!u ||
	    !symbols__unwind(symbols, &(struct symbols_process){ .pid = (uint32_t)getpid() },
			     &u->found) ||
	    (u->found.by_fp && io->wants.unwind == IO_UNWIND_AUTO))
		return;
	for (uint32_t i = 0; i < u->found.nr; i++)
		unwind_map(u, symbols, &u->found.maps[i]);
}

void io__unwind(struct io *io, struct symbols *symbols)
{
	struct unwind_wanted *wanted = io->unwind ? io->unwind->wanted.cells : NULL;

	for (uint32_t i = 0; wanted && i < UNWIND_WANTED; i++) {
		struct unwind_wanted one;

		one.pid = __atomic_load_n(&wanted[i].pid, __ATOMIC_ACQUIRE);
		if (!one.pid)
			continue;
		one.image = wanted[i].image;
		unwind_publish(io, symbols, &one);
		__atomic_store_n(&wanted[i].pid, 0, __ATOMIC_RELEASE);
	}
}

bool io__lacks_frame_pointers(const struct io *io, uint32_t pid)
{
	uint32_t cell;

	return io->unwind && unwind_find(io->unwind, pid, &cell) &&
	       !io->unwind->cells[cell].keeps_fp;
}

void io__tell_unwind(const struct io *io)
{
	const struct io_unwind *u = io->unwind;

	if (!u || !(u->nr_by_fp + u->nr_by_tables))
		return;
	log_note("user stacks: %" PRIu64 " processes by frame pointers, %" PRIu64
		 " by tables of %" PRIu64 " files (.eh_frame)",
		 u->nr_by_fp, u->nr_by_tables, u->nr_files);
	if (u->nr_no_room)
		log_note("%" PRIu64 " files have no table: there was room for %d rows",
			 u->nr_no_room, UNWIND_POOL_ROWS);
}
