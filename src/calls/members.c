/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/members.h"

#include <bpf/btf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"

enum { MEMBERS_MOST = PLAN_MAX_PARTS };

/* Members whose type is a plain number although the kernel's BTF has an enum for it. */
struct member_words {
	const char *name;  /* of the member */
	const char *bits;  /* a value of the enum that numbers its bits; NULL: none */
	const char *whole; /* a value of the enum of its lowest byte; NULL: none */
};
static const struct member_words member_words[] = {
	{ "bi_opf", "__REQ_SYNC", "REQ_OP_READ" }, { "cmd_flags", "__REQ_SYNC", "REQ_OP_READ" },
	{ "bi_flags", "BIO_CLONED", NULL },	   { "i_state", "__I_NEW", NULL },
	{ "rq_flags", "__RQF_STARTED", NULL },
};

struct member {
	const struct btf_type *bits, *whole;
};

struct members {
	struct values *values;
	struct plan_part parts[MEMBERS_MOST];
	size_t nr;
	const struct btf *btf;
	struct member members[MEMBERS_MOST];
	struct column columns[MEMBERS_MOST];
	union value_slot slots[MEMBERS_MOST];
};

/* ---- words ---- */

const char *member__name(const struct plan_part *part, int *len)
{
	static const char atomic[] = ".counter";
	const size_t tail = sizeof(atomic) - 1;
	size_t end = part->text_len, from;

	if (end > tail && !memcmp(part->text + end - tail, atomic, tail))
		end -= tail;
	from = end;
	while (from && part->text[from - 1] != '.' && part->text[from - 1] != '>')
		from--;
	*len = (int)(end - from);
	return part->text + from;
}

static bool enum_has(const struct btf *btf, const struct btf_type *t, const char *value)
{
	for (uint16_t i = 0; i < btf_vlen(t); i++) {
		const char *name = btf__name_by_offset(btf, btf_enum(t)[i].name_off);

		if (name && !strcmp(name, value))
			return true;
	}
	return false;
}

static const struct btf_type *enum_with(const struct btf *btf, const char *value)
{
	for (uint32_t id = 1; value && btf && id < btf__type_cnt(btf); id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);

		if (btf_is_enum(t) && enum_has(btf, t, value))
			return t;
	}
	return NULL;
}

static const char *enum_name(const struct btf *btf, const struct btf_type *t, int64_t value)
{
	for (uint16_t i = 0; t && i < btf_vlen(t); i++)
		if (btf_enum(t)[i].val == value)
			return btf__name_by_offset(btf, btf_enum(t)[i].name_off);
	return NULL;
}

