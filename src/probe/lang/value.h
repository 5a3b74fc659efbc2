/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * value.h: an expression with every name resolved at one probe: what is read from where, how wide,
 * signed or not. expr turns text into a tree, this file a tree into a value, program.c a value into
 * instructions. Pure.
 *
 * Numbers are 64 bits wide. An operation is signed unless both sides are unsigned; a literal that
 * is not negative goes along with the other side; a difference is always signed. Division by zero
 * gives 0 and is counted; a shift by 64 bits or more gives 0; a read that faults gives 0, or an
 * empty text that is marked as unreadable, and is counted. A number may stand as a truth value: all
 * but 0 are true.
 *
 * Names: a field of the event wins over a builtin (`pid` of sched:sched_wakeup is the field). At a
 * pair's end a bare name is a field of the end, else a field of the start, else a builtin; the task
 * (pid tid uid comm cgroup) is then the one that began it, since an end is often an interrupt.
 */
#ifndef IOSONAR_PROBE_LANG_VALUE_H
#define IOSONAR_PROBE_LANG_VALUE_H

#include "expr/tree.h"
#include "probe/find/probe.h"

enum value_op {
	/* leaves */
	VALUE_CONST,  /* number */
	VALUE_TEXT,   /* a literal: text */
	VALUE_RECORD, /* size bytes at offset in ctx, extended */
	VALUE_ARG,    /* argument `number`: register `offset`, slot `shift`; extended from `size` */
	VALUE_RET,    /* extended from `size` */
	VALUE_PID,    /* the process; the thread is TID */
	VALUE_TID,
	VALUE_UID,
	VALUE_COMM,
	VALUE_CPU,
	VALUE_CGROUP,
	VALUE_NSECS,   /* CLOCK_MONOTONIC; `time` is the same number with VALUE_TIME */
	VALUE_PROBE,   /* which probe: `number` in the plan, or the function's address */
	VALUE_LATENCY, /* in a pair's end: now - start */
	VALUE_SAVED, /* in a pair's end: size bytes, or a text, at `offset` of struct probe_start */
	VALUE_KSTACK, /* a stack's number; depth in shape */
	VALUE_USTACK,
	/* with operands */
	VALUE_LOAD,   /* size bytes at left + offset, extended */
	VALUE_COMPAT, /* left, with SYSCALL_COMPAT set in a 32-bit call: bits `number` of size bytes
			 at offset in the task */
	VALUE_CHARS,  /* a text of at most size bytes at left + offset; left NULL: in the record */
	VALUE_ARGS,   /* argv at left: texts joined by a space */
	VALUE_ARRAY,  /* size bytes at left + offset, as they are; left NULL: in the record */
	VALUE_BITS,   /* a bit field of left: shift, bits, extended */
	VALUE_NEG,
	VALUE_COMPLEMENT,
	VALUE_NOT,
	VALUE_ADD,
	VALUE_SUB,
	VALUE_MUL,
	VALUE_DIV,
	VALUE_MOD,
	VALUE_SHL,
	VALUE_SHR,
	VALUE_AND,
	VALUE_OR,
	VALUE_XOR,
	VALUE_EQ,
	VALUE_NE,
	VALUE_LT,
	VALUE_LE,
	VALUE_GT,
	VALUE_GE,
	VALUE_LIKE, /* left: a text; text: the glob */
	VALUE_BOTH, /* && and || evaluate the right side only if needed */
	VALUE_EITHER,
	VALUE_CHOOSE, /* left ? right : other */
};

/* How user space shows the number it reads. */
enum value_unit {
	VALUE_PLAIN,
	VALUE_DURATION,
	VALUE_BYTES,
	VALUE_TIME,
	VALUE_POINTER,
	VALUE_SYM,
	VALUE_ERRNO,
	VALUE_SYSCALL,
	VALUE_DEV,
	VALUE_ENUM,
	VALUE_PROBE_NAME,
	VALUE_FUNC_NAME,
	VALUE_CGROUP_PATH,
	VALUE_KSTACK_ID,
	VALUE_USTACK_ID,
	VALUE_HEX, /* bytes: is_text, but shown as their elements */
	/* System calls: an argument, the result, all arguments; texts that these show. */
	VALUE_WORDS,
	VALUE_RESULT,
	VALUE_CALL,
	VALUE_HIDDEN,
};

