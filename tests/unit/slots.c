/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slots.c: is every command counted once, whatever its request went through? Cells are plain memory
 * here. The second instrument is a model of the programs that keeps its own books per request:
 * after every step of a long random walk the table must say what the books say.
 */
#include <stdlib.h>
#include "collect/slots.h"
#include "draw.h"
#include "tap.h"

enum {
	NR_CELLS = 64,
	NR_REQUESTS = 24,
	NR_STEPS = 200000,
};

static const uint64_t ms = 1000000, second = 1000000000;
static struct io_slot cells[NR_CELLS];
static struct slot_table table;
static struct slot_counts counts;
static void begin(void)
{
	slot_table__free(&table);
	memset(cells, 0, sizeof(cells));
	if (slot_table__init(&table, cells, NR_CELLS))
		printf("Bail out! no memory\n");
}

static void scan(uint64_t now_ns)
{
	slot_table__scan(&table, now_ns, &counts, NULL);
}

static uint64_t address(uint32_t nr)
{
	return 0xffff000012340000ULL + nr * 0x180ULL;
}

/* Idle cells with a history, as many as make a sweep worth while. */
static void fill(uint32_t nr)
{
	begin();
	for (uint32_t i = 0; i < nr; i++)
		cells[i] = (struct io_slot){ .key = address(i), .first_ns = 1, .claim = 1 };
}

/* ---- scan ---- */

static void check_wrap(void)
{
	begin();
	cells[3] = (struct io_slot){ .key = address(0), .issued = 5, .completed = 5 };
	cells[9] = (struct io_slot){ .key = address(1), .issued = 2, .completed = 2 };
	scan(second);
	is_u64(table.issued, 7, "issued is the sum over the cells");
	cells[3].issued = cells[3].completed = UINT32_MAX;
	scan(second);
	is_u64(table.issued, 2 + (uint64_t)UINT32_MAX, "up to the last number before the wrap");
	cells[3].issued += 11; /* 10 */
	cells[3].completed += 11;
	scan(second);
	is_u64(table.issued, 13 + (uint64_t)UINT32_MAX, "issued goes on past 2^32");
	is_u64(table.completed, 13 + (uint64_t)UINT32_MAX, "and so does completed");
	for (int i = 0; i < 5; i++) {
		cells[9].issued += 1u << 31;
		scan(second);
	}
	is_u64(table.issued, 13 + (uint64_t)UINT32_MAX + (5ULL << 31), "a cell may wrap often");
	scan(second);
	is_u64(table.issued, 13 + (uint64_t)UINT32_MAX + (5ULL << 31), "nothing new, nothing more");
}

static void note_parked(void *arg, uint32_t nr, const struct io_slot *slot)
{
	(void)nr;
	*(uint64_t *)arg += slot->key;
}

static void check_state(enum io_state state, uint64_t in_flight, uint64_t parked, const char *what)
{
	uint64_t told = 0, now = 50 * second;

	begin();
	cells[7] = (struct io_slot){ .key = address(7), .first_ns = 3 * second, .state = state };
	slot_table__scan(&table, now, &counts,
			 &(struct slot_tells){ note_parked, note_parked, &told });
	ok(counts.used == 1 && counts.in_flight == in_flight && counts.parked == parked &&
		   counts.oldest_ns == (in_flight ? 3 * second : 0) &&
		   told == (parked || in_flight ? address(7) : 0),
	   "%s", what);
}

static void check_states(void)
{
	begin();
	scan(second);
	is_u64(counts.used + counts.in_flight + counts.parked + counts.oldest_ns, 0, "no cells");
	check_state(IO_IDLE, 0, 0, "idle: used, not in flight");
	check_state(IO_IGNORED, 0, 0, "ignored: not in flight");
	check_state(IO_OPEN, 1, 0, "open: in flight");
	check_state(IO_PARKED, 0, 1, "parked long ago: ended, and told");
	check_state(IO_RETRY, 1, 0, "waiting for another attempt: in flight");
	check_state(IO_REQUEUED, 1, 0, "handed back: in flight");
}

static void check_parked_at(uint64_t last_ns, bool ended, const char *what)
{
	uint64_t told = 0, now = 50 * second;

	begin();
	cells[0] = (struct io_slot){ .key = address(0), .first_ns = second, .state = IO_PARKED };
	cells[0].last_ns = last_ns;
	slot_table__scan(&table, now, &counts, &(struct slot_tells){ note_parked, NULL, &told });
	ok(counts.parked == ended && counts.in_flight == !ended && told == (ended ? address(0) : 0),
	   "%s", what);
	ok(slot_table__is_unsettled(&table, now) == !ended, "%s: %s", what,
	   ended ? "settled" : "not settled yet");
	cells[0].state = IO_RETRY;
	ok(!slot_table__is_unsettled(&table, now), "%s: another attempt is no question", what);
}

