/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * option_help.c: prints the tables of option.h as help, wrapped at the width of a line. Nothing
 * here knows what an option is for.
 */
#include "base/option.h"

#include <string.h>
#include "base/terminal.h"

#define OPTION_LINE_COLUMNS  80 /* where there is no terminal to ask */
#define OPTION_LEAST_COLUMNS 60
#define OPTION_MOST_COLUMNS  100 /* longer lines are hard to read */
#define OPTION_LEFT_COLUMNS  30	 /* a longer left side puts its help on a line of its own */

static size_t option_line_columns(FILE *out)
{
	size_t columns = terminal__columns(fileno(out));

	if (!columns)
		return OPTION_LINE_COLUMNS;
	return columns < OPTION_LEAST_COLUMNS  ? OPTION_LEAST_COLUMNS
	       : columns > OPTION_MOST_COLUMNS ? OPTION_MOST_COLUMNS
					       : columns;
}

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
	size_t at = option_columns(left, strlen(left)), columns = option_line_columns(out);

	fputs(left, out);
	if (at && at + 1 > column) {
		putc('\n', out);
		at = 0;
	}
	fprintf(out, "%*s", (int)(column - at), "");
	at = column;
	while (*text) {
		size_t len = strcspn(text, " "), width = option_columns(text, len);

		if (at > column && at + 1 + width > columns) {
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

/* "use colors in text: auto, always, never", "output format: text (for people), csv (...)" */
static void option_put_text(FILE *text, const struct option_def *def)
{
	const char *comma = ": ";

	fputs(def->help, text);
	if (!def->choices || !(def->arg || def->choice_helps))
		return;
	for (size_t i = 0; def->choices[i]; i++) {
		if (def->offered && !(def->offered & 1u << i))
			continue;
		fprintf(text, "%s%s", comma, def->choices[i]);
		if (def->choice_helps)
			fprintf(text, " (%s)", def->choice_helps[i]);
		comma = ", ";
	}
}

static void option_print_group(FILE *out, const struct option_group *group, size_t column)
{
	fprintf(out, "\n%s\n", group->title);
	for (const struct option_def *def = group->options; def->name; def++) {
		char left[160], buf[1024] = "";
		FILE *text = def->refuses ? NULL : fmemopen(buf, sizeof(buf), "w");

		if (!text)
			continue;
		option_put_text(text, def);
		fclose(text);
		option_left(def, left, sizeof(left));
		option__print_entry(out, left, column, buf);
	}
}

/* "  Output            -o, --out, --color" */
static void option_print_names(FILE *out, const struct option_group *group, size_t column)
{
	char left[64], names[512] = "";
	size_t len = 0;

	for (const struct option_def *def = group->options; def->name; def++) {
		char letter[] = { '-', def->letter, 0 };

		if (!def->refuses && len < sizeof(names))
			len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s%s",
						len ? " " : "", def->letter ? "" : "--",
						def->letter ? letter : def->name);
	}
	snprintf(left, sizeof(left), "  %s", group->title);
	option__print_entry(out, left, column, names);
}

void option__print_help(FILE *out, const struct option_group *const *groups, size_t nr)
{
	size_t column = option_help_column(groups, nr);

	for (size_t i = 0; i < nr; i++)
		option_print_group(out, groups[i], column);
	option_print_group(out, &always_group, column);
}

void option__print_short_help(FILE *out, const struct option_group *const *groups, size_t nr,
			      size_t full)
{
	size_t column = option_help_column(groups, full);

	for (size_t i = 0; i < full; i++)
		option_print_group(out, groups[i], column);
	fputs("\nOptions that commands share (--help explains them)\n", out);
	for (size_t i = full; i < nr; i++)
		option_print_names(out, groups[i], column);
	option_print_names(out, &always_group, column);
}
