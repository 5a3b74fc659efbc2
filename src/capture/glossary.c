/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/glossary.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void glossary__free(struct glossary *g)
{
	for (size_t i = 0; i < g->nr; i++)
		free(g->entries[i].text);
	free(g->entries);
	index__free(&g->index);
	memset(g, 0, sizeof(*g));
}

static uint64_t glossary_hash(struct glossary_id id)
{
	return index__mix(index__mix(0, id.words[0]), id.words[1]);
}

static bool glossary_is(const void *entries, uint32_t number, const void *key)
{
	const struct glossary_entry *entry = (const struct glossary_entry *)entries + number;
	const struct glossary_id *id = key;

	return entry->id.words[0] == id->words[0] && entry->id.words[1] == id->words[1];
}

struct glossary_entry *glossary__find(const struct glossary *g, struct glossary_id id)
{
	uint32_t at = index__find(&g->index, glossary_hash(id), glossary_is, g->entries, &id);

	return at == INDEX_NONE ? NULL : &g->entries[at];
}

const char *glossary__text(const struct glossary *g, struct glossary_id id)
{
	const struct glossary_entry *entry = glossary__find(g, id);

	return entry ? entry->text : NULL;
}

struct glossary_entry *glossary__add(struct glossary *g, struct glossary_id id, const char *text)
{
	struct glossary_entry *entry = glossary__find(g, id);
	char *copy;

	if (entry)
		return entry;
	if (g->nr == GLOSSARY_MOST || index__reserve(&g->index, &g->entries, sizeof(*entry)))
		return NULL;
	copy = text ? strdup(text) : NULL;
	if (text && !copy)
		return NULL;
	entry = &g->entries[index__add(&g->index, glossary_hash(id))];
	*entry = (struct glossary_entry){ .id = id, .text = copy };
	g->nr++;
	return entry;
}
