/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * starve.c: a library to preload: the allocation number STARVE_AT of the process fails; 0: none.
 * With STARVE_COUNT, the number of allocations is written to that file at the end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nr, size_t size);
void *__libc_realloc(void *old, size_t size);

static long at = -1, nr;

static int fails(void)
{
	if (at < 0)
		at = getenv("STARVE_AT") ? atol(getenv("STARVE_AT")) : 0;
	if (__atomic_add_fetch(&nr, 1, __ATOMIC_RELAXED) != at)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return fails() ? NULL : __libc_realloc(old, size);
}

__attribute__((destructor)) static void starve_tell(void)
{
	long all = nr;
	FILE *file = getenv("STARVE_COUNT") ? fopen(getenv("STARVE_COUNT"), "we") : NULL;

	if (file)
		fprintf(file, "%ld\n", all), fclose(file);
}
