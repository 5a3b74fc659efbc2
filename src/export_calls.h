/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * export_calls.h: what `export` makes of a capture of calls: rows, folded lines, a graph, Trace
 * Event JSON, as `calls -r` shows them.
 */
#ifndef IOSONAR_EXPORT_CALLS_H
#define IOSONAR_EXPORT_CALLS_H

#include "options.h"

/* Does this file hold calls? -errno (said): it cannot be read. */
int export_calls__ask(const char *path, bool *has_calls);
/* options->output.format is what calls has. 0, -errno (said), or an exit code. */
int export_calls__run(const struct options *options);

#endif
