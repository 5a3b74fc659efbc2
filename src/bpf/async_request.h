/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * async_request.h: the record of a request in flight, found by its address; which thread works for
 * which request, and which bio is whose; and the counters. The address of a request is soon that of
 * another one: whoever keeps it also keeps when it was submitted.
 */
#ifndef IOSONAR_BPF_ASYNC_REQUEST_H
#define IOSONAR_BPF_ASYNC_REQUEST_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "bpf/cell.h"
#include "bpf/kernel.h"
#include "wire/async.h"
#include "wire/file_id.h"

enum { ASYNC_S_IFREG = 0100000, ASYNC_S_IFDIR = 0040000, ASYNC_MERGED = 256 };
/* Of <linux/io_uring.h>; the flags of a submission are the lowest ones of the request. */
enum {
	ASYNC_SETUP_IOPOLL = 1 << 0,
	ASYNC_SETUP_SQPOLL = 1 << 1,
	ASYNC_SKIP_SUCCESS = 1 << 6,
	ASYNC_CQE_MORE = 1 << 1,
	ASYNC_COMMAND = 46, /* IORING_OP_URING_CMD */
	ASYNC_COMMAND128 = 64,
};

const volatile struct async_settings async = { 0 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct io_ring_ctx {
	unsigned int flags;
};

struct io_cqe {
	__u64 user_data;
};

struct io_kiocb {
	struct file *file; /* where a command begins, too: struct io_uring_cmd */
	struct io_ring_ctx *ctx;
	struct io_cqe cqe;
	__u8 opcode;
	unsigned int flags; /* 64 bits since 6.9; the lowest are read */
};

struct io_event {
	__u64 data;
};

/* Of libaio; begins with its struct kiocb. */
struct aio_kiocb {
	struct io_event ki_res;
};

struct task_struct___leader {
	struct task_struct___leader *group_leader;
	char comm[ASYNC_COMM_LEN];
};

struct request___command {
	void *end_io_data;
};

/* Before 5.19 (cef216fc32d7). */
struct io_kiocb___plain {
	__u64 user_data;
};

#pragma clang attribute pop

/* By address of the request. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ASYNC_REQUESTS);
	__type(key, __u64);
	__type(value, struct async_record);
} async_requests SEC(".maps");

/* What a completion names where it does not name the request, and how many in flight have it. */
struct async_name {
	__u64 ring, user_data;
};

struct async_named {
	__u64 request; /* 0: there are, or were, several: none is followed */
	__u64 nr;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* more where they are needed */
	__type(key, struct async_name);
	__type(value, struct async_named);
} async_names SEC(".maps");

/* A request, and when it was submitted: its address is soon another's. */
struct async_whose {
	__u64 request, submit_ns;
};

/* By thread: what it issues at this moment. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ASYNC_ISSUES);
	__type(key, __u32);
	__type(value, struct async_whose);
} async_issues SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ASYNC_BIOS);
	__type(key, __u64);
	__type(value, struct async_whose);
} async_bios SEC(".maps");

__u32 issues_anywhere = 0, bios_anywhere = 0; /* how many entries the tables have */
__u32 commands_anywhere = 0;		      /* 1 since the first one was submitted */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} async_records SEC(".maps");

TABLE(async_counts, struct async_counters, 1); /* one for each CPU */
TABLE(async_files, struct io_file, FILES_MOST);

#define count(what)                                                                  \
	do {                                                                         \
		__u32 cpu = bpf_get_smp_processor_id();                              \
		struct async_counters *c = bpf_map_lookup_elem(&async_counts, &cpu); \
		if (c)                                                               \
			count_up(c->what);                                           \
	} while (0)

/* Each in its own branch: the verifier takes no offset that is chosen at run time, and the kernel
 * no program that could read more arguments than the event has. */
inline_always __u64 argument(const struct bpf_raw_tracepoint_args *ctx, __u8 at)
{
	__u64 value;

	if (at == ASYNC_SECOND) {
		value = ctx->args[1];
		asm volatile("# second" : "+r"(value));
	} else if (at == ASYNC_THIRD) {
		value = ctx->args[2];
		asm volatile("# third" : "+r"(value));
	} else {
		value = ctx->args[0];
		asm volatile("# first" : "+r"(value));
	}
	return value;
}

inline_always struct async_record *request_of(__u64 request)
{
	return bpf_map_lookup_elem(&async_requests, &request);
}

inline_always struct async_record *whose(const struct async_whose *w)
{
	struct async_record *r = request_of(w->request);

	return r && r->submit_ns == w->submit_ns ? r : 0;
}

inline_always bool is_command(__u8 opcode)
{
	return opcode == ASYNC_COMMAND || opcode == ASYNC_COMMAND128;
}

#endif
