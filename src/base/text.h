/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * text.h: how is hostile text written? Names from the kernel, a device or a file may hold anything;
 * what is printed of them cannot move the cursor, break a line or be taken for a formula.
 */
#ifndef IOSONAR_BASE_TEXT_H
#define IOSONAR_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Escapes: terminal (control characters, line separators, what turns the direction of writing or is
 * invisible, invalid UTF-8: as \xNN), JSON string, CSV field (in which no text is a formula).
 */
void text__put_terminal(FILE *out, const char *text);
void text__put_json(FILE *out, const char *text);
void text__put_csv(FILE *out, const char *text);
/* The same of one character, which has *len bytes: up to TEXT_ESCAPED; returns where they end. */
enum { TEXT_ESCAPED = 4 * 4 }; /* four bytes, each "\xNN" */
char *text__escape_one(char *at, const char *text, size_t *len);
/* As text__put_terminal, into buf: what does not fit is left out, never half a character. */
char *text__terminal(char *buf, size_t size, const char *text);
/* The same, all of it, in memory of its own. NULL: there is none. */
char *text__plain(const char *text);
/* Would a spreadsheet take it for a formula? It begins like one, and is no plain option: -bash. */
bool text__is_formula(const char *text);
size_t text__width(const char *text); /* columns that text__put_terminal fills */

/* The first line of a file of the kernel's, without its end; "" and false: there is none. */
bool text__read_line(const char *path, char *buf, size_t size);

#endif
