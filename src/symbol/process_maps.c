/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/process_maps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/grow.h"

enum {
	MAPS_TEXT_STEP = 65536,
	MAPS_TEXT_MAX = 16 << 20, /* vm.max_map_count lines of 256 bytes; more is not looked at */
};

/* Read all at once: parts could be of two moments. */
static int maps_read_text(struct process_maps *maps, int fd)
{
	size_t len = 0, room = 0;
	ssize_t got;

	do {
		if (GROW(maps->text, room, len + MAPS_TEXT_STEP + 1))
			return -ENOMEM;
		got = read(fd, maps->text + len, MAPS_TEXT_STEP);
		if (got < 0)
			return -errno;
		len += (size_t)got;
		maps->text[len] = '\0';
	} while (got && len < MAPS_TEXT_MAX);
	maps->text_bytes = len + 1;
	return 0;
}

/* 55d0c0a00000-55d0c0a21000 r-xp 00002000 fd:01 1234     /usr/bin/a name */
static bool maps_parse(const char *text, size_t line_at, struct process_map *map)
{
	const char *line = text + line_at;
	unsigned int major, minor;
	char rights[5];
	int len = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 "%n", &map->start,
		   &map->end, rights, &map->offset, &major, &minor, &map->inode, &len) != 7)
		return false;
	map->dev = major << 20 | minor;
	map->path_at = line_at + (size_t)len + strspn(line + len, " ");
	return strlen(rights) == 4 && rights[2] == 'x' && map->start < map->end;
}

static int maps_add(struct process_maps *maps, const struct process_map *map)
{
	/* Searched by bisection: a line out of order is not the kernel's. */
	if (maps->nr && map->start < maps->maps[maps->nr - 1].end)
		return 0;
	if (GROW(maps->maps, maps->room, maps->nr + 1))
		return -ENOMEM;
	maps->maps[maps->nr++] = *map;
	return 0;
}

/* Paths of executable mappings move to the front of the text; the rest is freed. */
static void maps_keep_paths(struct process_maps *maps)
{
	size_t kept = 0;

	for (size_t i = 0; i < maps->nr; i++) {
		struct process_map *map = &maps->maps[i];
		size_t len = strlen(maps->text + map->path_at) + 1;

		memmove(maps->text + kept, maps->text + map->path_at, len);
		map->path_at = kept;
		kept += len;
	}
	grow__to(&maps->text, kept + 1, 1); /* if not, it stays as large */
	maps->text_bytes = kept + 1;
}

int process_maps__read(struct process_maps *maps, int fd)
{
	struct process_map map;
	int err;

	memset(maps, 0, sizeof(*maps));
	err = maps_read_text(maps, fd);
	for (size_t at = 0; !err && maps->text[at];) {
		size_t len = strcspn(maps->text + at, "\n");
		size_t next = at + len + !!maps->text[at + len];

		maps->text[at + len] = '\0';
		if (maps_parse(maps->text, at, &map))
			err = maps_add(maps, &map);
		at = next;
	}
	if (err)
		process_maps__free(maps);
	else
		maps_keep_paths(maps);
	return err;
}

const char *process_maps__path(const struct process_maps *maps, const struct process_map *map)
{
	return maps->text + map->path_at;
}

struct process_map *process_maps__find(const struct process_maps *maps, uint64_t addr)
{
	size_t low = 0, high = maps->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (maps->maps[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < maps->nr && maps->maps[low].start <= addr ? &maps->maps[low] : NULL;
}

size_t process_maps__bytes(const struct process_maps *maps)
{
	return maps->room * sizeof(*maps->maps) + maps->text_bytes;
}

void process_maps__free(struct process_maps *maps)
{
	free(maps->maps);
	free(maps->text);
	memset(maps, 0, sizeof(*maps));
}
