/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/capture.h"

#include <bpf/btf.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "calls/capture_layout.h"
#include "calls/members.h"
#include "session/session.h"

enum { CALL_TRACE_CHUNK_BYTES = 1 << 16 }; /* a chunk is written when it has this size */

/* ---- enums: names of numbers ---- */

struct call_trace_enums {
	const struct btf *btf[64];
	const struct btf_type *types[64];
	size_t nr;
};

static uint64_t enums_number(struct call_trace_enums *enums, const struct btf *btf,
			     const struct btf_type *type)
{
	if (!type)
		return 0;
	for (size_t i = 0; i < enums->nr; i++)
		if (enums->types[i] == type)
			return i + 1;
	if (enums->nr == sizeof(enums->types) / sizeof(enums->types[0]))
		return 0;
	enums->btf[enums->nr] = btf;
	enums->types[enums->nr] = type;
	return ++enums->nr;
}

static uint64_t enums_of_part(struct call_trace_enums *enums, const struct plan_part *part)
{
	const struct type *type = &part->shape.type;
	const struct btf_type *t;

	if (part->shape.unit != VALUE_ENUM || !type->btf)
		return 0;
	t = type__plain(type->btf, type->id);
	return t && btf_is_enum(t) ? enums_number(enums, type->btf, t) : 0;
}

static void enums_note_words(void *arg, const struct btf *btf, const struct btf_type *type)
{
	enums_number(arg, btf, type);
}

static void enums_put(const struct call_trace_enums *enums, struct byte_out *out)
{
	byte_out__varint(out, enums->nr);
	for (size_t i = 0; i < enums->nr; i++) {
		const struct btf_type *t = enums->types[i];

		byte_out__varint(out, btf_vlen(t));
		for (uint16_t v = 0; v < btf_vlen(t); v++) {
			const struct btf_enum *e = &btf_enum(t)[v];

			byte_out__varint(out, zigzag__put(e->val));
			byte_out__text(out, btf__name_by_offset(enums->btf[i], e->name_off));
		}
	}
}

/* ---- which functions ---- */

static void part_put(struct byte_out *out, const struct plan_part *part,
		     struct call_trace_enums *enums)
{
	byte_out__varint(out, part->text_len);
	byte_out__put(out, part->text, part->text_len);
	byte_out__varint(out, (part->shape.is_text ? PART_IS_TEXT : 0) |
				      (part->shape.is_signed ? PART_IS_SIGNED : 0));
	byte_out__varint(out, part->shape.size);
	byte_out__varint(out, part->shape.unit);
	byte_out__varint(out, enums_of_part(enums, part));
}

static void place_put(const struct call_trace *t, struct byte_out *out, uint32_t function,
		      bool is_return, struct call_trace_enums *enums)
{
	const struct call_trace_function *f = &t->functions[function];
	const struct call_trace_place *place = is_return ? &f->at_exit : &f->at_entry;
	const bool is_traced = !is_return || f->returns;
	const struct plan_probe *probe =
		is_traced ? &t->request.plan.probes[is_return ? f->exit : f->entry] : NULL;

	byte_out__varint(out, (place->object[0] ? PLACE_HAS_OBJECT : 0) |
				      (uint64_t)place->role << PLACE_ROLE |
				      (is_traced ? PLACE_IS_TRACED : 0));
	byte_out__varint(out, probe ? probe->nr_shown : 0);
	for (size_t i = 0; probe && i < probe->nr_shown; i++)
		part_put(out, &probe->shown[i].part, enums);
}

static void functions_put(const struct call_trace *t, struct byte_out *out,
			  struct call_trace_enums *enums)
{
	byte_out__varint(out, t->nr);
	for (uint32_t i = 0; i < t->nr; i++) {
		char prototype[1024];

		byte_out__text(out, call_trace__probe(t, i)->func);
		byte_out__text(out, call_trace__module(t, i));
		byte_out__text(out, call_trace__prototype(t, i, prototype, sizeof(prototype)));
		place_put(t, out, i, false, enums);
		place_put(t, out, i, true, enums);
	}
}

static int writer_put_part(struct call_trace_writer *w, const struct capture_chunk *chunk,
			   struct byte_out *payload)
{
	if (payload->failed)
		return log_no_memory();
	return recorder__part(w->recorder, chunk, payload->bytes, payload->len);
}

static int writer_put_functions(struct call_trace_writer *w)
{
	const struct call_trace *t = w->trace;
	struct byte_out functions = { 0 }, out = { 0 };
	const struct capture_chunk chunk = { .type = CAPTURE_CALLED, .count = (uint32_t)t->nr };
	struct call_trace_enums enums = { 0 };
	int err;

	functions_put(t, &functions, &enums);
	members__each_enum(t->btf, t->members, t->nr_members, enums_note_words, &enums);
	byte_out__text(&out, t->name);
	byte_out__varint(&out, t->nr_fields);
	for (size_t i = 0; i < t->nr_fields; i++)
		byte_out__text(&out, t->fields[i]);
	enums_put(&enums, &out);
	byte_out__put(&out, functions.bytes, functions.len);
	struct_layouts__put(&t->layouts, &out);
	out.failed |= functions.failed;
	err = writer_put_part(w, &chunk, &out);
	byte_out__free(&functions);
	byte_out__free(&out);
	return err;
}

