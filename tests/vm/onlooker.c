/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * onlooker.c: counts events on every CPU while a command runs, as `perf stat -a` does, and prints
 * one line for each: "block/block_rq_issue 101". It needs no library, so it runs in every guest.
 *
 *	onlooker EVENT... -- COMMAND [WORD]...
 *
 * EVENT is a tracepoint (block/block_rq_issue), kprobe:FUNC, kretprobe:FUNC, uprobe:FILE:FUNC or
 * uretprobe:FILE:FUNC. The command's exit status is ours.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ONLOOKER_CPUS = 64 };

struct onlooker {
	const char *name;
	int fds[ONLOOKER_CPUS];
	long nr;
};

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "onlooker: %s: %s\n", what, errno ? strerror(errno) : "not there");
	exit(125);
}

/* The first number in a file: "6", "config:0". */
static unsigned long number_in(const char *path)
{
	char text[64] = "";
	FILE *file = fopen(path, "re");

	if (!file || !fgets(text, sizeof(text), file))
		die(path);
	fclose(file);
	return strtoul(text + strcspn(text, "0123456789"), NULL, 10);
}

/* Where a function of an ELF file of this machine begins in the file. */
static uint64_t offset_of(const char *path, const char *name)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	const char *file;
	const Elf64_Ehdr *header;
	const Elf64_Shdr *sections;

	if (fd < 0 || fstat(fd, &st))
		die(path);
	file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file == MAP_FAILED)
		die(path);
	close(fd);
	header = (const Elf64_Ehdr *)(const void *)file;
	sections = (const Elf64_Shdr *)(const void *)(file + header->e_shoff);
	for (int s = 0; s < header->e_shnum; s++) {
		const Elf64_Shdr *table = &sections[s];
		const Elf64_Sym *syms = (const Elf64_Sym *)(const void *)(file + table->sh_offset);

		if (table->sh_type != SHT_SYMTAB)
			continue;
		for (size_t i = 0; i < table->sh_size / sizeof(*syms); i++) {
			const Elf64_Shdr *code = &sections[syms[i].st_shndx];

			if (syms[i].st_shndx < header->e_shnum && syms[i].st_value &&
			    !strcmp(file + sections[table->sh_link].sh_offset + syms[i].st_name,
				    name))
				return syms[i].st_value - code->sh_addr + code->sh_offset;
		}
	}
	errno = 0;
	die(name);
}

/* kprobe:FUNC and the three like it. */
static void fill_probe(struct perf_event_attr *attr, const char *name)
{
	static char file[256];
	const int user = name[0] == 'u';
	const char *what = strchr(name, ':') + 1, *colon = strrchr(name, ':');

	attr->type = (unsigned)number_in(user ? "/sys/bus/event_source/devices/uprobe/type"
					      : "/sys/bus/event_source/devices/kprobe/type");
	if (name[1] == 'r')
		attr->config = 1ull << number_in(user ? "/sys/bus/event_source/devices/uprobe/"
							"format/retprobe"
						      : "/sys/bus/event_source/devices/kprobe/"
							"format/retprobe");
	if (!user) {
		attr->kprobe_func = (uintptr_t)what;
		return;
	}
	snprintf(file, sizeof(file), "%.*s", (int)(colon - what), what);
	attr->uprobe_path = (uintptr_t)file;
	attr->probe_offset = offset_of(file, colon + 1);
}

static void look(struct onlooker *o)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	char path[256];

	if (strchr(o->name, ':')) {
		fill_probe(&attr, o->name);
	} else {
		snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/id", o->name);
		attr.type = PERF_TYPE_TRACEPOINT;
		attr.config = number_in(path);
	}
	o->nr = sysconf(_SC_NPROCESSORS_ONLN);
	if (o->nr > ONLOOKER_CPUS)
		o->nr = ONLOOKER_CPUS;
	for (int cpu = 0; cpu < o->nr; cpu++) {
		o->fds[cpu] =
			(int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		if (o->fds[cpu] < 0)
			die(o->name);
	}
}

static void tell(const struct onlooker *o)
{
	uint64_t sum = 0, count;

	for (long cpu = 0; cpu < o->nr; cpu++) {
		if (read(o->fds[cpu], &count, sizeof(count)) != sizeof(count))
			die(o->name);
		sum += count;
	}
	printf("%s %llu\n", o->name, (unsigned long long)sum);
}

int main(int argc, char **argv)
{
	static struct onlooker onlookers[16];
	int nr = 0, status;
	pid_t pid;

	for (; nr + 1 < argc && nr < 16 && strcmp(argv[nr + 1], "--"); nr++)
		onlookers[nr].name = argv[nr + 1];
	if (nr + 2 >= argc || strcmp(argv[nr + 1], "--")) {
		fprintf(stderr, "usage: onlooker EVENT... -- COMMAND [WORD]...\n");
		return 125;
	}
	for (int i = 0; i < nr; i++)
		look(&onlookers[i]);
	pid = fork();
	if (!pid) {
		execvp(argv[nr + 2], argv + nr + 2);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		die("fork");
	for (int i = 0; i < nr; i++)
		tell(&onlookers[i]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
