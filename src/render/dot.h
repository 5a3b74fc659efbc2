/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dot.h: which node leads to which? A directed graph for Graphviz: nodes and edges by number, each
 * with a few lines of text. Names are hostile: they cannot end a string or form an escape.
 */
#ifndef IOSONAR_RENDER_DOT_H
#define IOSONAR_RENDER_DOT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct dot_label {
	const char *lines[3];
	size_t nr;
};

void dot__begin(FILE *out, const char *title);
void dot__node(FILE *out, uint32_t node, const struct dot_label *label);
void dot__edge(FILE *out, uint32_t from, uint32_t to, const struct dot_label *label);
void dot__end(FILE *out);

#endif
