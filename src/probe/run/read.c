/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * read.c: what the programs counted, summed over CPUs: rows of the hash, rows in the cells of
 * programs with a constant key, counters, open pairs, stacks. Rows are read 512 per system call.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>
#include "base/log.h"
#include "probe/run/inside.h"

enum { READ_BATCH = 512 };

/* ---- adding up ---- */

static void row_add(const struct run *run, struct probe_row *sum, const struct probe_row *row)
{
	const bool larger = run->plan->of_is_signed ? (int64_t)row->max > (int64_t)sum->max
						    : row->max > sum->max;

	if (!row->count)
		return;
	if (!sum->count || larger)
		sum->max = row->max;
	sum->count += row->count;
	sum->sum += row->sum;
}

/* One program's cell, of all CPUs; counters and row are added up. */
static int cell_read(struct run *run, size_t group, struct probe_cell *cells, uint64_t *counters,
		     struct probe_row *row)
{
	const uint32_t number = (uint32_t)group;
	int err = bpf_map_lookup_elem(run->maps.cells, &number, cells);

	for (uint32_t cpu = 0; !err && cpu < run->nr_cpus; cpu++) {
		for (int i = 0; i < NR_PROBE_COUNTERS; i++)
			counters[i] += cells[cpu].counters[i];
		row_add(run, row, &cells[cpu].row);
	}
	return err;
}

/* ---- a hash, batch by batch ---- */

typedef void (*hash_fn)(void *arg, char *key, char *value);

struct hash {
	int fd;
	size_t key_bytes, value_bytes; /* of all CPUs */
	hash_fn fn;
	void *arg;
};

static int hash_hand_on(const struct hash *hash, char *keys, char *values, uint32_t room)
{
	uint64_t from = 0, to = 0;
	bool is_first = true;
	int err = 0;

	while (!err) {
		uint32_t nr = room;

		err = bpf_map_lookup_batch(hash->fd, is_first ? NULL : &from, &to, keys, values,
					   &nr, NULL);
		if (err == -ENOSPC && !is_first && !nr)
			return err;
		for (uint32_t i = 0; (!err || err == -ENOENT) && i < nr; i++)
			hash->fn(hash->arg, keys + i * hash->key_bytes,
				 values + i * hash->value_bytes);
		from = to;
		is_first = false;
	}
	return err == -ENOENT ? 0 : err;
}

static int hash_read(const struct hash *hash)
{
	char *keys = malloc(READ_BATCH * hash->key_bytes);
	char *values = malloc(READ_BATCH * hash->value_bytes);
	int err = keys && values ? hash_hand_on(hash, keys, values, READ_BATCH) : -ENOMEM;

	free(keys);
	free(values);
	return err ? log_err(err, "cannot read the programs' table: %s", strerror(-err)) : 0;
}

/* ---- rows in fronts ---- */

typedef void (*front_fn)(void *arg, struct probe_front_row *row);

/*
 * One program's, of all CPUs, one after the other: a key may come more than once. Counts are those
 * of a first reading, keys of a second: one that is just being written is whole by then.
 */
static int front_read(const struct run *run, size_t group, struct probe_front *fronts, front_fn fn,
		      void *arg)
{
	const uint32_t number = (uint32_t)group;
	const size_t nr = (size_t)run->nr_cpus * PROBE_FRONT_ROWS;
	struct probe_front_row *rows = (struct probe_front_row *)fronts, *later = rows + nr;
	int err = bpf_map_lookup_elem(run->maps.fronts, &number, rows);

	err = err ?: bpf_map_lookup_elem(run->maps.fronts, &number, later);
	for (size_t i = 0; !err && i < nr; i++) {
		later[i].row = rows[i].row;
		if (later[i].row.count)
			fn(arg, &later[i]);
	}
	return err;
}

static int fronts_read(const struct run *run, front_fn fn, void *arg)
{
	struct probe_front *fronts;
	int err = 0;

	if (run->maps.fronts < 0)
		return 0;
	fronts = calloc(2 * (size_t)run->nr_cpus, sizeof(*fronts));
	if (!fronts)
		return log_no_memory();
	for (size_t i = 0; !err && i < run->nr_groups; i++)
		err = front_read(run, i, fronts, fn, arg);
	free(fronts);
	return err ? log_err(err, "cannot read the rows of the programs: %s", strerror(-err)) : 0;
}

static struct hash hash_of_rows(const struct run *run, hash_fn fn, void *arg)
{
	return (struct hash){
		.fd = run->maps.rows,
		.key_bytes = plan__row_key_bytes(run->plan),
		.value_bytes = run->nr_cpus * sizeof(struct probe_row),
		.fn = fn,
		.arg = arg,
	};
}

/* ---- rows ---- */

