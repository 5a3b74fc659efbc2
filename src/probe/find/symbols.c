/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * symbols.c: the kernel's functions: kallsyms has their addresses, ftrace's list says which can be
 * probed, kprobes' blacklist which cannot. Each is read once, whole (some 100 ms and 20 MB for a
 * distribution's kernel). Without root, addresses are hidden and the other two lists are not
 * readable: then every function counts as one that can be probed, until it is tried.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "probe/find/inside.h"
#include "symbol/kallsyms.h"

enum {
	SYMBOLS_FILE_MAX = 256 << 20, /* bytes */
	SYMBOLS_KEY_MAX = 640,	      /* KSYM_NAME_LEN is 512 */
};

/* ---- kallsyms ---- */

/* The next line, cut off; NULL: no more lines. */
static char *symbols_next(char **rest)
{
	char *line = *rest, *end = line ? strchrnul(line, '\n') : NULL;

	if (!line)
		return NULL;
	*rest = *end ? end + 1 : NULL;
	*end = 0;
	return line;
}

/* Splits the line of a code symbol into its parts; false: not code. */
static bool symbols_parse(char *text, struct find_symbol *symbol)
{
	struct kallsyms_line line;

	if (!kallsyms_line__parse(text, &line) || !line.is_function)
		return false;
	*symbol = (struct find_symbol){ .address = line.addr, .name = line.name };
	text[line.name - text + (ptrdiff_t)line.name_len] = 0;
	if (line.module_len > 2) {
		symbol->module = line.module + 1;
		text[line.module - text + (ptrdiff_t)line.module_len - 1] = 0;
	}
	return true;
}

