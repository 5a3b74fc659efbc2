/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "symbol/demangle.h"
#include "symbol/elf_image.h"
#include "symbol/kallsyms.h"
#include "symbol/names.h"
#include "symbol/service.h"

enum {
	SYMBOLS_ROOT_MAX = 256,
	SYMBOLS_KNOWN = 1 << 16, /* places for answers; a later answer replaces an older one */
};

/* An answer of the reader. */
struct symbols_known {
	struct symbols_process process;
	uint64_t addr;
	struct symbol symbol; /* its name is NULL: the place is free */
};

struct symbols {
	char root[SYMBOLS_ROOT_MAX];

	bool kernel_is_read;
	int kernel_err;
	struct symbol_table kernel;

	bool user_is_started;
	int user_err;
	struct symbol_service service;
	struct symbol_names names;
	struct symbols_known *known;
};

struct symbols *symbols__new(const char *root)
{
	struct symbols *s = strlen(root) < SYMBOLS_ROOT_MAX ? calloc(1, sizeof(*s)) : NULL;

	if (!s)
		return NULL;
	strcpy(s->root, root);
	s->service.socket = -1;
	return s;
}

void symbols__free(struct symbols *s)
{
	if (!s)
		return;
	symbol_service__end(&s->service);
	symbol_names__free(&s->names);
	symbol_table__free(&s->kernel);
	free(s->known);
	free(s);
}

/* ---- the kernel ---- */

int symbols__prepare_kernel(struct symbols *s)
{
	char path[SYMBOLS_ROOT_MAX + 32];

	if (s->kernel_is_read)
		return s->kernel_err;
	snprintf(path, sizeof(path), "%s/proc/kallsyms", s->root);
	s->kernel_is_read = true;
	s->kernel_err = kallsyms__read(path, &s->kernel);
	return s->kernel_err;
}

const char *symbols__kernel_trouble(const struct symbols *s)
{
	switch (s->kernel_err) {
	case 0: return NULL;
	case -ENOMEM: return "no memory for the kernel's symbols";
	case -ENOENT: return "this kernel has no /proc/kallsyms (CONFIG_KALLSYMS)";
	case -ENODATA: return "/proc/kallsyms lists no functions";
	default:
		return "the kernel hides its addresses; they require root or CAP_SYSLOG, and "
		       "kernel.kptr_restrict must not be 2";
	}
}

struct symbol symbols__kernel(struct symbols *s, uint64_t addr)
{
	struct symbol_found found;

	if (symbols__prepare_kernel(s))
		return (struct symbol){ "[kernel]", .how = SYMBOL_DENIED };
	if (symbol_table__find(&s->kernel, addr, &found))
		return (struct symbol){ found.name, found.offset, SYMBOL_FOUND };
	return (struct symbol){ "[kernel]", .how = SYMBOL_UNMAPPED };
}

/* ---- processes ---- */

int symbols__prepare_user(struct symbols *s)
{
	if (s->user_is_started)
		return s->user_err;
	s->user_is_started = true;
	s->known = calloc(SYMBOLS_KNOWN, sizeof(*s->known));
	s->user_err = s->known ? symbol_service__start(&s->service, s->root) : -ENOMEM;
	return s->user_err;
}

const char *symbols__user_trouble(const struct symbols *s)
{
	if (!s->user_is_started)
		return NULL;
	if (s->user_err)
		return "cannot start the reader of user symbols: out of memory, or no process can "
		       "be created";
	return s->service.socket < 0 ? "the reader of user symbols crashed on or hangs in a file; "
				       "later addresses have no names"
				     : NULL;
}

static size_t symbols_place(const struct symbols_process *process, uint64_t addr)
{
	const uint64_t mix = 0x9e3779b97f4a7c15ULL;
	uint64_t h = (process->pid ^ process->image * mix) * mix;

	return ((h ^ addr) * mix >> 32) & (SYMBOLS_KNOWN - 1);
}

static const struct symbol symbols_no_reader = { .name = "[unknown]", .how = SYMBOL_NO_READER };
static const struct symbol symbols_no_room = { .name = "[unknown]", .how = SYMBOL_NO_ROOM };

static struct symbol symbols_ask(struct symbols *s, const struct symbols_process *process,
				 uint64_t addr)
{
	const struct reader_request request = {
		.what = READER_NAME,
		.process = *process,
		.addr = addr,
	};
	struct reader_reply reply;
	struct symbol symbol;

	if (!symbol_service__ask(&s->service, &request, &reply, sizeof(reply)) ||
	    (unsigned int)reply.how >= NR_SYMBOL_HOW)
		return symbols_no_reader;
	reply.name[SYMBOL_NAME_MAX] = '\0';
	symbol.name = symbol_names__keep(&s->names, reply.name);
	symbol.offset = reply.offset;
	symbol.how = reply.how;
	return symbol.name ? symbol : symbols_no_room;
}

