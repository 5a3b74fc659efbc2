/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dot.c: is a graph for Graphviz what was asked for, whatever the names? Bytes are compared, and
 * Graphviz itself reads the worst of them, where it is installed.
 */
#include <stdlib.h>
#include "render/dot.h"
#include "tap.h"

/* Everything that could end a string, or be an escape of Graphviz. */
static const char hostile[] = "a\"b\\N\\\"];}&lt;\n\x1b[31m\xff<b>{|}é";

static char *written(void (*write)(FILE *out))
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	write(out);
	fclose(out);
	return text;
}

static void write_plain(FILE *out)
{
	const struct dot_label read = { .lines = { "vfs_read", "2 calls", "1.00ms" }, .nr = 3 };
	const struct dot_label submit = { .lines = { "submit_bio" }, .nr = 1 };
	const struct dot_label edge = { .lines = { "2" }, .nr = 1 };

	dot__begin(out, "calls");
	dot__node(out, 0, &read);
	dot__node(out, 7, &submit);
	dot__edge(out, 0, 7, &edge);
	dot__end(out);
}

static void write_hostile(FILE *out)
{
	const struct dot_label label = { .lines = { hostile, hostile }, .nr = 2 };

	dot__begin(out, hostile);
	dot__node(out, 1, &label);
	dot__edge(out, 1, 1, &label);
	dot__end(out);
}

static void test_plain(void)
{
	char *text = written(write_plain);

	is_str(text,
	       "digraph \"calls\" {\n"
	       "\tnode [shape=box, fontname=\"monospace\"];\n"
	       "\tedge [fontname=\"monospace\"];\n"
	       "\tn0 [label=\"vfs_read\\n2 calls\\n1.00ms\"];\n"
	       "\tn7 [label=\"submit_bio\"];\n"
	       "\tn0 -> n7 [label=\"2\"];\n"
	       "}\n",
	       "nodes, edges, lines of a label");
	free(text);
}

/* Every string ends where it should: outside of them there is nothing but ours. */
static void test_hostile(void)
{
	char *text = written(write_hostile), outside[512] = "";
	bool is_inside = false;
	size_t len = 0;

	for (const char *c = text; *c && len < sizeof(outside) - 1; c++) {
		if (*c == '\\' && is_inside)
			c++;
		else if (*c == '"')
			is_inside = !is_inside;
		else if (!is_inside)
			outside[len++] = *c;
	}
	outside[len] = 0;
	is_str(outside,
	       "digraph  {\n\tnode [shape=box, fontname=];\n\tedge [fontname=];\n"
	       "\tn1 [label=];\n\tn1 -> n1 [label=];\n}\n",
	       "no name ends its string");
	ok(strstr(text, "a\\\"b\\\\N\\\\\\\"];}&amp;lt;") != NULL, "each is what it was");
	ok(!strchr(text, 0x1b) && !strchr(text, (char)0xff), "no control character, no bad UTF-8");
	free(text);
}

static void test_graphviz(void)
{
	FILE *dot;

	if (system("command -v dot >/dev/null 2>&1")) {
		ok(true, "Graphviz reads it # SKIP there is no Graphviz");
		return;
	}
	dot = popen("dot -Tsvg >/dev/null 2>&1", "w");
	if (dot)
		write_hostile(dot);
	ok(dot && !pclose(dot), "Graphviz reads it");
}

int main(void)
{
	test_plain();
	test_hostile();
	test_graphviz();
	return done_testing();
}
