/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waits.h: the collector of `waits`: calls in which a thread waited, with the places where it
 * slept. Costs two programs per watched call, and two comparisons per switch of any task. Where
 * neither fentry nor kprobes work, it costs two programs per system call of any task, and does not
 * see page faults. It cannot see a call that began before it was attached.
 */
#ifndef IOSONAR_COLLECT_WAITS_H
#define IOSONAR_COLLECT_WAITS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/options.h"
#include "wire/io_stages.h"
#include "wire/waits.h"

struct waits;

struct waits_wants {
	const struct filter_options *filter; /* of which pid, comm, cgroup and min count */
	const char *file;
	uint32_t calls;	       /* mask of enum wait_call */
	bool is_asked;	       /* for these; else a capture shows all that it has */
	uint64_t buffer_bytes; /* 0: the default */
	bool commands;	       /* follow bios to their commands, and commits to their tasks */
};

/* 0, or -errno after one line. Free it in any case. */
int waits__open(struct waits **waits, const struct waits_wants *wants);
void waits__detach(struct waits *waits);
void waits__free(struct waits *waits);
uint64_t waits__start_ns(const struct waits *waits);

/* What came since the last call; a stack comes before the first record that names it. fn: 0
 * continues; a negative errno stops. */
struct waits_takers {
	int (*on_record)(void *arg, const struct wait_record *record);
	int (*on_stack)(void *arg, const struct io_stack *stack);
	int (*on_command)(void *arg, const struct wait_command *command);
	int (*on_commit)(void *arg, const struct wait_commit *commit);
	int (*on_who)(void *arg, const struct wait_who *who);
};
int waits__take(struct waits *waits, const struct waits_takers *takers, void *arg);

/* So far, of all CPUs; skipped: programs that the kernel did not run, known after waits__detach. */
struct waits_counts {
	struct wait_counters n;
	uint64_t in_flight; /* threads that are in a call */
	uint64_t skipped;
	uint64_t wrong_stacks; /* known ones that a walk found to be others: a defect */
};
void waits__counts(const struct waits *waits, struct waits_counts *counts);

/* place: io_file_place; malloced, hostile */
char *waits__file(const struct waits *waits, uint64_t inode, uint64_t place);
/* as feed__fs; hostile */
const char *waits__fs(const struct waits *waits, uint64_t inode, uint32_t dev);

char *const *waits__op_names(const struct waits *waits); /* of block operations, by number */

#endif