struct symbol symbols__user(struct symbols *s, const struct symbols_process *process, uint64_t addr)
{
	struct symbols_known *known;
	struct symbol symbol;

	if (symbols__prepare_user(s))
		return symbols_no_reader;
	known = &s->known[symbols_place(process, addr)];
	if (known->symbol.name && known->addr == addr && known->process.pid == process->pid &&
	    known->process.image == process->image)
		return known->symbol;
	symbol = symbols_ask(s, process, addr);
	if (symbol.how < SYMBOL_ANON) /* what is not there now may be there later */
		*known = (struct symbols_known){ *process, addr, symbol };
	return symbol;
}

void symbols__see(struct symbols *s, const struct symbols_process *process)
{
	const struct reader_request request = { .what = READER_SEE, .process = *process };
	struct reader_reply reply;

	if (!symbols__prepare_user(s))
		symbol_service__ask(&s->service, &request, &reply, sizeof(reply));
}

/* ---- tables ---- */

enum { SYMBOLS_UNWIND_ASKS = 16 };

/* The reader may have been taken over by a file: what it says is checked. */
static bool symbols_is_sound(const struct symbols_unwind *u)
{
	if (u->nr > UNWIND_MAPS)
		return false;
	for (uint32_t i = 0; i < u->nr; i++) {
		const struct symbols_unwind_map *map = &u->maps[i];

		if (map->end <= map->start || map->file > UNWIND_FILE_VDSO ||
		    (i && map->start < map[-1].end))
			return false;
	}
	return true;
}

bool symbols__unwind(struct symbols *s, const struct symbols_process *process,
		     struct symbols_unwind *unwind)
{
	const struct reader_request request = { .what = READER_UNWIND, .process = *process };

	if (symbols__prepare_user(s))
		return false;
	for (int i = 0; i < SYMBOLS_UNWIND_ASKS; i++) {
		if (!symbol_service__ask(&s->service, &request, unwind, sizeof(*unwind)) ||
		    !symbols_is_sound(unwind))
			return false;
		if (!unwind->is_partial)
			return unwind->nr;
	}
	return false;
}

static bool symbols_ask_rows(struct symbols *s, uint32_t file, uint32_t from,
			     struct reader_rows *reply)
{
	const struct reader_request request = { .what = READER_ROWS, .file = file, .addr = from };

	return symbol_service__ask(&s->service, &request, reply, sizeof(*reply));
}

/* From the end on there are no rows: the table stays. */
bool symbols__unwind_size(struct symbols *s, uint32_t file, uint32_t *nr_rows, uint32_t *nr_rules)
{
	struct reader_rows reply;

	if (!symbols_ask_rows(s, file, UINT32_MAX, &reply))
		return false;
	*nr_rows = reply.nr_rows;
	*nr_rules = reply.nr_rules;
	return true;
}

static bool symbols_copy_rules(struct symbols *s, uint32_t file, struct unwind_rule *rules,
			       uint32_t nr)
{
	struct reader_request request = { .what = READER_RULES, .file = file };
	struct reader_rules reply;

	for (uint32_t i = 0; i < nr; i++) {
		struct unwind_rule *rule = &reply.rules[i % READER_CHUNK];

		request.addr = i;
		if (i % READER_CHUNK == 0 &&
		    !symbol_service__ask(&s->service, &request, &reply, sizeof(reply)))
			return false;
		if (rule->cfa >= NR_UNWIND_CFA || rule->fp >= NR_UNWIND_SAVED ||
		    rule->ra >= NR_UNWIND_SAVED)
			return false;
		rules[i] = *rule;
	}
	return true;
}

bool symbols__unwind_copy(struct symbols *s, uint32_t file, uint32_t first_rule,
			  struct unwind_row *rows, uint32_t nr_rows, struct unwind_rule *rules,
			  uint32_t nr_rules)
{
	struct reader_rows reply;

	if (!symbols_copy_rules(s, file, rules, nr_rules))
		return false;
	for (uint32_t i = 0; i < nr_rows; i++) {
		const struct unwind_row *row = &reply.rows[i % READER_CHUNK];

		if (i % READER_CHUNK == 0 && !symbols_ask_rows(s, file, i, &reply))
			return false;
		if (row->rule >= nr_rules || (i && row->pc <= rows[i - 1].pc))
			return false;
		rows[i] = (struct unwind_row){ row->pc, first_rule + row->rule };
	}
	return true;
}

bool symbols__unwind_forget(struct symbols *s)
{
	const struct reader_request request = { .what = READER_FORGET };
	struct reader_reply reply;

	return symbol_service__ask(&s->service, &request, &reply, sizeof(reply));
}

bool symbols__has_demangler(void)
{
	return demangle__is_built_in();
}

bool symbols__has_libdw(void)
{
	return elf_dwfl__is_built_in();
}