/* The memory an address is in. EITHER: the address decides, where BTF does not. */
enum value_memory { MEMORY_KERNEL, MEMORY_USER, MEMORY_EITHER };

enum {
	VALUE_STR_DEFAULT = 64, /* characters of str(p) */
	VALUE_STR_MOST = 200,
	VALUE_ARGS_WORDS = 8,
	VALUE_ARGS_MOST = 200, /* characters of args(argv) */
	VALUE_LIKE_MOST = 63,  /* characters of a glob, not counting its stars */
	VALUE_ARRAY_MOST = 64, /* bytes of an array that is shown whole */
};

struct value_shape {
	bool is_text;
	bool is_signed; /* number */
	uint32_t size;	/* bytes in a key or record: 8, or a text's room, a multiple of 8 */
	enum value_unit unit;
	struct type type;	 /* VALUE_ENUM: which */
	uint32_t depth;		 /* of a stack, 0: all */
	uint32_t bytes, element; /* HEX: size of all, of one element */
	uint32_t words; /* WORDS, RESULT: enum syscall_kind; RESULT of 0: by the call's number */
};

struct value {
	enum value_op op;
	struct value_shape shape;
	struct value *left, *right, *other; /* owned */
	uint64_t number;
	char *text; /* TEXT, LIKE: owned */
	uint32_t offset, size;
	uint32_t bits, shift;
	bool is_signed;		  /* DIV, MOD, SHR, comparisons: signedness of both sides */
	bool is_member;		  /* LOAD, CHARS: of the struct that BTF says left points to */
	bool is_loc, is_rel;	  /* CHARS in the record: located by a u32, see type.h */
	enum value_memory memory; /* LOAD, CHARS, ARGS */
	const char *source;	  /* the clause; */
	size_t at, len;		  /* its position in the clause, for messages */
};

/* What the names of an expression may mean. */
struct value_scope {
	const struct probe *probe;
	uint64_t number; /* of the probe, in the plan */
	/* At a pair's end: the start; NULL: `entry.x` and `latency` do not exist. */
	const struct probe *entry;
	uint64_t entry_number;
	/* Called at a pair's end for the largest parts after `entry.`; takes the value, which is
	 * the start's. Returns its number among the saved values, or -E2BIG. */
	int (*save)(void *arg, struct value *value);
	void *arg;
};

/* The last byte of a text that could not be read; of all others it is 0. Comparisons ignore it. */
#define VALUE_UNREADABLE 0xff
bool value__is_unreadable(const void *text, uint32_t room);

/* Values that every start notes anyway: the `number` of such a SAVED. */
#define VALUE_IN_HEAD UINT64_MAX

/*
 * NULL and *error, which points at the character: an unknown name with the nearest right one, a
 * text that is added, a struct with its members. The root may be a number or a text. A saved value
 * has its number in `number` and, until the plan sets it, no offset.
 */
struct value *value__make(const struct expr *tree, const struct value_scope *scope,
			  struct expr_error *error);
/* For a part that is saved: all its names are the start's. */
struct value *value__make_at_entry(const struct expr *tree, const struct value_scope *scope,
				   struct expr_error *error);
/* The value of one field, as its name gives it; NULL: out of memory, or it has no value (a
 * struct). */
struct value *value__of_field(const struct probe *probe, const struct probe_field *field);
void value__free(struct value *value);

/* The same instructions would serve both. */
bool value__is_same(const struct value *a, const struct value *b);
bool value__is_stack(const struct value *value);
/* Some part of it has that op. */
bool value__has(const struct value *value, enum value_op op);
bool value__matches(const char *text, const char *glob); /* * and ? */

/* Slow reference for what the emitted program must compute. For tests, on a simulated machine. */
struct value_world {
	uint64_t args[PROBE_MAX_ARGS], ret;
	const uint8_t *record;
	size_t record_bytes;
	uint64_t pid, tid, uid, cpu, cgroup, nsecs, latency;
	const char *comm;
	const uint8_t *start; /* SAVED */
	/* false: not readable. NULL: nothing is. */
	bool (*read)(void *to, uint64_t address, size_t bytes);
	bool is_compat;			    /* the system call is one of 32 bits */
	uint64_t divisions_by_zero, faults; /* are counted here */
};
struct value_result {
	uint64_t number;
	char text[256]; /* filled with zeros */
};
void value__reckon(const struct value *value, struct value_world *world,
		   struct value_result *result);

#endif
