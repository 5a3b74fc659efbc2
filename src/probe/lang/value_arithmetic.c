/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * value_arithmetic.c: what is the value of an expression? Slow and plain, straight from the
 * definitions in value.h: the reference for what a program computes. Also used for constant parts.
 */
#include <string.h>
#include "decode/syscall_args.h"
#include "probe/lang/value.h"

static uint64_t reckon_number(const struct value *v, struct value_world *w);
static void reckon_text(const struct value *v, struct value_world *w, char *text);

enum { RECKON_TEXT = sizeof(((struct value_result *)0)->text) };

static uint64_t reckon_extend(uint64_t number, uint32_t bits, bool is_signed)
{
	if (bits >= 64)
		return number;
	number &= (1ULL << bits) - 1;
	if (is_signed && number >> (bits - 1))
		number |= ~0ULL << bits;
	return number;
}

static bool reckon_read(struct value_world *w, void *to, uint64_t address, size_t bytes)
{
	if (w->read && w->read(to, address, bytes))
		return true;
	memset(to, 0, bytes);
	return false;
}

static uint64_t reckon_bytes(const uint8_t *bytes, const struct value *v)
{
	uint64_t number = 0;

	memcpy(&number, bytes, v->size);
	return reckon_extend(number, 8 * v->size, v->shape.is_signed);
}

static uint64_t reckon_load(const struct value *v, struct value_world *w)
{
	uint64_t address = reckon_number(v->left, w) + v->offset;
	uint8_t bytes[8];

	w->faults += !reckon_read(w, bytes, address, v->size);
	return reckon_bytes(bytes, v);
}

static uint64_t reckon_divide(const struct value *v, struct value_world *w, uint64_t l, uint64_t r)
{
	bool wants_quotient = v->op == VALUE_DIV;

	if (!r) {
		w->divisions_by_zero++;
		return 0;
	}
	if (!v->is_signed)
		return wants_quotient ? l / r : l % r;
	if (r == UINT64_MAX)
		return wants_quotient ? 0 - l
				      : 0; /* the machine's division would trap on the minimum */
	return wants_quotient ? (uint64_t)((int64_t)l / (int64_t)r)
			      : (uint64_t)((int64_t)l % (int64_t)r);
}

static uint64_t reckon_shift(const struct value *v, uint64_t l, uint64_t r)
{
	if (r >= 64)
		return 0;
	if (v->op == VALUE_SHL)
		return l << r;
	return v->is_signed ? reckon_extend(l >> r, (uint32_t)(64 - r), true) : l >> r;
}

static bool reckon_is_less(const struct value *v, uint64_t l, uint64_t r)
{
	return v->is_signed ? (int64_t)l < (int64_t)r : l < r;
}

static uint64_t reckon_both(const struct value *v, struct value_world *w)
{
	uint64_t l = reckon_number(v->left, w), r = reckon_number(v->right, w);

	switch (v->op) {
	case VALUE_ADD: return l + r;
	case VALUE_SUB: return l - r;
	case VALUE_MUL: return l * r;
	case VALUE_DIV:
	case VALUE_MOD: return reckon_divide(v, w, l, r);
	case VALUE_SHL:
	case VALUE_SHR: return reckon_shift(v, l, r);
	case VALUE_AND: return l & r;
	case VALUE_OR: return l | r;
	case VALUE_XOR: return l ^ r;
	case VALUE_EQ: return l == r;
	case VALUE_NE: return l != r;
	case VALUE_LT: return reckon_is_less(v, l, r);
	case VALUE_LE: return !reckon_is_less(v, r, l);
	case VALUE_GT: return reckon_is_less(v, r, l);
	default: return !reckon_is_less(v, l, r);
	}
}

static uint64_t reckon_texts(const struct value *v, struct value_world *w)
{
	char left[RECKON_TEXT], right[RECKON_TEXT];

	reckon_text(v->left, w, left);
	if (v->op == VALUE_LIKE)
		return value__matches(left, v->text);
	reckon_text(v->right, w, right);
	return !strcmp(left, right) == (v->op == VALUE_EQ);
}

static uint64_t reckon_number(const struct value *v, struct value_world *w)
{
	switch (v->op) {
	case VALUE_CONST:
	case VALUE_PROBE: return v->number;
	case VALUE_RECORD: return reckon_bytes(w->record + v->offset, v);
	case VALUE_ARG: return reckon_extend(w->args[v->number], 8 * v->size, v->shape.is_signed);
	case VALUE_RET: return reckon_extend(w->ret, 8 * v->size, v->shape.is_signed);
	case VALUE_PID: return w->pid;
	case VALUE_TID: return w->tid;
	case VALUE_UID: return w->uid;
	case VALUE_CPU: return w->cpu;
	case VALUE_CGROUP: return w->cgroup;
	case VALUE_NSECS: return w->nsecs;
	case VALUE_LATENCY: return w->latency;
	case VALUE_SAVED: return reckon_bytes(w->start + v->offset, v);
	case VALUE_KSTACK:
	case VALUE_USTACK: return UINT64_MAX; /* there is none */
	case VALUE_LOAD: return reckon_load(v, w);
	case VALUE_COMPAT: return reckon_number(v->left, w) | (w->is_compat ? SYSCALL_COMPAT : 0);
	case VALUE_BITS:
		return reckon_extend(reckon_number(v->left, w) >> v->shift, v->bits,
				     v->shape.is_signed);
	case VALUE_NEG: return 0 - reckon_number(v->left, w);
	case VALUE_COMPLEMENT: return ~reckon_number(v->left, w);
	case VALUE_NOT: return !reckon_number(v->left, w);
	case VALUE_BOTH: return reckon_number(v->left, w) && reckon_number(v->right, w);
	case VALUE_EITHER: return reckon_number(v->left, w) || reckon_number(v->right, w);
	case VALUE_CHOOSE: return reckon_number(reckon_number(v->left, w) ? v->right : v->other, w);
	default: break;
	}
	if (v->op == VALUE_LIKE || v->left->shape.is_text)
		return reckon_texts(v, w);
	return reckon_both(v, w);
}

