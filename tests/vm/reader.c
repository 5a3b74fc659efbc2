/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reader.c: reads the first page of a file twice, in functions of its own: reader_cold, before
 * which the page is not in the cache, and reader_warm, where it is. Each gives how many bytes it
 * read.
 *
 *	$ reader FILE
 *	4096 4096
 */
#define _GNU_SOURCE 1
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static char page[4096];

int reader_cold(int fd);
int reader_warm(int fd);

__attribute__((noinline)) int reader_cold(int fd)
{
	return (int)pread(fd, page, sizeof(page), 0);
}

__attribute__((noinline)) int reader_warm(int fd)
{
	page[0] = 0; /* else it is the same function, and there is one of them */
	return (int)pread(fd, page, sizeof(page), 0);
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1, cold, warm;

	if (fd < 0)
		err(1, "reader FILE");
	if (fsync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		err(1, "%s", argv[1]);
	cold = reader_cold(fd);
	warm = reader_warm(fd);
	printf("%d %d\n", cold, warm);
	return 0;
}
