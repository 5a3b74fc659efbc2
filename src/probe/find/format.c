/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * format.c: the fields of a tracepoint, from the text of its format file:
 *
 *	field:const char * filename;	offset:24;	size:8;	signed:0;
 *
 * Pure. A line's declaration is trusted if its numbers are sane; the text after "print fmt:" is
 * ignored.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "probe/find/inside.h"

enum {
	FORMAT_RECORD_MAX = 65536, /* an event's record takes about a page at most */
	FORMAT_NAME_MAX = 127,
	FORMAT_FIELDS_MAX = 256,
};

/* A line with its declaration split up. */
struct format_line {
	char *type; /* "const char *", "char[]", "dev_t" */
	char name[FORMAT_NAME_MAX + 1];
	const char *dimension; /* "16]" of an array */
	bool is_loc, is_rel;
	uint32_t offset, size;
	bool is_signed;
};

/* Parses "offset:24;" at *text and moves past it. */
static bool format_number(char **text, const char *key, uint32_t *value)
{
	size_t len = strlen(key);
	unsigned long number;
	char *end;

	*text += strspn(*text, " \t");
	if (strncmp(*text, key, len) || !isdigit((unsigned char)(*text)[len]))
		return false;
	number = strtoul(*text + len, &end, 10);
	if (*end != ';' || number > FORMAT_RECORD_MAX)
		return false;
	*text = end + 1;
	*value = (uint32_t)number;
	return true;
}

static void format_trim(char *text)
{
	size_t len = strlen(text);

	while (len && isblank((unsigned char)text[len - 1]))
		text[--len] = 0;
}

static bool format_is_name(const char *name)
{
	size_t len = strlen(name);

	if (!len || len > FORMAT_NAME_MAX || isdigit((unsigned char)*name))
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && *name != '_')
			return false;
	return true;
}

/* Strips "__data_loc " and the like. */
static bool format_strip(char **text, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(*text, word, len))
		return false;
	*text += len;
	*text += strspn(*text, " ");
	return true;
}

/* "[16]" after the name makes it an array. */
static void format_split_dimension(struct format_line *line, char *decl)
{
	size_t len = strlen(decl);
	char *open = len && decl[len - 1] == ']' ? strrchr(decl, '[') : NULL;

	if (!open)
		return;
	line->dimension = open + 1;
	*open = 0;
	format_trim(decl);
}

/* The name is the last word. */
static bool format_split(struct format_line *line, char *decl)
{
	char *name;

	line->is_loc = format_strip(&decl, "__data_loc ");
	if (!line->is_loc)
		line->is_loc = line->is_rel = format_strip(&decl, "__rel_loc ");
	format_trim(decl);
	format_split_dimension(line, decl);
	for (name = decl + strlen(decl); name > decl && !strchr(" *]", name[-1]);)
		name--;
	if (name == decl || !format_is_name(name))
		return false;
	strcpy(line->name, name);
	*name = 0;
	format_trim(decl);
	line->type = decl;
	return *decl;
}

static bool format_read_line(struct format_line *line, char *text)
{
	uint32_t is_signed = 0;
	char *end;

	text += strspn(text, " \t");
	if (strncmp(text, "field:", strlen("field:")))
		return false;
	text += strlen("field:");
	end = strchr(text, ';');
	if (!end)
		return false;
	*end++ = 0;
	if (!format_number(&end, "offset:", &line->offset) ||
	    !format_number(&end, "size:", &line->size))
		return false;
	format_number(&end, "signed:", &is_signed);
	line->is_signed = is_signed;
	if (line->offset + line->size > FORMAT_RECORD_MAX)
		return false;
	return format_split(line, text);
}

/* ---- its type ---- */

static size_t format_stars(const char *type)
{
	size_t nr = 0;

	for (; *type; type++)
		nr += *type == '*';
	return nr;
}

/* "char", "const char": up to the end of the name. */
static bool format_is_char(const char *type)
{
	while (format_strip((char **)&type, "const "))
		;
	return !strncmp(type, "char", 4) && !isalnum((unsigned char)type[4]) && type[4] != '_';
}

/*
 * A system call's arguments take 8 bytes each, whatever their type, and the bytes above an int are
 * leftovers of the caller's register: only these bytes count.
 */
