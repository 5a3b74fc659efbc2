/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compiled.c: reads blocks of a disk through functions that it wrote into memory itself, as a
 * compiler at run time does, and says their names in /tmp/perf-1.map: it is process 1 of a
 * namespace of its own, with a /tmp of its own. It reads once and waits, so that the process is
 * known when it goes on.
 *
 *	$ compiled /dev/nvme0n1
 */
#define _GNU_SOURCE 1
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#define FRAME __attribute__((noinline, noclone))

enum { READS = 37 };

/* Calls its argument; keeps a frame pointer. */
#if defined(__x86_64__)
static const uint8_t code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
#else
static const uint32_t code[] = { 0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0 };
#endif

typedef void (*caller)(void (*fn)(void));

static int disk;
static char *block;
static caller inner, outer;
static volatile int kept;

FRAME static void read_one(void)
{
	if (pread(disk, block, 4096, 0) != 4096)
		err(1, "read");
	kept++;
}

FRAME static void between(void)
{
	inner(read_one);
	kept++;
}

/* A function of its own at this byte of the memory. */
static caller compile(char *memory, size_t at, FILE *map, const char *name)
{
	memcpy(memory + at, code, sizeof(code));
	fprintf(map, "%lx %zx %s\n", (unsigned long)(memory + at), sizeof(code), name);
	return (caller)(void *)(memory + at);
}

static void compile_both(void)
{
	char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FILE *map = fopen("/tmp/perf-1.map", "w");

	if (memory == MAP_FAILED || !map)
		err(1, "/tmp/perf-1.map");
	inner = compile(memory, 0, map, "~inner of script;1");
	outer = compile(memory, 256, map, "outer");
	if (mprotect(memory, 4096, PROT_READ | PROT_EXEC) || fclose(map))
		err(1, "cannot compile");
	__builtin___clear_cache(memory, memory + 4096);
}

/* After a fork, a CPU that does not note by itself that a page is used (Cortex-A72) makes it
 * unreadable for programs of the kernel until the process uses it. */
static void touch_stack(void)
{
	for (volatile char *at = (char *)&at; at < environ[0]; at += 1024)
		kept += *at;
}

int main(int argc, char **argv)
{
	int status;

	disk = argc > 1 ? open(argv[1], O_RDONLY | O_DIRECT) : -1;
	if (disk < 0 || posix_memalign((void **)&block, 4096, 4096))
		err(1, "compiled DISK");
	if (unshare(CLONE_NEWPID | CLONE_NEWNS))
		err(1, "no namespace");
	if (fork()) {
		wait(&status);
		return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	}
	if (mount("", "/", "", MS_REC | MS_PRIVATE, "") || mount("tmpfs", "/tmp", "tmpfs", 0, ""))
		err(1, "/tmp");
	compile_both();
	touch_stack();
	read_one();
	sleep(6); /* until its mappings are known, on a busy machine, too */
	for (int i = 0; i < READS; i++)
		outer(between);
	sleep(3); /* until its names are known */
	return 0;
}
