/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * elf_image.h: the functions of one ELF file, and where its bytes lie in memory. From its .symtab;
 * of a stripped file from its .dynsym, which has only what others call, and from the debug file
 * that its build-id names, or the .gnu_debugdata in it, which libdw unpacks. The file is hostile:
 * every size is bounded, nothing is mapped (it could be cut while we read). C++ and Rust names stay
 * mangled.
 */
#ifndef IOSONAR_SYMBOL_ELF_IMAGE_H
#define IOSONAR_SYMBOL_ELF_IMAGE_H

#include <libelf.h>
#include "symbol/table.h"

enum {
	ELF_LOADS_MAX = 64,
	ELF_BUILD_ID_MAX = 64,
	ELF_NOTES_MAX = 64,		 /* sections of notes that are looked at */
	ELF_TABLE_BYTES_MAX = 256 << 20, /* a symbol or string table */
	ELF_PACKED_BYTES_MAX = 8 << 20,	 /* .gnu_debugdata, which libdw unpacks */
};

/* A part of the file, and the address that its symbols use for it. */
struct elf_load {
	uint64_t offset, size_bytes, vaddr;
};

struct elf_image {
	struct symbol_table functions;
	struct elf_load loads[ELF_LOADS_MAX];
	size_t nr_loads;
	unsigned char build_id[ELF_BUILD_ID_MAX];
	size_t build_id_len;
};

/* Who opens the debug file of a build-id: a descriptor, or a negative errno. */
struct elf_beside {
	int (*open_debug)(void *arg, const unsigned char *build_id, size_t len);
	void *arg;
};

/*
 * Opens no file itself. beside: NULL: there are no debug files. fd stays the caller's. 0, also
 * without any function; -ENOEXEC: no ELF file, or one that makes no sense; -ENOMEM.
 */
int elf_image__read(struct elf_image *image, int fd, const struct elf_beside *beside);
/* Where this byte of the file lies, as its symbols and addr2line count. */
bool elf_image__vaddr(const struct elf_image *image, uint64_t offset, uint64_t *vaddr);
void elf_image__free(struct elf_image *image);

/* A program or library as far as it makes sense, for who looks for something else in it; NULL: it
 * is none. Ended by elf_end, before fd is closed. */
Elf *elf_image__open(int fd);
/* A section's bytes; NULL: there are none, or more than that: a file can be sparse. */
Elf_Data *elf_image__data(Elf_Scn *section, uint64_t most_bytes);

/* libdw, if it was there when iosonar was built (HAVE_LIBDW); never in the static program. */
bool elf_dwfl__is_built_in(void);
/* What this one has packed that has symbols of it; opens no file. Stops at an error of visit and
 * returns it. */
typedef int (*elf_dwfl_fn)(void *arg, Elf *elf);
int elf_dwfl__visit(int fd, elf_dwfl_fn visit, void *arg);

#endif
