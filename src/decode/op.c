/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/op.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "decode/nvme.h"

static const char *op_name(enum io_kind kind, uint8_t op, char *const *block_names)
{
	return kind == IO_BLOCK ? block_names[op] : nvme_command__name(kind, op);
}

const char *op__word(enum io_kind kind, uint8_t op, char *const *block_names, char *buf,
		     size_t size)
{
	const char *name = op_name(kind, op, block_names);

	if (name)
		return name;
	snprintf(buf, size, "op-0x%02x", op);
	return buf;
}

static bool op_means(const char *word, enum io_kind kind, const char *name)
{
	if (!strcmp(word, "admin"))
		return kind == IO_ADMIN;
	if (!strcmp(word, "fabrics"))
		return kind == IO_FABRICS;
	if (!name)
		return false;
	return !strcmp(word, name) ||
	       (!strcmp(word, "discard") && kind == IO_NVME && !strcmp(name, "dsm"));
}

int op__mark(const char *word, char *const *block_names, uint64_t wanted[4][4])
{
	int marked = 0;

	for (int kind = 0; kind < 4; kind++) {
		for (int op = 0; op < 256; op++) {
			if (!op_means(word, kind, op_name(kind, (uint8_t)op, block_names)))
				continue;
			wanted[kind][op >> 6] |= 1ULL << (op & 63);
			marked++;
		}
	}
	return marked;
}

static bool op_listed(const char *const *words, size_t nr, const char *word)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(words[i], word))
			return true;
	return false;
}

size_t op__words(char *const *block_names, const char **words, size_t most)
{
	size_t nr = 0;

	for (int kind = 0; kind < 4; kind++) {
		for (int op = 0; op < 256; op++) {
			const char *name = op_name(kind, (uint8_t)op, block_names);

			if (name && nr < most && !op_listed(words, nr, name))
				words[nr++] = name;
		}
	}
	return nr;
}
