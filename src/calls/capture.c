/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/capture.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "calls/members.h"
#include "session/session.h"

enum {
	CALL_TRACE_CHUNK_BYTES = 1 << 16, /* is written when it is so long */
	CALL_TRACE_MOST = 65536,	  /* functions, counts: more is damage */
	CALL_TRACE_ENUM_MOST = 4096,	  /* values of an enum, likewise */
	CALL_TRACE_VALUES_MOST = PLAN_MAX_SHOWN + 8 * PLAN_MAX_PARTS,
};

/* Bits of what is said of a place. */
enum { PLACE_HAS_OBJECT = 1, PLACE_ROLE = 1 /* shift */, PLACE_IS_TRACED = 8 };
/* Bits of a part. */
enum { PART_IS_TEXT = 1, PART_IS_SIGNED = 2 };

/* ---- enums: what numbers are called ---- */

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
	t = btf__type_by_id(type->btf, type->id);
	while (t && (btf_is_mod(t) || btf_is_typedef(t)))
		t = btf__type_by_id(type->btf, t->type);
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

/* ---- which functions: writing ---- */

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
		return log_err(-ENOMEM, "out of memory");
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

int call_trace_writer__start(struct call_trace_writer *w,
			     const struct call_trace_writer_wants *wants)
{
	int err;

	*w = (struct call_trace_writer){ .trace = wants->trace, .recorder = wants->recorder };
	w->chunk.type = CAPTURE_CALLS;
	err = wants->addresses ? 0 : address_key__init(&w->addresses);
	return err ?: writer_put_functions(w);
}

/* ---- records: writing ---- */

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

/* Who it is stands there if it is another one than before. */
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

/* What was lost before the last of its records is in it. */
static void writer_note_losses(struct call_trace_writer *w)
{
	const uint64_t lost = w->trace->run ? run__lost(w->trace->run) : 0;

	w->chunk.lost = lost - w->lost;
	w->lost = lost;
}

