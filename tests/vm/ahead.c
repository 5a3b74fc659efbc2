/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ahead.c: makes commands that are in flight seem to have been sent an hour from now, in the table
 * of another process, which has NR slots: no clock of the kernel can be turned back. Prints how
 * many there were. Exit status 1: there is no such table.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "wire/io_tables.h"

#define HOUR_NS 3600000000000ULL

/* Zeroed before use: the kernel refuses what it does not know. */
static union bpf_attr attr;

static int ahead_call(int command)
{
	return (int)syscall(SYS_bpf, command, &attr, sizeof(attr));
}

/* A descriptor of the map with this number, if it has this name; else -1. */
static int ahead_open(unsigned int id, const char *name, unsigned int *bytes)
{
	struct bpf_map_info info;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.map_id = id;
	fd = ahead_call(BPF_MAP_GET_FD_BY_ID);
	if (fd < 0)
		return -1;
	memset(&info, 0, sizeof(info));
	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (unsigned int)fd;
	attr.info.info_len = sizeof(info);
	attr.info.info = (unsigned long)&info;
	if (!ahead_call(BPF_OBJ_GET_INFO_BY_FD) && !strcmp(info.name, name)) {
		*bytes = info.value_size;
		return fd;
	}
	close(fd);
	return -1;
}

static int ahead_find(const char *name, unsigned int *bytes)
{
	unsigned int id = 0;
	int fd = -1;

	while (fd < 0) {
		memset(&attr, 0, sizeof(attr));
		attr.start_id = id;
		if (ahead_call(BPF_MAP_GET_NEXT_ID))
			return -1;
		id = attr.next_id;
		fd = ahead_open(id, name, bytes);
	}
	return fd;
}

int main(int argc, char **argv)
{
	const size_t nr = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned int bytes = 0, moved = 0;
	int fd = ahead_find("io_slots", &bytes);
	struct io_slot *slots;

	if (fd < 0 || !nr || nr > bytes / sizeof(*slots)) {
		fprintf(stderr, "ahead: no table of %zu slots: %s\n", nr, strerror(errno));
		return 1;
	}
	slots = mmap(NULL, nr * sizeof(*slots), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (slots == MAP_FAILED) {
		perror("ahead");
		return 1;
	}
	for (size_t i = 0; i < nr; i++) {
		if (slots[i].state != IO_OPEN)
			continue;
		slots[i].first_ns += HOUR_NS;
		moved++;
	}
	printf("%u\n", moved);
	return 0;
}
