/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/unwind.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/log.h"
#include "symbol/symbols.h"

/* A process whose mappings change, or that runs code without a file, asks again and again. */
static const uint64_t unwind_first_pause_ns = 50000000, unwind_last_pause_ns = 5000000000;
/* All tables are read again when there is no room for another; where that does not help, less and
 * less often. */
static const uint64_t unwind_clear_pause_ns = 10000000000;
enum { UNWIND_CLEAR_DOUBLES = 6 };

struct unwinder {
	struct unwind_shared shared;
	enum unwind_how how;
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
	uint64_t nr_by_fp, nr_by_tables, nr_files, nr_no_room, nr_cleared;
	uint64_t cleared_ns, clear_pause_ns;
	bool is_full;
	struct symbols_unwind found;
};

struct unwinder *unwinder__new(const struct unwind_shared *shared, enum unwind_how how)
{
	struct unwinder *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->shared = *shared;
	u->how = how;
	u->nr_rules = 1; /* the first one is UNWIND_NOTHING */
	return u;
}

void unwinder__free(struct unwinder *u)
{
	free(u);
}

/* ---- tables of files ---- */

/* Rows ascend. Without room for an index all rows are searched. */
static void unwind_make_index(struct unwinder *u, uint32_t file)
{
	const struct unwind_row *rows = u->shared.rows + u->files[file].first;
	struct unwind_span *index = u->shared.index + u->nr_index;
	uint32_t nr = u->files[file].nr, row = 0, base = rows[0].pc >> UNWIND_INDEX_SHIFT;
	uint32_t nr_index = (rows[nr - 1].pc >> UNWIND_INDEX_SHIFT) - base + 1;

	if (nr_index > u->shared.room_index - u->nr_index)
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
static void unwind_fetch(struct unwinder *u, struct symbols *symbols, uint32_t file)
{
	struct unwind_row *rows = u->shared.rows;
	struct unwind_rule *rules = u->shared.rules;
	uint32_t nr_rows, nr_rules;

	u->files[file].is_fetched = true;
	if (!symbols__unwind_size(symbols, file, &nr_rows, &nr_rules))
		return;
	if (nr_rows > u->shared.room_rows - u->nr_rows ||
	    nr_rules > u->shared.room_rules - u->nr_rules) {
		u->is_full = true;
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

/* Its own cell, else a free one, else the first. */
static struct unwind_mapped *unwind_place_mapped(struct unwinder *u,
						 const struct symbols_unwind_map *from)
{
	uint32_t cell = unwind_mapped_cell(from->inode, from->offset, from->dev);
	struct unwind_mapped *place = &u->shared.mapped[cell & (UNWIND_MAPPED - 1)];

	for (uint32_t i = 0; i < UNWIND_PROBES; i++) {
		struct unwind_mapped *m = &u->shared.mapped[(cell + i) & (UNWIND_MAPPED - 1)];

		if (m->is_there && m->inode == from->inode && m->offset == from->offset &&
		    m->dev == from->dev)
			return m;
		if (!m->is_there && place->is_there)
			place = m;
	}
	return place;
}

/* From now on also for processes that are not published. A program that reads the cell meanwhile
 * finds no file. */
static void unwind_keep_mapped(struct unwinder *u, const struct symbols_unwind_map *from,
			       const struct unwind_map *map)
{
	struct unwind_mapped *m = unwind_place_mapped(u, from);
	struct unwind_mapped one = { from->inode, from->offset, from->changed_s, from->changed_ns,
				     from->dev,	  *map,		.is_there = 1 };

	if (m->is_there && m->changed_s == one.changed_s && m->changed_ns == one.changed_ns)
		return;
	__atomic_store_n(&m->is_there, 0, __ATOMIC_SEQ_CST);
	one.is_there = 0;
	*m = one;
	__atomic_store_n(&m->is_there, 1, __ATOMIC_SEQ_CST);
}

static struct unwind_map unwind_map(struct unwinder *u, struct symbols *symbols,
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
	if (map.nr_rows)
		unwind_keep_mapped(u, from, &map);
	return map;
}

/* Programs that are under way notice it. Who asks again is published again. */
static void unwind_clear(struct unwinder *u, struct symbols *symbols)
{
	struct unwind_process *processes = u->shared.processes;
	uint64_t now = clock__mono_ns();

	u->is_full = false;
	if (u->cleared_ns && now - u->cleared_ns < u->clear_pause_ns)
		return;
	if (!symbols__unwind_forget(symbols))
		return;
	u->clear_pause_ns =
		unwind_clear_pause_ns
		<< (u->nr_cleared < UNWIND_CLEAR_DOUBLES ? u->nr_cleared : UNWIND_CLEAR_DOUBLES);
	u->cleared_ns = now;
	u->nr_no_room = 0;
	u->nr_cleared++;
	__atomic_fetch_add(&u->shared.epoch->version, 1, __ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < UNWIND_PROCESSES; i++) {
		__atomic_fetch_add(&processes[i].version, 2, __ATOMIC_SEQ_CST);
		processes[i].pid = 0;
	}
	for (uint32_t i = 0; i < UNWIND_MAPPED; i++)
		u->shared.mapped[i].is_there = 0;
	memset(u->files, 0, sizeof(u->files));
	memset(u->cells, 0, sizeof(u->cells));
	u->nr_rows = u->nr_index = 0;
	u->nr_rules = 1;
	__atomic_fetch_add(&u->shared.epoch->version, 1, __ATOMIC_SEQ_CST);
}

/* ---- processes ---- */

static struct unwind_process *unwind_find(const struct unwinder *u, uint32_t pid, uint32_t *cell)
{
	struct unwind_process *processes = u->shared.processes;

	for (uint32_t i = 0; i < UNWIND_PROBES; i++) {
		*cell = (unwind_cell(pid) + i) & (UNWIND_PROCESSES - 1);
		if (processes[*cell].pid == pid)
			return &processes[*cell];
	}
	return NULL;
}

/* Its own cell, else a free one, else that of the process that was published first. */
static struct unwind_process *unwind_place(const struct unwinder *u, uint32_t pid, uint32_t *cell)
{
	struct unwind_process *processes = u->shared.processes, *own = unwind_find(u, pid, cell);

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
static bool unwind_is_due(struct unwinder *u, uint32_t cell, bool is_same)
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

static void unwind_write(struct unwinder *u, struct symbols *symbols, uint32_t cell, bool by_fp)
{
	struct unwind_map *maps = u->shared.maps + cell * UNWIND_MAPS;

	for (uint32_t i = 0; i < u->found.nr && !by_fp; i++)
		maps[i] = unwind_map(u, symbols, &u->found.maps[i]);
}

static void unwind_publish(struct unwinder *u, struct symbols *symbols,
			   const struct unwind_wanted *wanted)
{
	uint32_t cell;
	struct unwind_process *process = unwind_place(u, wanted->pid, &cell);
	bool is_same = process->pid == wanted->pid && process->image == wanted->image, by_fp;

	if (!unwind_is_due(u, cell, is_same) ||
	    !symbols__unwind(symbols, &(struct symbols_process){ .pid = wanted->pid }, &u->found))
		return;
	u->cells[cell].keeps_fp = u->found.by_fp;
	by_fp = u->how == UNWIND_HOW_AUTO && u->found.by_fp;
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

void unwinder__first(struct unwinder *u, struct symbols *symbols)
{
	if (!u ||
	    !symbols__unwind(symbols, &(struct symbols_process){ .pid = (uint32_t)getpid() },
			     &u->found) ||
	    (u->found.by_fp && u->how == UNWIND_HOW_AUTO))
		return;
	for (uint32_t i = 0; i < u->found.nr; i++)
		unwind_map(u, symbols, &u->found.maps[i]);
}

void unwinder__publish(struct unwinder *u, struct symbols *symbols)
{
	struct unwind_wanted *wanted = u ? u->shared.wanted : NULL;

	for (uint32_t i = 0; wanted && i < UNWIND_WANTED; i++) {
		struct unwind_wanted one = { 0 };

		one.pid = __atomic_load_n(&wanted[i].pid, __ATOMIC_ACQUIRE);
		if (!one.pid)
			continue;
		one.image = wanted[i].image;
		unwind_publish(u, symbols, &one);
		__atomic_store_n(&wanted[i].pid, 0, __ATOMIC_RELEASE);
	}
	if (u && u->is_full)
		unwind_clear(u, symbols);
}

bool unwinder__is_cut_by_fp(const struct unwinder *u, uint32_t pid)
{
	uint32_t cell;

	return u && (u->how == UNWIND_HOW_DWARF ||
		     (unwind_find(u, pid, &cell) && !u->cells[cell].keeps_fp));
}

void unwinder__tell(const struct unwinder *u)
{
	if (!u || !(u->nr_by_fp + u->nr_by_tables))
		return;
	log_note("user stacks: %" PRIu64 " processes by frame pointers, %" PRIu64
		 " by tables of %" PRIu64 " files (.eh_frame)",
		 u->nr_by_fp, u->nr_by_tables, u->nr_files);
	if (u->nr_cleared)
		log_note("tables of all files were dropped and read again %" PRIu64
			 " times: there was room for %" PRIu32 " rows",
			 u->nr_cleared, u->shared.room_rows);
	if (u->nr_no_room)
		log_note("%" PRIu64 " files have no table: there was room for %" PRIu32 " rows",
			 u->nr_no_room, u->shared.room_rows);
}
