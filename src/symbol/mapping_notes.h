/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mapping_notes.h: what did a process that has ended run from? The kernel writes a record for each
 * executable mapping and each fork into a ring per CPU (perf's PERF_RECORD_MMAP2 and _FORK), at the
 * moment it happens; an I/O costs nothing. Processes that were there before are missing, and so is
 * what a ring had no room for: their names stay unknown. The last NOTES_MOST mappings are kept.
 */
#ifndef IOSONAR_SYMBOL_MAPPING_NOTES_H
#define IOSONAR_SYMBOL_MAPPING_NOTES_H

#include <stddef.h>
#include <stdint.h>

enum {
	NOTES_MOST = 1 << 15,
	NOTES_OF_ONE = 256,    /* mappings of one process */
	NOTES_TEXT = 64 << 10, /* bytes of all their lines */
};

struct mapping_note {
	uint64_t start, end;
	uint64_t offset, inode;
	const char *path; /* as the process saw it; "": none */
	uint32_t pid;
	uint32_t parent; /* not 0: not a mapping, but the pid that forked this process */
	uint64_t time_ns;
	uint64_t before; /* the next older note in its place of the index; 0: none */
};

struct mapping_notes;

/* Opens the rings, which requires CAP_PERFMON. NULL: no memory. If the kernel refuses, nothing
 * will be noted. */
struct mapping_notes *mapping_notes__new(void);
/* For tests: a process that notes does so until it ends. */
void mapping_notes__free(struct mapping_notes *notes);

/* Reads the rings. No system call. */
void mapping_notes__take(struct mapping_notes *notes);
/* For tests: records of one ring, as the kernel writes them. */
void mapping_notes__add(struct mapping_notes *notes, const void *records, size_t size);

/* A process's mappings as lines of /proc/PID/maps, by address, NUL-terminated; also those from
 * before a fork or an exec, where nothing newer lies. Returns their number. */
size_t mapping_notes__text(const struct mapping_notes *notes, uint32_t pid, char text[NOTES_TEXT]);
/* A mapping of this inode that has all from start to end; NULL: there was none. */
const struct mapping_note *mapping_notes__find(const struct mapping_notes *notes, uint32_t pid,
					       uint64_t start, uint64_t end, uint64_t inode);
/* The pid that forked it; 0: unknown. */
uint32_t mapping_notes__parent(const struct mapping_notes *notes, uint32_t pid);

#endif
