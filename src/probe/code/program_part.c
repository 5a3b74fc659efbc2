/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * program_part.c: writes a part of a key, a record or a note into memory, either a number or a
 * text; also the address of the function that was hit.
 */
#include "probe/code/program_inside.h"

void emit__part(struct emit *e, const struct value *v, struct place to, uint32_t room)
{
	if (v->shape.is_text) {
		emit__text(e, v, to, room);
		return;
	}
	emit__number(e, v, R1);
	code__store(&e->code, 8, to, R1);
	if (v->shape.unit != VALUE_USTACK_ID)
		return;
	/* The process of a stack: of this event, or of the start that took it. */
	if (v->op == VALUE_USTACK)
		emit__builtin(e, VALUE_PID, R1);
	else
		code__load(&e->code, 4, R1,
			   (struct place){ REG_START, offsetof(struct probe_start, pid) });
	code__store(&e->code, 8, place_at(to, 8), R1);
}

void emit__address(struct emit *e, struct place to)
{
	if (!e->wants->asks_address) {
		code__store_number(&e->code, 8, to, 0);
		return;
	}
	emit__builtin(e, VALUE_PROBE, R1);
	code__store(&e->code, 8, to, R1);
}
