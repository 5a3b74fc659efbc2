/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * process_maps.h: what does a process run from? The executable mappings of /proc/PID/maps; a read
 * costs some 10 us for each hundred. It is a snapshot: mappings made later, or after an exec, are
 * not in it.
 */
#ifndef IOSONAR_SYMBOL_PROCESS_MAPS_H
#define IOSONAR_SYMBOL_PROCESS_MAPS_H

#include <stddef.h>
#include <stdint.h>

struct process_map {
	uint64_t start, end;
	uint64_t offset; /* of start in the file */
	uint64_t inode;	 /* 0: no file */
	uint32_t dev;	 /* as the kernel has it; 0: unknown */
	size_t path_at;	 /* in the text */
};

struct process_maps {
	struct process_map *maps; /* by address, as the kernel lists them */
	size_t nr, room;
	char *text; /* the paths */
	size_t text_bytes;
};

/* Reads fd to its end. 0, also for no mapping at all: a process that ends. -ENOMEM, -EIO... */
int process_maps__read(struct process_maps *maps, int fd);
/* NULL: nothing that can be executed lies there. */
struct process_map *process_maps__find(const struct process_maps *maps, uint64_t addr);
/* As the process sees it, perhaps with " (deleted)" behind; "": none. */
const char *process_maps__path(const struct process_maps *maps, const struct process_map *map);
size_t process_maps__bytes(const struct process_maps *maps);
void process_maps__free(struct process_maps *maps);

#endif
