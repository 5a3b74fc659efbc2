/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * elf_cache.h: the functions of files that processes run from, each file read once for all
 * processes. Bounded: the least recently used file goes first and is read again when needed. A file
 * that changed is another file.
 */
#ifndef IOSONAR_SYMBOL_ELF_CACHE_H
#define IOSONAR_SYMBOL_ELF_CACHE_H

#include "symbol/elf_image.h"

/* An inode's number alone is not enough: the next file may reuse it. */
struct elf_file_id {
	uint64_t dev, inode, size_bytes;
	int64_t changed_s, changed_ns;
};

int elf_file_id__of(struct elf_file_id *id, int fd);		/* 0, or a negative errno */
uint32_t elf_file_id__kernel_dev(const struct elf_file_id *id); /* its number in the kernel */

struct elf_cache;

struct elf_cache *elf_cache__new(const struct elf_beside *beside, size_t most_files,
				 size_t most_bytes);
/* NULL: not in the cache (any more). Valid until the next elf_cache__read. */
const struct elf_image *elf_cache__find(struct elf_cache *cache, const struct elf_file_id *id);
/* For a file that is not ELF: an image without functions. */
const struct elf_image *elf_cache__read(struct elf_cache *cache, const struct elf_file_id *id,
					int fd);
void elf_cache__free(struct elf_cache *cache);

#endif
