/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * symbols.c: can what a process runs from break the reader of symbols? A libFuzzer target: the
 * input is an ELF file, and its section .eh_frame alone, and the maps of a process, and a kernel's
 * list of symbols, and a perf map; names that come of it are drawn. libelf and libdw are not built
 * for fuzzing: it sees harm in them, not the way.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "symbol/demangle.h"
#include "symbol/elf_image.h"
#include "symbol/kallsyms.h"
#include "symbol/perf_map.h"
#include "symbol/process_maps.h"
#include "symbol/unwind_table.h"
#include "render/flame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int input(const uint8_t *data, size_t size)
{
	int fd = memfd_create("input", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET))
		abort();
	return fd;
}

/* A name is what it is in every form, and never too long. */
static void draw(struct flame *flame, const struct symbol_table *table, uint64_t addr)
{
	char name[SYMBOL_NAME_MAX + 1];
	struct symbol_found found;

	if (!symbol_table__find(table, addr, &found))
		return;
	demangle__copy(name, sizeof(name), found.name);
	if (strlen(found.name) > SYMBOL_MANGLED_MAX || !*name ||
	    flame__add(flame, &(struct flame_frame){ name, FLAME_USER }, 1, 1))
		abort();
}

static void try_elf(struct flame *flame, int fd)
{
	struct elf_image image;
	uint64_t vaddr;

	if (elf_image__read(&image, fd, NULL))
		return;
	for (uint64_t offset = 0; offset < 8192; offset += 64)
		if (elf_image__vaddr(&image, offset, &vaddr))
			draw(flame, &image.functions, vaddr);
	elf_image__free(&image);
}

static void check_unwind(struct unwind_table *table)
{
	for (size_t i = 0; i < table->nr_rows; i++)
		if (table->rows[i].rule >= table->nr_rules ||
		    (i && table->rows[i].pc <= table->rows[i - 1].pc))
			abort();
	unwind_table__free(table);
}

static void try_unwind(int fd, const uint8_t *data, size_t size)
{
	static const unsigned machines[] = { EM_X86_64, EM_AARCH64 };
	struct unwind_table table;

	if (unwind_table__read(&table, fd))
		abort();
	check_unwind(&table);
	for (int i = 0; i < 2; i++) {
		if (unwind_table__parse(&table, machines[i], data, size, 0))
			abort();
		check_unwind(&table);
	}
}

static void try_maps(int fd)
{
	struct process_maps maps;

	if (lseek(fd, 0, SEEK_SET) || process_maps__read(&maps, fd))
		abort();
	for (size_t i = 0; i < maps.nr; i++)
		if (process_maps__find(&maps, maps.maps[i].start) != &maps.maps[i] ||
		    strlen(process_maps__path(&maps, &maps.maps[i])) >= maps.text_bytes)
			abort();
	process_maps__free(&maps);
}

static void try_kallsyms(struct flame *flame, int fd)
{
	struct symbol_table table = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (kallsyms__read(path, &table))
		return;
	for (uint64_t addr = 0; addr < 4096; addr += 16)
		draw(flame, &table, addr);
	symbol_table__free(&table);
}

static void try_perf_map(struct flame *flame, int fd)
{
	struct symbol_table table;

	if (lseek(fd, 0, SEEK_SET) || perf_map__read(&table, fd))
		abort();
	for (uint64_t addr = 0; addr < 4096; addr += 16)
		draw(flame, &table, addr);
	symbol_table__free(&table);
	if (lseek(fd, 0, SEEK_SET))
		abort();
	perf_map__inner_pid(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct flame_style style = { .title = "fuzz", .value = CELL_COUNT };
	struct flame *flame = flame__new();
	int fd = input(data, size);
	struct flame_drawn drawn;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!flame || !out)
		abort();
	try_elf(flame, fd);
	try_unwind(fd, data, size);
	try_maps(fd);
	try_kallsyms(flame, fd);
	try_perf_map(flame, fd);
	if (flame__write_svg(flame, &style, out, &drawn) || flame__write_folded(flame, out))
		abort();
	fclose(out);
	free(text);
	flame__free(flame);
	close(fd);
	return 0;
}
