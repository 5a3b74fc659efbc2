/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kallsyms.h: the functions of the running kernel, from /proc/kallsyms. Reading it takes some 50 ms
 * and CAP_SYSLOG, or the kernel writes zeros. It has no sizes: a function ends where the next
 * symbol of any kind begins.
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

/* One line of it, which stays as it is. False: it is no such line. */
bool kallsyms_line__parse(const char *text, struct kallsyms_line *line);

/*
 * "vfs_read", "nvme_map_data [nvme]". Fills an empty table and sorts it; the caller frees it. Says
 * nothing: -EACCES: all addresses are zero, -ENODATA: no function in it, or why it cannot be read.
 */
int kallsyms__read(const char *path, struct symbol_table *table);

/*
 * The addresses of these functions, 0 of what is not there. The kernel's own goes before one of the
 * same name in a module, which "clone_endio [dm_mod]" means alone. Errors as above.
 */
int kallsyms__find(const char *path, const char *const *names, uint64_t *addresses, size_t nr);

/* Has it addresses? The first function tells: the kernel hides all or none. */
bool kallsyms__shows(const char *path);

#endif
