/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * program_record.c: which instructions send a record? It is reserved in this CPU's ring, filled in
 * place, and submitted without a wake-up: user space polls. A full ring is counted, and costs no
 * more than the attempt.
 */
#include "probe/code/program_inside.h"

static struct place record_at(size_t offset)
{
	return (struct place){ REG_RECORD, (int32_t)offset };
}

/* Returns the place that holds the number of this CPU. */
static struct place record_reserve(struct emit *e, int lost)
{
	struct place cpu = code__take(&e->code, 8);

	code__call(&e->code, BPF_FUNC_get_smp_processor_id);
	code__store(&e->code, 4, cpu, R0);
	emit__lookup(e, e->wants->maps->rings, cpu);
	code__jump_if_number(&e->code, BPF_JEQ, R0, 0, lost);
	code__move(&e->code, R1, R0);
	code__set(&e->code, R2, plan__record_bytes(e->probe));
	code__set(&e->code, R3, 0);
	code__call(&e->code, BPF_FUNC_ringbuf_reserve);
	code__jump_if_number(&e->code, BPF_JEQ, R0, 0, lost);
	code__move(&e->code, REG_RECORD, R0);
	return cpu;
}

static void record_copy(struct emit *e, uint32_t size, struct place from, size_t offset)
{
	code__load(&e->code, size, R1, from);
	code__store(&e->code, size, record_at(offset), R1);
}

/* The task that began the pair. */
static void record_copy_who(struct emit *e)
{
	static const uint8_t words[][2] = {
		{ offsetof(struct probe_start, pid), offsetof(struct probe_record, pid) },
		{ offsetof(struct probe_start, comm), offsetof(struct probe_record, comm) },
		{ offsetof(struct probe_start, comm) + 8, offsetof(struct probe_record, comm) + 8 },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		record_copy(e, 8, (struct place){ REG_START, words[i][0] }, words[i][1]);
}

static void record_head(struct emit *e, struct place cpu)
{
	struct place latency = record_at(offsetof(struct probe_record, latency_ns));

	record_copy(e, 8, e->now.at, offsetof(struct probe_record, ns));
	record_copy(e, 4, emit__is_late(e) ? emit__held(offsetof(struct probe_held, cpu)) : cpu,
		    offsetof(struct probe_record, cpu));
	code__store_number(&e->code, 4, record_at(offsetof(struct probe_record, probe)),
			   (int32_t)e->wants->probe);
	emit__address(e, record_at(offsetof(struct probe_record, address)));
	if (!e->probe->is_end) {
		emit__who(e, record_at(offsetof(struct probe_record, pid)),
			  record_at(offsetof(struct probe_record, tid)),
			  record_at(offsetof(struct probe_record, comm)));
		if (e->nth.is_there)
			record_copy(e, 8, e->nth.at, offsetof(struct probe_record, nth));
		else
			code__store_number(&e->code, 8, latency, 0);
		return;
	}
	record_copy_who(e);
	record_copy(e, 8, e->latency.at, offsetof(struct probe_record, latency_ns));
}

static void record_value(struct emit *e, const struct plan_shown *shown)
{
	const struct place to = record_at(sizeof(struct probe_record) + shown->part.at);

	if (emit__is_gone(e, shown->value))
		code__clear(&e->code, to, shown->part.shape.size);
	else
		emit__part(e, shown->value, to, shown->part.shape.size);
}

static void record_helped(struct emit *e, bool with_direct)
{
	for (size_t i = e->probe->nr_shown; i--;)
		if (with_direct || !emit__is_direct(e, e->probe->shown[i].value))
			record_value(e, &e->probe->shown[i]);
}

/* In doubt about direct values, helpers read all. */
static void record_values(struct emit *e)
{
	int doubt = code__label(&e->code), done = code__label(&e->code);

	if (emit__has_direct(e)) {
		emit__direct(e, doubt);
		record_helped(e, false);
		code__jump(&e->code, done);
	}
	code__bind(&e->code, doubt);
	record_helped(e, true);
	code__bind(&e->code, done);
}

static void record_give(struct emit *e, int helper)
{
	code__move(&e->code, R1, REG_RECORD);
	code__set(&e->code, R2, BPF_RB_NO_WAKEUP);
	code__call(&e->code, helper);
}

/* The pair has ended anyway. */
static void record_lose(struct emit *e, int lost)
{
	int over = code__label(&e->code);

	code__bind(&e->code, lost);
	if (e->probe->is_end)
		emit__forget_start(e, over);
	code__bind(&e->code, over);
	emit__end(e, PROBE_LOST_RING);
}

void emit__record(struct emit *e)
{
	int lost = code__label(&e->code), gone = code__label(&e->code);
	struct place cpu;

	cpu = record_reserve(e, lost);
	e->is_reserved = true;
	record_values(e);
	e->is_reserved = false;
	record_head(e, cpu);
	if (e->probe->is_end)
		emit__forget_start(e, gone);
	record_give(e, BPF_FUNC_ringbuf_submit);
	emit__end(e, PROBE_SENT);
	if (e->probe->is_end) {
		/* A start that is gone: another end was faster. */
		code__bind(&e->code, gone);
		record_give(e, BPF_FUNC_ringbuf_discard);
		emit__end(e, PROBE_NO_START);
	}
	record_lose(e, lost);
}
