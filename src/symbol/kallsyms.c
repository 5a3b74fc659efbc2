/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/kallsyms.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KALLSYMS_MODULE_MAX = 66 }; /* MODULE_NAME_LEN and its brackets */

/* Like strtoull; the general case of that took a quarter of the time for 200,000 lines. */
static uint64_t kallsyms_hex(const char **at)
{
	uint64_t number = 0;

	for (; isxdigit((unsigned char)**at); (*at)++)
		number = number << 4 | (uint64_t)((**at & 15) + (**at > '9' ? 9 : 0));
	return number;
}

bool kallsyms_line__parse(const char *text, struct kallsyms_line *line)
{
	const char *end = text;

	line->addr = kallsyms_hex(&end);
	if (end == text || end[0] != ' ' || !end[1] || end[2] != ' ')
		return false;
	line->is_function = strchr("tTwW", end[1]);
	line->name = end + 3;
	line->name_len = strcspn(line->name, " \t\n");
	line->module = line->name + line->name_len;
	line->module += strspn(line->module, " \t");
	line->module_len = strcspn(line->module, " \t\n");
	return line->name_len;
}

/* Mapping symbols of arm64 ("$x", "$d") and local labels are not functions, but lie inside them. */
static bool kallsyms_is_mark(const struct kallsyms_line *line)
{
	return line->name[0] == '$' || !strncmp(line->name, ".L", 2);
}

static int kallsyms_smaller(size_t a, size_t b)
{
	return (int)(a < b ? a : b);
}

/* A name that is too long loses its own end, not that of its module. */
static int kallsyms_add(struct symbol_table *table, const struct kallsyms_line *line)
{
	int module_len = kallsyms_smaller(line->module_len, KALLSYMS_MODULE_MAX);
	int name_len = kallsyms_smaller(line->name_len,
					SYMBOL_NAME_MAX - !!module_len - (size_t)module_len);
	char name[SYMBOL_NAME_MAX + 1];
	int len;

	if (!line->is_function)
		return symbol_table__add(table, line->addr, 0, "", 0);
	len = snprintf(name, sizeof(name), "%.*s%s%.*s", name_len, line->name,
		       module_len ? " " : "", module_len, line->module);
	return symbol_table__add(table, line->addr, 0, name, (size_t)len);
}

struct kallsyms_count {
	uint64_t functions, hidden;
};

static int kallsyms_read_lines(FILE *file, struct symbol_table *table, struct kallsyms_count *count)
{
	struct kallsyms_line line;
	char *text = NULL;
	size_t size = 0;
	int err = 0;

	while (!err && getline(&text, &size, file) > 0) {
		if (!kallsyms_line__parse(text, &line) || kallsyms_is_mark(&line))
			continue;
		if (!line.addr) {
			count->hidden++;
			continue;
		}
		count->functions += line.is_function;
		err = kallsyms_add(table, &line);
	}
	free(text);
	return err == -E2BIG ? 0 : err;
}

int kallsyms__read(const char *path, struct symbol_table *table)
{
	struct kallsyms_count count = { 0 };
	FILE *file = fopen(path, "re");
	int err;

	if (!file)
		return -errno;
	err = kallsyms_read_lines(file, table, &count);
	if (!err && ferror(file))
		err = -EIO;
	if (!err && !count.functions)
		err = count.hidden ? -EACCES : -ENODATA;
	fclose(file);
	if (err)
		symbol_table__free(table);
	else
		symbol_table__sort(table);
	return err;
}

static bool kallsyms_is_named(const struct kallsyms_line *line, const char *name)
{
	const char *module = name + line->name_len;

	if (strncmp(line->name, name, line->name_len) || (*module && *module != ' '))
		return false;
	return !*module || (!strncmp(line->module, module + 1, line->module_len) &&
			    !module[1 + line->module_len]);
}

int kallsyms__find(const char *path, const char *const *names, uint64_t *addresses, size_t nr)
{
	struct kallsyms_count count = { 0 };
	FILE *file = fopen(path, "re");
	struct kallsyms_line line;
	char *text = NULL;
	size_t size = 0;

	memset(addresses, 0, nr * sizeof(*addresses));
	if (!file)
		return -errno;
	while (getline(&text, &size, file) > 0) {
		if (!kallsyms_line__parse(text, &line) || !line.is_function)
			continue;
		count.functions += line.addr != 0;
		count.hidden += !line.addr;
		for (size_t i = 0; i < nr; i++)
			if (!addresses[i] && kallsyms_is_named(&line, names[i]))
				addresses[i] = line.addr;
	}
	free(text);
	fclose(file);
	return count.functions ? 0 : count.hidden ? -EACCES : -ENODATA;
}

bool kallsyms__shows(const char *path)
{
	struct kallsyms_line line = { 0 };
	FILE *file = fopen(path, "re");
	bool found = false;
	char *text = NULL;
	size_t size = 0;

	while (file && !found && getline(&text, &size, file) > 0)
		found = kallsyms_line__parse(text, &line) && line.is_function;
	free(text);
	if (file)
		fclose(file);
	return found && line.addr;
}
