/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscall.h: the name of a system call of this machine, from the headers it was built with. One
 * that came later has no name.
 */
#ifndef IOSONAR_DECODE_SYSCALL_H
#define IOSONAR_DECODE_SYSCALL_H

#include <stdint.h>

const char *syscall__name(int64_t number); /* "read"; NULL */

#endif
