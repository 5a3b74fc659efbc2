/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "view/latency_by.h"
#include "view/top_model.h"

/* ---- what a user does ---- */

void top_model__move(struct top_model *m, long by)
{
	long at = (long)m->at + by;

	if (!m->nr)
		return;
	m->at = at < 0 ? 0 : (size_t)at < m->nr ? (size_t)at : m->nr - 1;
	m->levels[m->depth].chosen = m->order[m->at]->from;
}

bool top_model__enter(struct top_model *m)
{
	const struct top_row *row = top_model__chosen(m);

	if (!row || m->depth + 1 == m->nr_keys)
		return false;
	m->inside[m->depth++] = row->from;
	m->levels[m->depth].chosen = NULL;
	m->at = 0;
	return true;
}

bool top_model__leave(struct top_model *m)
{
	if (!m->depth)
		return false;
	m->depth--;
	m->levels[m->depth].chosen = m->inside[m->depth];
	return true;
}

void top_model__sort_next(struct top_model *m)
{
	m->column = (m->column + 1) % TOP_COLUMNS;
}

/* ---- filters ---- */

static bool level_shows(const void *level, const struct column *column)
{
	return latency_column__is_asked(column, ((const struct top_level *)level)->breakdown.mask);
}

static void level_set_filter(struct top_level *level, const char *text, struct condition *only)
{
	condition__free(level->only);
	level->only = only;
	snprintf(level->filter, sizeof(level->filter), "%s", text);
}

int top_model__filter(struct top_model *m, const char *text)
{
	struct top_level *level = &m->levels[m->depth];
	size_t nr = object__pick(&top_rows, TABLE_TEXT, level_shows, level, level->columns);
	struct condition *only;
	int err = condition__parse("--if", *text ? text : NULL, level->columns, nr, &only);

	if (!err)
		level_set_filter(level, text, only);
	return err;
}

/* A level whose rows lack a field has no filter. */
static int level_try_filter(struct top_level *level, const char *text)
{
	size_t nr = object__pick(&top_rows, TABLE_TEXT, level_shows, level, level->columns);
	struct condition *only;
	int err = condition__try(text, level->columns, nr, &only);

	if (!err)
		level_set_filter(level, text, only);
	return err == -ENOMEM ? err : 0;
}

int top_model__filter_all(struct top_model *m, const char *text)
{
	int err = 0;

	m->only_if = text;
	for (size_t i = 0; i < m->nr_keys && text && !err; i++)
		err = level_try_filter(&m->levels[i], text);
	return err;
}

/* ---- keys ---- */

static bool keys_have(const enum breakdown_by *keys, size_t nr, enum breakdown_by key)
{
	for (size_t i = 0; i < nr; i++)
		if (keys[i] == key)
			return true;
	return false;
}

/* Can the rows here be by this key? */
static bool model_can_have(const struct top_model *m, enum breakdown_by key)
{
	enum breakdown_by above = latency_by__above(key);

	return !keys_have(m->keys, m->depth + 1, key) &&
	       (above == key || keys_have(m->keys, m->depth, above));
}

/* In the order of --by, after the one here; NR_BY: there is no other. */
static enum breakdown_by model_find_key(const struct top_model *m)
{
	size_t at = 0;

	while (m->by[at] != m->keys[m->depth])
		at++;
	for (size_t i = 1; i < m->nr_keys; i++) {
		enum breakdown_by key = m->by[(at + i) % m->nr_keys];

		if (model_can_have(m, key))
			return key;
	}
	return NR_BY;
}

int top_model__next_key(struct top_model *m)
{
	enum breakdown_by keys[NR_BY], key = model_find_key(m);
	size_t nr = m->depth + 1;
	int err;

	if (key == NR_BY)
		return -ENOENT;
	memcpy(keys, m->keys, sizeof(keys));
	keys[m->depth] = key;
	for (size_t i = 0; i < m->nr_keys; i++)
		if (!keys_have(keys, nr, m->by[i]))
			keys[nr++] = m->by[i];
	m->at = 0;
	err = top_model__set_keys(m, m->depth, keys);
	for (size_t i = m->depth; i + 1 < m->nr_keys && m->only_if && !err; i++)
		err = level_try_filter(&m->levels[i], m->only_if);
	return err;
}
