/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/elf_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

struct elf_file {
	struct elf_file_id id;
	struct elf_image image;
	uint64_t used; /* last use, in questions; 0: the place is free */
};

struct elf_cache {
	struct elf_beside beside;
	size_t most_files, most_bytes;
	uint64_t questions;
	struct elf_file files[];
};

int elf_file_id__of(struct elf_file_id *id, int fd)
{
	struct stat status;

	if (fstat(fd, &status))
		return -errno;
	*id = (struct elf_file_id){
		.dev = status.st_dev,
		.inode = status.st_ino,
		.size_bytes = (uint64_t)status.st_size,
		.changed_s = status.st_ctim.tv_sec,
		.changed_ns = status.st_ctim.tv_nsec,
	};
	return 0;
}

uint32_t elf_file_id__kernel_dev(const struct elf_file_id *id)
{
	return major(id->dev) << 20 | minor(id->dev);
}

struct elf_cache *elf_cache__new(const struct elf_beside *beside, size_t most_files,
				 size_t most_bytes)
{
	struct elf_cache *c = calloc(1, sizeof(*c) + most_files * sizeof(c->files[0]));

	if (!c)
		return NULL;
	c->most_files = most_files;
	c->most_bytes = most_bytes;
	c->beside = *beside;
	return c;
}

static void cache_drop(struct elf_file *file)
{
	elf_image__free(&file->image);
	file->used = 0;
}

void elf_cache__free(struct elf_cache *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->most_files; i++)
		cache_drop(&c->files[i]);
	free(c);
}

const struct elf_image *elf_cache__find(struct elf_cache *c, const struct elf_file_id *id)
{
	for (size_t i = 0; i < c->most_files; i++) {
		struct elf_file *file = &c->files[i];

		if (!file->used || memcmp(&file->id, id, sizeof(*id)))
			continue;
		file->used = ++c->questions;
		return &file->image;
	}
	return NULL;
}

/* A free place, else the least recently used one. */
static struct elf_file *cache_place(struct elf_cache *c)
{
	struct elf_file *oldest = &c->files[0];

	for (size_t i = 1; i < c->most_files; i++)
		if (c->files[i].used < oldest->used)
			oldest = &c->files[i];
	cache_drop(oldest);
	return oldest;
}

static size_t cache_bytes(const struct elf_cache *c)
{
	size_t bytes = 0;

	for (size_t i = 0; i < c->most_files; i++)
		if (c->files[i].used)
			bytes += symbol_table__bytes(&c->files[i].image.functions);
	return bytes;
}

static struct elf_file *cache_oldest_but(struct elf_cache *c, const struct elf_file *kept)
{
	struct elf_file *oldest = NULL;

	for (size_t i = 0; i < c->most_files; i++) {
		struct elf_file *file = &c->files[i];

		if (file->used && file != kept && (!oldest || file->used < oldest->used))
			oldest = file;
	}
	return oldest;
}

const struct elf_image *elf_cache__read(struct elf_cache *c, const struct elf_file_id *id, int fd)
{
	struct elf_file *file = cache_place(c), *oldest;

	if (elf_image__read(&file->image, fd, &c->beside))
		memset(&file->image, 0, sizeof(file->image));
	file->id = *id;
	file->used = ++c->questions;
	while (cache_bytes(c) > c->most_bytes && (oldest = cache_oldest_but(c, file)))
		cache_drop(oldest);
	return &file->image;
}
