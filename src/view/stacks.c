/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/stacks.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "base/log.h"
#include "session/host_source.h"
#include "session/io_source.h"
#include "session/share.h"
#include "wire/io_stages.h"

static enum stack_half view_stacks_half(const char *stack, bool wanted, uint32_t number)
{
	if (!wanted)
		return STACK_NOT_WANTED;
	if (frames__is_truncated(stack))
		return STACK_TRUNCATED;
	return stack ? STACK_TAKEN : number ? STACK_NO_ROOM : STACK_NONE;
}

int view_stacks__add(struct stacks *stacks, struct session *s, const struct io_record *r,
		     enum stack_halves halves)
{
	const struct io_stages *stages = io_record__stages(r);
	bool kernel = halves & STACK_KERNEL, user = halves & STACK_USER;
	bool host = halves & STACK_HOST || host_source__are_several(s);
	struct stack stack = { 0 };
	uint64_t from_ns, to_ns;

	if (r->what != RECORD_END || !stages)
		return 0;
	stack.kernel = kernel ? io_source__stack(s, r, false) : NULL;
	stack.user = user ? io_source__stack(s, r, true) : NULL;
	stack.kernel_half = view_stacks_half(stack.kernel, kernel, stages->kernel_stack);
	stack.user_half = view_stacks_half(stack.user, user, stages->user_stack);
	stack.pid = stack.user ? r->pid : 0;
	stack.host = host ? host_source__label(s, host_source__here(s)) : NULL;
	snprintf(stack.comm, sizeof(stack.comm), "%.15s", r->comm);
	/* From the bio's submission to its end, where that was seen. */
	from_ns = stages->queued_ns ? stages->queued_ns : r->first_ns;
	to_ns = stages->done_ns > r->end_ns ? stages->done_ns : r->end_ns;
	if (stacks__add(stacks, &stack, to_ns - from_ns, r->bytes))
		return log_no_memory();
	return 0;
}

/* The texts of the stacks are the capture's, which the run read before it made copies. */
int view_stacks__give(struct stacks *stacks, struct byte_out *out)
{
	int err = stacks->other.sum.count ? -EAGAIN : 0;

	for (size_t i = 0; i < stacks->nr && !err; i++) {
		byte_out__put(out, stacks->rows[i], sizeof(*stacks->rows[i]));
		if (stacks->with_hist)
			share__put_hist(out, stacks->rows[i]->hist);
	}
	stacks__clear(stacks);
	return err;
}

int view_stacks__take(struct stacks *stacks, struct byte_in *in)
{
	struct stack_row row;
	struct hist hist;

	while (byte_in__left(in)) {
		share__get(in, &row, sizeof(row));
		row.hist = NULL;
		if (stacks->with_hist) {
			memset(&hist, 0, sizeof(hist));
			share__take_hist(in, &hist);
			row.hist = &hist;
		}
		if (stacks__add_row(stacks, &row))
			return log_no_memory();
	}
	return 0;
}

size_t view_stacks__bars(const char *text, enum flame_kind kind, char names[][FRAME_NAME],
			 struct flame_frame *frames, size_t nr)
{
	size_t nr_names = 0;

	while (text && nr_names < STACK_FRAMES)
		text = frames__next(text, names[nr_names++]);
	while (nr_names--)
		frames[nr++] = (struct flame_frame){ names[nr_names], kind };
	return nr;
}

/* From the bottom: the machine, the task, its outermost frame, … the kernel's innermost. */
static int view_stacks_bar(const struct stack_row *row, enum stack_measure by, struct flame *flame)
{
	static char names[2][STACK_FRAMES][FRAME_NAME];
	struct flame_frame frames[2 * STACK_FRAMES + 2];
	size_t nr = 0;

	if (row->stack.host)
		frames[nr++] = (struct flame_frame){ row->stack.host, FLAME_COMM };
	frames[nr++] = (struct flame_frame){ row->stack.comm, FLAME_COMM };
	nr = view_stacks__bars(row->stack.user, FLAME_USER, names[0], frames, nr);
	nr = view_stacks__bars(row->stack.kernel, FLAME_KERNEL, names[1], frames, nr);
	return flame__add(flame, frames, nr, stack_sum__value(&row->sum, by));
}

int view_stacks__flame(const struct stacks *stacks, enum stack_measure by, struct flame *flame)
{
	int err = 0;

	for (size_t i = 0; !err && i < stacks->nr; i++)
		err = view_stacks_bar(stacks->rows[i], by, flame);
	return err;
}
