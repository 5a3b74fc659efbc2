/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwound.c: reads blocks of a disk from stacks that are known, in a program without frame
 * pointers: one behind another, with a frame whose size is not known beforehand, in a handler of a
 * signal, in a function that libc calls, in a thread, and deeper than is kept. It reads once and
 * waits, so that the process is known when it goes on.
 *
 *	$ unwound /dev/nvme0n1
 *	$ unwound /dev/nvme0n1 1500	only that many, one function behind another
 *	$ unwound /dev/nvme0n1 3 now	the same without a wait: a process that ends at once
 */
#define _GNU_SOURCE 1
#include <alloca.h>
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAME __attribute__((noinline, noclone))

enum { PLAIN = 101, ALLOCA = 53, SIGNAL = 41, SORTED = 31, THREAD = 23, DEEP = 11, DEPTH = 200 };

static int disk;
static char *block;
static volatile int kept;

/* What follows a call keeps it from being a jump. */
FRAME static void read_one(void)
{
	if (pread(disk, block, 4096, 0) != 4096)
		err(1, "read");
	kept++;
}

FRAME static void plain_c(void)
{
	read_one();
	kept++;
}

FRAME static void plain_b(int x)
{
	char text[512];

	memset(text, x, sizeof(text));
	kept = text[x & 511];
	plain_c();
	kept += text[0];
}

FRAME static void plain_a(int x)
{
	plain_b(x);
	kept++;
}

FRAME static void alloca_b(int bytes)
{
	char *text = alloca((size_t)bytes);

	memset(text, 1, (size_t)bytes);
	read_one();
	kept += text[bytes / 2];
}

FRAME static void alloca_a(int bytes)
{
	alloca_b(bytes);
	kept++;
}

FRAME static void signal_handler(int nr)
{
	read_one();
	kept += nr;
}

FRAME static void signal_a(void)
{
	raise(SIGUSR1);
	kept++;
}

FRAME static int sort_compare(const void *a, const void *b)
{
	read_one();
	return *(const char *)a - *(const char *)b;
}

FRAME static void sort_a(void)
{
	char two[2] = { 2, 1 };

	qsort(two, 2, 1, sort_compare);
	kept += two[0];
}

FRAME static void deep_a(int depth)
{
	if (depth)
		deep_a(depth - 1);
	else
		read_one();
	kept++;
}

FRAME static void *thread_a(void *arg)
{
	for (int i = 0; i < THREAD; i++)
		read_one();
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	disk = argc > 1 ? open(argv[1], O_RDONLY | O_DIRECT) : -1;
	if (disk < 0 || posix_memalign((void **)&block, 4096, 4096))
		err(1, "unwound DISK [READS [now]]");
	signal(SIGUSR1, signal_handler);
	if (argc < 4) {
		read_one();
		sleep(6); /* until its mappings are known, on a busy machine, too */
	}
	for (int i = 0; i < (argc > 2 ? atoi(argv[2]) : PLAIN); i++)
		plain_a(i);
	if (argc > 2)
		return 0;
	for (int i = 0; i < ALLOCA; i++)
		alloca_a(100 + 300 * i);
	for (int i = 0; i < SIGNAL; i++)
		signal_a();
	for (int i = 0; i < SORTED; i++)
		sort_a();
	for (int i = 0; i < DEEP; i++)
		deep_a(DEPTH);
	if (pthread_create(&thread, NULL, thread_a, NULL) || pthread_join(thread, NULL))
		errx(1, "no thread");
	return 0;
}