static void check_parked(void)
{
	check_parked_at(50 * second - 101 * ms, true, "an error 101 ms ago is the end");
	check_parked_at(50 * second - 100 * ms, false, "100 ms ago: a retry may still come");
	check_parked_at(50 * second, false, "just now: in flight");
	check_parked_at(50 * second + 1000, false, "during the scan, after its clock was read");
}

static void check_oldest(void)
{
	begin();
	for (uint32_t i = 0; i < 5; i++)
		cells[i] = (struct io_slot){ .key = address(i),
					     .first_ns = (9 - i) * second,
					     .state = IO_OPEN };
	cells[5] = (struct io_slot){ .key = address(5), .first_ns = 1 };
	scan(50 * second);
	is_u64(counts.oldest_ns, 5 * second, "the oldest of those in flight");
	is_u64(counts.used, 6, "used cells");
	is_u64(counts.in_flight, 5, "in flight");
}

/* ---- sweep ---- */

static uint64_t hidden(void)
{
	uint64_t nr = 0;

	for (int i = 0; i < NR_CELLS; i++)
		nr += cells[i].key > IO_TOMB && cells[i].key & IO_SWEEPING;
	return nr;
}

static void check_sweep_when(void)
{
	fill(NR_CELLS / 2);
	slot_table__sweep(&table, 60 * second, NR_CELLS / 2);
	is_u64(hidden(), 0, "half full: nothing is swept");
	fill(NR_CELLS / 2 + 1);
	cells[0].first_ns = 51 * second; /* 9 s ago */
	cells[1].state = IO_OPEN;
	cells[2].state = IO_PARKED;
	cells[3].state = IO_RETRY;
	cells[4].state = IO_REQUEUED;
	slot_table__sweep(&table, 60 * second, NR_CELLS / 2 + 1);
	is_u64(hidden(), NR_CELLS / 2 + 1 - 5, "more: what is idle for 10 s becomes unfindable");
	ok(!(cells[0].key & IO_SWEEPING), "not what was used 9 s ago");
	for (int i = 1; i < 5; i++)
		ok(!(cells[i].key & IO_SWEEPING), "nor what is in state %d", cells[i].state);
	scan(60 * second);
	is_u64(counts.used, NR_CELLS / 2 + 1, "a scan still sees what is being swept");
}

static void check_sweep_steps(void)
{
	uint64_t from = 60 * second;

	fill(40);
	for (int i = 0; i < 40; i++)
		cells[i].issued = cells[i].completed = 3;
	cells[50].claim = 3; /* two CPUs met here and both went on */
	cells[51] = (struct io_slot){ .key = IO_TOMB, .claim = 3 };
	scan(from);
	cells[8].issued = cells[8].completed = 5; /* two since the scan */
	slot_table__sweep(&table, from, 40);
	slot_table__sweep(&table, from + 99 * ms, 40);
	is_u64(hidden(), 40, "nothing is cleared within 100 ms");
	cells[7].state = IO_OPEN; /* by a program that had found it before the mark */
	cells[7].issued++;
	cells[9].issued++; /* opened and ended within the grace */
	cells[9].completed++;
	slot_table__sweep(&table, from + 100 * ms, 40);
	is_u64(hidden(), 0, "after that nothing stays hidden");
	is_u64(cells[7].key, address(7), "a cell opened meanwhile is given back");
	is_u64(cells[7].state, IO_OPEN, "still open");
	ok(!cells[50].claim && cells[50].key == IO_TOMB, "a burnt claim is cleared");
	ok(!cells[51].claim && cells[51].key == IO_TOMB, "also that of a tomb");
	is_u64(cells[8].key, IO_TOMB, "a dead cell is a tomb: searches pass it");
	is_u64(cells[8].claim | cells[8].first_ns | cells[8].issued, 0, "free to be taken again");
	scan(from + 200 * ms);
	is_u64(counts.used, 1, "one cell is left");
	is_u64(table.issued, 40 * 3 + 2 + 1 + 1, "what the swept cells had counted is kept");
	is_u64(table.completed, 40 * 3 + 2 + 1, "completed too");
	cells[8] = (struct io_slot){ .key = address(99), .issued = 4, .completed = 4, .claim = 1 };
	scan(from + 300 * ms);
	is_u64(table.issued, 40 * 3 + 4 + 4, "the next owner of a cell begins at 0");
	ok(!table.sweep_began_ns, "the sweep is over");
}

