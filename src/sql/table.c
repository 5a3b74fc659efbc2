/* SPDX-License-Identifier: BSD-2-Clause */
#include "sql/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "base/log.h"

const struct sql_bounds sql_bounds_none = { .since_to_ns = UINT64_MAX, .end_to_ns = UINT64_MAX };

/* ---- files ---- */

static int files_open_one(struct sql_file *file, const char *path, size_t part)
{
	const struct capture_about *about;
	uint64_t end_ns;
	int err = capture_reader__open_part(path, part, &file->reader);

	if (err) /* the file's fault, not that of the command line or of privileges */
		return err == -ENOMEM || err == -EOPNOTSUPP ? err : -EIO;
	file->path = path;
	file->part = part;
	file->name = capture_reader__label(file->reader);
	about = capture_reader__about(file->reader);
	file->host = capture_about__info(about, CAPTURE_INFO_HOST);
	file->boot_id = capture_about__info(about, CAPTURE_INFO_BOOT_ID);
	file->capture_id = capture_about__info(about, CAPTURE_INFO_ID);
	capture_reader__run(file->reader, &file->start_ns, &end_ns);
	file->damage = *capture_reader__damage(file->reader);
	return 0;
}

/* All captures in a file. */
static int files_open(struct sql_files *files, const char *path)
{
	size_t nr_parts = 1;
	int err = 0;

	for (size_t part = 0; part < nr_parts && !err; part++) {
		struct sql_file *file;

		if (GROW_BY_ONE(files->files, files->nr))
			return log_no_memory();
		file = &files->files[files->nr];
		*file = (struct sql_file){ 0 };
		err = files_open_one(file, path, part);
		files->nr += !err;
		if (!err)
			nr_parts =
				capture_reader__nr_parts(files->files[files->nr - part - 1].reader);
	}
	return err;
}

int sql_files__open(struct sql_files *files, const char *const *paths, size_t nr)
{
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++)
		err = files_open(files, paths[i]);
	return err;
}

void sql_files__free(struct sql_files *files)
{
	for (size_t i = 0; i < files->nr; i++)
		capture_reader__free(files->files[i].reader);
	free(files->files);
	*files = (struct sql_files){ 0 };
}

static void sql_file_keep_most(uint64_t *most, uint64_t nr)
{
	*most = nr > *most ? nr : *most;
}

void sql_files__note(struct sql_files *files, size_t file, const struct capture_damage *damage)
{
	struct capture_damage *worst = &files->files[file].damage;

	sql_file_keep_most(&worst->blocks_corrupt, damage->blocks_corrupt);
	sql_file_keep_most(&worst->records_corrupt, damage->records_corrupt);
	sql_file_keep_most(&worst->records_astray, damage->records_astray);
	sql_file_keep_most(&worst->calls_missing, damage->calls_missing);
	sql_file_keep_most(&worst->calls_surplus, damage->calls_surplus);
}

uint64_t sql_files__bytes(const struct sql_files *files, size_t nr)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < nr; i++)
		bytes += capture_reader__bytes(files->files[i].reader);
	return bytes;
}

bool sql_files__tell(const struct sql_files *files)
{
	bool broken = false;

	for (size_t i = 0; i < files->nr; i++) {
		capture_damage__tell(&files->files[i].damage, files->files[i].name);
		broken |= !capture_damage__is_whole(&files->files[i].damage);
	}
	return broken;
}

/* ---- rows ---- */

const struct sql_file *sql_rows__file(const void *rows)
{
	const struct sql_rows *r = rows;

	return &r->files->files[r->file];
}

bool sql_rows__next_file(struct sql_rows *rows)
{
	while (++rows->file < rows->files->nr)
		if (!rows->bounds.file || !strcmp(rows->bounds.file, sql_rows__file(rows)->name))
			return true;
	return false;
}

struct cell sql_rows__get_path(void *rows)
{
	return sql_text(sql_rows__file(rows)->name);
}

struct cell sql_rows__get_host(void *rows)
{
	return sql_text(sql_rows__file(rows)->host);
}

/* ---- columns ---- */

static uint64_t column_number(const struct sql_column *column, const void *at)
{
	switch (column->bytes) {
	case 1: return *(const uint8_t *)at;
	case 2: return *(const uint16_t *)at;
	case 4: return *(const uint32_t *)at;
	default: return *(const uint64_t *)at;
	}
}

struct cell sql_table__cell(const struct sql_table *table, void *rows, size_t nr)
{
	const struct sql_column *column = &table->columns[nr];
	const char *object = column->get ? NULL : table->object(rows, column->of);
	uint64_t n;

	if (column->get)
		return column->get(rows);
	if (!object)
		return sql_none();
	if (column->field == SQL_CHARS)
		return sql_text(object + column->at);
	if (column->field == SQL_POINTER)
		return sql_text(*(char *const *)(object + column->at));
	n = column_number(column, object + column->at);
	return (!n && column->none_is_0) || (n == CELL_NO_NUMBER && column->none_is_max)
		       ? sql_none()
		       : sql_number(n);
}

char *sql_table__declare(const struct sql_table *table)
{
	const struct sql_column *c;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "CREATE TABLE %s(", table->name);
	for (c = table->columns; c->name; c++)
		fprintf(out, "%s%s %s", c == table->columns ? "" : ", ", c->name, c->type);
	fputc(')', out);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

void sql_table__print(const struct sql_table *table, FILE *out)
{
	fprintf(out, "CREATE TABLE %s( -- %s\n", table->name, table->brief);
	for (const struct sql_column *c = table->columns; c->name; c++)
		fprintf(out, "  %-13s %s%c%*s -- %s\n", c->name, c->type, c[1].name ? ',' : ' ',
			(int)(7 - strlen(c->type)), "", c->help);
	fputs(");\n", out);
}