struct read_rows {
	struct run *run;
	run_row_fn fn;
	void *arg;
	bool has_probe;	      /* one of the keys is a probe: programs do not share a row */
	bool is_by_probe;     /* the keys are probes, and nothing else */
	bool *seen;	      /* by number of the probe */
	struct probe_row all; /* where programs share their only row */
	uint64_t key[PLAN_MAX_KEY / sizeof(uint64_t)];
};

/* key: as the programs made it; it is lost. */
static void read_sum(struct read_rows *r, char *key, const struct probe_row *sum)
{
	const struct plan *plan = r->run->plan;
	uint32_t bucket = 0;
	uint64_t probe;

	for (size_t i = 0; i < plan->nr_keys; i++)
		run_settle(r->run, &plan->keys[i], key);
	if (plan__has_buckets(plan))
		memcpy(&bucket, key + plan->key_bytes, sizeof(bucket));
	if (r->is_by_probe) {
		memcpy(&probe, key + plan->keys[0].at, sizeof(probe));
		r->seen[probe < plan->nr_probes ? probe : 0] = true;
	}
	r->fn(r->arg, key, bucket, sum);
}

static void read_row(void *arg, char *key, char *value)
{
	struct read_rows *r = arg;
	const struct probe_row *rows = (const struct probe_row *)value;
	struct probe_row sum = { 0 };

	for (uint32_t cpu = 0; cpu < r->run->nr_cpus; cpu++)
		row_add(r->run, &sum, &rows[cpu]);
	read_sum(r, key, &sum);
}

static void read_front_row(void *arg, struct probe_front_row *front)
{
	read_sum(arg, (char *)front->key, &front->row);
}

/* A row of one probe, or a part of the row that all share. */
static void read_own_row(struct read_rows *r, size_t probe, const struct probe_row *row)
{
	if (!r->has_probe) {
		row_add(r->run, &r->all, row);
		return;
	}
	r->seen[probe] = true;
	r->fn(r->arg, r->key, 0, row);
}

static int read_cells(struct read_rows *r)
{
	struct run *run = r->run;
	struct probe_cell *cells = calloc(run->nr_cpus, sizeof(*cells));
	uint64_t counters[NR_PROBE_COUNTERS] = { 0 };
	int err = cells ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < run->nr_groups; i++) {
		const struct program_wants wants = run_program_wants(run, &run->groups[i]);
		struct probe_row row = { 0 };

		if (run->groups[i].attachment.prog_fd < 0 || !program__uses_cell(&wants, r->key))
			continue;
		err = cell_read(run, i, cells, counters, &row);
		read_own_row(r, wants.probe, &row);
	}
	free(cells);
	return err ? log_err(err, "cannot read the programs' cells: %s", strerror(-err)) : 0;
}

/* The key of a probe, where keys are probes. */
static void read_make_key(struct read_rows *r, uint64_t probe)
{
	const struct plan *plan = r->run->plan;

	for (size_t i = 0; i < plan->nr_keys; i++)
		r->key[plan->keys[i].at / sizeof(r->key[0])] = probe;
}

static void read_counters(struct read_rows *r)
{
	struct run *run = r->run;

	run_read_counters(run);
	for (size_t i = 0; i < run->nr_counters; i++) {
		const struct probe_row row = { .count = run->counters[i].count };

		if (run->errs[run->counters[i].probe])
			continue;
		read_make_key(r, run->counters[i].probe);
		read_own_row(r, run->counters[i].probe, &row);
	}
}

/* Starts of pairs have no rows. */
static void read_unseen(struct read_rows *r)
{
	const struct plan *plan = r->run->plan;
	const struct probe_row nothing = { 0 };

	for (size_t i = 0; i < plan->nr_probes; i++) {
		if (r->seen[i] || r->run->errs[i] || (plan->has_ends && !plan->probes[i].is_end))
			continue;
		read_make_key(r, i);
		r->fn(r->arg, r->key, 0, &nothing);
	}
}

static int read_all(struct read_rows *r)
{
	struct run *run = r->run;
	const struct hash rows = hash_of_rows(run, read_row, r);
	int err = run->maps.rows < 0 ? 0 : hash_read(&rows);

	err = err ?: fronts_read(run, read_front_row, r);
	err = err ?: read_cells(r);
	if (err)
		return err;
	read_counters(r);
	if (r->is_by_probe)
		read_unseen(r);
	if (run->maps.rows < 0 && !r->has_probe)
		r->fn(r->arg, r->key, 0, &r->all);
	return 0;
}

int run__read(struct run *run, run_row_fn fn, void *arg)
{
	const struct plan *plan = run->plan;
	struct read_rows r = { .run = run, .fn = fn, .arg = arg, .is_by_probe = plan->nr_keys };
	int err;

	if (plan__has_records(plan))
		return 0;
	for (size_t i = 0; i < plan->nr_keys; i++) {
		r.has_probe |= run_part_is_probe(&plan->keys[i]);
		r.is_by_probe &= run_part_is_probe(&plan->keys[i]);
	}
	r.seen = calloc(plan->nr_probes, sizeof(*r.seen));
	err = r.seen ? read_all(&r) : log_no_memory();
	free(r.seen);
	return err;
}