static int writer_flush(struct call_trace_writer *w)
{
	int err = 0;

	if (w->chunk.count) {
		writer_note_losses(w);
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

/* ---- which functions: reading ---- */

/* Enums get a BTF of their own, so that nobody has to know where they come from. */
static int enums_get(struct call_trace *t, struct byte_in *in, uint32_t *ids)
{
	uint64_t nr = byte_in__varint(in);

	t->own_btf = btf__new_empty();
	if (!t->own_btf)
		return -ENOMEM;
	t->btf = t->own_btf;
	if (nr > CALL_TRACE_MOST)
		return -EBADMSG;
	for (uint64_t i = 0; i < nr && !in->bad; i++) {
		uint64_t values = byte_in__varint(in);
		int id = btf__add_enum(t->own_btf, NULL, 4);

		if (id < 0)
			return -ENOMEM;
		if (values > CALL_TRACE_ENUM_MOST)
			return -EBADMSG;
		if (i < 64)
			ids[i] = (uint32_t)id;
		for (uint64_t v = 0; v < values && !in->bad; v++) {
			int64_t value = zigzag__get(byte_in__varint(in));
			char name[128];

			byte_in__text(in, name, sizeof(name));
			if (in->bad || btf__add_enum_value(t->own_btf, name, value))
				return -EBADMSG;
		}
	}
	return in->bad ? -EBADMSG : 0;
}

/* How a number is shown that needs nothing of the machine it was on; all others are plain. */
static enum value_unit unit_get(uint64_t unit)
{
	switch (unit) {
	case VALUE_DURATION:
	case VALUE_BYTES:
	case VALUE_POINTER:
	case VALUE_ERRNO:
	case VALUE_SYSCALL:
	case VALUE_HEX:
	case VALUE_ENUM: return (enum value_unit)unit;
	default: return VALUE_PLAIN;
	}
}

static int part_get(struct call_trace *t, struct byte_in *in, const uint32_t *enums,
		    struct plan_part *part, uint32_t at)
{
	struct byte_in name = byte_in__part(in);
	uint64_t bits = byte_in__varint(in), size = byte_in__varint(in);
	uint64_t unit = byte_in__varint(in), number = byte_in__varint(in);
	char *text = NULL;

	if (in->bad || name.bad || number > 64 || !size || size % 8 || size > PLAN_MAX_SHOWN ||
	    (!(bits & PART_IS_TEXT) && size != 8))
		return -EBADMSG;
	text = strndup((const char *)name.at, byte_in__left(&name));
	if (!text)
		return -ENOMEM;
	*part = (struct plan_part){
		.text = text,
		.text_len = strlen(text),
		.at = at,
		.shape = { .is_text = bits & PART_IS_TEXT,
			   .is_signed = bits & PART_IS_SIGNED,
			   .size = (uint32_t)size,
			   .unit = unit_get(unit) },
	};
	t->request.plan.call_texts[t->request.plan.nr_call_texts++] = text;
	if (number)
		part->shape.type = (struct type){
			.kind = TYPE_INT, .size = 4, .btf = t->own_btf, .id = enums[number - 1]
		};
	return 0;
}

static int place_get(struct call_trace *t, struct byte_in *in, const uint32_t *enums,
		     struct call_trace_place *place, struct plan_probe *probe, bool *is_traced)
{
	uint64_t bits = byte_in__varint(in), nr = byte_in__varint(in);
	int err = 0;

	if (in->bad || nr > 2 * PLAN_MAX_PARTS || (bits >> PLACE_ROLE & 3) > LIFE_DEATH)
		return -EBADMSG;
	place->role = (enum life_role)(bits >> PLACE_ROLE & 3);
	if (bits & PLACE_HAS_OBJECT)
		strcpy(place->object, "object");
	*is_traced = bits & PLACE_IS_TRACED;
	probe->shown = calloc(nr + 1, sizeof(*probe->shown));
	if (!probe->shown)
		return -ENOMEM;
	for (uint64_t i = 0; i < nr && !err; i++) {
		err = part_get(t, in, enums, &probe->shown[i].part, probe->shown_bytes);
		if (err)
			break;
		probe->shown_bytes += probe->shown[i].part.shape.size;
		probe->nr_shown++;
	}
	return err ? err : probe->shown_bytes > PLAN_MAX_SHOWN ? -EBADMSG : 0;
}

/* "" is NULL: there is none. */
static char *text_get(struct byte_in *in)
{
	char *text = byte_in__text_new(in);

	if (!text || *text)
		return text;
	free(text);
	return NULL;
}

/* A name is all that is left of a probe. */
static int probe_get(struct byte_in *in, struct probe_list *list)
{
	struct probe probe = { .kind = PROBE_FN };

	probe.name = byte_in__text_new(in);
	probe.func = probe.name;
	if (!probe.name)
		return in->bad ? -EBADMSG : -ENOMEM;
	return probe_list__add(list, &probe);
}

static int function_get(struct call_trace *t, struct byte_in *in, const uint32_t *enums, uint32_t i)
{
	struct call_trace_function *f = &t->functions[i];
	struct plan_probe *probes = t->request.plan.probes;
	bool unused;
	int err = probe_get(in, &t->request.probes);

	f->module = text_get(in);
	if (!err && f->module && strchr(f->module, '/')) /* a file's, not a module's */
		t->request.probes.probes[i].kind = PROBE_USER;
	f->prototype = text_get(in);
	f->entry = i;
	f->exit = (uint32_t)t->nr + i;
	t->function_of[f->entry] = t->function_of[f->exit] = i;
	err = err ?: place_get(t, in, enums, &f->at_entry, &probes[f->entry], &unused);
	return err ?: place_get(t, in, enums, &f->at_exit, &probes[f->exit], &f->returns);
}

static int functions_make_room(struct call_trace *t, uint64_t nr)
{
	struct plan *plan = &t->request.plan;

	t->functions = calloc(nr, sizeof(*t->functions));
	t->function_of = calloc(2 * nr, sizeof(*t->function_of));
	plan->probes = calloc(2 * nr, sizeof(*plan->probes));
	plan->call_texts = calloc(4 * nr * PLAN_MAX_PARTS, sizeof(*plan->call_texts));
	if (!t->functions || !t->function_of || !plan->probes || !plan->call_texts)
		return -ENOMEM;
	t->nr = nr;
	plan->nr_probes = 2 * nr;
	plan->action = LINE_PRINT;
	plan->is_calls = true;
	return 0;
}

static int functions_get(struct call_trace *t, struct byte_in *in, const uint32_t *enums)
{
	uint64_t nr = byte_in__varint(in);
	int err = !nr || nr > CALL_TRACE_MOST || in->bad ? -EBADMSG : functions_make_room(t, nr);

	for (uint32_t i = 0; i < nr && !err; i++)
		err = function_get(t, in, enums, i);
	return err;
}

static int fields_get(struct call_trace *t, struct byte_in *in)
{
	uint64_t nr = byte_in__varint(in);
	int err = 0;

	if (in->bad || nr > CLASS_MAX_FIELDS)
		return -EBADMSG;
	for (uint64_t i = 0; i < nr && !err; i++) {
		char *name = byte_in__text_new(in);

		err = name ? call_trace__add_field(t, name) : -EBADMSG;
		free(name);
	}
	return err;
}

/* Captures of before they were kept end here. */
static int layouts_get(struct call_trace *t, struct byte_in *in)
{
	if (!byte_in__left(in))
		return 0;
	t->has_layouts = true;
	return struct_layouts__get(&t->layouts, in);
}

static bool part_is_like(const struct plan_part *a, const struct plan_part *b)
{
	return a->shape.is_text == b->shape.is_text && a->shape.size == b->shape.size;
}

/* Behind its other parts a place has the object, a number, and all its members, as every place. */
static int place_check(const struct call_trace *t, uint32_t function, bool is_return)
{
	const struct call_trace_function *f = &t->functions[function];
	const struct call_trace_place *place = is_return ? &f->at_exit : &f->at_entry;
	const struct plan_probe *probe = &t->request.plan.probes[is_return ? f->exit : f->entry];
	size_t tail = is_return || place->role != LIFE_BIRTH ? 1 + t->nr_fields : 1;
	const struct plan_shown *object;

	if (!place->object[0])
		return 0;
	if (probe->nr_shown < tail)
		return -EBADMSG;
	object = &probe->shown[probe->nr_shown - tail];
	if (object->part.shape.is_text)
		return -EBADMSG;
	for (size_t i = 0; i < tail && i < t->nr_members; i++)
		if (!part_is_like(&object[i].part, &t->members[i]))
			return -EBADMSG;
	return 0;
}

/* A return that is not seen has no place. */
static int call_trace_check(struct call_trace *t)
{
	int err = 0;

	for (uint32_t i = 0; i < t->nr && !err; i++) {
		if (!t->functions[i].returns)
			t->functions[i].at_exit = (struct call_trace_place){ 0 };
		err = place_check(t, i, false);
		err = err ?: place_check(t, i, true);
	}
	return err;
}

static int reader_take_functions(struct call_trace_reader *r, struct byte_in *in)
{
	struct call_trace *t = r->trace;
	uint32_t enums[64] = { 0 };
	int err;

	if (t->own_name) /* there is one such chunk */
		return -EBADMSG;
	t->own_name = byte_in__text_new(in);
	t->name = t->own_name;
	err = t->name ? fields_get(t, in) : -EBADMSG;
	err = err ?: enums_get(t, in, enums);
	err = err ?: functions_get(t, in, enums);
	err = err ?: layouts_get(t, in);
	err = err ?: call_trace_check(t);
	err = err ?: call_trace__lay_out(t);
	err = err ?: call_trace_check(t); /* against the layout */
	if (err)
		return err;
	r->is_known = true;
	r->values = malloc(CALL_TRACE_VALUES_MOST);
	return r->values ? r->on_known(r->arg) : log_err(-ENOMEM, "out of memory");
}

/* ---- records: reading ---- */

static bool part_is_called(const struct plan_part *part, const char *name)
{
	const size_t len = strlen(name);

	return part->text_len >= len && !memcmp(part->text + part->text_len - len, name, len);
}

/* Whatever text it is, but the name of a disk, which is nobody's. */
static void text_alias(const struct call_trace_reader *r, const struct plan_part *part, char *at)
{
	const size_t size = part->shape.size;
	char *text, name[ALIAS_NAME];

	if (!strnlen(at, size) || part_is_called(part, "disk_name"))
		return;
	if (part_is_called(part, "comm") && size >= sizeof(r->comm)) {
		alias__comm(r->alias, at);
		return;
	}
	text = strndup(at, size);
	memset(at, 0, size);
	if (text) /* without memory it has no name at all */
		memcpy(at, alias__name(r->alias, ALIAS_FILE, text, name), strnlen(name, size));
	free(text);
}

static void value_get(const struct call_trace_reader *r, struct byte_in *in,
		      const struct plan_part *part)
{
	char *at = r->values + part->at;
	uint64_t n;

	if (part->shape.is_text) {
		struct byte_in text = byte_in__part(in);
		size_t len = text.bad ? 0 : byte_in__left(&text);

		in->bad |= len > part->shape.size;
		memset(at, 0, part->shape.size);
		if (!in->bad && len)
			memcpy(at, text.at, len);
		if (r->alias)
			text_alias(r, part, at);
		return;
	}
	n = byte_in__varint(in);
	n = part->shape.is_signed ? (uint64_t)zigzag__get(n) : n;
	memcpy(at, &n, sizeof(n));
}

static void task_get(struct call_trace_reader *r, struct byte_in *in, struct probe_record *record)
{
	if (!byte_in__u8(in)) {
		uint64_t pid = byte_in__varint(in), tid = byte_in__varint(in);
		char comm[sizeof(r->comm) + 1] = "";

		byte_in__text(in, comm, sizeof(comm));
		memset(r->comm, 0, sizeof(r->comm));
		memcpy(r->comm, comm, strlen(comm));
		if (r->alias)
			alias__comm(r->alias, r->comm);
		r->task = pid << 32 | (uint32_t)tid;
	}
	record->pid = (uint32_t)(r->task >> 32);
	record->tid = (uint32_t)r->task;
	memcpy(record->comm, r->comm, sizeof(record->comm));
}

static int record_get(struct call_trace_reader *r, struct byte_in *in, uint64_t *last_ns)
{
	const struct call_trace *t = r->trace;
	struct probe_record record = { .ns = *last_ns +
					     (uint64_t)zigzag__get(byte_in__varint(in)) };
	uint64_t number = byte_in__varint(in);
	const struct call_trace_function *f;
	const struct plan_probe *probe;

	if (in->bad || number >= 2 * t->nr)
		return -EBADMSG;
	f = &t->functions[number / 2];
	record.probe = number % 2 ? f->exit : f->entry;
	if (number % 2 && !f->returns)
		return -EBADMSG;
	*last_ns = record.ns > *last_ns ? record.ns : *last_ns;
	record.cpu = (uint32_t)byte_in__varint(in);
	task_get(r, in, &record);
	record.nth = byte_in__varint(in);
	probe = &t->request.plan.probes[record.probe];
	for (size_t i = 0; i < probe->nr_shown; i++)
		value_get(r, in, &probe->shown[i].part);
	if (in->bad)
		return -EBADMSG;
	if (record.ns < r->from_ns || record.ns >= r->to_ns)
		return 0;
	return call_trace__take(r->trace, &record, r->values);
}

static int reader_take_records(struct call_trace_reader *r, struct capture_part *part)
{
	uint64_t last_ns = part->chunk.min_ns;
	int err = 0;

	r->trace->lost += part->chunk.lost;
	while (!err && byte_in__left(&part->in))
		err = record_get(r, &part->in, &last_ns);
	return err;
}

static int reader_take_counts(struct call_trace_reader *r, struct byte_in *in)
{
	uint64_t nr = byte_in__varint(in);
	int err = 0;

	if (in->bad || nr > CALL_TRACE_MOST)
		return -EBADMSG;
	for (uint64_t i = 0; i < nr; i++) {
		uint64_t count = byte_in__varint(in);

		if (i < NR_PROBE_COUNTERS)
			r->counts.counters[i] = count;
	}
	r->counts.skipped = byte_in__varint(in);
	r->counts.is_exact = byte_in__u8(in);
	r->has_counts = !in->bad;
	while (!err && !in->bad && byte_in__left(in)) {
		uint64_t object = byte_in__varint(in), count = byte_in__varint(in);

		err = in->bad ? -EBADMSG : call_trace__note_count(r->trace, object, count);
	}
	return in->bad ? -EBADMSG : err;
}

int call_trace_reader__take(struct call_trace_reader *r, struct capture_part *part)
{
	if (part->chunk.type == CAPTURE_CALLED)
		return reader_take_functions(r, &part->in);
	if (!r->is_known)
		return -EBADMSG;
	if (part->chunk.type == CAPTURE_CALLS)
		return reader_take_records(r, part);
	return reader_take_counts(r, &part->in);
}

int call_trace_reader__follow(struct call_trace_reader *r, const struct session *s,
			      struct capture_part *part)
{
	session__span(s, &r->from_ns, &r->to_ns);
	r->alias = session__alias(s);
	return call_trace_reader__take(r, part);
}

int call_trace_reader__check(const struct call_trace_reader *r)
{
	return r->is_known ? 0
			   : log_err(-EIO, "the capture does not say which functions were traced: "
					   "that part of it is damaged");
}

void call_trace_reader__free(struct call_trace_reader *r)
{
	free(r->values);
}
