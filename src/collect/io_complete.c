/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/io_complete.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

static void complete_constant(const struct io_completion *c, struct bpf_insn *insn)
{
	uint32_t lower = (uint32_t)insn[0].imm;
	uint64_t value = 0;
	const char *field;

	if ((uint32_t)insn[1].imm == IO_MARK_TABLE) {
		insn[0].src_reg = BPF_PSEUDO_MAP_VALUE;
		insn[0].imm = c->table_fds[lower % IO_NR_TABLES];
		insn[1].imm = 0;
	}
	if ((uint32_t)insn[1].imm != IO_MARK_SETTING)
		return;
	field = (const char *)c->settings + io_marked_at(lower);
	switch (io_marked_size(lower)) {
	case 1: value = *(const uint8_t *)field; break;
	case 4: value = *(const uint32_t *)field; break;
	case 8: value = *(const uint64_t *)field; break;
	}
	insn[0].imm = (int)(uint32_t)value;
	insn[1].imm = (int)(uint32_t)(value >> 32);
}

static bool complete_is_call(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_KFUNC_CALL;
}

static int complete_program(struct bpf_program *program, const struct io_completion *c)
{
	size_t nr = bpf_program__insn_cnt(program);
	struct bpf_insn *insns = malloc(nr * sizeof(*insns));
	int err;

	if (!insns)
		return -ENOMEM;
	memcpy(insns, bpf_program__insns(program), nr * sizeof(*insns));
	for (size_t i = 0; i < nr; i++) {
		if (complete_is_call(&insns[i]))
			insns[i].imm = (int)c->rdonly_cast_id;
		if (insns[i].code == (BPF_LD | BPF_DW | BPF_IMM) && !insns[i].src_reg && i + 1 < nr)
			complete_constant(c, &insns[i]);
	}
	err = bpf_program__set_insns(program, insns, nr);
	free(insns);
	return err;
}

int io_complete__programs(struct bpf_object *object, const struct io_completion *c)
{
	struct bpf_program *program;
	int err = 0;

	bpf_object__for_each_program(program, object) err = err ?: complete_program(program, c);
	return err;
}

void *io_complete__copy(const void *object, size_t size, uint32_t rdonly_cast_id)
{
	char *copy = malloc(size);
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)copy;
	const Elf64_Shdr *sections;

	if (!copy)
		return NULL;
	memcpy(copy, object, size);
	sections = (const Elf64_Shdr *)(copy + head->e_shoff);
	for (int i = 0; i < head->e_shnum; i++) {
		struct bpf_insn *insns = (struct bpf_insn *)(copy + sections[i].sh_offset);

		if (!(sections[i].sh_flags & SHF_EXECINSTR))
			continue;
		for (size_t at = 0; at < sections[i].sh_size / sizeof(*insns); at++)
			if (complete_is_call(&insns[at]))
				insns[at].imm = (int)rdonly_cast_id;
	}
	return copy;
}
