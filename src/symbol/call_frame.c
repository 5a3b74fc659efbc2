/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/call_frame.h"

#include <elf.h>
#include <limits.h>
#include <string.h>

enum { FRAME_REMEMBERED = 16 }; /* states on the stack; compilers need one or two */

const struct call_frame_machine *call_frame__machine(unsigned elf_machine)
{
	static const struct call_frame_machine x86_64 = { .sp = 7, .fp = 6, .ra = 16 };
	static const struct call_frame_machine aarch64 = {
		.sp = 31, .fp = 29, .ra = 30, .has_link = true, .signs_return = true
	};

	return elf_machine == EM_X86_64 ? &x86_64 : elf_machine == EM_AARCH64 ? &aarch64 : NULL;
}

/* ---- the state ---- */

struct frame_saved {
	enum unwind_saved how;
	bool is_undefined; /* the register has no value in the caller */
	int64_t off;
};

struct frame_state {
	enum unwind_cfa cfa;
	uint64_t cfa_reg; /* of UNWIND_SP, which stands for any register here */
	int64_t cfa_off;
	struct frame_saved fp, ra;
};

struct frame {
	const struct call_frame_machine *machine;
	const struct eh_section *section;
	const struct eh_cie *cie;
	struct frame_state now, initial;
	struct frame_state remembered[FRAME_REMEMBERED];
	size_t nr_remembered;
	uint64_t pc, end;
	bool is_cie;	/* its program: no addresses yet */
	bool is_broken; /* from here on nothing is known */
	call_frame_fn fn;
	void *arg;
	int err;
};

/* ---- the rule of a state ---- */

static bool frame_fits(int64_t off)
{
	return off >= INT_MIN && off <= INT_MAX;
}

static enum unwind_cfa frame_cfa(const struct frame *f)
{
	const struct frame_state *s = &f->now;

	if (f->is_broken)
		return UNWIND_UNKNOWN;
	if (f->cie->is_signal)
		return UNWIND_SIGNAL;
	if (s->ra.is_undefined)
		return UNWIND_OUTERMOST;
	if (!frame_fits(s->cfa_off) || !frame_fits(s->ra.off) || s->ra.how == UNWIND_LOST ||
	    (s->ra.how == UNWIND_KEPT && !f->machine->has_link))
		return UNWIND_UNKNOWN;
	if (s->cfa != UNWIND_SP)
		return s->cfa;
	return s->cfa_reg == f->machine->sp   ? UNWIND_SP
	       : s->cfa_reg == f->machine->fp ? UNWIND_FP
					      : UNWIND_UNKNOWN;
}

static struct unwind_rule frame_rule(const struct frame *f)
{
	const struct frame_state *s = &f->now;
	struct unwind_rule rule = { .cfa = (uint8_t)frame_cfa(f) };

	if (rule.cfa <= UNWIND_SIGNAL)
		return rule;
	rule.cfa_off = (int32_t)s->cfa_off;
	rule.ra = (uint8_t)s->ra.how;
	rule.ra_off = s->ra.how == UNWIND_KEPT ? 0 : (int32_t)s->ra.off;
	rule.fp = s->fp.is_undefined || !frame_fits(s->fp.off) ? UNWIND_LOST : (uint8_t)s->fp.how;
	if (rule.fp == UNWIND_SAVED || rule.fp == UNWIND_SAVED_FP)
		rule.fp_off = (int32_t)s->fp.off;
	return rule;
}

/* The rule up to here is known now. */
static void frame_move(struct frame *f, uint64_t to)
{
	struct unwind_rule rule = frame_rule(f);

	if (f->is_cie || to <= f->pc) {
		f->is_broken |= f->is_cie || to < f->pc;
		return;
	}
	if (!f->err)
		f->err = f->fn(f->arg, f->pc, &rule);
	f->pc = to < f->end ? to : f->end;
}

/* ---- instructions ---- */

struct frame_operands {
	uint64_t a, b;
	struct eh_bytes block;
};

static struct frame_saved *frame_register(struct frame *f, uint64_t reg)
{
	return reg == f->machine->ra ? &f->now.ra : reg == f->machine->fp ? &f->now.fp : NULL;
}

static void frame_save(struct frame *f, uint64_t reg, enum unwind_saved how, uint64_t off)
{
	struct frame_saved *saved = frame_register(f, reg);

	if (saved)
		*saved = (struct frame_saved){ .how = how, .off = (int64_t)off };
}

/* Offsets are multiplied as unsigned numbers: they may overflow, in a file that is invalid. */
static uint64_t frame_scaled(const struct frame *f, uint64_t off)
{
	return off * (uint64_t)f->cie->data_align;
}

static void frame_nothing(struct frame *f, struct frame_operands *o)
{
	(void)f;
	(void)o;
}

static void frame_set_pc(struct frame *f, struct frame_operands *o)
{
	frame_move(f, o->a);
}

