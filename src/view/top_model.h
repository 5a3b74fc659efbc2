/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top_model.h: what does `top` show, and where is its user? Rows by the first key, below each of
 * them rows by the next one, and so on; their order, the chosen row, and the last intervals of
 * each. Knows no terminal. A row costs 20 KB for each key; one that was idle for TOP_INTERVALS is
 * hidden.
 */
#ifndef IOSONAR_VIEW_TOP_MODEL_H
#define IOSONAR_VIEW_TOP_MODEL_H

#include "analyse/breakdown.h"
#include "decode/column.h"
#include "session/condition.h"
#include "view/latency_rows.h"

enum {
	TOP_INTERVALS = 128, /* that are remembered for each row */
	TOP_BANDS = 26,	     /* of latency: octaves from 1 us to 69 s; the ends hold all beyond */
	TOP_COLUMNS = 8,     /* the key and the measured ones */
	TOP_PLACE = 512,     /* bytes of its text */
	TOP_FILTER = 128,
};

/* As in JSON; a struct latency_row is at its start, so that the columns of latency fit. */
struct top_row {
	struct latency_row shown;
	uint64_t in_flight; /* now; CELL_NO_NUMBER: not known */
	const struct breakdown_row *from;
	const struct top_track *track;
};

/* One interval of all rows, as in JSON. */
struct top_sample {
	struct latency_row shown;
	uint64_t in_flight, issued, completed, lost; /* of the run; CELL_NO_NUMBER: not known */
	double cpu_percent; /* of one CPU, that this process used in the interval, */
	double bpf_percent; /* and its BPF programs since the start; NAN: not known */
};

extern const struct object top_rows, top_samples;

/* What is remembered of a row. */
struct top_track {
	uint64_t in_flight;
	uint64_t last;		     /* number of the last interval with commands; 0: none yet */
	struct breakdown_row *above; /* that it is part of; NULL: at the first level */
	uint64_t bands[TOP_BANDS];   /* commands of the interval, while it ends */
	uint8_t levels[TOP_INTERVALS][TOP_BANDS]; /* of chart__level, by number of the interval */
};

struct top_level {
	/* By all keys up to this one. The last level counts since the start, those above it have
	 * only the interval. */
	struct breakdown breakdown;
	struct top_track *tracks; /* by number of the row */
	size_t nr, room;
	const struct breakdown_row *chosen; /* NULL: none yet */
	const struct column *columns[OBJECT_COLUMNS];
	struct condition *only; /* NULL: all rows are shown */
	char filter[TOP_FILTER];
};

struct top_model {
	enum breakdown_by keys[NR_BY]; /* by level, now */
	enum breakdown_by by[NR_BY];   /* the same keys, in the order of --by */
	size_t nr_keys;
	const char *only_if; /* of top_model__filter_all; NULL: none */
	struct top_level levels[NR_BY];
	uint64_t nr_intervals;
	double seconds;	    /* of the last interval */
	bool knows_open;    /* commands in flight are told */
	uint64_t in_flight; /* at the end of the interval */
	struct latency_row all;
	struct hist sum, interval;
	/* The place, and what is shown there. */
	size_t depth;
	const struct breakdown_row *inside[NR_BY]; /* that were entered, from the first level on */
	struct top_row *rows;
	struct top_row **order;
	size_t nr, room, room_order;
	size_t at;    /* of the chosen row, in order */
	size_t lines; /* that are drawn at most: rows further away have no latency; 0: all have */
	size_t column;
	bool is_reversed, shows_others;
	char place[TOP_PLACE]; /* "loop0 > read", hostile */
};

/* The words of a row's tags. */
typedef void (*top_label_fn)(void *arg, const struct io_tags *tags, uint32_t mask,
			     struct latency_row *row);

void top_model__init(struct top_model *model, const enum breakdown_by *keys, size_t nr);
void top_model__free(struct top_model *model);

/* An interval ends: begin, then all that there is now, then end. -ENOMEM. */
void top_model__begin(struct top_model *model);
int top_model__add(struct top_model *model, const struct io_tags *tags, const struct hist *part);
int top_model__add_open(struct top_model *model, const struct io_tags *tags);
int top_model__end(struct top_model *model, double seconds);

/* As if no interval had been seen: the rows of the run stay. */
void top_model__forget(struct top_model *model);

/* The rows by all keys, for programs: those of the interval. */
const struct breakdown *top_model__finest(const struct top_model *model);
void top_model__measure(struct top_model *model, size_t level, const struct breakdown_row *from,
			struct top_row *row);

/* Makes the rows of this place, in their order, as of the last end. -ENOMEM. */
int top_model__arrange(struct top_model *model, top_label_fn label, void *arg);
const struct top_row *top_model__chosen(const struct top_model *model); /* NULL: no rows */
uint32_t top_model__mask(const struct top_model *model, size_t level);	/* of its keys */
/* What the row is called here: the value of the last key. Hostile. Returns buf. */
const char *top_model__name(const struct top_model *model, const struct latency_row *row, char *buf,
			    size_t size);
/* The columns shown: NULL is the key, at 0. */
const struct column *top_model__column(const struct top_model *model, size_t column);
/* The shade of a band of the chosen row, `ago` intervals before the last one. */
int top_track__level(const struct top_model *model, const struct top_track *track, size_t ago,
		     size_t band);

/* What a user does, in top_moves.c; arrange follows. */
void top_model__move(struct top_model *model, long by);
bool top_model__enter(struct top_model *model); /* false: there is nothing below */
bool top_model__leave(struct top_model *model); /* false: this is the first level */
void top_model__sort_next(struct top_model *model);
/* Of the rows of this level. "": shows all. -EINVAL: said, and the old one stays. */
int top_model__filter(struct top_model *model, const char *text);
/* Of all levels whose rows have the fields; NULL: none. The caller keeps the text. -ENOMEM. */
int top_model__filter_all(struct top_model *model, const char *text);
/* Rows here by the next key of --by; levels below have the rest. -ENOENT: there is no other key;
 * -ENOMEM. */
int top_model__next_key(struct top_model *model);
/* From this level on. The last level has the same rows as before; those above it lose their past.
 */
int top_model__set_keys(struct top_model *model, size_t from, const enum breakdown_by *keys);

#endif
