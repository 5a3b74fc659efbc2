/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * help.h: what `iosonar help`, `iosonar COMMAND -h` and `iosonar --version` print, made from the
 * table of commands and their option tables.
 */
#ifndef IOSONAR_CMD_HELP_H
#define IOSONAR_CMD_HELP_H

#include <stdio.h>

struct cmd;

void help__print_commands(FILE *out, const struct cmd *const *commands);
/* HELP_SHORT explains the command's own options and names the shared ones. */
enum help_size { HELP_SHORT, HELP_ALL };
void help__print_cmd(FILE *out, const struct cmd *cmd, enum help_size size);
/* Optional parts that this build has: "zstd libdw", or "none". */
enum { HELP_PARTS = 96 };
const char *help__parts(char buf[HELP_PARTS]);
void help__print_version(FILE *out, const char *commit);

#endif
