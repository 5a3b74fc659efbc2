/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "symbol/perf_map.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/compare.h"
#include "base/grow.h"

enum { MAP_STEP_BYTES = 1 << 20, MAP_STATUS_BYTES = 8192 };

struct map_text {
	char *bytes;
	size_t len, room;
};

static int map_read_text(struct map_text *text, int fd, size_t most_bytes)
{
	ssize_t got;

	do {
		size_t step = most_bytes - text->len;
		int err;

		step = step < MAP_STEP_BYTES ? step : MAP_STEP_BYTES;
		err = GROW(text->bytes, text->room, text->len + step + 1);
		if (err)
			return err;
		got = read(fd, text->bytes + text->len, step);
		if (got < 0)
			return -errno;
		text->len += (size_t)got;
	} while (got);
	text->bytes[text->len] = '\0';
	return 0;
}

/* ---- lines ---- */

struct map_line {
	uint64_t addr, size_bytes;
	size_t name_at, len;
};

struct map_lines {
	struct map_line *lines;
	size_t nr, room;
};

static bool map_is_space(char c)
{
	return c == ' ' || c == '\t';
}

/* A hexadecimal number and the space behind it: no sign, no space before it, as strtoull takes. */
static bool map_number(const char **at, uint64_t *number)
{
	char *end;

	if (!strchr("0123456789abcdefABCDEF", **at) || !**at)
		return false;
	errno = 0;
	*number = strtoull(*at, &end, 16);
	if (errno || !map_is_space(*end))
		return false;
	while (map_is_space(*end))
		end++;
	*at = end;
	return true;
}

/* 7f3c4d000000 1a0 LazyCompile:~read /srv/app.js:10 */
static bool map_parse(const char *text, const char *at, struct map_line *line)
{
	if (!map_number(&at, &line->addr) || !map_number(&at, &line->size_bytes))
		return false;
	line->name_at = (size_t)(at - text);
	line->len = strcspn(at, "\r\n");
	return line->len > 0;
}

static int map_compare(const void *left, const void *right)
{
	const struct map_line *a = left, *b = right;

	return COMPARE(a->addr, b->addr) ?: COMPARE(a->name_at, b->name_at);
}

static int map_add_lines(struct map_lines *lines, const char *text)
{
	for (const char *at = text, *next; *at; at = next) {
		struct map_line line;

		next = strchrnul(at, '\n');
		next += *next != '\0';
		if (lines->nr == SYMBOL_TABLE_MAX || !map_parse(text, at, &line))
			continue;
		if (GROW(lines->lines, lines->room, lines->nr + 1))
			return -ENOMEM;
		lines->lines[lines->nr++] = line;
	}
	if (lines->nr)
		qsort(lines->lines, lines->nr, sizeof(*lines->lines), map_compare);
	return 0;
}

/* The table would keep the plainest of several names. */
static int map_add_functions(struct symbol_table *functions, const struct map_lines *lines,
			     const char *text)
{
	int err = 0;

	for (size_t i = 0; !err && i < lines->nr; i++) {
		const struct map_line *line = &lines->lines[i];

		if (i + 1 == lines->nr || line[1].addr != line->addr)
			err = symbol_table__add(functions, line->addr, line->size_bytes,
						text + line->name_at, line->len);
	}
	symbol_table__sort(functions);
	return err == -E2BIG ? 0 : err;
}

int perf_map__read(struct symbol_table *functions, int fd)
{
	struct map_lines lines = { 0 };
	struct map_text text = { 0 };
	int err = map_read_text(&text, fd, PERF_MAP_BYTES_MAX);

	memset(functions, 0, sizeof(*functions));
	err = err ?: map_add_lines(&lines, text.bytes);
	err = err ?: map_add_functions(functions, &lines, text.bytes);
	if (err)
		symbol_table__free(functions);
	free(lines.lines);
	free(text.bytes);
	return err;
}

/* NSpid:	4711	12	1 */
uint32_t perf_map__inner_pid(int fd)
{
	struct map_text text = { 0 };
	uint32_t pid = 0;
	const char *at;

	at = map_read_text(&text, fd, MAP_STATUS_BYTES) ? NULL : strstr(text.bytes, "\nNSpid:");
	at = at ? at + strlen("\nNSpid:") : NULL;
	for (int len; at && sscanf(at, "%*[\t]%" SCNu32 "%n", &pid, &len) == 1;)
		at += len;
	free(text.bytes);
	return pid;
}