/* It has a request that no program could find: not even to end it. */
static void check_sweep_ignored(void)
{
	fill(40);
	cells[5].state = IO_IGNORED; /* sent a moment ago; only what counts is stamped */
	slot_table__sweep(&table, 60 * second, 40);
	ok(cells[5].key == address(5), "a command in flight that is ignored stays findable");
	slot_table__sweep(&table, 61 * second, 40);
	ok(cells[5].key == address(5), "and keeps its cell");
	fill(40);
	slot_table__sweep(&table, 60 * second, 40);
	cells[5].state = IO_IGNORED;
	slot_table__sweep(&table, 61 * second, 40);
	ok(cells[5].key == address(5), "so does one that was sent during the grace");
}

/* Between its claim and its key a cell looks like a burnt one. */
static void check_sweep_claim(void)
{
	fill(40);
	slot_table__sweep(&table, 60 * second, 40);
	cells[50].claim = 1;
	slot_table__sweep(&table, 61 * second, 40);
	is_u64(cells[50].claim, 1, "a claim younger than the sweep is not taken away");
}

static void check_forget(void)
{
	begin();
	for (uint32_t i = 0; i < 6; i++)
		cells[i] = (struct io_slot){ .key = address(i), .queue = 7000 + i % 3 };
	slot_table__forget_queue(&table, 7001);
	ok(!cells[1].queue && !cells[4].queue, "a queue that went is forgotten");
	ok(cells[0].queue == 7000 && cells[3].queue == 7000 && cells[2].queue == 7002 &&
		   cells[5].queue == 7002,
	   "others are not");
	is_u64(cells[1].key, address(1), "the request stays");
}

/* Thousands of disks come and go: their cells are free at once, and only theirs. */
static void check_forget_sweeps(void)
{
	fill(40);
	for (uint32_t i = 0; i < 40; i++) {
		cells[i].first_ns = 60 * second;
		cells[i].queue = 7000 + i % 4;
	}
	cells[5].state = IO_OPEN;
	slot_table__sweep(&table, 60 * second, 30);
	is_u64(hidden(), 0, "a table with little in it is not swept");
	slot_table__forget_queue(&table, 7001);
	slot_table__sweep(&table, 60 * second, 30);
	is_u64(hidden(), 9, "unless a device went: what is idle of it becomes unfindable");
	slot_table__sweep(&table, 61 * second, 30);
	scan(61 * second);
	is_u64(counts.used, 31, "and its cells are free");
	cells[5].state = IO_IDLE;
	slot_table__forget_queue(&table, 7002);
	slot_table__sweep(&table, 62 * second, 30);
	slot_table__sweep(&table, 63 * second, 30);
	scan(63 * second);
	is_u64(counts.used, 20, "a command that was in flight has its cell until a later sweep");
	slot_table__sweep(&table, 64 * second, 20);
	ok(!hidden() && !table.sweep_began_ns, "then nothing is to be swept");
}

/* ---- a model of the programs ---- */

/* What really happened to a request, apart from any cell. */
enum fate { FATE_IDLE, FATE_IGNORED, FATE_OPEN, FATE_FAILED, FATE_AGAIN, FATE_UNSEEN };

struct request {
	uint64_t at, alloc_ns, failed_ns;
	enum fate fate;
	bool wanted;
};

static struct request requests[NR_REQUESTS];
static struct books {
	uint64_t issued, completed, in_flight, parked; /* as it really is */
	uint64_t no_slot, no_start, never_sent;
} books;
static uint64_t now_ns, next_address;

/* The programs count in bytes: the offset of a cell is what the mask leaves of the hash. */
static struct io_slot *model_cell(uint64_t at, uint32_t i)
{
	return &cells[((io_hash((uint32_t)at) >> 6) / sizeof(cells[0]) + i) % NR_CELLS];
}

static struct io_slot *model_find(uint64_t at)
{
	for (uint32_t i = 0; i < IO_PROBES; i++) {
		struct io_slot *cell = model_cell(at, i);

		if (cell->key == at)
			return cell;
		if (!cell->key && !cell->claim)
			return NULL;
	}
	return NULL;
}

