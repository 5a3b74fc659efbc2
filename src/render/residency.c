/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/residency.h"

#include <stdlib.h>

/*
 *  cached   pages      %   bytes dirty file
 *     640    1024  62.5%   2.5Mi     0 /mnt/data |██████▒·····|
 */
struct residency_row {
	const char *file, *map;
	uint64_t size_bytes, pages, cached, cached_bytes, dirty, writeback;
	double percent;
	uint64_t offset_bytes, length_bytes; /* of a part */
};

struct residency_table {
	struct table *files, *parts;
	bool utf8;
};

#define FIELD(name) offsetof(struct residency_row, name)
static const struct column file_columns[] = {
	{ "cached_pages", "cached", CELL_COUNT, 7, "number of pages in the page cache now",
	  .at = FIELD(cached) },
	{ "pages", "pages", CELL_COUNT, 7, "number of pages of the file, cached or not",
	  .at = FIELD(pages) },
	{ "cached_percent", "%", CELL_PERCENT, 6,
	  "percentage of the file's pages in the page cache", .at = FIELD(percent) },
	{ "cached_bytes", "bytes", CELL_BYTES, 6, "bytes in the page cache",
	  .at = FIELD(cached_bytes) },
	{ "size_bytes", "size", CELL_BYTES, 6, "size of the file", .at = FIELD(size_bytes) },
	{ "dirty_pages", "dirty", CELL_COUNT, 5,
	  "number of cached pages not yet written; null before Linux 6.5", .at = FIELD(dirty) },
	{ "writeback_pages", "writing", CELL_COUNT, 7,
	  "number of cached pages being written; null before Linux 6.5", .at = FIELD(writeback) },
	{ "file", "file", CELL_TEXT, 20, "name of the file, as given", .at = FIELD(file) },
	{ "map", "map", CELL_TEXT, 12, "one character for each of up to 48 equal parts",
	  .at = FIELD(map) },
	{ 0 },
};

static const struct column part_columns[] = {
	{ "file", "file", CELL_TEXT, 20, "name of the file, as given", .at = FIELD(file) },
	{ "offset_bytes", "offset", CELL_BYTES, 6, "offset of the part in the file",
	  .at = FIELD(offset_bytes) },
	{ "length_bytes", "length", CELL_BYTES, 6, "length of the part",
	  .at = FIELD(length_bytes) },
	{ "pages", "pages", CELL_COUNT, 7, "number of pages of the part", .at = FIELD(pages) },
	{ "cached_pages", "cached", CELL_COUNT, 7, "number of pages of the part in the page cache",
	  .at = FIELD(cached) },
	{ 0 },
};

const struct object residency_files = { "residency", { file_columns } };
const struct object residency_parts = { "residency_part", { part_columns } };

struct residency_table *residency_table__new(FILE *out, enum table_format format, bool utf8)
{
	struct residency_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->utf8 = utf8;
	t->files = table__of(out, format, &residency_files, NULL, NULL);
	if (format == TABLE_JSON)
		t->parts = table__of(out, format, &residency_parts, NULL, NULL);
	if (t->files && (t->parts || format != TABLE_JSON))
		return t;
	residency_table__free(t);
	return NULL;
}

static void residency_add_part(struct residency_table *t, const char *path,
			       const struct residency *r, uint32_t part)
{
	uint64_t from = part * r->part_pages * r->page_bytes;
	const struct residency_row row = {
		.file = path,
		.offset_bytes = from,
		.length_bytes = part + 1 == r->nr_parts ? r->size_bytes - from
							: r->part_pages * r->page_bytes,
		.pages = residency__part_pages(r, part),
		.cached = r->part_cached[part],
	};

	table__row(t->parts, &row);
}

void residency_table__add(struct residency_table *t, const char *path, const struct residency *r)
{
	char map[RESIDENCY_MAP];
	const struct residency_row row = {
		.file = path,
		.map = residency__map(r, t->utf8, map),
		.size_bytes = r->size_bytes,
		.pages = r->pages,
		.cached = r->cached,
		.cached_bytes = r->cached * r->page_bytes,
		.dirty = r->dirty,
		.writeback = r->writeback,
		.percent = residency__percent(r),
	};

	table__row(t->files, &row);
	for (uint32_t i = 0; t->parts && i < r->nr_parts; i++)
		residency_add_part(t, path, r, i);
}

void residency_table__free(struct residency_table *t)
{
	if (!t)
		return;
	table__free(t->files);
	table__free(t->parts);
	free(t);
}