static const struct format_narrow {
	const char *type;
	uint32_t size;
	bool is_signed;
} format_narrows[] = {
	{ "int", 4, true },	   { "unsigned int", 4, false },   { "unsigned", 4, false },
	{ "u32", 4, false },	   { "__u32", 4, false },	   { "__s32", 4, true },
	{ "s32", 4, true },	   { "umode_t", 2, false },	   { "pid_t", 4, true },
	{ "uid_t", 4, false },	   { "gid_t", 4, false },	   { "qid_t", 4, false },
	{ "clockid_t", 4, true },  { "timer_t", 4, true },	   { "mqd_t", 4, true },
	{ "key_t", 4, true },	   { "key_serial_t", 4, true },	   { "rwf_t", 4, true },
	{ "short", 2, true },	   { "unsigned short", 2, false }, { "u16", 2, false },
	{ "u8", 1, false },	   { "bool", 1, false },	   { "old_uid_t", 2, false },
	{ "old_gid_t", 2, false },
};

static void format_narrow(struct type *type, const char *declared)
{
	while (format_strip((char **)&declared, "const "))
		;
	if (!strncmp(declared, "enum ", strlen("enum ")))
		declared = "unsigned int";
	if (!strcmp(declared, "long") || !strcmp(declared, "loff_t") || !strcmp(declared, "off_t"))
		type->is_signed = true;
	for (size_t i = 0; i < sizeof(format_narrows) / sizeof(format_narrows[0]); i++) {
		if (strcmp(declared, format_narrows[i].type))
			continue;
		type->size = format_narrows[i].size;
		type->is_signed = format_narrows[i].is_signed;
	}
}

static struct type format_type(const struct format_line *line, bool is_syscall)
{
	struct type type = { .size = line->size, .is_loc = line->is_loc, .is_rel = line->is_rel };

	if (line->dimension || line->is_loc) {
		bool is_text = format_is_char(line->type) && !format_stars(line->type);

		type.kind = is_text ? TYPE_TEXT : TYPE_ARRAY;
		type.is_signed = !is_text && line->is_signed;
		if (line->dimension && !line->is_loc)
			type.nr = (uint32_t)strtoul(line->dimension, NULL, 10);
	} else if (format_stars(line->type) && line->size == 8) {
		type.kind = TYPE_POINTER;
		type.is_user = is_syscall;
		type.is_text = format_is_char(line->type) && format_stars(line->type) == 1;
	} else if (line->size == 1 || line->size == 2 || line->size == 4 || line->size == 8) {
		type.kind = TYPE_INT;
		type.is_signed = line->is_signed;
		if (is_syscall && line->size == 8)
			format_narrow(&type, line->type);
	} else {
		type.kind = TYPE_ARRAY;
	}
	return type;
}

/* "char[16]" from "char comm[16]"; NULL: no memory, which is harmless. */
static char *format_declared(const struct format_line *line)
{
	char *text;

	if (!line->dimension)
		return strdup(line->type);
	return asprintf(&text, "%s[%s", line->type, line->dimension) < 0 ? NULL : text;
}

/*
 * Programs see the arguments of a system call, but not the texts that the kernel reads for its own
 * record (__filename_val, since 7.0).
 */
static bool format_is_seen(const struct format_line *line, bool is_syscall)
{
	if (line->is_loc && (is_syscall || line->size != 4))
		return false;
	return strncmp(line->name, "common_", strlen("common_")) != 0;
}

static int format_add(struct probe *probe, const struct format_line *line, bool is_syscall)
{
	struct probe_field field = {
		.name = strdup(line->name),
		.type = format_type(line, is_syscall),
		.place = PLACE_RECORD,
		.at = line->offset,
	};

	field.declared = format_declared(line);
	return probe__add_field(probe, &field);
}

int find_format__parse(char *text, bool is_syscall, struct probe *probe)
{
	char *next;
	int err = 0;

	for (char *at = text; !err && at && probe->nr_fields < FORMAT_FIELDS_MAX; at = next) {
		struct format_line line = { 0 };

		next = strchr(at, '\n');
		if (next)
			*next++ = 0;
		if (!strncmp(at, "print fmt:", strlen("print fmt:")))
			break;
		if (format_read_line(&line, at) && format_is_seen(&line, is_syscall) &&
		    !probe__field(probe, line.name))
			err = format_add(probe, &line, is_syscall);
	}
	return err;
}
