/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe.h: one place where a program can be attached, and the values available there. A
 * `system:event`, `raw:event`, `fn:name` ... of the command line becomes a list of probes (see
 * find.h); attach.h attaches them, program.h makes the instructions.
 */
#ifndef IOSONAR_PROBE_FIND_PROBE_H
#define IOSONAR_PROBE_FIND_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "probe/find/type.h"

enum probe_kind {
	PROBE_TRACEPOINT, /* block:block_rq_issue: fields of its format file */
	PROBE_RAW,	  /* raw:block_rq_issue: its typed arguments */
	PROBE_FN,	  /* fn:vfs_read: a kernel function's entry */
	PROBE_RET,	  /* ret:vfs_read */
	PROBE_USER,	  /* user:PATH:SYMBOL */
	PROBE_USERRET,
	PROBE_USDT,	/* usdt:PATH:PROVIDER:NAME */
	PROBE_PROFILE,	/* profile:HZ, on every CPU */
	PROBE_INTERVAL, /* interval:T, on one CPU */
	PROBE_SOFT,	/* soft:EVENT[:N] */
	PROBE_HW,	/* hw:EVENT[:N] */
	NR_PROBE_KINDS,
};

enum probe_place {
	PLACE_RECORD, /* a tracepoint's record: `at` bytes into ctx */
	PLACE_ARG,    /* argument number `at` from 0; also of a USDT probe */
	PLACE_RET,    /* what the function returns */
};

/* `reg` of an argument on the stack: this plus its offset, in bytes, from the first one there. */
#define PROBE_ON_STACK 0x80000000u

/* One named value. */
struct probe_field {
	const char *name;     /* owned by the probe */
	const char *declared; /* also owned: "dev_t", as a format file writes it; NULL: see type */
	struct type type;
	enum probe_place place;
	uint32_t at;
	/* PLACE_ARG of a function: the register that holds it, from 0, or PROBE_ON_STACK + n; and
	 * its 8-byte slot in fentry's ctx. They differ from `at` after a struct that is passed
	 * by value in two registers. */
	uint32_t reg, slot;
};

/* Where an argument of a USDT probe lies, from its ELF note. UNKNOWN: in a form that our
 * programs cannot read (an index register, a vector): it has no field. */
enum usdt_where { USDT_CONST, USDT_REG, USDT_MEM, USDT_UNKNOWN };
struct usdt_arg {
	enum usdt_where where;
	int64_t value;	 /* CONST; MEM: offset from the register */
	uint32_t reg_at; /* offset of the register in pt_regs */
	uint32_t size;
	bool is_signed;
};

/* Where a task has the flag of a 32-bit system call: bytes of task_struct, and the bits among them;
 * 0: unknown. */
struct probe_compat {
	uint32_t at, size;
	uint32_t bits;
};

/* Offsets in task_struct; 0: unknown. */
struct probe_task {
	uint32_t comm_at, tid_at, pid_at;
};

enum { PROBE_MAX_ARGS = 12 };

struct probe {
	enum probe_kind kind;
	char *name;	  /* as `by probe` shows it: "block:block_rq_issue", "fn:vfs_read" */
	const char *func; /* the part after the last colon, in name: as `by func` shows it */
	struct probe_field *fields;
	size_t nr_fields;
	uint32_t tracepoint_id;	    /* TRACEPOINT: from its id file */
	struct probe_compat compat; /* TRACEPOINT, RAW of all system calls */
	const struct btf *btf;	    /* RAW, FN, RET: holds the prototype; NULL: unknown */
	uint32_t btf_id;	    /* RAW: typedef btf_trace_X; FN, RET: the FUNC; 0: none */
	const char *module;	    /* RAW, FN, RET: "nvme_core"; NULL: vmlinux */
	uint64_t address;	    /* FN, RET: in kallsyms; 0: hidden */
	bool returns_nothing;	    /* RET: a void function: no `ret` */
	bool is_odd;		    /* FN, RET: a struct by value, "...", an argument on the stack:
				       fentry may refuse it */
	char *path;		    /* USER, USERRET, USDT: the file */
	uint64_t offset;	    /* USER, USERRET, USDT: file offset of the instruction */
	uint64_t semaphore;	    /* USDT: file offset of its semaphore; 0: none */
	struct usdt_arg args[PROBE_MAX_ARGS]; /* USDT */
	size_t nr_args;
	uint32_t perf_type; /* PROFILE, INTERVAL, SOFT, HW: perf_event_attr.type */
	uint64_t perf_config;
	uint64_t period; /* PROFILE: Hz; INTERVAL: ns; SOFT, HW: events per sample, 0: count */
};

const char *probe_kind__word(enum probe_kind kind); /* "tracepoint", "raw", "fn", ... */

void probe__free(struct probe *probe); /* frees what it owns, not the probe itself */
const struct probe_field *probe__field(const struct probe *probe, const char *name);
/* Takes over what the field owns, even on failure: -ENOMEM. */
int probe__add_field(struct probe *probe, const struct probe_field *field);

/* "char rwbs[10]", "struct bio *bio", as C writes it; cut at size; returns buf. */
char *probe_field__print(const struct probe_field *field, char *buf, size_t size);
/* "ssize_t vfs_read(struct file *file, ...)", of a function or a raw tracepoint with a known
 * prototype; else NULL. Cut at size; returns buf. */
char *probe__prototype(const struct probe *probe, char *buf, size_t size);

struct probe_list {
	struct probe *probes;
	size_t nr;
};
/* Takes over what the probe owns, even on failure: -ENOMEM. */
int probe_list__add(struct probe_list *list, struct probe *probe);
/* probe_list__add for a probe that was made with result err: returns err if it is not 0. */
int probe_list__add_made(struct probe_list *list, struct probe *probe, int err);
void probe_list__free(struct probe_list *list);

#endif
