/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tally.h: shared by count, sum, hist and pair: rows by key, every interval if -i is given and at
 * the end, with their columns, the largest first; the histogram of each; stacks below their row. A
 * command chooses its columns; this file fills them.
 */
#ifndef IOSONAR_VIEW_TALLY_H
#define IOSONAR_VIEW_TALLY_H

#include "analyse/scale.h"
#include "analyse/tally.h"
#include "probe/lang/line.h"
#include "probe/run/request.h"
#include "session/session.h"
#include "view/unwind_option.h"
#include "view/values.h"

/* Options of all these commands; they are at the start of the command's state. */
struct tally_options {
	struct option_list words;
	struct option_number top, keys;
	bool emit;
	int unwind; /* enum unwind_how */
	/* hist, pair */
	bool log2;
	const char *linear; /* FROM:TO:STEP */
};

/* Slots of a row's cells; keys come between. */
enum tally_slot {
	TALLY_SPAN,
	TALLY_TIME,
	TALLY_KEYS,
	TALLY_COUNT = TALLY_KEYS + PLAN_MAX_PARTS,
	TALLY_PER_S,
	TALLY_SUM,
	TALLY_SUM_PER_S,
	TALLY_MEAN,
	TALLY_P50,
	TALLY_P90,
	TALLY_P99,
	TALLY_P999,
	TALLY_MAX,
	TALLY_FROM, /* of a bucket */
	TALLY_TO,
	TALLY_CUMULATIVE,
	NR_TALLY_SLOTS,
};
#define TALLY_AT(slot) ((slot) * sizeof(union value_slot))

/* In every row. */
extern const struct column tally_lead[];

struct tally_view {
	struct tally_options options;
	struct request request;
	const struct object *object;  /* its rows: tally_lead, then its own columns */
	const struct object *buckets; /* of a histogram, or NULL */
	enum tally_measure measure;
	/* What the command shows below its rows at the end; NULL: nothing. */
	int (*after)(struct tally_view *view, struct session *session);
	struct tally tally;
	struct scale scale;
	struct values *values;
	struct table *table, *bucket_table;
	struct column columns[OBJECT_COLUMNS], bucket_columns[OBJECT_COLUMNS];
	char column_keys[OBJECT_COLUMNS][24];
	const struct column *picked[OBJECT_COLUMNS];
	size_t nr_picked;
	uint64_t nr_ticks;
	union value_slot slots[VALUE_SLOTS];
	int read_err;
};

#define TALLY_OPTION(field) offsetof(struct tally_options, field)
/* For the option tables of the commands. */
#define TALLY_OPTIONS                                                                   \
	{ "words",                                                                      \
	  0,                                                                            \
	  OPTION_OPERANDS,                                                              \
	  TALLY_OPTION(words),                                                          \
	  REQUEST_WORDS,                                                                \
	  REQUEST_WORDS_HELP,                                                           \
	  .completes = "line",                                                          \
	  .opens = line__opens },                                                       \
		{ "top",	 0,                                                     \
		  OPTION_NUMBER, TALLY_OPTION(top),                                     \
		  "N",		 "show at most N rows (default: 60 in text)",           \
		  .min = 1,	 .max = 1 << 20 },                                      \
		{ "keys",	 0,                                                     \
		  OPTION_NUMBER, TALLY_OPTION(keys),                                    \
		  "N",		 "room for N rows (default 16384, with buckets 32768)", \
		  .min = 1,	 .max = 1 << 22 },                                      \
		UNWIND_OPTION(TALLY_OPTION(unwind)),                                    \
	{                                                                               \
		"emit", 0, OPTION_FLAG, TALLY_OPTION(emit), NULL,                       \
			"print the BPF instructions generated from the line"            \
	}

#define TALLY_BUCKET_OPTIONS                                                      \
	{ "log2",                                                                 \
	  0,                                                                      \
	  OPTION_FLAG,                                                            \
	  TALLY_OPTION(log2),                                                     \
	  NULL,                                                                   \
	  "use powers of two as buckets",                                         \
	  .not_with = "linear" },                                                 \
	{                                                                         \
		"linear", 0, OPTION_STRING, TALLY_OPTION(linear), "FROM:TO:STEP", \
			"use buckets of width STEP from FROM to TO"               \
	}

/* The whole run of one of these commands, which sets view->object and the like. */
int tally_view__run(struct tally_view *view, enum line_action action, const struct options *options,
		    char **argv);

#endif
