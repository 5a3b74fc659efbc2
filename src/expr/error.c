/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * error.c: what is wrong with an expression, and where? Suggests the fields with the most similar
 * spelling; costs a small table of edit distances, only after a mistake. Widths are counted in
 * characters: wide or combining characters shift the caret by a column or two.
 */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "expr/tree.h"

enum {
	NEAR_MAX_LEN = 32, /* longer names are not compared */
	NEAR_EDIT = 10,	   /* the cost of one letter */
	NEAR_SHOWN = 3,
	POINT_BEFORE = 60, /* bytes of text shown before and after the caret */
	POINT_AFTER = 30,
	POINT_INSIDE = 3, /* continuation bytes of a character; a valid one has no more */
};

int expr_clip(const char *text, size_t len, size_t most)
{
	if (len <= most)
		return (int)len;
	while (most && ((unsigned char)text[most] & 0xc0) == 0x80)
		most--;
	return (int)most;
}

int expr_error__set(struct expr_error *error, size_t at, const char *fmt, ...)
{
	va_list args;

	error->at = at;
	va_start(args, fmt);
	vsnprintf(error->message, sizeof(error->message), fmt, args);
	va_end(args);
	return -EINVAL;
}

/* Similar digits are cheap: p98 is nearer to p99 than to p90. So is a change of case. */
static int near_swap_price(char a, char b)
{
	if (a == b)
		return 0;
	if (isdigit((unsigned char)a) && isdigit((unsigned char)b))
		return a < b ? b - a : a - b;
	return tolower((unsigned char)a) == tolower((unsigned char)b) ? 1 : NEAR_EDIT;
}

static int near_least(int a, int b, int c)
{
	int least = a < b ? a : b;

	return least < c ? least : c;
}

/* Levenshtein's distance, one row of the table at a time. -1: too long to bother. */
static int near_distance(const char *a, size_t a_len, const char *b)
{
	int row[NEAR_MAX_LEN + 1], corner, above;
	size_t i, j, b_len = strlen(b);

	if (a_len > NEAR_MAX_LEN || b_len > NEAR_MAX_LEN)
		return -1;
	for (j = 0; j <= b_len; j++)
		row[j] = (int)j * NEAR_EDIT;
	for (i = 1; i <= a_len; i++) {
		corner = row[0];
		row[0] = (int)i * NEAR_EDIT;
		for (j = 1; j <= b_len; j++) {
			above = row[j];
			row[j] = near_least(above + NEAR_EDIT, row[j - 1] + NEAR_EDIT,
					    corner + near_swap_price(a[i - 1], b[j - 1]));
			corner = above;
		}
	}
	return row[b_len];
}

/* Names in an array of their own, or as the first members of other structs. */
struct near_names {
	const void *first;
	size_t step, nr;
};

static const char *near_name(const struct near_names *names, size_t i)
{
	const char *const *name = (const void *)((const char *)names->first + i * names->step);

	return *name;
}

static int near_best(const struct near_names *names, const struct expr_node *word)
{
	int best = NEAR_EDIT * (int)(1 + word->text_len / 4), distance;

	for (size_t i = 0; i < names->nr; i++) {
		distance = near_distance(word->text, word->text_len, near_name(names, i));
		if (distance >= 0 && distance < best)
			best = distance;
	}
	return best;
}

__attribute__((format(printf, 2, 3))) static void error_append(struct expr_error *error,
							       const char *fmt, ...)
{
	size_t len = strlen(error->message);
	va_list args;

	va_start(args, fmt);
	vsnprintf(error->message + len, sizeof(error->message) - len, fmt, args);
	va_end(args);
}

/* Those at the best distance; nr were written before. Returns the number of names written. */
static int error_name_near(struct expr_error *error, const struct near_names *names, int best,
			   const struct expr_node *word, int nr)
{
	const char *name;

	for (size_t i = 0; i < names->nr && nr < NEAR_SHOWN; i++) {
		name = near_name(names, i);
		if (near_distance(word->text, word->text_len, name) != best)
			continue;
		error_append(error, "%s%s", nr++ ? " or " : "; did you mean ", name);
	}
	return nr;
}

/* As many as fit, whole names only. */
static void error_name_all(struct expr_error *error, const struct near_names *names)
{
	const char *name;

	for (size_t i = 0; i < names->nr; i++) {
		name = near_name(names, i);
		if (strlen(error->message) + strlen(name) + 20 > sizeof(error->message)) {
			error_append(error, ", ...");
			return;
		}
		error_append(error, "%s%s", i ? ", " : "; available: ", name);
	}
}

/* more: other names, which are suggested only if they are nearer. */
static int error_unknown(struct expr_error *error, const struct expr_node *word, const char *says,
			 const struct near_names *names, const struct near_names *more)
{
	int best = near_best(names, word), others = near_best(more, word), nr = 0;

	expr_error__set(error, expr_node__name_at(word), "%s '%.*s'", says,
			expr_clip(word->text, word->text_len, NEAR_MAX_LEN), word->text);
	if (best <= others)
		nr = error_name_near(error, names, best, word, nr);
	else
		nr = error_name_near(error, more, others, word, nr);
	if (nr)
		error_append(error, "?");
	else
		error_name_all(error, names);
	return -EINVAL;
}

int expr_error__unknown(struct expr_error *error, const struct expr_node *word, const char *says,
			const char *const *names, size_t nr)
{
	const struct near_names list = { names, sizeof(*names), nr }, none = { NULL, 0, 0 };

	return error_unknown(error, word, says, &list, &none);
}

int expr_error__no_field(struct expr_error *error, const struct expr *expr,
			 const struct expr_node *word)
{
	static_assert(!offsetof(struct expr_field, name), "the name stands first");
	const struct near_names list = { expr->fields, sizeof(*expr->fields), expr->nr_fields };
	struct near_names more = { NULL, sizeof(char *), 0 };

	if (expr->names) {
		more.first = expr->names->words;
		more.nr = expr->names->nr;
	}
	return error_unknown(error, word, "unknown field", &list, &more);
}

static bool point_is_inside(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* A long text is shown only around the mistake. The lines have no line end. */
void expr__point_at(const char *text, const struct expr_error *error, char *buf, size_t size)
{
	size_t len = strlen(text), at = error->at < len ? error->at : len;
	size_t from = at > POINT_BEFORE ? at - POINT_BEFORE : 0, to = at + POINT_AFTER, i, used;

	if (!size)
		return;
	if (to > len)
		to = len;
	while (from < at && point_is_inside(text[from]))
		from++;
	for (i = 0; i < POINT_INSIDE && to < len && point_is_inside(text[to]); i++)
		to++;
	/* Control characters become '?': they would move the caret, or the terminal. */
	for (used = 0; from + used < to && used + 1 < size; used++)
		buf[used] = iscntrl((unsigned char)text[from + used]) ? '?' : text[from + used];
	if (used + 1 < size)
		buf[used++] = '\n';
	for (i = from; i < at && used + 1 < size; i++)
		if (!point_is_inside(text[i]))
			buf[used++] = ' ';
	if (used + 1 < size)
		buf[used++] = '^';
	buf[used] = '\0';
}
