/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_complete.h: instructions of the io programs that only user space can complete, before they are
 * loaded: addresses of tables, settings as numbers, the call of a kernel function. wire/io_tables.h
 * has the marks, bpf/request.h says why.
 */
#ifndef IOSONAR_COLLECT_IO_COMPLETE_H
#define IOSONAR_COLLECT_IO_COMPLETE_H

#include <stdint.h>
#include "wire/io_tables.h"

struct bpf_object;

struct io_completion {
	const struct io_settings *settings;
	int table_fds[IO_NR_TABLES]; /* a map even where no code is: the kernel wants one */
	uint32_t rdonly_cast_id;
};

int io_complete__programs(struct bpf_object *object, const struct io_completion *c);

#endif
