/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * elf.h: the programs and libraries that a path or a glob names, opened for a caller to read. The
 * files are hostile: sizes are bounded as in symbol/elf_image.h. Files for another machine are
 * skipped.
 */
#ifndef IOSONAR_PROBE_FIND_ELF_H
#define IOSONAR_PROBE_FIND_ELF_H

#include <gelf.h>
#include "probe/find/inside.h"

struct find_elf {
	const char *path;
	Elf *elf;
	uint16_t machine; /* EM_AARCH64, EM_X86_64 */
};

/* Calls fn once per file, until it returns nonzero; returns that. -ENOENT, -ENOEXEC, -EXDEV
 * (another machine), -EACCES: no file fits. Says nothing. */
typedef int (*find_elf_fn)(void *arg, const struct find_elf *elf);
int find_elf__each(const char *pattern, find_elf_fn fn, void *arg);
/* Says why no file fits; -EINVAL or -EACCES. */
int find_elf__refuse(const struct find_job *job, const char *pattern, int err);

/* File offset of the byte that the symbols call vaddr. CODE: as an instruction. */
enum find_elf_segment { FIND_ELF_ANY, FIND_ELF_CODE };
bool find_elf__offset(const struct find_elf *elf, uint64_t vaddr, enum find_elf_segment segment,
		      uint64_t *offset);
/* A section by name; NULL: not found. */
Elf_Scn *find_elf__section(const struct find_elf *elf, const char *name, GElf_Shdr *head);

/* The address of a variable or function that the file defines. False: it has none of that name, or
 * several, or it is a thread's. */
bool find_elf__symbol(const struct find_elf *elf, const char *name, size_t len, uint64_t *vaddr);

/* "PATH:A" or "PATH:A:B" cut at its last colons: returns the path; `parts` gets what follows,
 * the last part always in the last place, NULL for a missing one. The caller frees the path and
 * with it the parts. NULL: no memory. */
enum { FIND_ELF_PARTS = 2 };
char *find_elf__split(const char *text, size_t nr_parts, const char *parts[FIND_ELF_PARTS]);

#endif
