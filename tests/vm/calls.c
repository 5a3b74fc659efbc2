/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calls.c: does known things a known number of times, in a directory that is there, so that a test
 * knows what others have to count. Stops itself before and after: who watches attaches meanwhile,
 * and ends before its exit; SIGCONT lets it go on. Between the stops every system call of a kind
 * that is told is one that is told; reads that read something stand between two marks, calls:begin
 * and calls:end.
 *
 *	$ calls DIR
 *	openat 16
 *	read 25
 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "usdt.h"

enum {
	OPENS = 11,
	CREATES = 5,
	STATS = 13,
	WRITES = 19,
	READS = 17,
	BAD_READS = 7,
	BREAKS = 23,
	ADVICES = 3,
	THREADS = 2,
	PROGRAMS = 7,
	QUESTIONS = 5,
	BLOCK = 512,
	PAGES = 97,
	BURN_MS = 600,
};

static void calls_die(const char *what)
{
	perror(what);
	exit(1);
}

static int calls_open(const char *name, int flags)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, name, flags, 0600);

	if (fd < 0)
		calls_die(name);
	return fd;
}

static void calls_open_and_create(void)
{
	for (int i = 0; i < OPENS; i++)
		close(calls_open("opened", O_RDONLY));
	for (int i = 0; i < CREATES; i++)
		close(calls_open("created", O_CREAT | O_WRONLY | O_TRUNC));
}

static void calls_stat(void)
{
	char room[256]; /* larger than any struct stat */

	for (int i = 0; i < STATS; i++)
		if (syscall(SYS_newfstatat, AT_FDCWD, "opened", room, 0))
			calls_die("newfstatat");
}

static void calls_write(int fd)
{
	char block[BLOCK] = { 0 };

	for (int i = 0; i < WRITES; i++)
		if (write(fd, block, BLOCK) != BLOCK)
			calls_die("write");
}

/* As many as there are blocks, and one that finds the end, and some of no file. */
static void calls_read(int fd)
{
	char block[BLOCK];

	if (lseek(fd, (WRITES - READS) * BLOCK, SEEK_SET) < 0)
		calls_die("lseek");
	for (int i = 0; i < READS; i++) {
		USDT_MARK1("calls", "begin", i);
		if (read(fd, block, BLOCK) != BLOCK)
			calls_die("read");
		USDT_MARK1("calls", "end", i);
	}
	if (read(fd, block, BLOCK))
		calls_die("read at the end");
	for (int i = 0; i < BAD_READS; i++)
		if (read(-1, block, BLOCK) != -1)
			calls_die("read of no file");
}

static void calls_break(void)
{
	for (int i = 0; i < BREAKS; i++)
		syscall(SYS_brk, 0);
}

/* Pages that are there, but for the kernel's share of each: one fault each. */
static void calls_touch(void)
{
	long page = sysconf(_SC_PAGESIZE);
	char *area = mmap(NULL, (size_t)(PAGES * page), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED)
		calls_die("mmap");
	for (long i = 0; i < PAGES; i++)
		((volatile char *)area)[i * page] = 1;
}

static void calls_advise(void)
{
	enum { HUGE = 4 << 20 };

	for (int i = 0; i < ADVICES; i++) {
		char *area = mmap(NULL, HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0);

		if (area == MAP_FAILED || madvise(area, HUGE, MADV_HUGEPAGE))
			calls_die("madvise");
		munmap(area, HUGE);
	}
}

static void *calls_thread(void *arg)
{
	return arg;
}

static void calls_start_threads(void)
{
	for (int i = 0; i < THREADS; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, calls_thread, NULL) || pthread_join(thread, NULL))
			calls_die("pthread_create");
	}
}

/* The texts are on the stack: a child has no page of the program's constants before it uses them,
 * and whoever reads them at its first system call would find nothing. */
static void calls_start_programs(void)
{
	char program[] = "/bin/busybox", argument[] = "true";
	char *argv[] = { program, argument, NULL };

	for (int i = 0; i < PROGRAMS; i++) {
		pid_t pid = fork();

		if (!pid) {
			execv(argv[0], argv);
			_exit(127);
		}
		waitpid(pid, NULL, 0);
	}
}

static void calls_go_to_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		calls_die("sched_setaffinity");
}

/* A counter of CPU 1 is opened there, and closed: CPU 0 has to interrupt it. */
static void calls_ask_other_cpu(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_DUMMY };

	for (int i = 0; i < QUESTIONS; i++) {
		int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 1, -1, 0);

		if (fd < 0)
			calls_die("perf_event_open");
		close(fd);
	}
}

static long calls_cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void calls_burn(void)
{
	long until = calls_cpu_ms() + BURN_MS;
	volatile unsigned work = 0;

	while (calls_cpu_ms() < until)
		for (int i = 0; i < 100000; i++)
			work += work ^ 1;
}

static long calls_count_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

static void calls_do(int fd)
{
	calls_open_and_create();
	calls_stat();
	calls_write(fd);
	calls_read(fd);
	calls_break();
	calls_touch();
	calls_advise();
	calls_start_threads();
	calls_start_programs();
	calls_go_to_cpu(0);
	calls_ask_other_cpu();
	calls_go_to_cpu(1);
	calls_burn();
}

static void calls_tell(long faults)
{
	printf("openat %d\ncreate %d\nnewfstatat %d\nwrite %d\n", OPENS + CREATES, CREATES, STATS,
	       WRITES);
	printf("read %d\nread_whole %d\nread_failed %d\nbrk %d\n", READS + 1 + BAD_READS, READS,
	       BAD_READS, BREAKS);
	printf("faults %ld\nmadvise %d\npthread_create %d\nexecve %d\ncpu_ms %d\n", faults, ADVICES,
	       THREADS, PROGRAMS, BURN_MS);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	long faults;
	int fd;

	if (argc != 2 || chdir(argv[1]))
		calls_die("calls DIR");
	fd = calls_open("opened", O_CREAT | O_RDWR | O_TRUNC);
	free(malloc(1)); /* the heap is there: no brk but ours */
	raise(SIGCONT);	 /* and the function is found: no faults but ours */
	faults = calls_count_faults();
	raise(SIGSTOP);
	calls_do(fd);
	faults = calls_count_faults() - faults;
	raise(SIGSTOP);
	calls_tell(faults);
	return 0;
}
