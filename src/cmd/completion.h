/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * completion.h: shell completion made from the command and option tables, so it cannot be older
 * than the program: eval "$(iosonar --completion bash)".
 */
#ifndef IOSONAR_CMD_COMPLETION_H
#define IOSONAR_CMD_COMPLETION_H

#include <stdio.h>

struct cmd;

/* 0, or -EINVAL, said, if the shell is not supported (NULL: no shell was named). */
int completion__print(FILE *out, const struct cmd *const *commands, const char *shell);

#endif
