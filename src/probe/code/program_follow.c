/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * program_follow.c: which object or task does this call belong to, and which of its calls is it? A
 * hash counts the records of each followed object or task. The count grows before the record is
 * reserved, so that a dropped record leaves a gap. The atomic add and the read are separate, as
 * 5.10 cannot combine them: two records may carry the same number, but never one that is too small.
 */
#include "probe/code/program_inside.h"

bool emit__is_gone(const struct emit *e, const struct value *v)
{
	return e->plan->is_calls && e->wants->ctx == CTX_REGS &&
	       e->probe->probe->kind == PROBE_RET && value__has(v, VALUE_ARG);
}

/* Above the rate limit, drops an object or task that is new or just born: marks its count in R0. */
static void follow_judge(struct emit *e)
{
	struct place count = { R0, 0 }, gate = { R1, 0 };
	int open = code__label(&e->code);

	code__set_map_value(&e->code, R1, e->wants->maps->gate);
	code__load(&e->code, 8, R1, gate);
	code__load(&e->code, 8, R2, count);
	code__reckon_number(&e->code, BPF_LSH, R2, 1);
	code__reckon_number(&e->code, BPF_RSH, R2, 1);
	code__jump_if_number(&e->code, BPF_JEQ, R1, 0, open);
	code__set(&e->code, R3, 1);
	code__reckon_number(&e->code, BPF_LSH, R3, 63);
	code__reckon(&e->code, BPF_OR, R2, R3);
	code__bind(&e->code, open);
	code__store(&e->code, 8, count, R2);
}

/* R0: the count. The first record adds the entry; another CPU may have added it meanwhile. */
static void follow_find(struct emit *e, struct place key)
{
	struct code_mark mark = code__mark(&e->code);
	int found = code__label(&e->code), made = code__label(&e->code);
	struct place none;

	emit__lookup(e, e->wants->maps->followed, key);
	code__jump_if_number(&e->code, BPF_JNE, R0, 0, found);
	none = code__take(&e->code, 8);
	code__store_number(&e->code, 8, none, 0);
	emit__update(e, e->wants->maps->followed, key, none, BPF_NOEXIST);
	emit__lookup(e, e->wants->maps->followed, key);
	code__jump_if_number(&e->code, BPF_JNE, R0, 0, made);
	emit__end(e, PROBE_LOST_KEY);
	code__bind(&e->code, made);
	follow_judge(e);
	code__bind(&e->code, found);
	if (e->probe->is_birth)
		follow_judge(e);
	code__give_back(&e->code, mark);
}

static void follow_count(struct emit *e)
{
	struct place count = { R0, 0 };
	int wanted = code__label(&e->code);

	code__load(&e->code, 8, R1, count);
	code__jump_if_number(&e->code, BPF_JSGE, R1, 0, wanted);
	emit__end(e, PROBE_DROPPED);
	code__bind(&e->code, wanted);
	code__set(&e->code, R1, 1);
	code__add_atomic(&e->code, count, R1);
	code__load(&e->code, 8, R1, count);
	code__store(&e->code, 8, e->nth.at, R1);
}

void emit__follow(struct emit *e)
{
	int nobody = code__label(&e->code);
	struct place key;

	if (emit__is_gone(e, e->probe->follows))
		return;
	e->nth.at = code__take(&e->code, 8);
	e->nth.is_there = true;
	key = code__take(&e->code, 8);
	code__store_number(&e->code, 8, e->nth.at, 0);
	emit__number(e, e->probe->follows, R1);
	code__jump_if_number(&e->code, BPF_JEQ, R1, 0, nobody);
	code__store(&e->code, 8, key, R1);
	follow_find(e, key);
	follow_count(e);
	code__bind(&e->code, nobody);
}
