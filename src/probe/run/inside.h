/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inside.h: shared by the files run*.c. A group is one program and the probes it serves; it has one
 * cell.
 */
#ifndef IOSONAR_PROBE_RUN_INSIDE_H
#define IOSONAR_PROBE_RUN_INSIDE_H

#include "probe/run/attach.h"
#include "probe/run/run.h"

struct run_group {
	struct attachment attachment;
	/* The programs of its later turns, before they are attached, which `attachment` does. */
	struct attachment ended, execed;
	enum attach_way way;
	size_t *probes; /* numbers in the plan */
	size_t nr;
	bool is_end;
	bool is_alone;	  /* shares its program with no other probe */
	bool holds;	  /* it has them: struct probe_held */
	bool is_refused;  /* the verifier refused the program; not a failed attachment */
	char reason[160]; /* the verifier's; "": unknown */
};

/* A probe that needs no program. */
struct run_counter {
	size_t probe;
	int *fds;
	size_t nr;
	uint64_t count; /* set when it is closed */
};

/* A ring as mapped from the kernel. */
struct run_ring {
	uint64_t *read_at;	    /* we write */
	const uint64_t *written_to; /* the kernel writes; data start a page after it, twice */
	uint32_t bytes;
};

/* Position and time of a held record. */
struct run_entry {
	uint64_t ns;
	size_t at, bytes;
};

/* Records that wait for records that may be older. */
struct run_order {
	char *held;
	size_t bytes, room_bytes;
	struct run_entry *entries;
	size_t nr, room;
};

struct run {
	struct run_wants wants;
	const struct plan *plan;
	struct attacher *attacher;
	struct program_maps maps;
	struct run_group *groups;
	size_t nr_groups;
	struct run_counter *counters;
	size_t nr_counters;
	int *errs;	    /* per probe of the plan; 0: attached */
	size_t *by_address; /* numbers of probes that share programs, sorted */
	size_t nr_by_address;
	uint32_t nr_cpus; /* possible ones */
	struct run_ring *rings;
	struct run_order order;
	int children[2];		/* links of the programs that follow them; -1: none */
	int switch_fd;			/* -1: none */
	uint64_t *is_on;		/* the switch, mapped */
	uint64_t *gate;			/* of calls: mapped; closed while it is not 0 */
	uint64_t gate_ns, gate_records; /* start and count of the current measurement */
	int closer; /* while it is open the child holds the links; -1: no child */
	bool is_detached, counters_scaled;
	struct run_unwind *unwind; /* NULL: user stacks by frame pointers, or none */
	const char *inexact, *why; /* the way that may miss hits; NULL: none */
	uint64_t start_ns;
};

/* group.c */
int run_make_groups(struct run *run);
void run_free_groups(struct run *run);
struct program_wants run_program_wants(const struct run *run, const struct run_group *group);

/* maps.c */
int run_make_maps(struct run *run);
void run_close_maps(struct run *run);
int run_map_word(int fd, uint64_t **word); /* maps the first word of a map */

/* children.c: the table of processes, for --children */
int run_follow_children(struct run *run);

/* unwind.c: user stacks by tables */
int run_make_unwind(struct run *run);
void run_free_unwind(struct run *run);
const struct attach_block *run_unwind_block(const struct run *run); /* NULL: none */
/* NULL: the kernel numbered it. */
const struct io_stack *run_unwound(const struct run *run, uint64_t id);
bool run_is_cut_by_fp(const struct run *run, uint32_t pid);

/* program.c */
int run_attach_all(struct run *run);

/* nest.c: counts returns of user functions that the kernel omits */
bool run_has_nests(const struct run *run);
void run_attach_nests(struct run *run);
uint64_t run_count_omitted(const struct run *run);

/* held.c: hits that wait for the end of their system call */
bool run_may_hold(const struct run *run);
void run_load_later(struct run *run); /* before groups are attached: decides who holds */
int run_attach_later(struct run *run);

/* switch.c */
int run_make_switch(struct run *run); /* only where closing is slow */
void run_turn_on(struct run *run);
void run_turn_off(struct run *run);
void run_free_switch(struct run *run);

/* ring.c */
int run_make_rings(struct run *run);
void run_free_rings(struct run *run);

/* count.c */
int run_check_counters(const struct run *run); /* the line asks nothing that counters cannot do */
int run_open_counters(struct run *run);
void run_read_counters(struct run *run); /* into count */
void run_close_counters(struct run *run);

/* number.c */
int run_note_addresses(struct run *run); /* of probes that share a program */
static inline bool run_part_is_probe(const struct plan_part *part)
{
	return part->shape.unit == VALUE_PROBE_NAME || part->shape.unit == VALUE_FUNC_NAME;
}
/* Replaces `probe` or `func` by a number of the plan. */
void run_settle(const struct run *run, const struct plan_part *part, void *bytes);
uint64_t run_probe_number(const struct run *run, uint64_t number);
/* The probe at an address of the same kind: a function's entry and return may both be served. */
uint64_t run_probe_like(const struct run *run, uint64_t like, uint64_t address);

#endif
