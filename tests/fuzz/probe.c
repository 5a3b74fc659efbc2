/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe.c: can what is probed break who looks for it? A libFuzzer target: the input is the format
 * file of a tracepoint, the arguments of a USDT probe, the kernel's lists of events and functions,
 * and a program. libelf is not built for fuzzing: it sees harm in it, not the way.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "probe/find/inside.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char tree[] = "/dev/shm/iosonar-fuzz.XXXXXX";
static const char *const folders[] = { "proc",
				       "sys",
				       "sys/kernel",
				       "sys/kernel/tracing",
				       "sys/kernel/debug",
				       "sys/kernel/debug/kprobes" };
static const char *const lists[] = { "proc/kallsyms", "sys/kernel/tracing/available_events",
				     "sys/kernel/tracing/available_filter_functions",
				     "sys/kernel/debug/kprobes/blacklist" };

static void remove_tree(void)
{
	char path[256];

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", tree, lists[i]);
		unlink(path);
	}
	for (size_t i = sizeof(folders) / sizeof(folders[0]); i--;) {
		snprintf(path, sizeof(path), "%s/%s", tree, folders[i]);
		rmdir(path);
	}
	rmdir(tree);
}

static void make_tree(void)
{
	char path[256];

	if (!mkdtemp(tree))
		abort();
	atexit(remove_tree);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", tree, folders[i]);
		mkdir(path, 0700);
	}
}

static void put(int fd, const void *bytes, size_t size)
{
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
}

/* Every field has a name, and lies in a record. */
static void try_format(const char *text)
{
	for (int is_syscall = 0; is_syscall < 2; is_syscall++) {
		struct probe probe = { .kind = PROBE_TRACEPOINT };
		char *copy = strdup(text), buf[64];

		if (find_format__parse(copy, is_syscall, &probe))
			abort();
		for (size_t i = 0; i < probe.nr_fields; i++) {
			const struct probe_field *f = &probe.fields[i];

			if (!*f->name || f->at + f->type.size > 65536 ||
			    (f->type.kind == TYPE_INT && f->type.size > 8))
				abort();
			probe_field__print(f, buf, sizeof(buf));
		}
		probe__free(&probe);
		free(copy);
	}
}

/* Every name that begins with a letter before n is a variable. */
static bool find_variable(const void *arg, const char *name, size_t len, uint64_t *vaddr)
{
	(void)arg;
	*vaddr = len;
	return len && name[0] < 'n';
}

/* A register is one of pt_regs'. */
static void try_arguments(const char *text)
{
	static const uint16_t machines[] = { EM_X86_64, EM_AARCH64 };
	struct usdt_arg args[PROBE_MAX_ARGS];

	for (size_t m = 0; m < 2; m++) {
		const struct usdt_site site = { machines[m], 4096, find_variable, NULL };
		size_t nr = find_usdt__parse(&site, text, args, PROBE_MAX_ARGS);

		for (size_t i = 0; i < nr; i++)
			if (args[i].where != USDT_UNKNOWN &&
			    (args[i].reg_at > 248 || !args[i].size || args[i].size > 8))
				abort();
	}
}

static int see(void *nr, const char *name)
{
	*(size_t *)nr += strlen(name);
	return 0;
}

static void try_lists(const uint8_t *data, size_t size)
{
	struct finder *finder = finder__new_at(tree);
	char path[256];
	size_t nr = 0;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		int fd;

		snprintf(path, sizeof(path), "%s/%s", tree, lists[i]);
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		put(fd, data, size);
		close(fd);
	}
	finder__names(finder, "*", see, &nr);
	finder__names(finder, "fn:*", see, &nr);
	finder__names(finder, "raw:*", see, &nr);
	finder__free(finder);
}

/* Its head is made good: else nobody looks further. */
static void try_program(const uint8_t *data, size_t size)
{
	static const unsigned char ident[] = { ELFMAG0,	   ELFMAG1,	ELFMAG2,   ELFMAG3,
					       ELFCLASS64, ELFDATA2LSB, EV_CURRENT };
	struct finder *finder = finder__new();
	int fd = memfd_create("program", MFD_CLOEXEC);
	Elf64_Ehdr head = { .e_type = ET_DYN, .e_version = EV_CURRENT };
	char path[64];
	size_t nr = 0;

	memcpy(&head, data, size < sizeof(head) ? size : sizeof(head));
	memcpy(head.e_ident, ident, sizeof(ident));
#ifdef __x86_64__
	head.e_machine = EM_X86_64;
#else
	head.e_machine = EM_AARCH64;
#endif
	put(fd, &head, sizeof(head));
	if (size > sizeof(head))
		put(fd, data + sizeof(head), size - sizeof(head));
	snprintf(path, sizeof(path), "user:/proc/self/fd/%d:*", fd);
	finder__names(finder, path, see, &nr);
	snprintf(path, sizeof(path), "usdt:/proc/self/fd/%d:*", fd);
	finder__names(finder, path, see, &nr);
	finder__free(finder);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool is_made;
	char *text;

	if (!is_made)
		make_tree();
	is_made = true;
	text = strndup((const char *)data, size);
	try_format(text);
	try_arguments(text);
	free(text);
	try_lists(data, size);
	try_program(data, size);
	return 0;
}