/* ---- pairs, counters, stacks ---- */

struct read_starts {
	run_start_fn fn;
	void *arg;
};

static void read_start(void *arg, char *key, char *value)
{
	const struct read_starts *r = arg;

	r->fn(r->arg, key, (const struct probe_start *)value);
}

int run__open_pairs(struct run *run, run_start_fn fn, void *arg)
{
	struct read_starts r = { fn, arg };
	const struct hash starts = {
		.fd = run->maps.starts,
		.key_bytes = plan__start_key_bytes(run->plan),
		.value_bytes = plan__start_bytes(run->plan),
		.fn = read_start,
		.arg = &r,
	};

	return run->maps.starts < 0 ? 0 : hash_read(&starts);
}

/* For plans in which every row counts what was added to it. */
struct counts_of_rows {
	const struct run *run;
	uint64_t added;
};

static void counts_add_counters(struct run *run, struct run_counts *counts)
{
	run_read_counters(run);
	for (size_t i = 0; i < run->nr_counters; i++) {
		counts->counters[PROBE_HITS] += run->counters[i].count;
		counts->counters[PROBE_ADDED] += run->counters[i].count;
	}
	if (!run->counters_scaled)
		return;
	counts->inexact = "shared counter";
	counts->why = "the counters of this machine are shared with other users: the time without "
		      "a counter is extrapolated";
}

static void counts_add_row(void *arg, char *key, char *value)
{
	struct counts_of_rows *c = arg;
	const struct probe_row *rows = (const struct probe_row *)value;

	(void)key;
	for (uint32_t cpu = 0; cpu < c->run->nr_cpus; cpu++)
		c->added += rows[cpu].count;
}

static void counts_add_front_row(void *arg, struct probe_front_row *row)
{
	((struct counts_of_rows *)arg)->added += row->row.count;
}

static void counts_add_rows(struct run *run, struct run_counts *counts)
{
	struct counts_of_rows c = { run, 0 };
	const struct hash rows = hash_of_rows(run, counts_add_row, &c);

	if (run->maps.rows >= 0)
		hash_read(&rows);
	fronts_read(run, counts_add_front_row, &c);
	counts->counters[PROBE_ADDED] += c.added;
	if (program__hits_are_rows(run->plan))
		counts->counters[PROBE_HITS] += c.added;
}

void run__counts(struct run *run, struct run_counts *counts)
{
	struct probe_cell *cells = calloc(run->nr_cpus, sizeof(*cells));
	struct probe_row row = { 0 };

	memset(counts, 0, sizeof(*counts));
	counts->inexact = run->inexact;
	counts->why = run->why;
	for (size_t i = 0; cells && i < run->nr_groups; i++) {
		cell_read(run, i, cells, counts->counters, &row);
		counts->skipped += attachment__missed(&run->groups[i].attachment);
	}
	counts->omitted = run_count_omitted(run);
	counts->counters[PROBE_ADDED] += row.count;
	counts_add_rows(run, counts);
	counts_add_counters(run, counts);
	counts->is_exact = !counts->inexact;
	free(cells);
}

uint64_t run__lost(struct run *run)
{
	struct run_counts counts;

	run__counts(run, &counts);
	return counts.counters[PROBE_LOST_RING] + counts.skipped;
}

uint64_t run__followed(struct run *run, uint64_t whom)
{
	uint64_t count = 0;

	return bpf_map_lookup_elem(run->maps.followed, &whom, &count) ? 0
								      : count & ~PROBE_IS_DROPPED;
}

bool run__is_attached(const struct run *run, size_t probe)
{
	return !run->errs[probe];
}

bool run__is_exact(struct run *run)
{
	run_read_counters(run);
	return !run->inexact && !run->counters_scaled;
}

/* By frame pointers: complete, as far as the kernel knows. */
static void read_numbered(struct run *run, uint32_t number, struct io_stack *stack)
{
	uint64_t frames[STACK_FRAMES] = { 0 };

	if (run->maps.stacks < 0 || bpf_map_lookup_elem(run->maps.stacks, &number, frames))
		return;
	while (stack->nr < STACK_FRAMES && frames[stack->nr]) {
		stack->frames[stack->nr] = frames[stack->nr];
		stack->nr++;
	}
	stack->is_truncated = stack->nr == STACK_FRAMES;
}

void run__stack(struct run *run, uint64_t id, uint32_t pid, struct io_stack *stack)
{
	const struct io_stack *unwound = pid ? run_unwound(run, id) : NULL;

	*stack = (struct io_stack){ .user = pid != 0 };
	if (unwound)
		*stack = *unwound;
	else if (id <= INT32_MAX)
		read_numbered(run, (uint32_t)id, stack);
	stack->is_truncated |= pid && !unwound && run_is_cut_by_fp(run, pid);
}
