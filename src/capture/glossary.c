/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/glossary.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { GLOSSARY_MIN_ROOM = 64 };

void glossary__free(struct glossary *g)
{
	for (size_t i = 0; i < g->nr; i++)
		free(g->entries[i].text);
	free(g->entries);
	free(g->index);
	memset(g, 0, sizeof(*g));
}

static bool glossary_is(const struct glossary_entry *entry, struct glossary_id id)
{
	return entry->id.words[0] == id.words[0] && entry->id.words[1] == id.words[1];
}

static uint32_t *glossary_cell(const struct glossary *g, struct glossary_id id)
{
	uint64_t hash = (id.words[0] * 0x9e3779b97f4a7c15ULL ^ id.words[1]) * 0xd6e8feb86659fd93ULL;
	size_t at = (size_t)(hash >> 32) & (g->room - 1);

	while (g->index[at] && !glossary_is(&g->entries[g->index[at] - 1], id))
		at = (at + 1) & (g->room - 1);
	return &g->index[at];
}

struct glossary_entry *glossary__find(const struct glossary *g, struct glossary_id id)
{
	uint32_t nr = g->room ? *glossary_cell(g, id) : 0;

	return nr ? &g->entries[nr - 1] : NULL;
}

const char *glossary__text(const struct glossary *g, struct glossary_id id)
{
	const struct glossary_entry *entry = glossary__find(g, id);

	return entry ? entry->text : NULL;
}

static int glossary_grow(struct glossary *g)
{
	size_t room = g->room ? 2 * g->room : GLOSSARY_MIN_ROOM;
	struct glossary_entry *entries = realloc(g->entries, room / 2 * sizeof(*entries));
	uint32_t *index = calloc(room, sizeof(*index));

	if (entries)
		g->entries = entries;
	if (!entries || !index) {
		free(index);
		return -ENOMEM;
	}
	free(g->index);
	g->index = index;
	g->room = room;
	for (size_t i = 0; i < g->nr; i++)
		*glossary_cell(g, entries[i].id) = (uint32_t)i + 1;
	return 0;
}

struct glossary_entry *glossary__add(struct glossary *g, struct glossary_id id, const char *text)
{
	struct glossary_entry *entry = glossary__find(g, id);
	char *copy;

	if (entry)
		return entry;
	if (g->nr == GLOSSARY_MOST || (2 * (g->nr + 1) > g->room && glossary_grow(g)))
		return NULL;
	copy = text ? strdup(text) : NULL;
	if (text && !copy)
		return NULL;
	entry = &g->entries[g->nr];
	*entry = (struct glossary_entry){ .id = id, .text = copy };
	*glossary_cell(g, id) = (uint32_t)++g->nr;
	return entry;
}