static bool symbols_begins(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* Labels inside functions, padding before them, their cold parts (.cold), BPF programs: not
 * functions of the kernel. */
static bool symbols_is_function(const struct find_symbol *symbol)
{
	const char *name = symbol->name, *module = symbol->module;

	if (*name == '$' || *name == '.')
		return false;
	if (symbols_begins(name, "__pfx_") || symbols_begins(name, "__cfi_") ||
	    strstr(name, ".cold"))
		return false;
	return !module || (strcmp(module, "bpf") && !symbols_begins(module, "__builtin__"));
}

static void symbols_note_init(struct find_symbols *s, const struct find_symbol *symbol)
{
	if (symbol->module)
		return;
	if (!strcmp(symbol->name, "_sinittext"))
		s->init_begin = symbol->address;
	if (!strcmp(symbol->name, "_einittext"))
		s->init_end = symbol->address;
}

static int symbols_read_kallsyms(struct find_symbols *s)
{
	char *text, *rest = s->text;
	struct find_symbol symbol;

	while ((text = symbols_next(&rest))) {
		if (!symbols_parse(text, &symbol))
			continue;
		symbols_note_init(s, &symbol);
		if (!symbols_is_function(&symbol))
			continue;
		if (GROW_BY_ONE(s->symbols, s->nr))
			return -ENOMEM;
		s->symbols[s->nr++] = symbol;
	}
	return 0;
}

/* ---- the other lists ---- */

/* "vfs_read", "nvme_queue_rq [nvme]": as ftrace writes it. */
static int symbols_read_traceable(struct find_symbols *s)
{
	char *line, *rest = s->traceable_text;
	int err = 0;

	while (!err && (line = symbols_next(&rest)))
		if (*line)
			err = find_index__add(&s->traceable, line, 0);
	return err;
}

/* 0xffff800080010000-0xffff800080010040	do_page_fault */
static int symbols_read_blacklist(struct find_symbols *s)
{
	char *line, *rest = s->blacklist_text;
	int err = 0;

	while (!err && (line = symbols_next(&rest))) {
		char *name = strpbrk(line, " \t");

		name = name ? name + strspn(name, " \t") : NULL;
		if (name && *name)
			err = find_index__add(&s->blacklist, name, 0);
	}
	return err;
}

static int symbols_read_lists(struct finder *finder)
{
	struct find_symbols *s = &finder->symbols;
	int err = 0;

	if (!find_tracefs__read(finder))
		s->traceable_text = find__read_file(
			SYMBOLS_FILE_MAX, "%s/available_filter_functions", finder->tracefs.dir);
	if (s->traceable_text)
		err = symbols_read_traceable(s);
	s->blacklist_text = find__read_file(SYMBOLS_FILE_MAX,
					    "%s/sys/kernel/debug/kprobes/blacklist", finder->root);
	if (s->blacklist_text && !err)
		err = symbols_read_blacklist(s);
	return err;
}

int find_symbols__read(struct finder *finder)
{
	struct find_symbols *s = &finder->symbols;

	if (s->is_read)
		return s->err;
	s->is_read = true;
	s->text = find__read_file(SYMBOLS_FILE_MAX, "%s/proc/kallsyms", finder->root);
	s->err = s->text ? symbols_read_kallsyms(s) : -errno;
	if (!s->err && !s->nr)
		s->err = -ENODATA;
	if (!s->err)
		s->err = symbols_read_lists(finder);
	return s->err;
}

void find_symbols__free(struct find_symbols *s)
{
	while (s->nr_bases)
		free(s->bases[--s->nr_bases]);
	free(s->bases);
	free(s->text);
	free(s->symbols);
	free(s->by_address);
	free(s->traceable_text);
	free(s->blacklist_text);
	find_index__free(&s->suffixed);
	find_index__free(&s->traceable);
	find_index__free(&s->blacklist);
	*s = (struct find_symbols){ 0 };
}

/* ---- what can be probed ---- */

static bool symbols_is_traceable(const struct find_symbols *s, const struct find_symbol *symbol)
{
	char key[SYMBOLS_KEY_MAX];

	if (!symbol->module)
		return find_index__get(&s->traceable, symbol->name, NULL);
	snprintf(key, sizeof(key), "%s [%s]", symbol->name, symbol->module);
	return find_index__get(&s->traceable, key, NULL);
}

const char *find_symbols__why_not(struct find_symbols *s, const struct find_symbol *symbol)
{

	if (s->traceable.nr && symbols_is_traceable(s, symbol))
		return NULL;
	if (!symbol->module && symbol->address >= s->init_begin && symbol->address < s->init_end)
		return "removed after boot (__init)";
	if (find_index__get(&s->blacklist, symbol->name, NULL))
		return "on the kernel's kprobe blacklist";
	if (s->traceable.nr && !find_symbols__alias(s, symbol))
		return "not traceable (notrace)";
	return NULL;
}

static int symbols_compare_address(const void *a, const void *b)
{
	const struct find_symbol *left = *(const struct find_symbol *const *)a;
	const struct find_symbol *right = *(const struct find_symbol *const *)b;

	return left->address < right->address ? -1 : left->address > right->address;
}

static bool symbols_sort(struct find_symbols *s)
{
	if (s->by_address)
		return true;
	s->by_address = calloc(s->nr, sizeof(const struct find_symbol *));
	if (!s->by_address)
		return false;
	for (size_t i = 0; i < s->nr; i++)
		s->by_address[i] = &s->symbols[i];
	qsort(s->by_address, s->nr, sizeof(const struct find_symbol *), symbols_compare_address);
	return true;
}

/* The first symbol at this address. */
static size_t symbols_search(const struct find_symbols *s, uint64_t address)
{
	size_t low = 0, high = s->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->by_address[middle]->address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct find_symbol *find_symbols__alias(struct find_symbols *s,
					      const struct find_symbol *symbol)
{
	if (!symbol->address || !symbols_sort(s))
		return NULL;
	for (size_t i = symbols_search(s, symbol->address);
	     i < s->nr && s->by_address[i]->address == symbol->address; i++)
		if (s->by_address[i] != symbol && symbols_is_traceable(s, s->by_address[i]))
			return s->by_address[i];
	return NULL;
}

/* ---- functions that the compiler changed ---- */

static int symbols_add_base(struct find_symbols *s, const char *name, uint32_t nr)
{
	if (GROW_BY_ONE(s->bases, s->nr_bases))
		return -ENOMEM;
	s->bases[s->nr_bases] = strndup(name, strcspn(name, "."));
	if (!s->bases[s->nr_bases])
		return -ENOMEM;
	return find_index__add(&s->suffixed, s->bases[s->nr_bases++], nr);
}

static int symbols_index_suffixes(struct find_symbols *s)
{
	int err = 0;

	s->has_bases = true;
	for (size_t i = 0; !err && i < s->nr; i++)
		if (strchr(s->symbols[i].name, '.'))
			err = symbols_add_base(s, s->symbols[i].name, (uint32_t)i);
	return err;
}

const struct find_symbol *find_symbols__suffixed(struct find_symbols *s, const char *name)
{
	uint32_t nr;

	if (!s->has_bases && symbols_index_suffixes(s))
		return NULL;
	return find_index__get(&s->suffixed, name, &nr) ? &s->symbols[nr] : NULL;
}
