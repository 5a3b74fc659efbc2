/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * elf_image.h: the functions of one ELF file, and where its bytes lie in memory. From its .symtab;
 * for a stripped file from its .dynsym, which has only what other files call, and from the debug
 * file that its build-id names, or its .gnu_debugdata, which libdw unpacks. The file is hostile:
 * every size is bounded, nothing is mapped (it could be truncated while we read). C++ and Rust
 * names are mangled here.
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

/* Opens the debug file of a build-id: a descriptor, or a negative errno. */
struct elf_beside {
	int (*open_debug)(void *arg, const unsigned char *build_id, size_t len);
	void *arg;
};

/*
 * Opens no file itself. beside NULL: no debug files. fd stays the caller's. 0, also without any
 * function; -ENOEXEC: not an ELF file, or an invalid one; -ENOMEM.
 */
int elf_image__read(struct elf_image *image, int fd, const struct elf_beside *beside);
/* Only where its bytes lie: nothing to free. Errors as above. */
int elf_image__read_loads(struct elf_image *image, int fd);
/* The address of this byte of the file, as its symbols and addr2line count. */
bool elf_image__vaddr(const struct elf_image *image, uint64_t offset, uint64_t *vaddr);
void elf_image__free(struct elf_image *image);

/* Opens a program or library, for callers that look for something else in it; NULL: it is not a
 * valid one. Call elf_end before fd is closed. */
Elf *elf_image__open(int fd);
/* A section's bytes; NULL: none, or more than most_bytes: a file can be sparse. */
Elf_Data *elf_image__data(Elf_Scn *section, uint64_t most_bytes);

/* libdw, if it was there when iosonar was built (HAVE_LIBDW); never in the static program. */
bool elf_dwfl__is_built_in(void);
/* Visits the packed file that has this file's symbols; opens no file. Stops at an error of visit
 * and returns it. */
typedef int (*elf_dwfl_fn)(void *arg, Elf *elf);
int elf_dwfl__visit(int fd, elf_dwfl_fn visit, void *arg);

#endif
