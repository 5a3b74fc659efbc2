/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stacks.h: how much came from which stack? Sums of I/Os by the stack that submitted them, the name
 * of the task, and its process if wanted. A row costs 150 bytes, 9 KB more with a histogram; once
 * there are most_rows rows, new stacks count in the row `other`.
 */
#ifndef IOSONAR_ANALYSE_STACKS_H
#define IOSONAR_ANALYSE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "analyse/hist.h"
#include "base/index.h"

/* State of one half of a stack: kernel or user space. */
enum stack_half {
	STACK_TAKEN,
	STACK_NOT_WANTED,
	STACK_NONE,	 /* kernel threads have no user-space half */
	STACK_COLLIDED,	 /* another stack had its place in the kernel's table */
	STACK_NO_ROOM,	 /* the kernel's table was full */
	STACK_FAILED,	 /* for another reason */
	STACK_TRUNCATED, /* frames are missing at its outer end */
	NR_STACK_HALF,
};
const char *stack_half__words(enum stack_half half); /* "stack table full" */

/* Functions, innermost first: "submit_bio;vfs_read"; NULL: none. */
struct stack {
	const char *kernel, *user; /* the caller's; must outlive the rows */
	const char *host;	   /* likewise; NULL: machines are not told apart */
	enum stack_half kernel_half, user_half;
	uint32_t pid;  /* 0: processes share one row */
	char comm[16]; /* ends with a NUL */
};

struct stack_sum {
	uint64_t count, bytes, total_ns, max_ns;
};

struct stack_row {
	struct stack stack;
	struct stack_sum sum;
	struct hist *hist; /* NULL: not wanted */
};

enum stack_measure { STACK_BY_COUNT, STACK_BY_BYTES, STACK_BY_TIME };
uint64_t stack_sum__value(const struct stack_sum *sum, enum stack_measure by);

struct stacks {
	bool with_hist;
	size_t most_rows;
	struct stack_row **rows; /* as they came */
	size_t nr;
	struct stack_row **sorted; /* after stacks__sort, nr entries */
	struct stack_row other;	   /* stacks without a row; has no stack */
	struct stack_sum total;	   /* other included */
	/* I/Os by the state of their stack; includes `other`. */
	uint64_t kernel_halves[NR_STACK_HALF], user_halves[NR_STACK_HALF];
	struct index index; /* of rows */
};

void stacks__init(struct stacks *stacks, size_t most_rows);
void stacks__init_with_hist(struct stacks *stacks, size_t most_rows);
void stacks__free(struct stacks *stacks);

/* One I/O. -ENOMEM: nothing was counted. */
int stacks__add(struct stacks *stacks, const struct stack *stack, uint64_t ns, uint64_t bytes);
/* All I/Os of a row of other sums. -ENOMEM likewise. */
int stacks__add_row(struct stacks *stacks, const struct stack_row *row);
/* Empties it. */
void stacks__clear(struct stacks *stacks);
/* Largest first; ties by comm, process and frames, so that the order is stable. */
int stacks__sort(struct stacks *stacks, enum stack_measure by);

#endif