/* Drops the prefix that all names share: "__REQ_", "REQ_OP_", "BIO_". */
static const char *enum_short(const char *name)
{
	static const char *const prefixes[] = { "__REQ_", "REQ_OP_", "BIO_", "__RQF_", "__I_" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return name + strlen(prefixes[i]);
	return name;
}

static void member_put_bits(const struct members *m, const struct member *member, FILE *out,
			    uint64_t n, const char *mark)
{
	const int from = member->whole ? 8 : 0;

	for (int bit = from; bit < 64; bit++) {
		const char *name = n >> bit & 1 ? enum_name(m->btf, member->bits, bit) : NULL;

		if (!(n >> bit & 1))
			continue;
		if (name)
			fprintf(out, "%s%s", mark, enum_short(name));
		else
			fprintf(out, "%s%d", mark, bit);
		mark = "|";
	}
}

static void member_put_words(const struct members *m, const struct member *member, FILE *out,
			     uint64_t n)
{
	const char *name = member->whole ? enum_name(m->btf, member->whole, n & 0xff) : NULL;

	if (member->whole && name)
		fputs(enum_short(name), out);
	else if (member->whole || !n)
		fprintf(out, "%" PRIu64, member->whole ? n & 0xff : n);
	member_put_bits(m, member, out, n, member->whole ? "|" : "");
}

/* ---- values ---- */

static void member_put_cell(FILE *out, struct cell cell)
{
	if (cell.kind == CELL_TEXT)
		fputs(cell.text ? cell.text : "-", out);
	else if (cell.kind == CELL_SIGNED)
		fprintf(out, "%" PRId64, (int64_t)cell.n);
	else if (cell.kind == CELL_NONE)
		fputc('-', out);
	else
		fprintf(out, "%" PRIu64, cell.n);
}

void members__put_value(struct members *m, FILE *out, size_t i, const void *bytes)
{
	const struct member *member = &m->members[i];
	struct cell cell;

	values__fill(m->values, &m->parts[i], 1, bytes, &m->slots[i]);
	cell = column__cell(&m->columns[i], m->slots);
	if ((member->bits || member->whole) && cell.kind == CELL_NUMBER)
		member_put_words(m, member, out, cell.n);
	else
		member_put_cell(out, cell);
}

size_t members__put(struct members *m, FILE *out, size_t first, const void *now, const void *before)
{
	size_t nr = 0;

	for (size_t i = first; i < m->nr; i++) {
		const struct plan_part *part = &m->parts[i];
		const char *name;
		int len;

		if (before && !memcmp((const char *)now + part->at, (const char *)before + part->at,
				      part->shape.size))
			continue;
		fputs(nr++ ? before ? ", " : " " : "", out);
		name = member__name(part, &len);
		fprintf(out, "%.*s", len, name);
		fputc(before ? ' ' : '=', out);
		if (before) {
			members__put_value(m, out, i, before);
			fputs(" -> ", out);
		}
		members__put_value(m, out, i, now);
	}
	return nr;
}

/* ---- making ---- */

static struct member member_of(const struct btf *btf, const struct plan_part *part)
{
	struct member member = { 0 };
	int len;
	const char *name = member__name(part, &len);

	for (size_t w = 0; w < sizeof(member_words) / sizeof(member_words[0]); w++) {
		const struct member_words *words = &member_words[w];

		if (strlen(words->name) != (size_t)len || strncmp(words->name, name, (size_t)len))
			continue;
		member.bits = enum_with(btf, words->bits);
		member.whole = enum_with(btf, words->whole);
	}
	return member;
}

void members__each_enum(const struct btf *btf, const struct plan_part *parts, size_t nr,
			void (*fn)(void *arg, const struct btf *btf, const struct btf_type *type),
			void *arg)
{
	for (size_t i = 0; i < nr; i++) {
		const struct member member = member_of(btf, &parts[i]);

		if (member.bits)
			fn(arg, btf, member.bits);
		if (member.whole)
			fn(arg, btf, member.whole);
	}
}

struct members *members__new(struct values *values, const struct plan_part *parts, size_t nr,
			     const struct btf *btf)
{
	struct members *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->values = values;
	m->nr = nr < MEMBERS_MOST ? nr : MEMBERS_MOST;
	memcpy(m->parts, parts, m->nr * sizeof(*parts));
	m->btf = btf;
	for (size_t i = 0; i < m->nr; i++)
		m->members[i] = member_of(btf, &parts[i]);
	if (!values__columns(values, parts, m->nr, 0, m->columns, NULL))
		return m;
	free(m);
	return NULL;
}

void members__free(struct members *m)
{
	free(m);
}

/* ---- of a trace ---- */

int trace_words__start(struct trace_words *w, const struct call_trace *t)
{
	w->trace = t;
	w->values = values__new(&t->request);
	w->arguments = calloc(2 * t->nr, sizeof(*w->arguments));
	if (w->values && t->nr_members)
		w->members = members__new(w->values, t->shown, t->nr_shown, t->btf);
	if (!w->values || !w->arguments || (t->nr_members && !w->members))
		return log_no_memory();
	values__start(w->values, t->run);
	return 0;
}

static struct members *words_new(const struct trace_words *w, uint32_t function, bool is_return)
{
	struct plan_part parts[PLAN_MAX_PARTS];
	const struct plan_shown *shown;
	size_t nr;

	shown = call_trace__shown(w->trace, function, is_return, &nr);
	nr = nr < PLAN_MAX_PARTS ? nr : PLAN_MAX_PARTS;
	for (size_t i = 0; i < nr; i++)
		parts[i] = shown[i].part;
	return members__new(w->values, parts, nr, NULL);
}

struct members *trace_words__of(struct trace_words *w, uint32_t function, bool is_return)
{
	struct members **words = &w->arguments[2 * function + is_return];

	if (!*words)
		*words = words_new(w, function, is_return);
	return *words;
}

void trace_words__free(struct trace_words *w)
{
	for (size_t i = 0; w->arguments && i < 2 * w->trace->nr; i++)
		members__free(w->arguments[i]);
	free(w->arguments);
	members__free(w->members);
	values__free(w->values);
}
