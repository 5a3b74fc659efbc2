/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * branches FILE: 4096 direct reads of 4 KiB at offset 0, each from another stack: twelve calls, of
 * one function or the other. More stacks than find places that differ in a table of 16384.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { BRANCHES = 12, BLOCK = 4096 };

static int file;
static void *block;

static int left(unsigned int bits, int depth);

__attribute__((noinline)) static int right(unsigned int bits, int depth)
{
	int result = !depth	? (int)pread(file, block, BLOCK, 0) - BLOCK
		     : bits & 1 ? left(bits >> 1, depth - 1)
				: right(bits >> 1, depth - 1);

	__asm__ volatile("" : "+r"(result)); /* no jump instead of the call */
	return result;
}

__attribute__((noinline)) static int left(unsigned int bits, int depth)
{
	int result = !depth	? (int)pread(file, block, BLOCK, 0) - BLOCK
		     : bits & 1 ? left(bits >> 1, depth - 1)
				: right(bits >> 1, depth - 1);

	__asm__ volatile("" : "+r"(result) : : "memory");
	return result;
}

int main(int argc, char **argv)
{
	int wrong = 0;

	file = argc == 2 ? open(argv[1], O_RDONLY | O_DIRECT) : -1;
	if (file < 0 || posix_memalign(&block, BLOCK, BLOCK))
		return 2;
	for (unsigned int bits = 0; bits < 1u << BRANCHES; bits++)
		wrong |= left(bits, BRANCHES);
	return wrong != 0;
}
