/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stacks.h: from a record to the stack that submitted it, and from sums by stack to bars: shared by
 * `stacks` and `export -o folded`.
 */
#ifndef IOSONAR_VIEW_STACKS_H
#define IOSONAR_VIEW_STACKS_H

#include "analyse/stacks.h"
#include "render/flame.h"
#include "session/session.h"
#include "symbol/frames.h"

enum stack_halves { STACK_KERNEL = 1, STACK_USER = 2, STACK_BOTH = 3, STACK_HOST = 4 };

/*
 * Adds an I/O; one without stages has no stack and is not counted. Machines are told apart if
 * captures are of several, or with STACK_HOST. -ENOMEM, said.
 */
int view_stacks__add(struct stacks *stacks, struct session *session, const struct io_record *record,
		     enum stack_halves halves);
/* For struct session_sharing, with the rows in the order in which they came. */
int view_stacks__give(struct stacks *stacks, struct byte_out *out);
int view_stacks__take(struct stacks *stacks, struct byte_in *in);
/* Adds a kernel's or a process's stack as bars of a flame graph, outermost first, on top of the
 * existing ones; names: STACK_FRAMES entries, for this stack. Returns the new number of bars. */
size_t view_stacks__bars(const char *text, enum flame_kind kind, char names[][FRAME_NAME],
			 struct flame_frame *frames, size_t nr);
/* All rows as bars, on top of the machine and the task. -ENOMEM, -EOVERFLOW. */
int view_stacks__flame(const struct stacks *stacks, enum stack_measure by, struct flame *flame);

#endif
