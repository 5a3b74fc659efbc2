/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwind.h: hands programs what they unwind user stacks with: mappings of the processes whose
 * stacks they take, and the tables of their files. A process is published within some 20 ms of its
 * first stack. Before that the programs find its mappings themselves, and unwind it if the tables
 * of all its files are there from other processes; else its stacks are taken by frame pointers. All
 * tables are mapped: this needs no privilege. When the pool is full all tables are dropped, and
 * those of processes that ask again are read again.
 */
#ifndef IOSONAR_COLLECT_UNWIND_H
#define IOSONAR_COLLECT_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "wire/unwind.h"

struct bpf_object;
struct io_settings;
struct io_stack;
struct kernel;
struct symbols;

/* --unwind */
enum unwind_how {
	/* The kernel's way, by frame pointers, in processes whose files all keep them. */
	UNWIND_HOW_AUTO,
	UNWIND_HOW_FP,
	UNWIND_HOW_DWARF, /* by tables in all processes */
	UNWIND_HOW_NONE,
};

static inline bool unwind_how__has_tables(enum unwind_how how)
{
	return how == UNWIND_HOW_AUTO || how == UNWIND_HOW_DWARF;
}

/* ---- an object that includes bpf/unwind.h ---- */

enum { UNWIND_SHARED_MAPS = 11 };

/* What its programs and user space share. */
struct unwind_shared {
	struct unwind_row *rows;
	struct unwind_rule *rules;
	struct unwind_span *index;
	struct unwind_process *processes;
	struct unwind_map *maps;
	struct unwind_wanted *wanted;
	struct unwind_mapped *mapped;
	struct unwind_epoch *epoch;
	struct io_stack *stacks; /* by number; NULL: its programs send them */
	uint32_t room_rows, room_rules, room_index;
	size_t bytes[UNWIND_SHARED_MAPS]; /* that are mapped of each */
};

/* Before it is loaded: the tables have their sizes, or are not made. -errno, not said. */
int unwind_shared__size(struct bpf_object *object);
int unwind_shared__omit(struct bpf_object *object);
void unwind_shared__set(struct io_settings *settings, const struct kernel *kernel);
/* After. -errno, said. */
int unwind_shared__map(struct unwind_shared *shared, const struct bpf_object *object);
void unwind_shared__unmap(struct unwind_shared *shared); /* also of one that is all 0 */

/* ---- what is published ---- */

struct unwinder; /* functions take NULL: nothing is unwound by tables */

/* The shared tables stay the caller's. NULL: no memory. */
struct unwinder *unwinder__new(const struct unwind_shared *shared, enum unwind_how how);
void unwinder__free(struct unwinder *unwinder);
/* Reads the tables of libc and the like, before the first process asks. */
void unwinder__first(struct unwinder *unwinder, struct symbols *symbols);
/* Publishes the processes that the programs have met. */
void unwinder__publish(struct unwinder *unwinder, struct symbols *symbols);
/*
 * Whether frames may be missing in stacks of this process that the kernel took by frame pointers,
 * before its tables were known: where frame pointers were not enough for the user, or are not kept.
 * On arm64 they miss the caller of a function that makes no frame, such as memcpy.
 */
bool unwinder__is_cut_by_fp(const struct unwinder *unwinder, uint32_t pid);
void unwinder__tell(const struct unwinder *unwinder); /* for people: how stacks were taken */

#endif
