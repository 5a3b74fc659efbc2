/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/dot.h"

#include <stdlib.h>
#include "decode/column.h"

/*
 * In a label a backslash starts an escape (\N is the node's name), and an ampersand an HTML entity.
 * Control characters and invalid UTF-8 are already escaped with backslashes.
 */
static void dot_put_char(FILE *out, char c)
{
	if (c == '&')
		fputs("&amp;", out);
	else if (c == '"' || c == '\\')
		fprintf(out, "\\%c", c);
	else
		fputc(c, out);
}

static void dot_put_text(FILE *out, const char *text)
{
	char *plain = text__plain(text);

	for (const char *c = plain; c && *c; c++)
		dot_put_char(out, *c);
	free(plain);
}

static void dot_put_label(FILE *out, const struct dot_label *label)
{
	fputs(" [label=\"", out);
	for (size_t i = 0; i < label->nr; i++) {
		if (i)
			fputs("\\n", out);
		dot_put_text(out, label->lines[i]);
	}
	fputs("\"];\n", out);
}

void dot__begin(FILE *out, const char *title)
{
	fputs("digraph \"", out);
	dot_put_text(out, title);
	fputs("\" {\n\tnode [shape=box, fontname=\"monospace\"];\n"
	      "\tedge [fontname=\"monospace\"];\n",
	      out);
}

void dot__node(FILE *out, uint32_t node, const struct dot_label *label)
{
	fprintf(out, "\tn%u", node);
	dot_put_label(out, label);
}

void dot__edge(FILE *out, uint32_t from, uint32_t to, const struct dot_label *label)
{
	fprintf(out, "\tn%u -> n%u", from, to);
	dot_put_label(out, label);
}

void dot__end(FILE *out)
{
	fputs("}\n", out);
}
