/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * expr.h: the expression language, once: `p99 > 500us && op == read`. Two dialects: a filter is
 * typed against a table of fields and evaluated on anything that can answer for a field; a tree
 * is left to its reader (src/probe), and has members and calls. Pure: no I/O, no globals.
 *
 *	cond: or ["?" cond ":" cond]
 *	or: and ("||" and)*   and: not ("&&" not)*   not: "!" not | comparison
 *	comparison: bitor [("==" | "!=" | "<" | "<=" | ">" | ">=") bitor | ("=~" | "like") glob]
 *	bitor: bitxor ("|" bitxor)*   bitxor: bitand ("^" bitand)*   bitand: shift ("&" shift)*
 *	shift: sum (("<<" | ">>") sum)*   sum: term (("+" | "-") term)*
 *	term: unary (("*" | "/" | "%") unary)*
 *	unary: ("-" | "~") unary | postfix | "+" NUMBER[unit]	the last in filters only
 *	postfix: atom (("." | "->") NAME)*		trees only
 *	atom: NUMBER[unit] | "string" | 'string' | WORD | "(" cond ")"
 *		| NAME "(" [cond ("," cond)*] ")"	trees only
 *
 * Bit operators bind tighter than comparisons, unlike C's: flags & 8 == 8 is (flags & 8) == 8.
 * Numbers: 12, 1.5, 1e6, 0x1f. Units: ns us ms s m h d (durations), k M G Ki Mi Gi (sizes and plain
 * numbers); % is an operator, but in a filter `10%` is 10 where nothing follows that it could be
 * divided by. A filter's WORD may have dots inside (p99.9). It is a field if one has that name,
 * else a string (so `op == read` needs no quotes), but a bare word that is compared with nothing,
 * or with a number field, is an unknown field.
 */
#ifndef IOSONAR_EXPR_EXPR_H
#define IOSONAR_EXPR_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum expr_type {
	EXPR_NUMBER,   /* counts, rates, percents: real */
	EXPR_DURATION, /* ns */
	EXPR_SIZE,     /* bytes */
	EXPR_TEXT,
	EXPR_BOOL,
};

struct expr_field {
	const char *name;
	enum expr_type type;
};

struct expr_value {
	enum expr_type type;
	bool absent;   /* the row has no value for the field: every comparison with it is false */
	bool is_whole; /* the number is in `whole`; a double would keep only 53 bits of it */
	union {
		double number; /* NUMBER, DURATION (ns), SIZE (bytes) */
		uint64_t whole;
		const char *text;
		bool truth;
	};
};

struct expr_error {
	size_t at; /* offset in the text */
	char message[120];
};

struct expr;

/*
 * Other names of fields. A word is one of them only where it cannot be a text: `op == read` stays a
 * comparison with the text, whatever is called read.
 */
struct expr_names {
	/* The field; -ENOENT: none; another error: the word is refused, with this message. */
	int (*find)(const void *arg, const char *word, size_t len, struct expr_error *error);
	const void *arg;
	const char *const *words; /* suggested beside the names of fields if a word is unknown */
	size_t nr;
};
/*
 * A filter. names: NULL, or other names of its fields. NULL with *error filled on failure. Text and
 * fields must outlive the expression.
 */
struct expr *expr__parse(const char *text, const struct expr_field *fields, size_t nr_fields,
			 const struct expr_names *names, struct expr_error *error);
/* One expression of any type, untyped: tree.h has its nodes. It can only be printed and freed. */
struct expr *expr__parse_tree(const char *text, struct expr_error *error);
/*
 * "a, b->c, str(d, 8)": parses at most `room` trees into *nr; `at` of their nodes counts from the
 * start of the text. 0, or -EINVAL with *error filled, no tree and *nr = 0.
 */
int expr__parse_list(const char *text, struct expr **trees, size_t room, size_t *nr,
		     struct expr_error *error);
void expr__free(struct expr *expr);

typedef struct expr_value (*expr_lookup)(const void *row, size_t field);
/*
 * Evaluates a filter (parse checked that the result is a truth value). Division by zero and bit
 * operators on non-integers make a comparison false.
 */
bool expr__is_true(const struct expr *expr, expr_lookup lookup, const void *row);

/* Two lines for the user: the text, and a caret under the character. */
void expr__point_at(const char *text, const struct expr_error *error, char *buf, size_t size);

#endif
