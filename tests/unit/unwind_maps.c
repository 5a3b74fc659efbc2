/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwind_maps.c: does the process without rights tell what this process runs from, and do the
 * tables arrive as they are in the files? Asked through the real processes and their socket.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>
#include "symbol/symbols.h"
#include "symbol/unwind_table.h"
#include "tap.h"

enum { FIRST_RULE = 1000 };

static const struct symbols_unwind_map *map_of(const struct symbols_unwind *u, uint64_t addr)
{
	for (uint32_t i = 0; i < u->nr; i++)
		if (u->maps[i].start <= addr && addr < u->maps[i].end)
			return &u->maps[i];
	return NULL;
}

/* Every rule and row as the file's, and rules counted from FIRST_RULE on. */
static bool is_table(const struct unwind_row *rows, const struct unwind_rule *rules,
		     const struct unwind_table *table)
{
	if (memcmp(rules, table->rules, table->nr_rules * sizeof(*rules)))
		return false;
	for (size_t i = 0; i < table->nr_rows; i++)
		if (rows[i].pc != table->rows[i].pc ||
		    rows[i].rule != table->rows[i].rule + FIRST_RULE)
			return false;
	return true;
}

static void test_copy(struct symbols *symbols, uint32_t file, const char *path)
{
	struct unwind_table table;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint32_t nr_rows = 0, nr_rules = 0;
	struct unwind_row *rows;
	struct unwind_rule *rules;

	ok(fd >= 0 && !unwind_table__read(&table, fd), "%s is read here", path);
	close(fd);
	ok(symbols__unwind_size(symbols, file, &nr_rows, &nr_rules), "its size is known");
	is_u64(nr_rows, table.nr_rows, "as many rows");
	is_u64(nr_rules, table.nr_rules, "as many rules");
	rows = calloc(nr_rows + 1, sizeof(*rows));
	rules = calloc(nr_rules + 1, sizeof(*rules));
	ok(symbols__unwind_copy(symbols, file, FIRST_RULE, rows, nr_rows, rules, nr_rules) &&
		   is_table(rows, rules, &table),
	   "and the same");
	ok(!symbols__unwind_copy(symbols, file, FIRST_RULE, rows, nr_rows, rules, nr_rules),
	   "a table that was fetched is gone");
	ok(symbols__unwind_size(symbols, file, &nr_rows, &nr_rules) && nr_rows == table.nr_rows,
	   "its size is not");
	free(rows);
	free(rules);
	unwind_table__free(&table);
}

static void test_self(struct symbols *symbols)
{
	const struct symbols_process self = { .pid = (uint32_t)getpid() };
	const struct symbols_unwind_map *own, *vdso, *libc;
	static struct symbols_unwind u;
	uint64_t here = (uint64_t)(uintptr_t)test_self;

	ok(symbols__unwind(symbols, &self, &u), "this process is looked at");
	own = map_of(&u, here);
	libc = map_of(&u, (uint64_t)(uintptr_t)getauxval);
	vdso = map_of(&u, getauxval(AT_SYSINFO_EHDR));
	ok(own && own->file < UNWIND_FILES, "it runs from a file with a table");
	ok(libc && libc->file < UNWIND_FILES && libc->file != own->file, "and from libc");
	ok(vdso && vdso->file == UNWIND_FILE_VDSO, "the vDSO is known as such");
	if (own)
		test_copy(symbols, own->file, "/proc/self/exe");
	ok(!symbols__unwind(symbols, &(struct symbols_process){ .pid = 0x7ffffff0 }, &u),
	   "no such process");
	ok(symbols__unwind(symbols, &self, &u) && map_of(&u, here) &&
		   map_of(&u, here)->file == own->file,
	   "a file keeps its number");
}

/* A mapping that is made later is there when asked again. */
static void test_later(struct symbols *symbols)
{
	const struct symbols_process self = { .pid = (uint32_t)getpid() };
	static struct symbols_unwind u;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	void *map = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	const struct symbols_unwind_map *found;

	usleep(2000);
	found = symbols__unwind(symbols, &self, &u) ? map_of(&u, (uint64_t)(uintptr_t)map) : NULL;
	ok(found && found->file < UNWIND_FILES, "a later mapping is seen");
	is_u64(found ? found->vaddr : 1, 0, "with the address of its first byte in the file");
	munmap(map, 4096);
	close(fd);
}

int main(void)
{
	struct symbols *symbols = symbols__new("");

	symbols__prepare_user(symbols);
	test_self(symbols);
	test_later(symbols);
	symbols__free(symbols);
	return done_testing();
}
