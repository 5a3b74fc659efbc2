/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * option_help.c: prints the tables of option.h as help, wrapped at the width of a line. Nothing
 * here knows what an option is for.
 */
#include "base/option.h"

#include <string.h>

#define OPTION_LINE_COLUMNS 100
#define OPTION_LEFT_COLUMNS 30 /* a longer left side puts its help on a line of its own */

/* Columns of a terminal, not bytes: a synopsis may hold "…". */
static size_t option_columns(const char *text, size_t len)
{
	size_t nr = 0;

	for (size_t i = 0; i < len; i++)
		nr += ((unsigned char)text[i] & 0xc0) != 0x80;
	return nr;
}

void option__print_entry(FILE *out, const char *left, size_t column, const char *text)
{
	size_t at = option_columns(left, strlen(left));

	fputs(left, out);
	if (at && at + 2 > column) {
		putc('\n', out);
		at = 0;
	}
	fprintf(out, "%*s", (int)(column - at), "");
	at = column;
	while (*text) {
		size_t len = strcspn(text, " "), width = option_columns(text, len);

		if (at > column && at + 1 + width > OPTION_LINE_COLUMNS) {
			fprintf(out, "\n%*s", (int)column, "");
			at = column;
		}
		at += (size_t)fprintf(out, "%s%.*s", at > column ? " " : "", (int)len, text) - len +
		      width;
		text += len;
		text += strspn(text, " ");
	}
	putc('\n', out);
}

/* "  -i, --interval DURATION" */
static size_t option_left(const struct option_def *def, char *buf, size_t size)
{
	char letter[] = { '-', def->letter, ',', 0 };
	char arg[128];

	if (def->kind == OPTION_OPERANDS) {
		snprintf(buf, size, "  %s", def->arg);
		return option_columns(buf, strlen(buf));
	}
	snprintf(buf, size, "  %-3s --%s%s%s", def->letter ? letter : "", def->name,
		 option__takes_value(def) ? " " : "",
		 option__takes_value(def) ? option__arg(def, arg, sizeof(arg)) : "");
	return option_columns(buf, strlen(buf));
}

static size_t option_help_column(const struct option_group *const *groups, size_t nr)
{
	size_t column = 0;
	char left[160];

	for (size_t i = 0; i < nr; i++) {
		for (const struct option_def *def = groups[i]->options; def->name; def++) {
			size_t end = option_left(def, left, sizeof(left)) + 2;

			if (end > column && end <= OPTION_LEFT_COLUMNS)
				column = end;
		}
	}
	return column ?: OPTION_LEFT_COLUMNS;
}

static void option_print_group(FILE *out, const struct option_group *group, size_t column)
{
	fprintf(out, "\n%s\n", group->title);
	for (const struct option_def *def = group->options; def->name; def++) {
		char left[160], words[512], text[1024];
		bool list_words = def->choices && def->arg;

		if (def->refuses)
			continue;
		option_left(def, left, sizeof(left));
		snprintf(text, sizeof(text), "%s%s%s", def->help, list_words ? ": " : "",
			 list_words ? option__join(words, sizeof(words), def->choices, ", ") : "");
		option__print_entry(out, left, column, text);
	}
}

void option__print_help(FILE *out, const struct option_group *const *groups, size_t nr)
{
	size_t column = option_help_column(groups, nr);

	for (size_t i = 0; i < nr; i++)
		option_print_group(out, groups[i], column);
	option_print_group(out, &always_group, column);
}
