/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kallsyms.h: the functions of the running kernel, from /proc/kallsyms. Reading takes some 50 ms
 * and requires CAP_SYSLOG, else the kernel writes zeros. It has no sizes: a function ends where the
 * next symbol of any kind begins.
 */
#ifndef IOSONAR_SYMBOL_KALLSYMS_H
#define IOSONAR_SYMBOL_KALLSYMS_H

#include "symbol/table.h"

/* ffff800080010000 t nvme_map_data	[nvme] */
struct kallsyms_line {
	uint64_t addr;
	bool is_function;	     /* or a part of one, or a mark in it */
	const char *name, *module;   /* in the text, */
	size_t name_len, module_len; /* the module's with its brackets; 0: none */
};

/* Parses one line, which stays unchanged. False: it is not a line of kallsyms. */
bool kallsyms_line__parse(const char *text, struct kallsyms_line *line);

/*
 * "vfs_read", "nvme_map_data [nvme]". Fills an empty table and sorts it; the caller frees it. Logs
 * nothing. -EACCES: all addresses are zero, -ENODATA: no function in it, or why it cannot be read.
 */
int kallsyms__read(const char *path, struct symbol_table *table);

/*
 * The addresses of these functions; 0: not found. "clone_endio [dm_mod]" is a module's. If no name
 * is one, reading ends where the kernel's own functions end, which halves its time; else the
 * kernel's own function precedes one of the same name in a module. Errors as above.
 */
int kallsyms__find(const char *path, const char *const *names, uint64_t *addresses, size_t nr);

/* Does it show addresses? The first function tells: the kernel hides all or none. */
bool kallsyms__shows(const char *path);

#endif
