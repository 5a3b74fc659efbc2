/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_complete.h: completes instructions of programs before they are loaded, which only user space
 * can do: addresses of tables and settings as numbers (wire/io_tables.h has the marks,
 * bpf/request.h says why), the call of a kernel function (bpf/readable.h).
 */
#ifndef IOSONAR_COLLECT_IO_COMPLETE_H
#define IOSONAR_COLLECT_IO_COMPLETE_H

#include <stddef.h>
#include <stdint.h>
#include "wire/io_tables.h"

struct bpf_object;

struct io_completion {
	const struct io_settings *settings;
	int table_fds[IO_NR_TABLES]; /* a map even for unused code: the kernel requires it */
	uint32_t rdonly_cast_id;
};

int io_complete__programs(struct bpf_object *object, const struct io_completion *c);
/*
 * An object as it is in memory, before libbpf opens it: only calls of bpf_rdonly_cast, also in
 * functions, of which libbpf hands out no instructions. NULL: no memory. id 0: this kernel has no
 * such call, and no program may come there.
 */
void *io_complete__copy(const void *object, size_t size, uint32_t rdonly_cast_id);

#endif
