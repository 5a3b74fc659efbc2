/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * program_row.c: which instructions add a hit to its row? They build the key, look the row up once,
 * and create it if it is missing. If the key is constant the row is in the program's cell. Counts
 * and sums are exact; a maximum may miss a value that was added from inside an interrupt, but never
 * by more than the width of its bucket.
 */
#include <string.h>
#include "probe/code/program_inside.h"

enum { ROW_KEY_ON_STACK = 256 };

static bool row_part_is_constant(const struct program_wants *wants, const struct value *v)
{
	return v->op == VALUE_CONST || (v->op == VALUE_PROBE && !wants->asks_address);
}

bool program__uses_cell(const struct program_wants *wants, void *key)
{
	const struct plan *plan = wants->plan;
	const struct plan_probe *probe = &plan->probes[wants->probe];

	if (plan__has_buckets(plan) || plan__has_records(plan) ||
	    (plan->has_ends && !probe->is_end))
		return false;
	for (size_t i = 0; i < plan->nr_keys; i++) {
		if (!row_part_is_constant(wants, probe->keys[i]))
			return false;
		memcpy((char *)key + plan->keys[i].at, &probe->keys[i]->number, 8);
	}
	return true;
}

bool emit__row_is_in_cell(const struct emit *e)
{
	uint64_t key[PLAN_MAX_KEY / 8];

	return program__uses_cell(e->wants, key);
}

/* Its instructions count nothing and need no scratch. An argument may lie in memory: of a USDT
 * probe, or on the stack. */
static bool row_part_is_plain(const struct plan_probe *probe, const struct value *v)
{
	static const bool is_plain[] = {
		[VALUE_CONST] = true, [VALUE_RECORD] = true, [VALUE_RET] = true,
		[VALUE_PID] = true,   [VALUE_TID] = true,    [VALUE_UID] = true,
		[VALUE_COMM] = true,  [VALUE_CPU] = true,    [VALUE_CGROUP] = true,
		[VALUE_NSECS] = true, [VALUE_PROBE] = true,  [VALUE_CHOOSE] = false,
	};

	return is_plain[v->op] || (v->op == VALUE_ARG && probe->probe->kind != PROBE_USDT &&
				   v->offset < PROBE_ON_STACK);
}

static bool row_is_plain(const struct plan *plan, const struct plan_probe *probe)
{
	if (probe->condition || (probe->of && !row_part_is_plain(probe, probe->of)))
		return false;
	for (size_t i = 0; i < plan->nr_keys; i++)
		if (!row_part_is_plain(probe, probe->keys[i]))
			return false;
	return true;
}

bool program__hits_are_rows(const struct plan *plan)
{
	if (plan->has_ends || plan__has_records(plan) ||
	    plan__row_key_bytes(plan) > ROW_KEY_ON_STACK)
		return false;
	for (size_t i = 0; i < plan->nr_probes; i++)
		if (!row_is_plain(plan, &plan->probes[i]))
			return false;
	return true;
}

/*
 * A new row's maximum is 0. Only the steps of --linear can hold numbers of both signs; if all have
 * the same sign 0 is below each of them, and they are in order if none is read as signed.
 */
static void row_add_max(struct emit *e, struct place row)
{
	bool mixes_signs = e->plan->of_is_signed && e->plan->buckets == BUCKETS_LINEAR;
	struct place count = place_at(row, offsetof(struct probe_row, count));
	struct place max = place_at(row, offsetof(struct probe_row, max));
	int first = code__label(&e->code), done = code__label(&e->code);

	if (mixes_signs) {
		code__load(&e->code, 8, R3, count);
		code__jump_if_number(&e->code, BPF_JEQ, R3, 0, first);
	}
	code__load(&e->code, 8, R3, max);
	code__jump_if(&e->code, mixes_signs ? BPF_JSGE : BPF_JGE, R3, R2, done);
	code__bind(&e->code, first);
	code__store(&e->code, 8, max, R2);
	code__bind(&e->code, done);
}