/* False: another CPU came at the same moment, and both go on. */
static bool model_claim(struct io_slot *cell, uint64_t at)
{
	if (cell->claim)
		return false;
	cell->claim = draw(50) ? 1 : 3;
	if (cell->claim == 1)
		cell->key = at;
	return cell->claim == 1;
}

static struct io_slot *model_take(uint64_t at)
{
	for (uint32_t i = 0; i < IO_PROBES; i++) {
		struct io_slot *cell = model_cell(at, i);

		if (cell->key == at || (!cell->key && model_claim(cell, at)))
			return cell;
	}
	for (uint32_t i = 0; i < IO_PROBES; i++) {
		struct io_slot *cell = model_cell(at, i);

		if (cell->key == IO_TOMB && model_claim(cell, at))
			return cell;
	}
	return NULL;
}

static void model_end(struct io_slot *cell)
{
	cell->state = IO_IDLE;
	cell->completed++;
}

/* command_goes_on of the programs. */
static bool model_goes_on(struct io_slot *cell)
{
	if (cell->state == IO_PARKED)
		model_end(cell);
	if (cell->state != IO_RETRY && cell->state != IO_REQUEUED)
		return false;
	cell->state = IO_OPEN;
	return true;
}

static void model_setup(struct request *rq)
{
	struct io_slot *cell = model_take(rq->at);

	if (!cell) {
		books.no_slot++;
		rq->fate = FATE_UNSEEN;
		return;
	}
	if (cell->state > IO_IGNORED && model_goes_on(cell))
		return;
	cell->state = IO_IGNORED;
	if (!rq->wanted)
		return;
	cell->issued++;
	cell->first_ns = now_ns;
	cell->state = IO_OPEN;
}

static void model_complete(struct request *rq, bool failed)
{
	struct io_slot *cell = model_find(rq->at);

	if (cell && cell->state == IO_OPEN) {
		if (!failed) {
			model_end(cell);
			return;
		}
		cell->last_ns = now_ns;
		cell->state = IO_PARKED;
	} else if (cell && cell->state == IO_IGNORED) {
		cell->state = IO_IDLE;
	} else if (rq->fate != FATE_UNSEEN) {
		books.no_start++;
	}
}

static void model_requeue(struct request *rq)
{
	struct io_slot *cell = model_find(rq->at);

	if (cell && cell->state == IO_PARKED)
		cell->state = IO_RETRY;
	else if (cell && cell->state == IO_OPEN)
		cell->state = IO_REQUEUED;
}

/* block_rq_error: one that was parked is settled, one still open never left. */
static void model_error(struct request *rq)
{
	struct io_slot *cell = model_find(rq->at);

	if (cell && cell->state == IO_PARKED)
		model_end(cell);
	else if (cell && cell->state == IO_OPEN)
		cell->state = IO_IDLE;
}

/* ---- what may happen next to a request ---- */

static void issue(struct request *rq)
{
	if (rq->fate == FATE_IDLE && !draw(20)) {
		rq->at = address((uint32_t)next_address++); /* another drive, another scheduler */
	}
	rq->wanted = draw(4) != 0;
	rq->fate = rq->wanted ? FATE_OPEN : FATE_IGNORED;
	model_setup(rq);
	books.issued += rq->fate == FATE_OPEN;
}

static void end_open(struct request *rq)
{
	switch (draw(8)) {
	case 0:
		rq->fate = FATE_FAILED;
		rq->failed_ns = now_ns;
		model_complete(rq, true);
		break;
	case 1:
		rq->fate = FATE_AGAIN;
		model_requeue(rq);
		break;
	case 2:
		rq->fate = FATE_IDLE;
		books.never_sent++;
		model_error(rq);
		break;
	default:
		rq->fate = FATE_IDLE;
		books.completed++;
		model_complete(rq, false);
		break;
	}
}

/* A retry comes at once or never; an end may be told by the kernel or by the next use. */
static void settle_failed(struct request *rq)
{
	if (now_ns - rq->failed_ns <= 100 * ms && draw(2)) {
		rq->fate = FATE_AGAIN;
		model_requeue(rq);
	} else if (draw(2)) {
		books.completed++;
		rq->fate = FATE_IDLE;
		model_error(rq);
	} else if (now_ns - rq->failed_ns > 100 * ms) {
		books.completed++;
		issue(rq);
	}
}

static void step(struct request *rq)
{
	switch (rq->fate) {
	case FATE_IDLE: issue(rq); break;
	case FATE_OPEN: end_open(rq); break;
	case FATE_FAILED: settle_failed(rq); break;
	case FATE_IGNORED:
	case FATE_UNSEEN:
		model_complete(rq, false);
		rq->fate = FATE_IDLE;
		break;
	case FATE_AGAIN:
		rq->fate = FATE_OPEN;
		model_setup(rq);
		break;
	}
}

