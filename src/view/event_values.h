/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event_values.h: which values does an event have? Each value with its type, and behind a pointer
 * the members of its target, as `events -v` lists them. Used only by that command; remove it with
 * that command.
 */
#ifndef IOSONAR_VIEW_EVENT_VALUES_H
#define IOSONAR_VIEW_EVENT_VALUES_H

#include "decode/column.h"
#include "probe/find/find.h"

/*
 * value              type                    offset  size
 * bio                struct bio *                 -     8
 * bio->bi_next       struct bio *                 0     8
 */
struct value_row {
	const char *event, *value, *c_type;
	uint64_t offset_bytes, size_bytes;
};

/* The values of one event, with their texts. */
struct event_values {
	const char *event;
	struct value_row *rows;
	size_t nr;
};

extern const struct object event_values_object;

/* Adds a field with its members. 0 or -ENOMEM, said. */
int event_values__add(struct event_values *values, const struct probe_field *field);
void event_values__show(const struct event_values *values, struct table *table);
/* In text: a table of its own, as wide as this event needs. 0 or -ENOMEM, said. */
int event_values__tell(const struct event_values *values, FILE *out);
void event_values__free(struct event_values *values);
/* A column's width: that of the text, unless it is very long. */
void event_values__widen(int *width, const char *text);

#endif
