/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * symbols.c: can what a process runs from break the reader of symbols? A libFuzzer target: the
 * input is an ELF file with DWARF, and its section .eh_frame alone, and the maps of a process, and
 * a kernel's list of symbols, and a perf map, and what a process that read DWARF answers; names
 * that come of it are drawn. libelf and libdw are not built for fuzzing: it sees harm in them, not
 * the way.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/compare.h"
#include "symbol/demangle.h"
#include "symbol/dwarf_proto.h"
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

/* ---- arguments of functions ---- */

enum { FUNCTIONS = 64 };

static void check_name(const char name[DWARF_NAME])
{
	if (strlen(name) >= DWARF_NAME || strpbrk(name, "\"\\\n<>"))
		abort();
}

static void check_type(const struct dwarf_type *type)
{
	check_name(type->name);
	if (type->kind >= NR_DWARF_KINDS || type->to >= NR_DWARF_KINDS || !type->size ||
	    type->size > 8 || (type->size & (type->size - 1)))
		abort();
}

/* After the check all that is known can be used. */
static void check_proto(struct dwarf_proto *proto)
{
	dwarf_proto__check(proto);
	if (!proto->is_known)
		return;
	if (proto->nr > DWARF_PARAMS)
		abort();
	if (proto->has_ret && proto->ret.kind != DWARF_VOID)
		check_type(&proto->ret);
	for (size_t i = 0; i < proto->nr; i++) {
		check_name(proto->params[i].name);
		check_type(&proto->params[i].type);
	}
}

/* Where functions begin: sorted, each once. */
static size_t list_functions(const struct elf_image *image, uint64_t vaddrs[FUNCTIONS])
{
	struct symbol_found found;
	uint64_t vaddr, last = UINT64_MAX;
	size_t nr = 0;

	for (uint64_t offset = 0; offset < 8192 && nr < FUNCTIONS; offset += 16) {
		if (!elf_image__vaddr(image, offset, &vaddr) ||
		    !symbol_table__find(&image->functions, vaddr, &found))
			continue;
		vaddr -= found.offset;
		if (vaddr != last)
			vaddrs[nr++] = last = vaddr;
	}
	qsort(vaddrs, nr, sizeof(*vaddrs), compare__u64);
	return nr;
}

static void try_dwarf(const struct elf_image *image, int fd)
{
	struct dwarf_proto protos[FUNCTIONS] = { 0 };
	uint64_t vaddrs[FUNCTIONS];
	size_t nr = list_functions(image, vaddrs);

	dwarf_protos__read(fd, vaddrs, nr, protos);
	for (size_t i = 0; i < nr; i++)
		check_proto(&protos[i]);
}

static void try_answer(const uint8_t *data, size_t size)
{
	struct dwarf_proto proto = { 0 };

	memcpy(&proto, data, size < sizeof(proto) ? size : sizeof(proto));
	check_proto(&proto);
}

/* ---- names ---- */

static void try_elf(struct flame *flame, int fd)
{
	struct elf_image image;
	uint64_t vaddr;

	if (elf_image__read(&image, fd, NULL))
		return;
	for (uint64_t offset = 0; offset < 8192; offset += 64)
		if (elf_image__vaddr(&image, offset, &vaddr))
			draw(flame, &image.functions, vaddr);
	try_dwarf(&image, fd);
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
	try_answer(data, size);
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
