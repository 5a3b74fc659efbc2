/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waiter.c: calls that wait, timed by themselves: `waiter FILE read|write|fsync N BYTES` makes N
 * such calls and prints the sum and the maximum of what CLOCK_MONOTONIC says they took, in ns. It
 * yields to every other task.
 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static unsigned long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long long)t.tv_sec * 1000000000ULL + (unsigned long long)t.tv_nsec;
}

static ssize_t call(int fd, const char *what, char *data, size_t bytes, unsigned long i)
{
	if (!strcmp(what, "read"))
		return pread(fd, data, bytes, (off_t)(i * bytes));
	if (!strcmp(what, "write"))
		return pwrite(fd, data, bytes, (off_t)(i * bytes));
	return fsync(fd);
}

int main(int argc, char **argv)
{
	unsigned long long sum = 0, max = 0, took;
	unsigned long nr = argc == 5 ? strtoul(argv[3], NULL, 0) : 0;
	size_t bytes = argc == 5 ? strtoul(argv[4], NULL, 0) : 0;
	int fd = nr ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;
	char *data = calloc(1, bytes + 1);

	if (fd < 0 || !data || nice(19) < 0)
		return 2;
	for (unsigned long i = 0; i < nr; i++) {
		if (!strcmp(argv[2], "fsync") && pwrite(fd, data, bytes, (off_t)(i * bytes)) < 0)
			return 1;
		took = now_ns();
		if (call(fd, argv[2], data, bytes, i) < 0)
			return 1;
		took = now_ns() - took;
		sum += took;
		max = took > max ? took : max;
	}
	printf("%llu %llu\n", sum, max);
	return 0;
}
