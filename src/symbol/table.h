/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table.h: which function lies at this address? Functions of a kernel or of one file, sorted once
 * and then found by bisection; 16 bytes each and their names in one pool. Where several share an
 * address only the plainest name is kept.
 */
#ifndef IOSONAR_SYMBOL_TABLE_H
#define IOSONAR_SYMBOL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SYMBOL_NAME_MAX = 255,	     /* longer ones are cut */
	SYMBOL_MANGLED_MAX = 4095,   /* of C++ and Rust: those can be demangled only as a whole */
	SYMBOL_TABLE_MAX = 1 << 22,  /* functions */
	SYMBOL_POOL_MAX = 128 << 20, /* bytes of names */
};

struct symbol_table {
	struct symbol_entry *entries;
	size_t nr, room;
	char *pool;
	size_t pool_len, pool_room;
};

struct symbol_found {
	const char *name; /* valid as long as the table; may be mangled, and longer then */
	uint64_t offset;  /* of the address into the function */
};

/*
 * size_bytes 0: unknown, it ends where the next one begins. An empty name marks the end of what is
 * known. -ENOMEM, or -E2BIG: the table is full and this function is left out.
 */
int symbol_table__add(struct symbol_table *table, uint64_t addr, uint64_t size_bytes,
		      const char *name, size_t len);
void symbol_table__sort(struct symbol_table *table); /* after the last add, before the first find */
bool symbol_table__find(const struct symbol_table *table, uint64_t addr,
			struct symbol_found *found);
size_t symbol_table__bytes(const struct symbol_table *table); /* that it takes */
void symbol_table__free(struct symbol_table *table);

#endif