/* The row's address may be in R0. */
static void row_add(struct emit *e, struct place row, const struct place *of)
{
	if (of) {
		code__load(&e->code, 8, R2, *of);
		if (plan__has_buckets(e->plan))
			row_add_max(e, row);
		emit__add_shared(e, place_at(row, offsetof(struct probe_row, sum)), R2);
	}
	emit__add_one_shared(e, place_at(row, offsetof(struct probe_row, count)));
}

static struct place row_key(struct emit *e, const struct place *of)
{
	uint32_t bytes = plan__row_key_bytes(e->plan);
	struct place key = bytes <= ROW_KEY_ON_STACK ? code__take(&e->code, bytes)
						     : code__take_scratch(&e->code, bytes);

	for (size_t i = e->plan->nr_keys; i--;)
		emit__part(e, e->probe->keys[i], place_at(key, (int32_t)e->plan->keys[i].at),
			   e->plan->keys[i].shape.size);
	if (plan__has_buckets(e->plan)) {
		code__load(&e->code, 8, R1, *of);
		emit__bucket(e);
		code__store(&e->code, 8, place_at(key, (int32_t)e->plan->key_bytes), R1);
	}
	return key;
}

/* A register that survives calls is saved at every hit: without one the cell stays in R0. */
static void row_lose(struct emit *e)
{
	static const enum probe_counter counters[] = { PROBE_HITS, PROBE_LOST_KEY };

	if (!e->is_lean) {
		emit__end(e, PROBE_LOST_KEY);
		return;
	}
	emit__lookup_cell(e);
	code__set(&e->code, R1, 1);
	for (size_t i = 0; i < 2; i++)
		code__add_atomic(&e->code, (struct place){ R0, 8 * (int32_t)counters[i] }, R1);
	code__jump(&e->code, e->leave);
}

/* The row's address into R0. A row that another CPU created meanwhile will do. */
static void row_find(struct emit *e, struct place key)
{
	int found = code__label(&e->code), elsewhere = code__label(&e->code);
	int rows = e->wants->maps->rows;
	struct place fresh;

	if (e->wants->has_front)
		emit__front(e, key, found, elsewhere);
	code__bind(&e->code, elsewhere);
	emit__lookup(e, rows, key);
	code__jump_if_number(&e->code, BPF_JNE, R0, 0, found);
	fresh = code__take(&e->code, sizeof(struct probe_row));
	code__clear(&e->code, fresh, sizeof(struct probe_row));
	emit__update(e, rows, key, fresh, BPF_NOEXIST);
	emit__lookup(e, rows, key);
	code__jump_if_number(&e->code, BPF_JNE, R0, 0, found);
	row_lose(e);
	code__bind(&e->code, found);
}

static void row_end_pair(struct emit *e)
{
	int gone = code__label(&e->code), ours = code__label(&e->code);

	if (!e->probe->is_end)
		return;
	emit__forget_start(e, gone);
	code__jump(&e->code, ours);
	code__bind(&e->code, gone);
	emit__end(e, PROBE_NO_START);
	code__bind(&e->code, ours);
}

void emit__row(struct emit *e)
{
	struct place of = { 0 }, row = { REG_CELL, offsetof(struct probe_cell, row) };
	bool has_of = e->probe->of;

	if (has_of) {
		of = code__take(&e->code, 8);
		emit__part(e, e->probe->of, of, 8);
	}
	if (emit__row_is_in_cell(e)) {
		row_end_pair(e);
	} else {
		struct place key = row_key(e, &of);

		row_end_pair(e);
		row_find(e, key);
		row = (struct place){ R0, 0 };
	}
	row_add(e, row, has_of ? &of : NULL);
	code__jump(&e->code, e->leave); /* the row counts it: see wire/probe_maps.h */
}
