/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/residency.h"

#include <string.h>

void residency__plan(struct residency *r, uint64_t size_bytes, uint32_t page_bytes)
{
	memset(r, 0, sizeof(*r));
	r->size_bytes = size_bytes;
	r->page_bytes = page_bytes;
	r->pages = size_bytes / page_bytes + (size_bytes % page_bytes != 0);
	r->part_pages = (r->pages + RESIDENCY_PARTS - 1) / RESIDENCY_PARTS;
	if (r->pages)
		r->nr_parts = (uint32_t)((r->pages + r->part_pages - 1) / r->part_pages);
}

uint64_t residency__part_pages(const struct residency *r, uint32_t part)
{
	uint64_t before = part * r->part_pages;

	return r->pages - before < r->part_pages ? r->pages - before : r->part_pages;
}

double residency__percent(const struct residency *r)
{
	return r->pages ? 100.0 * (double)r->cached / (double)r->pages : 0;
}

/* Any cached page leaves a mark, and only a fully cached part looks full. */
static int residency_shade(const struct residency *r, uint32_t part)
{
	uint64_t cached = r->part_cached[part], pages = residency__part_pages(r, part);

	if (!cached)
		return 0;
	if (cached >= pages)
		return 4;
	return 1 + (int)(3 * cached / pages);
}

char *residency__map(const struct residency *r, bool utf8, char map[RESIDENCY_MAP])
{
	static const char *const shades[][5] = { { ".", "-", "+", "*", "#" },
						 { "·", "░", "▒", "▓", "█" } };
	size_t len = 0;

	for (uint32_t i = 0; i < r->nr_parts; i++) {
		const char *shade = shades[utf8][residency_shade(r, i)];

		memcpy(map + len, shade, strlen(shade));
		len += strlen(shade);
	}
	map[len] = 0;
	return map;
}