static void frame_advance(struct frame *f, struct frame_operands *o)
{
	uint64_t by = o->a * f->cie->code_align;

	frame_move(f, f->end - f->pc < by ? f->end : f->pc + by);
}

static void frame_offset(struct frame *f, struct frame_operands *o)
{
	frame_save(f, o->a, UNWIND_SAVED, frame_scaled(f, o->b));
}

static void frame_offset_negative(struct frame *f, struct frame_operands *o)
{
	frame_save(f, o->a, UNWIND_SAVED, -frame_scaled(f, o->b));
}

static void frame_restore(struct frame *f, struct frame_operands *o)
{
	if (o->a == f->machine->ra)
		f->now.ra = f->initial.ra;
	if (o->a == f->machine->fp)
		f->now.fp = f->initial.fp;
}

static void frame_undefine(struct frame *f, struct frame_operands *o)
{
	struct frame_saved *saved = frame_register(f, o->a);

	if (saved)
		*saved = (struct frame_saved){ .how = UNWIND_LOST, .is_undefined = true };
}

static void frame_keep(struct frame *f, struct frame_operands *o)
{
	frame_save(f, o->a, UNWIND_KEPT, 0);
}

static void frame_lose(struct frame *f, struct frame_operands *o)
{
	frame_save(f, o->a, UNWIND_LOST, 0);
}

static void frame_remember(struct frame *f, struct frame_operands *o)
{
	(void)o;
	if (f->nr_remembered == FRAME_REMEMBERED)
		f->is_broken = true;
	else
		f->remembered[f->nr_remembered++] = f->now;
}

static void frame_recall(struct frame *f, struct frame_operands *o)
{
	(void)o;
	if (!f->nr_remembered)
		f->is_broken = true;
	else
		f->now = f->remembered[--f->nr_remembered];
}

static void frame_cfa_register(struct frame *f, struct frame_operands *o)
{
	f->now.cfa = UNWIND_SP;
	f->now.cfa_reg = o->a;
}

static void frame_cfa_offset(struct frame *f, struct frame_operands *o)
{
	f->now.cfa_off = (int64_t)o->a;
}

static void frame_cfa_offset_scaled(struct frame *f, struct frame_operands *o)
{
	f->now.cfa_off = (int64_t)frame_scaled(f, o->a);
}

static void frame_cfa_both(struct frame *f, struct frame_operands *o)
{
	frame_cfa_register(f, o);
	f->now.cfa_off = (int64_t)o->b;
}

static void frame_cfa_both_scaled(struct frame *f, struct frame_operands *o)
{
	frame_cfa_register(f, o);
	f->now.cfa_off = (int64_t)frame_scaled(f, o->b);
}

/* The return address is signed from here on; its bits are masked whether it is or not. */
static void frame_sign(struct frame *f, struct frame_operands *o)
{
	(void)o;
	f->is_broken |= !f->machine->signs_return;
}

/* ---- expressions ---- */

enum { FRAME_OP_DEREF = 0x06, FRAME_OP_BREG0 = 0x70 };

/* "Frame pointer + off", and what follows it. */
static bool frame_is_fp(const struct frame *f, struct eh_bytes *b, int64_t *off)
{
	if (eh_bytes__number(b, 1) != FRAME_OP_BREG0 + f->machine->fp)
		return false;
	*off = eh_bytes__sleb(b);
	return !b->failed;
}

/*
 * Of a procedure linkage table: sp + 8 + ((pc & 15) >= N) * 8. N is bfd's and lld's, 11, 10 or 9,
 * and depends on the kind of table.
 */
static bool frame_is_plt(const struct frame *f, const struct eh_bytes *b, int64_t *from)
{
	static const uint8_t plt[] = { 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x30, 0x2a, 0x33, 0x24, 0x22 };
	enum { PLT_N = 6, LIT0 = 0x30 };

	if (f->machine->has_link || b->end - b->at != sizeof(plt) || memcmp(b->at, plt, PLT_N) ||
	    memcmp(b->at + PLT_N + 1, plt + PLT_N + 1, sizeof(plt) - PLT_N - 1) ||
	    b->at[PLT_N] < LIT0 || b->at[PLT_N] > LIT0 + 15)
		return false;
	*from = b->at[PLT_N] - LIT0;
	return true;
}

/* Functions that align their stack keep the CFA in a word of the frame. */
static void frame_cfa_expression(struct frame *f, struct frame_operands *o)
{
	int64_t off;

	f->now.cfa = UNWIND_UNKNOWN;
	if (frame_is_plt(f, &o->block, &off))
		f->now.cfa = UNWIND_PLT;
	else if (frame_is_fp(f, &o->block, &off) && o->block.end - o->block.at == 1 &&
		 *o->block.at == FRAME_OP_DEREF)
		f->now.cfa = UNWIND_AT_FP;
	else
		return;
	f->now.cfa_off = off;
}

static void frame_expression(struct frame *f, struct frame_operands *o)
{
	int64_t off;

	if (frame_is_fp(f, &o->block, &off) && o->block.at == o->block.end)
		frame_save(f, o->a, UNWIND_SAVED_FP, (uint64_t)off);
	else
		frame_lose(f, o);
}

