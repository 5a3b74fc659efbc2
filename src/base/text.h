/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * text.h: how is hostile text written? Names from the kernel, a device or a file may hold any
 * bytes; escaped, they cannot move the cursor, break a line or be taken for a formula.
 */
#ifndef IOSONAR_BASE_TEXT_H
#define IOSONAR_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Escapes: terminal (control characters, line separators, invisible or direction-changing
 * characters, invalid UTF-8: as \xNN), JSON string, CSV field (never a formula).
 */
void text__put_terminal(FILE *out, const char *text);
void text__put_json(FILE *out, const char *text);
/*
 * As a JSON string, the text that CSV has: its terminal form, in which no two names become one. Of
 * the first len bytes; an ASCII character or the end follows them.
 */
void text__put_json_escaped(FILE *out, const char *text, size_t len);
void text__put_csv(FILE *out, const char *text);
/* Escapes one character; *len is its length. Up to TEXT_ESCAPED bytes; returns where they end. */
enum { TEXT_ESCAPED = 4 * 4 }; /* four bytes, each "\xNN" */
char *text__escape_one(char *at, const char *text, size_t *len);
/* Like text__put_terminal, into buf: cuts what does not fit, never inside a character. */
char *text__terminal(char *buf, size_t size, const char *text);
/* The same for the whole text, allocated. NULL: out of memory. */
char *text__plain(const char *text);
/* Would a spreadsheet take it for a formula? It begins like one and is not an option like -bash. */
bool text__is_formula(const char *text);
size_t text__width(const char *text); /* columns that text__put_terminal fills */

/* Replaces every `from`; returns the text. */
char *text__replace(char *text, char from, char to);
/* Reads the first line of a kernel file, without its end; "" and false: there is none. */
bool text__read_line(const char *path, char *buf, size_t size);

#endif
