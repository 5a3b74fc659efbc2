/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * code_print.c: what does an instruction say? Prints it like the verifier's log, so that the two
 * can be compared. Names the helpers that code.c's users call; prints others by number.
 */
#include <inttypes.h>
#include "probe/code/code.h"

static const char *const print_alu[16] = {
	[BPF_ADD >> 4] = "+=",	[BPF_SUB >> 4] = "-=",	[BPF_MUL >> 4] = "*=",
	[BPF_DIV >> 4] = "/=",	[BPF_OR >> 4] = "|=",	[BPF_AND >> 4] = "&=",
	[BPF_LSH >> 4] = "<<=", [BPF_RSH >> 4] = ">>=", [BPF_MOD >> 4] = "%=",
	[BPF_XOR >> 4] = "^=",	[BPF_MOV >> 4] = "=",	[BPF_ARSH >> 4] = "s>>=",
};

static const char *const print_jump[16] = {
	[BPF_JEQ >> 4] = "==",	 [BPF_JGT >> 4] = ">",	  [BPF_JGE >> 4] = ">=",
	[BPF_JSET >> 4] = "&",	 [BPF_JNE >> 4] = "!=",	  [BPF_JSGT >> 4] = "s>",
	[BPF_JSGE >> 4] = "s>=", [BPF_JLT >> 4] = "<",	  [BPF_JLE >> 4] = "<=",
	[BPF_JSLT >> 4] = "s<",	 [BPF_JSLE >> 4] = "s<=",
};

static const char *const print_helpers[] = {
	[BPF_FUNC_map_lookup_elem] = "map_lookup_elem",
	[BPF_FUNC_map_update_elem] = "map_update_elem",
	[BPF_FUNC_map_delete_elem] = "map_delete_elem",
	[BPF_FUNC_ktime_get_ns] = "ktime_get_ns",
	[BPF_FUNC_get_smp_processor_id] = "get_smp_processor_id",
	[BPF_FUNC_get_current_pid_tgid] = "get_current_pid_tgid",
	[BPF_FUNC_get_current_task] = "get_current_task",
	[BPF_FUNC_get_current_task_btf] = "get_current_task_btf",
	[BPF_FUNC_get_current_uid_gid] = "get_current_uid_gid",
	[BPF_FUNC_get_current_comm] = "get_current_comm",
	[BPF_FUNC_get_stackid] = "get_stackid",
	[BPF_FUNC_current_task_under_cgroup] = "current_task_under_cgroup",
	[BPF_FUNC_get_current_cgroup_id] = "get_current_cgroup_id",
	[BPF_FUNC_probe_read_user] = "probe_read_user",
	[BPF_FUNC_probe_read_kernel] = "probe_read_kernel",
	[BPF_FUNC_probe_read_user_str] = "probe_read_user_str",
	[BPF_FUNC_probe_read_kernel_str] = "probe_read_kernel_str",
	[BPF_FUNC_ringbuf_reserve] = "ringbuf_reserve",
	[BPF_FUNC_ringbuf_submit] = "ringbuf_submit",
	[BPF_FUNC_ringbuf_discard] = "ringbuf_discard",
	[BPF_FUNC_get_func_ip] = "get_func_ip",
};

static unsigned int print_bits(const struct bpf_insn *insn)
{
	switch (BPF_SIZE(insn->code)) {
	case BPF_B: return 8;
	case BPF_H: return 16;
	case BPF_W: return 32;
	default: return 64;
	}
}

static void print_memory(const struct bpf_insn *insn, unsigned int reg, FILE *out)
{
	int off = insn->off;

	fprintf(out, "*(u%u *)(r%u %c %d)", print_bits(insn), reg, off < 0 ? '-' : '+',
		off < 0 ? -off : off);
}

static void print_operand(const struct bpf_insn *insn, FILE *out)
{
	if (BPF_SRC(insn->code) == BPF_X)
		fprintf(out, "r%u", insn->src_reg);
	else
		fprintf(out, "%d", insn->imm);
}

static void print_reckoning(const struct bpf_insn *insn, FILE *out)
{
	const char *op = print_alu[BPF_OP(insn->code) >> 4];

	if (BPF_OP(insn->code) == BPF_NEG) {
		fprintf(out, "r%u = -r%u", insn->dst_reg, insn->dst_reg);
		return;
	}
	if (BPF_OP(insn->code) == BPF_END) {
		fprintf(out, "r%u = le%d r%u", insn->dst_reg, insn->imm, insn->dst_reg);
		return;
	}
	fprintf(out, "r%u %s ", insn->dst_reg, op ? op : "?");
	print_operand(insn, out);
}

static void print_call(const struct bpf_insn *insn, FILE *out)
{
	size_t nr = sizeof(print_helpers) / sizeof(print_helpers[0]);

	if (insn->src_reg == BPF_PSEUDO_CALL)
		fputs("call unwind_stack", out);
	else if (insn->imm > 0 && (size_t)insn->imm < nr && print_helpers[insn->imm])
		fprintf(out, "call bpf_%s#%d", print_helpers[insn->imm], insn->imm);
	else
		fprintf(out, "call #%d", insn->imm);
}

static void print_branch(const struct bpf_insn *insn, FILE *out)
{
	const char *op = print_jump[BPF_OP(insn->code) >> 4];

	switch (BPF_OP(insn->code)) {
	case BPF_CALL: print_call(insn, out); return;
	case BPF_EXIT: fputs("exit", out); return;
	case BPF_JA: break;
	default:
		fprintf(out, "if r%u %s ", insn->dst_reg, op ? op : "?");
		print_operand(insn, out);
		fputc(' ', out);
	}
	fprintf(out, "goto pc%+d", insn->off);
}

static void print_store(const struct bpf_insn *insn, FILE *out)
{
	if (BPF_MODE(insn->code) == BPF_XADD)
		fputs("lock ", out);
	print_memory(insn, insn->dst_reg, out);
	fputs(BPF_MODE(insn->code) == BPF_XADD ? " += " : " = ", out);
	if (BPF_CLASS(insn->code) == BPF_STX)
		fprintf(out, "r%u", insn->src_reg);
	else
		fprintf(out, "%d", insn->imm);
}

/* The next slot holds the upper half of the constant. */
static void print_wide(const struct bpf_insn *insn, FILE *out)
{
	uint64_t number = (uint64_t)(uint32_t)insn[1].imm << 32 | (uint32_t)insn[0].imm;

	if (insn->src_reg == BPF_PSEUDO_MAP_FD)
		fprintf(out, "r%u = map[fd:%d]", insn->dst_reg, insn->imm);
	else
		fprintf(out, "r%u = 0x%" PRIx64 " ll", insn->dst_reg, number);
}

void code_insn__print(const struct bpf_insn *insn, FILE *out)
{
	switch (BPF_CLASS(insn->code)) {
	case BPF_LD: print_wide(insn, out); return;
	case BPF_LDX:
		fprintf(out, "r%u = ", insn->dst_reg);
		print_memory(insn, insn->src_reg, out);
		return;
	case BPF_ST:
	case BPF_STX: print_store(insn, out); return;
	case BPF_ALU:
	case BPF_ALU64: print_reckoning(insn, out); return;
	default: print_branch(insn, out);
	}
}
