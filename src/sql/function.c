/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * function.c: p(x, part) and hist(x): an exact percentile, and counts of values by powers of two.
 * Both ignore NULL, as aggregates do. p() keeps all values of its group, eight bytes each.
 */
#ifdef HAVE_SQLITE

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "analyse/numbers.h"
#include "sql/engine.h"

/* ---- p ---- */

struct function_p {
	struct numbers numbers;
	double part;
	bool has_part, failed;
};

static void p_fail(sqlite3_context *context, struct function_p *p, const char *message)
{
	p->failed = true;
	sqlite3_result_error(context, message, -1);
}

/* It must be the same for all rows: there is one result. */
static bool p_take_part(sqlite3_context *context, struct function_p *p, sqlite3_value *value)
{
	int type = sqlite3_value_type(value);
	double part = sqlite3_value_double(value);

	if ((type != SQLITE_FLOAT && type != SQLITE_INTEGER) || !(part >= 0 && part <= 1)) {
		p_fail(context, p,
		       "p(x, part): part must be a number from 0 to 1, e.g. p(lat_ns, 0.99)");
		return false;
	}
	if (p->has_part && part != p->part) {
		p_fail(context, p, "p(x, part): part must be the same for all rows");
		return false;
	}
	p->part = part;
	p->has_part = true;
	return true;
}

/* 0, or -errno. SQLite does not see this memory, so that it is counted here. */
static int p_add(struct sql *sql, struct numbers *numbers, sqlite3_value *value)
{
	const size_t before = numbers->room;
	int err;

	if (numbers->nr == numbers->room && sql->kept_bytes > sql->run->limit_bytes / 2)
		return -E2BIG; /* it would grow by half, or more */
	err = sqlite3_value_type(value) == SQLITE_INTEGER
		      ? numbers__add_whole(numbers, sqlite3_value_int64(value))
		      : numbers__add_real(numbers, sqlite3_value_double(value));
	sql->kept_bytes += (numbers->room - before) * sizeof(*numbers->values);
	return err;
}

static void p_step(sqlite3_context *context, int nr, sqlite3_value **values)
{
	struct function_p *p = sqlite3_aggregate_context(context, sizeof(*p));
	int err = 0;

	(void)nr;
	if (!p) {
		sqlite3_result_error_nomem(context);
		return;
	}
	if (p->failed || !p_take_part(context, p, values[1]))
		return;
	switch (sqlite3_value_type(values[0])) {
	case SQLITE_NULL: break;
	case SQLITE_INTEGER:
	case SQLITE_FLOAT: err = p_add(sqlite3_user_data(context), &p->numbers, values[0]); break;
	default: p_fail(context, p, "p(x, part): x must be a number");
	}
	if (err == -E2BIG)
		p_fail(context, p,
		       "p(x, part): the values need more memory than --limit-memory allows");
	else if (err)
		p_fail(context, p, "p(x, part): out of memory");
}

static void p_final(sqlite3_context *context)
{
	struct function_p *p = sqlite3_aggregate_context(context, 0);
	struct sql *sql = sqlite3_user_data(context);
	union numbers_value value;

	if (!p)
		return; /* no row: NULL */
	if (p->failed)
		; /* said */
	else if (!numbers__percentile(&p->numbers, p->part, &value))
		sqlite3_result_null(context);
	else if (p->numbers.is_real)
		sqlite3_result_double(context, value.real);
	else
		sqlite3_result_int64(context, value.whole);
	sql->kept_bytes -= p->numbers.room * sizeof(*p->numbers.values);
	numbers__free(&p->numbers);
}

/* ---- hist ---- */

struct function_hist {
	uint64_t counts[NUMBERS_OCTAVES];
	uint64_t nr;
	bool failed;
};

static void hist_step(sqlite3_context *context, int nr, sqlite3_value **values)
{
	struct function_hist *hist = sqlite3_aggregate_context(context, sizeof(*hist));
	int type = sqlite3_value_type(values[0]);

	(void)nr;
	if (!hist) {
		sqlite3_result_error_nomem(context);
		return;
	}
	if (type == SQLITE_NULL || hist->failed)
		return;
	if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) {
		hist->failed = true;
		sqlite3_result_error(context, "hist(x): x must be a number", -1);
		return;
	}
	hist->counts[numbers__octave(sqlite3_value_double(values[0]))]++;
	hist->nr++;
}

/* {"from":65536,"to":131072,"count":12}: of the open ends, null. */
static void hist_put(FILE *out, size_t octave, uint64_t count)
{
	if (octave)
		fprintf(out, "{\"from\":%.0f,", numbers__octave_from(octave));
	else
		fputs("{\"from\":null,", out);
	if (octave + 1 < NUMBERS_OCTAVES)
		fprintf(out, "\"to\":%.0f,", numbers__octave_from(octave ? octave + 1 : 1));
	else
		fputs("\"to\":null,", out);
	fprintf(out, "\"count\":%" PRIu64 "}", count);
}

/* Only buckets that are used. */
static char *hist_text(const struct function_hist *hist)
{
	const char *before = "[";
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < NUMBERS_OCTAVES; i++) {
		if (!hist->counts[i])
			continue;
		fputs(before, out);
		hist_put(out, i, hist->counts[i]);
		before = ",";
	}
	fputc(']', out);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static void hist_final(sqlite3_context *context)
{
	const struct function_hist *hist = sqlite3_aggregate_context(context, 0);
	char *text;

	if (!hist || !hist->nr || hist->failed)
		return;
	text = hist_text(hist);
	if (text)
		sqlite3_result_text(context, text, -1, free);
	else
		sqlite3_result_error_nomem(context);
}

int sql_function__add_all(struct sql *sql)
{
	const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
	int failed = sqlite3_create_function(sql->db, "p", 2, flags, sql, NULL, p_step, p_final);

	if (failed)
		return failed;
	return sqlite3_create_function(sql->db, "hist", 1, flags, NULL, NULL, hist_step,
				       hist_final);
}

#endif
