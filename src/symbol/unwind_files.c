/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/unwind_files.h"

#include <stdlib.h>
#include <string.h>

struct unwind_files {
	struct unwind_file *files[UNWIND_FILES];
	size_t most_bytes, bytes;
	struct index index;
};

struct unwind_files *unwind_files__new(size_t most_bytes)
{
	struct unwind_files *f = calloc(1, sizeof(*f));

	if (f)
		f->most_bytes = most_bytes;
	return f;
}

static uint64_t files_hash(const struct elf_file_id *id)
{
	return index__mix_bytes(0, id, sizeof(*id));
}

static bool files_is(const void *files, uint32_t number, const void *id)
{
	return !memcmp(&((struct unwind_file *const *)files)[number]->id, id,
		       sizeof(struct elf_file_id));
}

const struct unwind_file *unwind_files__find(const struct unwind_files *f,
					     const struct elf_file_id *id)
{
	uint32_t number = index__find(&f->index, files_hash(id), files_is, f->files, id);

	return number == INDEX_NONE ? NULL : f->files[number];
}

static void files_take_table(struct unwind_files *f, struct unwind_file *file)
{
	size_t bytes = unwind_table__bytes(&file->table);

	if (f->bytes + bytes > f->most_bytes) {
		unwind_table__free(&file->table);
		return;
	}
	f->bytes += bytes;
	file->has_fp = unwind_table__has_fp(&file->table);
	file->nr_rows = (uint32_t)file->table.nr_rows;
	file->nr_rules = (uint32_t)file->table.nr_rules;
}

const struct unwind_file *unwind_files__read(struct unwind_files *f, const struct elf_file_id *id,
					     int fd)
{
	struct unwind_file *file;

	if (f->index.nr == UNWIND_FILES || index__make_room(&f->index, f->index.nr + 1))
		return NULL;
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->id = *id;
	if (!elf_image__read_loads(&file->image, fd) && !unwind_table__read(&file->table, fd))
		files_take_table(f, file);
	file->number = index__add(&f->index, files_hash(id));
	f->files[file->number] = file;
	return file;
}

const struct unwind_file *unwind_files__at(const struct unwind_files *f, uint32_t number)
{
	return number < f->index.nr ? f->files[number] : NULL;
}

void unwind_files__drop(struct unwind_files *f, uint32_t number)
{
	f->bytes -= unwind_table__bytes(&f->files[number]->table);
	unwind_table__free(&f->files[number]->table);
}

void unwind_files__forget(struct unwind_files *f)
{
	for (size_t i = 0; i < f->index.nr; i++) {
		unwind_table__free(&f->files[i]->table);
		free(f->files[i]);
	}
	index__free(&f->index);
	f->bytes = 0;
}

void unwind_files__free(struct unwind_files *f)
{
	if (f)
		unwind_files__forget(f);
	free(f);
}
