/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_complete.h: completes instructions of the io programs before they are loaded, which only user
 * space can do: addresses of tables, settings as numbers, the call of a kernel function.
 * wire/io_tables.h has the marks, bpf/request.h says why.
 */
#ifndef IOSONAR_COLLECT_IO_COMPLETE_H
#define IOSONAR_COLLECT_IO_COMPLETE_H

#include <stdint.h>
#include "wire/io_tables.h"

struct bpf_object;

struct io_completion {
	const struct io_settings *settings;
	int table_fds[IO_NR_TABLES]; /* a map even for unused code: the kernel requires it */
	uint32_t rdonly_cast_id;
};

int io_complete__programs(struct bpf_object *object, const struct io_completion *c);

#endif
