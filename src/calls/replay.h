/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replay.h: the nested calls of a capture: `calls -r`, and `export` of a capture of calls.
 */
#ifndef IOSONAR_CALLS_REPLAY_H
#define IOSONAR_CALLS_REPLAY_H

#include "calls/tree_view.h"

/* Does this file hold calls? -errno (said): it cannot be read. */
int calls_replay__ask(const char *path, bool *has_calls);
/* The caller fills the given members of the view; -n counts outermost calls. 0, -errno (said),
 * or an exit code. */
int calls_replay__run(struct tree_view *view, const struct options *options, char **argv);

#endif