/* ---- the program ---- */

/* U: unsigned LEB128, S: signed, 1248: as many bytes, P: an encoded address, B: a block. */
static const struct frame_instruction {
	const char *operands;
	void (*run)(struct frame *f, struct frame_operands *o);
} frame_instructions[] = {
	[0x00] = { "", frame_nothing },
	[0x01] = { "P", frame_set_pc },
	[0x02] = { "1", frame_advance },
	[0x03] = { "2", frame_advance },
	[0x04] = { "4", frame_advance },
	[0x05] = { "UU", frame_offset },
	[0x06] = { "U", frame_restore },
	[0x07] = { "U", frame_undefine },
	[0x08] = { "U", frame_keep },
	[0x09] = { "UU", frame_lose }, /* in another register */
	[0x0a] = { "", frame_remember },
	[0x0b] = { "", frame_recall },
	[0x0c] = { "UU", frame_cfa_both },
	[0x0d] = { "U", frame_cfa_register },
	[0x0e] = { "U", frame_cfa_offset },
	[0x0f] = { "B", frame_cfa_expression },
	[0x10] = { "UB", frame_expression },
	[0x11] = { "US", frame_offset },
	[0x12] = { "US", frame_cfa_both_scaled },
	[0x13] = { "S", frame_cfa_offset_scaled },
	[0x14] = { "UU", frame_lose }, /* its value is CFA + offset */
	[0x15] = { "US", frame_lose },
	[0x16] = { "UB", frame_lose }, /* its value is an expression */
	[0x1d] = { "8", frame_advance },
	[0x2c] = { "", frame_sign },
	[0x2d] = { "", frame_sign },
	[0x2e] = { "U", frame_nothing }, /* bytes of arguments on the stack */
	[0x2f] = { "UU", frame_offset_negative },
};

static uint64_t frame_operand(const struct frame *f, struct eh_bytes *b, char kind)
{
	switch (kind) {
	case 'U': return eh_bytes__uleb(b);
	case 'S': return (uint64_t)eh_bytes__sleb(b);
	case 'P': return eh_section__pointer(f->section, b, f->cie->encoding);
	default: return eh_bytes__number(b, (size_t)(kind - '0'));
	}
}

static void frame_take_block(struct eh_bytes *b, struct eh_bytes *block)
{
	uint64_t size = eh_bytes__uleb(b);
	const uint8_t *from = eh_bytes__skip(b, size);

	*block = (struct eh_bytes){ from, from ? b->at : from, !from };
}

static void frame_run_one(struct frame *f, struct eh_bytes *b, const struct frame_instruction *one)
{
	struct frame_operands o = { 0 };
	uint64_t *to = &o.a;

	for (const char *kind = one->operands; *kind; kind++, to = &o.b)
		if (*kind == 'B')
			frame_take_block(b, &o.block);
		else
			*to = frame_operand(f, b, *kind);
	if (!b->failed)
		one->run(f, &o);
}

/* The three instructions that have an operand in their own byte. */
static void frame_run_packed(struct frame *f, struct eh_bytes *b, uint8_t byte)
{
	struct frame_operands o = { .a = byte & 0x3f };

	if (byte >> 6 == 2)
		o.b = eh_bytes__uleb(b);
	if (b->failed)
		return;
	if (byte >> 6 == 1)
		frame_advance(f, &o);
	else if (byte >> 6 == 2)
		frame_offset(f, &o);
	else
		frame_restore(f, &o);
}

static void frame_run(struct frame *f, struct eh_bytes b)
{
	const size_t known = sizeof(frame_instructions) / sizeof(frame_instructions[0]);

	while (b.at < b.end && !f->is_broken && !f->err && (f->is_cie || f->pc < f->end)) {
		uint8_t byte = (uint8_t)eh_bytes__number(&b, 1);

		if (byte & 0xc0)
			frame_run_packed(f, &b, byte);
		else if (byte < known && frame_instructions[byte].run)
			frame_run_one(f, &b, &frame_instructions[byte]);
		else
			f->is_broken = true;
		f->is_broken |= b.failed;
	}
}

int call_frame__run(const struct call_frame_machine *machine, const struct eh_section *section,
		    const struct eh_fde *fde, call_frame_fn fn, void *arg)
{
	const struct unwind_rule nothing = { .cfa = UNWIND_NOTHING };
	struct frame f = {
		.machine = machine,
		.section = section,
		.cie = fde->cie,
		.is_cie = true,
		.is_broken = fde->cie->ra_reg != machine->ra,
		.pc = fde->start,
		.end = fde->end,
		.fn = fn,
		.arg = arg,
	};

	frame_run(&f, fde->cie->program);
	f.is_cie = false;
	f.initial = f.now;
	frame_run(&f, fde->program);
	frame_move(&f, f.end);
	return f.err ?: fn(arg, fde->end, &nothing);
}
