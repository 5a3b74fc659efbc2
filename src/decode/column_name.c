/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/column_name.h"

#include <errno.h>
#include <string.h>

void column__name(const struct column *c, char name[COLUMN_NAME])
{
	char *suffix;

	snprintf(name, COLUMN_NAME, "%s", strchr(c->header, '.') ? c->header : c->key);
	suffix = strrchr(name, '_');
	if (suffix && (!strcmp(suffix, "_ns") || !strcmp(suffix, "_bytes") || c->kind == CELL_TIME))
		*suffix = 0;
}

static bool column_is(const char *name, const char *word, size_t len)
{
	return strlen(name) == len && !memcmp(name, word, len);
}

static int columns_find_heading(const struct column *const *columns, size_t nr, const char *word,
				size_t len)
{
	int found = -ENOENT;

	for (size_t i = 0; i < nr; i++) {
		if (!column_is(columns[i]->header, word, len))
			continue;
		if (found >= 0)
			return -EEXIST;
		found = (int)i;
	}
	return found;
}

int columns__find(const struct column *const *columns, size_t nr, const char *word, size_t len)
{
	char name[COLUMN_NAME];

	for (size_t i = 0; i < nr; i++)
		if (column_is(columns[i]->key, word, len))
			return (int)i;
	for (size_t i = 0; i < nr; i++) {
		column__name(columns[i], name);
		if (column_is(name, word, len))
			return (int)i;
	}
	return columns_find_heading(columns, nr, word, len);
}

char *columns__keys_of(const struct column *const *columns, size_t nr, const char *heading,
		       size_t len, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = 0;
	for (size_t i = 0; i < nr && used < size; i++)
		if (column_is(columns[i]->header, heading, len))
			used += (size_t)snprintf(buf + used, size - used, "%s%s",
						 used ? " and " : "", columns[i]->key);
	return buf;
}
