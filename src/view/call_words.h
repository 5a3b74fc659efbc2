/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call_words.h: a system call's arguments and result in words, as strace writes them: "AT_FDCWD,
 * "/etc/passwd", O_RDONLY|O_CLOEXEC, 00". A descriptor has its file's name if we may inspect the
 * process and the file is still open. The caller owns the texts; NULL: no memory.
 */
#ifndef IOSONAR_VIEW_CALL_WORDS_H
#define IOSONAR_VIEW_CALL_WORDS_H

#include "decode/syscall_args.h"
#include "probe/run/request.h"

char *call_words__errno(int64_t number);
/* A call by its number: "getpid"; of a 32-bit call "compat:getpid", or its number, "compat:20". */
char *call_words__call(int64_t number);
/* pid 0: not known. */
char *call_words__argument(uint32_t pid, enum syscall_kind kind, uint64_t number);
char *call_words__result(uint32_t pid, enum syscall_kind kind, int64_t number);
/* The system call of a record; NULL: it has no name. */
const char *call_words__name(const struct plan_part *parts, size_t nr, const void *bytes);
char *call_words__arguments(uint32_t pid, const struct plan_part *parts, size_t nr,
			    const struct plan_part *part, const uint8_t *bytes);

#endif
