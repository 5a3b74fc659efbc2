/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lines_share.c: are lines of text that two copies write, part by part, those that one table
 * writes, with the same headings at the same places? The parts of the copies alternate; some are
 * left to the run, as damaged ones are. Cells are of any width.
 */
#include "view/lines_share.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "draw.h"
#include "tap.h"

enum { COPIES = 2, ROWS = 60, ROUNDS = 400, LONGEST = 300 };

struct line {
	const char *name, *note;
	uint64_t count, ns;
	char texts[2][LONGEST + 1];
};

#define FIELD(name) offsetof(struct line, name)
static const struct column columns[] = {
	{ "name", "name", CELL_TEXT, 3, "", .at = FIELD(name) },
	{ "count", "count", CELL_COUNT, 0, "", .at = FIELD(count) },
	{ "ns", "ns", CELL_DURATION, 0, "", .at = FIELD(ns) },
	{ "note", "note", CELL_TEXT, 0, "", .at = FIELD(note) },
};
#undef FIELD

static struct line rows[ROWS];

static const char *draw_text(char *text, size_t most)
{
	size_t len = draw(10) ? draw(8) : draw(most);

	for (size_t i = 0; i < len; i++)
		text[i] = (char)('a' + draw(26));
	text[len] = 0;
	return draw(20) ? text : NULL;
}

static void draw_rows(void)
{
	for (size_t i = 0; i < ROWS; i++) {
		rows[i].name = draw_text(rows[i].texts[0], draw(9) ? 20 : LONGEST);
		rows[i].note = draw_text(rows[i].texts[1], 40);
		rows[i].count = draw(1000) >> draw(10);
		if (!draw(30))
			rows[i].count *= draw(1ULL << 40);
		rows[i].ns = draw(1ULL << draw(45));
	}
}

/* The last column is a text, or a number. */
static struct table *table_to(FILE *out, bool ends_in_text)
{
	const struct column *shown[] = { &columns[0], &columns[1], &columns[3], &columns[2] };
	const struct column *other[] = { &columns[1], &columns[0], &columns[2], &columns[3] };
	struct table *table = table__new(out, TABLE_TEXT, "line", ends_in_text ? other : shown, 4);

	table__head_growth(table);
	table__hold(table);
	return table;
}

static size_t next_part(size_t from)
{
	size_t to = from + draw(6);

	return to < ROWS ? to : ROWS;
}

static void put_rows(struct table *table, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		table__row(table, &rows[i]);
}

/* The part that a copy read goes to the run; if it is left to the run, that reads it again. */
static void part_of_copy(struct table *run, struct table *copy, struct lines_share *share,
			 size_t from, size_t to)
{
	struct byte_out out = { 0 };
	struct byte_in in;
	int err;

	put_rows(copy, from, to);
	err = lines_share__give(share, copy, &out);
	in = (struct byte_in){ out.bytes, out.bytes + out.len, false };
	if (err || !draw(5))
		put_rows(run, from, to);
	else
		lines_share__take(run, &in);
	byte_out__free(&out);
}

static char *lines_of_one(bool ends_in_text)
{
	char *words = NULL;
	size_t len;
	FILE *out = open_memstream(&words, &len);
	struct table *table = table_to(out, ends_in_text);

	put_rows(table, 0, ROWS);
	table__hand_over(table);
	fclose(out);
	table__free(table);
	return words;
}

static char *lines_of_several(bool ends_in_text)
{
	char *words = NULL;
	size_t len, copy = 0;
	FILE *out = open_memstream(&words, &len);
	struct table *run = table_to(out, ends_in_text), *copies[COPIES];
	struct lines_share shares[COPIES] = { 0 };

	for (size_t i = 0; i < COPIES; i++) {
		copies[i] = table_to(out, ends_in_text);
		lines_share__begin(&shares[i], copies[i]);
	}
	for (size_t from = 0, to; from < ROWS; from = to, copy = (copy + 1) % COPIES) {
		to = next_part(from);
		part_of_copy(run, copies[copy], &shares[copy], from, to);
	}
	table__hand_over(run);
	fclose(out);
	table__free(run);
	for (size_t i = 0; i < COPIES; i++) {
		table__free(copies[i]);
		fclose(shares[i].out);
		byte_out__free(&shares[i].lines);
		byte_out__free(&shares[i].growths);
	}
	return words;
}

static void check_rounds(bool ends_in_text, const char *name)
{
	uint64_t differ = 0;

	for (int round = 0; round < ROUNDS; round++) {
		char *one, *several;

		draw_rows();
		one = lines_of_one(ends_in_text);
		several = lines_of_several(ends_in_text);
		differ += strcmp(one, several) != 0;
		free(one);
		free(several);
	}
	is_u64(differ, 0, name);
}

/* Two bytes in one column: spaces would go to a wrong place. */
static void check_other_letters(void)
{
	struct line line = { .name = "m\xc3\xbcller" };
	struct table *copy = table_to(stdout, true);
	struct lines_share share = { 0 };
	struct byte_out out = { 0 };

	lines_share__begin(&share, copy);
	table__row(copy, &line);
	is_u64((uint64_t)-lines_share__give(&share, copy, &out), EAGAIN,
	       "text that is not ASCII is left to the run");
	table__free(copy);
	fclose(share.out);
	byte_out__free(&share.lines);
	byte_out__free(&share.growths);
	byte_out__free(&out);
}

int main(void)
{
	check_rounds(true, "400 tables by two copies are those of one, with a text at the end");
	check_rounds(false, "and with a number at the end");
	check_other_letters();
	return done_testing();
}
