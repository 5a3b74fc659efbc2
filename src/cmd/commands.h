/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * commands.h: which commands exist? main owns the list and passes it to help, completion and
 * doctor: a command that looked it up here would depend on every other.
 */
#ifndef IOSONAR_CMD_COMMANDS_H
#define IOSONAR_CMD_COMMANDS_H

#include "cmd/cmd.h"

extern const struct cmd *const commands[]; /* NULL-terminated, in the order of help */

const struct cmd *cmd__find(const char *name);

#endif
