/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	KALLSYMS_MODULE_MAX = 66, /* MODULE_NAME_LEN and its brackets */
	KALLSYMS_BYTES = 1 << 16, /* a line that is longer is taken as several */
};

/* ---- lines ---- */

/* stdio took as long for 200,000 lines as all else that is done with them. */
struct kallsyms_file {
	int fd, err;
	size_t at, len;
	char text[KALLSYMS_BYTES + 1];
};

static struct kallsyms_file *kallsyms_open(const char *path)
{
	struct kallsyms_file *file = malloc(sizeof(*file));

	if (!file)
		return NULL;
	file->at = file->len = 0;
	file->fd = open(path, O_RDONLY | O_CLOEXEC);
	file->err = file->fd < 0 ? -errno : 0;
	return file;
}

static void kallsyms_close(struct kallsyms_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file);
}

/* Keeps what was not passed on, and reads behind it. False: the end, or an error. */
static bool kallsyms_fill(struct kallsyms_file *file)
{
	ssize_t len;

	memmove(file->text, file->text + file->at, file->len - file->at);
	file->len -= file->at;
	file->at = 0;
	len = read(file->fd, file->text + file->len, KALLSYMS_BYTES - file->len);
	if (len < 0)
		file->err = -errno;
	file->len += len > 0 ? (size_t)len : 0;
	return len > 0;
}

/* The next line, which a zero ends; NULL: none, or file->err. */
static const char *kallsyms_next(struct kallsyms_file *file)
{
	char *line, *end = NULL;

	while (!file->err) {
		line = file->text + file->at;
		end = memchr(line, '\n', file->len - file->at);
		if (end || !kallsyms_fill(file))
			break;
	}
	if (file->err || file->at == file->len)
		return NULL;
	line = file->text + file->at;
	end = end ?: file->text + file->len;
	*end = '\0';
	file->at = (size_t)(end - file->text) + (end < file->text + file->len);
	return line;
}

/* Like strtoull; the general case of that took a quarter of the time for 200,000 lines. */
static uint64_t kallsyms_hex(const char **at)
{
	uint64_t number = 0;

	for (;; (*at)++) {
		unsigned int digit = (unsigned char)**at - '0';

		if (digit > 9) {
			digit = ((unsigned char)**at | 0x20U) - 'a';
			if (digit > 5)
				return number;
			digit += 10;
		}
		number = number << 4 | digit;
	}
}

bool kallsyms_line__parse(const char *text, struct kallsyms_line *line)
{
	const char *end = text;

	line->addr = kallsyms_hex(&end);
	if (end == text || end[0] != ' ' || !end[1] || end[2] != ' ')
		return false;
	line->is_function = (end[1] | 0x20) == 't' || (end[1] | 0x20) == 'w';
	line->name = end + 3;
	line->name_len = strcspn(line->name, " \t\n");
	line->module = line->name + line->name_len;
	line->module += strspn(line->module, " \t");
	line->module_len = strcspn(line->module, " \t\n");
	return line->name_len;
}

/* ---- the table ---- */

/* Mapping symbols of arm64 ("$x", "$d") and local labels are not functions, but lie inside them. */
static bool kallsyms_is_mark(const struct kallsyms_line *line)
{
	return line->name[0] == '$' || !strncmp(line->name, ".L", 2);
}

static size_t kallsyms_smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* A name that is too long loses its own end, not that of its module. */
static int kallsyms_add(struct symbol_table *table, const struct kallsyms_line *line)
{
	size_t module_len = kallsyms_smaller(line->module_len, KALLSYMS_MODULE_MAX);
	size_t len = kallsyms_smaller(line->name_len, SYMBOL_NAME_MAX - !!module_len - module_len);
	char name[SYMBOL_NAME_MAX + 1];

	if (!line->is_function)
		return symbol_table__add(table, line->addr, 0, "", 0);
	memcpy(name, line->name, len);
	if (module_len) {
		name[len++] = ' ';
		memcpy(name + len, line->module, module_len);
	}
	return symbol_table__add(table, line->addr, 0, name, len + module_len);
}

struct kallsyms_count {
	uint64_t functions, hidden;
};

static int kallsyms_read_lines(struct kallsyms_file *file, struct symbol_table *table,
			       struct kallsyms_count *count)
{
	struct kallsyms_line line;
	const char *text;
	int err = 0;

	while (!err && (text = kallsyms_next(file))) {
		if (!kallsyms_line__parse(text, &line) || kallsyms_is_mark(&line))
			continue;
		if (!line.addr) {
			count->hidden++;
			continue;
		}
		count->functions += line.is_function;
		err = kallsyms_add(table, &line);
	}
	return err == -E2BIG ? 0 : err ?: file->err;
}

int kallsyms__read(const char *path, struct symbol_table *table)
{
	struct kallsyms_file *file = kallsyms_open(path);
	struct kallsyms_count count = { 0 };
	int err;

	if (!file)
		return -ENOMEM;
	err = kallsyms_read_lines(file, table, &count);
	if (!err && !count.functions)
		err = count.hidden ? -EACCES : -ENODATA;
	kallsyms_close(file);
	if (err)
		symbol_table__free(table);
	else
		symbol_table__sort(table);
	return err;
}

/* ---- some of them ---- */

static bool kallsyms_is_named(const struct kallsyms_line *line, const char *name)
{
	const char *module = name + line->name_len;

	if (*line->name != *name || strncmp(line->name, name, line->name_len) ||
	    (*module && *module != ' '))
		return false;
	return !*module || (!strncmp(line->module, module + 1, line->module_len) &&
			    !module[1 + line->module_len]);
}

static bool kallsyms_name_modules(const char *const *names, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (strchr(names[i], ' '))
			return true;
	return false;
}

/* Behind it are half of the lines: data, then modules. */
static bool kallsyms_is_end_of_text(const struct kallsyms_line *line)
{
	return line->addr && line->name_len == 6 && !strncmp(line->name, "_etext", 6);
}

int kallsyms__find(const char *path, const char *const *names, uint64_t *addresses, size_t nr)
{
	const bool reads_all = kallsyms_name_modules(names, nr);
	struct kallsyms_file *file = kallsyms_open(path);
	struct kallsyms_count count = { 0 };
	struct kallsyms_line line;
	const char *text;
	int err;

	memset(addresses, 0, nr * sizeof(*addresses));
	if (!file)
		return -ENOMEM;
	while ((text = kallsyms_next(file))) {
		if (!kallsyms_line__parse(text, &line))
			continue;
		if (!reads_all && kallsyms_is_end_of_text(&line))
			break;
		if (!line.is_function)
			continue;
		count.functions += line.addr != 0;
		count.hidden += !line.addr;
		for (size_t i = 0; i < nr; i++)
			if (!addresses[i] && kallsyms_is_named(&line, names[i]))
				addresses[i] = line.addr;
	}
	err = file->err;
	kallsyms_close(file);
	return err ?: count.functions ? 0 : count.hidden ? -EACCES : -ENODATA;
}

bool kallsyms__shows(const char *path)
{
	struct kallsyms_file *file = kallsyms_open(path);
	struct kallsyms_line line = { 0 };
	bool found = false;
	const char *text;

	while (file && !found && (text = kallsyms_next(file)))
		found = kallsyms_line__parse(text, &line) && line.is_function;
	if (file)
		kallsyms_close(file);
	return found && line.addr;
}
