/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "symbol/unwind_table.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include "base/compare.h"
#include "base/grow.h"
#include "symbol/call_frame.h"
#include "symbol/elf_image.h"

enum { TABLE_GAP = 16 }; /* bytes between functions that alignment explains */

static const uint64_t table_most_work = 1ULL << 30; /* bytes of programs */

struct table_parse {
	struct unwind_table *table;
	const struct call_frame_machine *machine;
	struct eh_section section;
	uint64_t work;
	/* of the function */
	bool has_frame, has_fp;
	bool is_plt; /* calls nothing: its words on the stack are no frame */
};

/* ---- rules ---- */

static bool table_rule_is(const void *rules, uint32_t number, const void *rule)
{
	return !memcmp((const struct unwind_rule *)rules + number, rule,
		       sizeof(struct unwind_rule));
}

/* Its number; without room for it that of UNWIND_NOTHING. -ENOMEM. */
static int table_rule(struct unwind_table *t, const struct unwind_rule *rule, uint32_t *number)
{
	uint64_t hash = index__mix_bytes(0, rule, sizeof(*rule));

	*number = index__find(&t->index, hash, table_rule_is, t->rules, rule);
	if (*number != INDEX_NONE)
		return 0;
	*number = 0;
	if (t->nr_rules == UNWIND_RULES_MAX) {
		t->is_cut = true;
		return 0;
	}
	if (index__reserve(&t->index, &t->rules, sizeof(*t->rules)))
		return -ENOMEM;
	*number = index__add(&t->index, hash);
	t->rules[*number] = *rule;
	t->nr_rules++;
	return 0;
}

/* ---- rows ---- */

static int table_add(struct unwind_table *t, uint64_t pc, const struct unwind_rule *rule)
{
	struct unwind_row row = { .pc = (uint32_t)pc };

	if (pc > UINT32_MAX || t->nr_rows == UNWIND_ROWS_MAX) {
		t->is_cut = true;
		return 0;
	}
	if (table_rule(t, rule, &row.rule) || GROW(t->rows, t->room_rows, t->nr_rows + 1))
		return -ENOMEM;
	t->rows[t->nr_rows++] = row;
	return 0;
}

/*
 * A frame pointer that others can follow points to the caller's frame pointer, and the return
 * address lies above that. x86_64: only where the CFA is computed from it; any function may save
 * the register.
 */
static bool table_keeps_fp(const struct table_parse *p, const struct unwind_rule *rule)
{
	if (rule->fp != UNWIND_SAVED || rule->ra != UNWIND_SAVED ||
	    rule->ra_off != rule->fp_off + 8)
		return false;
	return p->machine->has_link || rule->cfa == UNWIND_FP;
}

static int table_on_rule(void *arg, uint64_t pc, const struct unwind_rule *rule)
{
	struct table_parse *p = arg;
	bool in_frame = p->machine->has_link ? rule->ra == UNWIND_SAVED
					     : rule->cfa == UNWIND_FP || rule->cfa_off > 8;

	p->is_plt |= rule->cfa == UNWIND_PLT;
	p->has_frame |= rule->cfa > UNWIND_SIGNAL && in_frame;
	p->has_fp |= table_keeps_fp(p, rule);
	return table_add(p->table, pc, rule);
}

static int table_on_function(void *arg, const struct eh_fde *fde)
{
	struct table_parse *p = arg;
	int err;

	p->work += (uint64_t)(fde->cie->program.end - fde->cie->program.at) +
		   (uint64_t)(fde->program.end - fde->program.at);
	if (p->work > table_most_work) {
		p->table->is_cut = true;
		return 0;
	}
	p->has_frame = p->has_fp = p->is_plt = false;
	err = call_frame__run(p->machine, &p->section, fde, table_on_rule, p);
	p->has_frame &= !p->is_plt;
	p->table->nr_frames += p->has_frame;
	p->table->nr_with_fp += p->has_frame && p->has_fp;
	return err;
}

/* At the same address the end of a function is first. */
static int table_compare(const void *left, const void *right)
{
	const struct unwind_row *a = left, *b = right;

	return COMPARE(a->pc, b->pc) ?: COMPARE(a->rule, b->rule);
}

/* The last of several rows at an address counts. A gap that only aligns is not worth a row. */
static bool table_needs(const struct unwind_row *row, const struct unwind_row *next,
			const struct unwind_row *end)
{
	if (next == end)
		return true;
	return next->pc != row->pc && (row->rule || next->pc - row->pc >= TABLE_GAP);
}

static void table_sort(struct unwind_table *t)
{
	const struct unwind_row *end;
	size_t kept = 0;

	if (!t->nr_rows)
		return;
	end = t->rows + t->nr_rows;
	qsort(t->rows, t->nr_rows, sizeof(*t->rows), table_compare);
	for (const struct unwind_row *row = t->rows; row < end; row++) {
		struct unwind_row one = *row;

		if (!table_needs(row, row + 1, end))
			continue;
		if (!kept || t->rows[kept - 1].rule != one.rule)
			t->rows[kept++] = one;
	}
	t->nr_rows = kept;
}

int unwind_table__parse(struct unwind_table *t, unsigned elf_machine, const void *section,
			size_t size, uint64_t vaddr)
{
	struct table_parse p = {
		.table = t,
		.machine = call_frame__machine(elf_machine),
		.section = { section, size, vaddr },
	};
	const struct unwind_rule nothing = { .cfa = UNWIND_NOTHING };
	uint32_t number;
	int err;

	memset(t, 0, sizeof(*t));
	if (!p.machine)
		return 0;
	err = table_rule(t, &nothing, &number);
	err = err ?: eh_section__visit(&p.section, table_on_function, &p);
	if (err)
		unwind_table__free(t);
	else
		table_sort(t);
	return err;
}

/* ---- files ---- */

static Elf_Scn *table_section(Elf *elf, GElf_Shdr *head)
{
	Elf_Scn *section = NULL;
	const char *name;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, head) || head->sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, head->sh_name);
		if (name && !strcmp(name, ".eh_frame"))
			return section;
	}
	return NULL;
}

static int table_read(struct unwind_table *t, Elf *elf)
{
	GElf_Shdr section_head;
	Elf_Scn *section = table_section(elf, &section_head);
	Elf_Data *data = elf_image__data(section, UNWIND_SECTION_MAX);
	GElf_Ehdr head;

	if (!data || !data->d_buf || !gelf_getehdr(elf, &head) ||
	    head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB)
		return 0;
	return unwind_table__parse(t, head.e_machine, data->d_buf, data->d_size,
				   section_head.sh_addr);
}

int unwind_table__read(struct unwind_table *t, int fd)
{
	Elf *elf = elf_image__open(fd);
	int err;

	memset(t, 0, sizeof(*t));
	if (!elf)
		return 0;
	err = table_read(t, elf);
	elf_end(elf);
	return err;
}

/* ---- questions ---- */

bool unwind_table__has_fp(const struct unwind_table *t)
{
	return t->nr_with_fp >= t->nr_frames - t->nr_frames / 20;
}

size_t unwind_table__bytes(const struct unwind_table *t)
{
	return t->room_rows * sizeof(*t->rows) + t->index.room * sizeof(struct index_cell) +
	       t->nr_rules * sizeof(*t->rules);
}

void unwind_table__free(struct unwind_table *t)
{
	free(t->rows);
	free(t->rules);
	index__free(&t->index);
	memset(t, 0, sizeof(*t));
}