int call_trace_writer__start(struct call_trace_writer *w, const struct call_trace *trace,
			     struct recorder *recorder, bool addresses)
{
	int err;

	*w = (struct call_trace_writer){ .trace = trace, .recorder = recorder };
	w->chunk.type = CAPTURE_CALLS;
	err = addresses ? 0 : address_key__init(&w->addresses);
	return err ?: writer_put_functions(w);
}

int call_trace_writer__begin(struct call_trace_writer *w, struct call_trace *trace,
			     const struct session *s, bool addresses)
{
	struct recorder *recorder = session__recorder(s);

	if (!recorder)
		return 0;
	return call_trace__lay_structs(trace)
		       ?: call_trace_writer__start(w, trace, recorder, addresses);
}

/* ---- records ---- */

static void value_put(struct call_trace_writer *w, const struct plan_part *part, const char *values)
{
	struct byte_out *out = &w->records;
	uint64_t n;

	if (part->shape.is_text) {
		size_t len = strnlen(values + part->at, part->shape.size);

		byte_out__varint(out, len);
		byte_out__put(out, values + part->at, len);
		return;
	}
	memcpy(&n, values + part->at, sizeof(n));
	if (part->shape.unit == VALUE_POINTER || part->shape.unit == VALUE_SYM)
		n = address__hide(&w->addresses, n);
	byte_out__varint(out, part->shape.is_signed ? zigzag__put((int64_t)n) : n);
}

/* The task is written only if it differs from the task before. */
static void task_put(struct call_trace_writer *w, const struct probe_record *r)
{
	const uint64_t task = (uint64_t)r->pid << 32 | r->tid;
	const bool is_same =
		w->chunk.count && task == w->task && !memcmp(w->comm, r->comm, sizeof(w->comm));
	struct byte_out *out = &w->records;

	byte_out__u8(out, is_same);
	if (is_same)
		return;
	byte_out__varint(out, r->pid);
	byte_out__varint(out, r->tid);
	byte_out__varint(out, strnlen(r->comm, sizeof(r->comm)));
	byte_out__put(out, r->comm, strnlen(r->comm, sizeof(r->comm)));
	w->task = task;
	memcpy(w->comm, r->comm, sizeof(w->comm));
}

static int writer_flush(struct call_trace_writer *w)
{
	uint64_t lost;
	int err = 0;

	if (w->chunk.count) { /* it counts the losses up to its last record */
		lost = w->trace->run ? run__lost(w->trace->run) : 0;
		w->chunk.lost = lost - w->lost;
		w->lost = lost;
		err = writer_put_part(w, &w->chunk, &w->records);
	}
	w->records.len = 0;
	w->chunk = (struct capture_chunk){ .type = CAPTURE_CALLS };
	return err;
}

int call_trace_writer__put(struct call_trace_writer *w, const struct probe_record *r,
			   const void *values)
{
	const uint32_t function = w->trace->function_of[r->probe];
	const bool is_return = r->probe != w->trace->functions[function].entry;
	const struct plan_probe *probe = &w->trace->request.plan.probes[r->probe];
	struct byte_out *out = &w->records;

	if (!w->chunk.count)
		w->chunk.min_ns = w->chunk.max_ns = r->ns;
	byte_out__varint(out, zigzag__put((int64_t)(r->ns - w->chunk.max_ns)));
	w->chunk.max_ns = r->ns > w->chunk.max_ns ? r->ns : w->chunk.max_ns;
	byte_out__varint(out, 2 * (uint64_t)function + is_return);
	byte_out__varint(out, r->cpu);
	task_put(w, r);
	byte_out__varint(out, r->nth);
	for (size_t i = 0; i < probe->nr_shown; i++)
		value_put(w, &probe->shown[i].part, values);
	w->chunk.count++;
	return out->len < CALL_TRACE_CHUNK_BYTES ? 0 : writer_flush(w);
}

static void followed_put(void *arg, uint64_t object)
{
	struct call_trace_writer *w = arg;

	byte_out__varint(&w->records, address__hide(&w->addresses, object));
	byte_out__varint(&w->records, run__followed(w->trace->run, object));
	w->chunk.count++;
}

int call_trace_writer__finish(struct call_trace_writer *w, const struct run_counts *counts)
{
	int err = writer_flush(w);

	if (err)
		return err;
	w->chunk.type = CAPTURE_FOLLOWED;
	byte_out__varint(&w->records, NR_PROBE_COUNTERS);
	for (size_t i = 0; i < NR_PROBE_COUNTERS; i++)
		byte_out__varint(&w->records, counts->counters[i]);
	byte_out__varint(&w->records, counts->skipped);
	byte_out__u8(&w->records, counts->is_exact);
	if (w->trace->lives)
		lives__each_object(w->trace->lives, followed_put, w);
	return writer_put_part(w, &w->chunk, &w->records);
}

void call_trace_writer__free(struct call_trace_writer *w)
{
	byte_out__free(&w->records);
}
