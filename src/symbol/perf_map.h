/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf_map.h: the names of functions that a process compiled itself, as it writes them to
 * /tmp/perf-PID.map for perf and others: lines of address, size and name. The text is hostile, and
 * only its first PERF_MAP_BYTES_MAX are read. It only grows: of several lines for an address the
 * last one counts, and memory that was given back keeps its names.
 */
#ifndef IOSONAR_SYMBOL_PERF_MAP_H
#define IOSONAR_SYMBOL_PERF_MAP_H

#include "symbol/table.h"

enum { PERF_MAP_BYTES_MAX = 64 << 20 };

/* Reads fd to its end. 0, also without any line; else a negative errno. */
int perf_map__read(struct symbol_table *functions, int fd);
/* The process's number in its own namespace, from its /proc/PID/status; 0: not there. */
uint32_t perf_map__inner_pid(int fd);

#endif
