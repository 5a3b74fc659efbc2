/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture_reader.c: turns chunks of calls into what a live trace has: functions with their layout,
 * then records. The file is hostile: every number is checked before use.
 */
#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "calls/capture.h"
#include "calls/capture_layout.h"
#include "calls/members.h"
#include "session/session.h"

/* ---- which functions ---- */

/* Enums get a BTF of their own, so that callers need not know their origin. */
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

/* The unit of a number if it needs nothing from the original machine; others are plain. */
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

/* "" becomes NULL: absent. */
static char *text_get(struct byte_in *in)
{
	char *text = byte_in__text_new(in);

	if (!text || *text)
		return text;
	free(text);
	return NULL;
}

/* Only the name of a probe is kept. */
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
	if (!err && f->module && strchr(f->module, '/')) /* a path names a file, not a module */
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

/* Older captures, without layouts, end here. */
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

/* After its other parts, a place has the object (a number) and all members, the same everywhere. */
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

	if (t->own_name) /* only one chunk of this kind is allowed */
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
	return r->values ? r->on_known(r->arg) : log_no_memory();
}

/* ---- records ---- */

static bool part_is_called(const struct plan_part *part, const char *name)
{
	const size_t len = strlen(name);

	return part->text_len >= len && !memcmp(part->text + part->text_len - len, name, len);
}

/* Replaces any text except a disk's name, which identifies no user. */
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
	if (text) /* out of memory: the name stays empty */
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
	return r->is_known
		       ? 0
		       : log_err(-EIO,
				 "the capture is damaged: its list of traced functions is missing");
}

void call_trace_reader__free(struct call_trace_reader *r)
{
	free(r->values);
}