/* ---- texts ---- */

/* At the end of its room, where value__reckon finds it. */
static void reckon_mark(char *text)
{
	text[RECKON_TEXT - 1] = (char)VALUE_UNREADABLE;
}

/* Up to its end, a character at a time; the rest of text is 0. */
static bool reckon_chars_at(struct value_world *w, uint64_t address, size_t most, char *text)
{
	for (size_t i = 0; i < most; i++) {
		if (!reckon_read(w, text + i, address + i, 1)) {
			memset(text, 0, i);
			reckon_mark(text);
			w->faults++;
			return false;
		}
		if (!text[i])
			break;
	}
	return true;
}

static void reckon_record_chars(const struct value *v, const struct value_world *w, char *text)
{
	uint32_t at = v->offset, loc;

	if (v->is_loc) {
		memcpy(&loc, w->record + at, sizeof(loc));
		at = (loc & 0xffff) + (v->is_rel ? at + 4 : 0);
	}
	if (at < w->record_bytes)
		memcpy(text, w->record + at,
		       strnlen((const char *)w->record + at,
			       v->size < w->record_bytes - at ? v->size : w->record_bytes - at));
}

static void reckon_args(const struct value *v, struct value_world *w, char *text)
{
	uint64_t argv = reckon_number(v->left, w), word;
	bool is_read = true;
	size_t used = 0, i;
	char one[RECKON_TEXT];

	for (i = 0; i < VALUE_ARGS_WORDS && used <= VALUE_ARGS_MOST; i++) {
		is_read = reckon_read(w, &word, argv + 8 * i, sizeof(word));
		w->faults += !is_read;
		if (!word)
			break;
		memset(one, 0, sizeof(one));
		is_read = reckon_chars_at(w, word, VALUE_ARGS_MOST, one);
		if (!is_read)
			break;
		if (used)
			text[used - 1] = ' ';
		memcpy(text + used, one, strnlen(one, RECKON_TEXT - 1 - used));
		used += strlen(one) + 1;
	}
	memset(text + VALUE_ARGS_MOST, 0, RECKON_TEXT - VALUE_ARGS_MOST);
	if (!used && !is_read)
		reckon_mark(text);
}

static void reckon_array(const struct value *v, struct value_world *w, char *text)
{
	if (v->left)
		w->faults += !reckon_read(w, text, reckon_number(v->left, w) + v->offset, v->size);
	else
		memcpy(text, w->record + v->offset, v->size);
}

static void reckon_text(const struct value *v, struct value_world *w, char *text)
{
	memset(text, 0, RECKON_TEXT);
	switch (v->op) {
	case VALUE_ARRAY: reckon_array(v, w, text); break;
	case VALUE_TEXT: memcpy(text, v->text, strlen(v->text)); break;
	case VALUE_COMM: memcpy(text, w->comm, strnlen(w->comm, v->shape.size - 1)); break;
	case VALUE_SAVED: memcpy(text, w->start + v->offset, v->shape.size); break;
	case VALUE_ARGS: reckon_args(v, w, text); break;
	case VALUE_CHOOSE:
		reckon_text(reckon_number(v->left, w) ? v->right : v->other, w, text);
		break;
	default:
		if (v->left)
			reckon_chars_at(w, reckon_number(v->left, w) + v->offset, v->size, text);
		else
			reckon_record_chars(v, w, text);
	}
}

void value__reckon(const struct value *value, struct value_world *world,
		   struct value_result *result)
{
	memset(result, 0, sizeof(*result));
	if (!value->shape.is_text) {
		result->number = reckon_number(value, world);
		return;
	}
	reckon_text(value, world, result->text);
	if (value__is_unreadable(result->text, RECKON_TEXT)) {
		result->text[RECKON_TEXT - 1] = 0;
		result->text[value->shape.size - 1] = (char)VALUE_UNREADABLE;
	}
}

/* On a mismatch the last star takes one character more. */
bool value__matches(const char *text, const char *glob)
{
	const char *star = NULL, *star_text = NULL;

	while (*text) {
		if (*glob == '*') {
			star = ++glob;
			star_text = text;
		} else if (*glob == '?' || *glob == *text) {
			glob++;
			text++;
		} else if (star) {
			glob = star;
			text = ++star_text;
		} else {
			return false;
		}
	}
	return !glob[strspn(glob, "*")];
}