static void count_fates(void)
{
	books.in_flight = books.parked = 0;
	for (int i = 0; i < NR_REQUESTS; i++) {
		const struct request *rq = &requests[i];
		bool ended = rq->fate == FATE_FAILED && now_ns - rq->failed_ns > 100 * ms;

		books.parked += ended;
		books.in_flight += !ended && (rq->fate == FATE_OPEN || rq->fate == FATE_FAILED ||
					      rq->fate == FATE_AGAIN);
	}
}

/* Balanced, and every term what the books have. */
static bool scan_agrees(void)
{
	scan(now_ns);
	count_fates();
	return table.issued ==
		       table.completed + counts.in_flight + counts.parked + books.never_sent &&
	       table.issued == books.issued && table.completed == books.completed &&
	       counts.in_flight == books.in_flight && counts.parked == books.parked;
}

static void print_books(int nr)
{
	printf("# step %d: issued %" PRIu64 "/%" PRIu64 ", completed %" PRIu64 "/%" PRIu64
	       ", in flight %" PRIu64 "/%" PRIu64 ", parked %" PRIu64 "/%" PRIu64
	       " (table/books), never sent %" PRIu64 "\n",
	       nr, table.issued, books.issued, table.completed, books.completed, counts.in_flight,
	       books.in_flight, counts.parked, books.parked, books.never_sent);
}

static void pass_time(void)
{
	now_ns += draw(10) ? draw(5 * ms) : draw(200 * ms);
	if (!draw(500))
		now_ns += 11 * second;
}

static void model_begin(void)
{
	begin();
	memset(&books, 0, sizeof(books));
	now_ns = 100 * second;
	for (next_address = 0; next_address < NR_REQUESTS; next_address++)
		requests[next_address] = (struct request){ .at = address((uint32_t)next_address) };
}

/* ---- find: as the model's programs do ---- */

static void check_find(void)
{
	struct io_slot slot;
	uint64_t found = 0;
	uint32_t nr;

	model_begin();
	ok(!slot_table__find(&table, address(0), &slot, &nr), "an empty table holds no request");
	for (int i = 0; i < NR_STEPS / 100; i++)
		step(&requests[draw(NR_REQUESTS)]);
	for (uint32_t i = 0; i < NR_CELLS; i++)
		if (cells[i].key > IO_TOMB)
			found += slot_table__find(&table, cells[i].key, &slot, &nr) && nr == i &&
				 slot.key == cells[i].key && slot.issued == cells[i].issued;
	scan(now_ns);
	ok(counts.used > 10, "%" PRIu64 " requests have a cell", counts.used);
	is_u64(found, counts.used, "and every one is found in it");
	ok(!slot_table__find(&table, address(77777), &slot, &nr), "one that has none is not found");
}

static void check_model(void)
{
	uint64_t wrong = 0, scans = 0, sweeps = 0, began;

	model_begin();
	for (int i = 0; i < NR_STEPS; i++) {
		step(&requests[draw(NR_REQUESTS)]);
		pass_time();
		if (draw(8))
			continue;
		scans++;
		if (!scan_agrees() && !wrong++)
			print_books(i);
		began = table.sweep_began_ns;
		slot_table__sweep(&table, now_ns, counts.used);
		sweeps += began && !table.sweep_began_ns;
	}
	is_u64(wrong, 0, "issued = completed + in flight + parked (+ never sent) at every scan");
	is_u64(books.no_start, 0, "no completion misses its cell, swept or not");
	ok(sweeps > 50 && scans > 10000 && next_address > 5 * NR_CELLS, "and much was swept");
	ok(books.no_slot < books.issued / 100, "few found no cell: swept ones are used again");
	printf("# %" PRIu64 " issued, %" PRIu64 " scans, %" PRIu64 " sweeps, %" PRIu64
	       " addresses, %" PRIu64 " without a cell\n",
	       books.issued, scans, sweeps, next_address, books.no_slot);
}

int main(void)
{
	check_wrap();
	check_states();
	check_parked();
	check_oldest();
	check_sweep_when();
	check_sweep_steps();
	check_sweep_ignored();
	check_sweep_claim();
	check_forget();
	check_forget_sweeps();
	check_find();
	check_model();
	slot_table__free(&table);
	return done_testing();
}
