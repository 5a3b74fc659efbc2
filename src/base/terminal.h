/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * terminal.h: how wide is the terminal? One system call, so a terminal that was resized is seen.
 */
#ifndef IOSONAR_BASE_TERMINAL_H
#define IOSONAR_BASE_TERMINAL_H

#include <stddef.h>

/* Its columns; 0: it is not a terminal, or one that does not say. */
size_t terminal__columns(int fd);

#endif
