/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * floor.c: what a program costs that does nothing, or only what it cannot do without. Attaches an
 * empty program to each EVENT, which is a raw tracepoint, fentry:FUNCTION or fexit:FUNCTION, and
 * stays until it is killed. clock:EVENT reads the clock, stack:EVENT takes the kernel's stack,
 * record:EVENT reads the clock and submits it, eight bytes, to a ring that nobody reads. No tool
 * that needs this can cost less at these events.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Zeroed before use: the kernel refuses what it does not know. */
static union bpf_attr attr;

static int floor_call(int command)
{
	return (int)syscall(SYS_bpf, command, &attr, sizeof(attr));
}

/* Bytes behind the head of a type. */
static size_t floor_behind(const struct btf_type *type)
{
	static const size_t one[BTF_KIND_MAX + 1] = {
		[BTF_KIND_INT] = 4,
		[BTF_KIND_ARRAY] = 12,
		[BTF_KIND_VAR] = 4,
		[BTF_KIND_DECL_TAG] = 4,
	};
	static const size_t each[BTF_KIND_MAX + 1] = {
		[BTF_KIND_STRUCT] = 12, [BTF_KIND_UNION] = 12,	 [BTF_KIND_ENUM] = 8,
		[BTF_KIND_ENUM64] = 12, [BTF_KIND_DATASEC] = 12, [BTF_KIND_FUNC_PROTO] = 8,
	};
	const unsigned int kind = BTF_INFO_KIND(type->info);

	return kind > BTF_KIND_MAX ? 0 : one[kind] + each[kind] * BTF_INFO_VLEN(type->info);
}

/* The number of the type that the kernel has for a function; 0: there is none. */
static unsigned int floor_function(const char *name)
{
	static char bytes[32 << 20];
	const struct btf_header *head = (const void *)bytes;
	FILE *in = fopen("/sys/kernel/btf/vmlinux", "r");
	size_t nr = in ? fread(bytes, 1, sizeof(bytes), in) : 0, at, end;
	unsigned int id = 1;

	if (in)
		fclose(in);
	if (nr < sizeof(*head))
		return 0;
	at = head->hdr_len + head->type_off;
	for (end = at + head->type_len; at < end; id++) {
		const struct btf_type *type = (const void *)(bytes + at);

		if (BTF_INFO_KIND(type->info) == BTF_KIND_FUNC &&
		    !strcmp(bytes + head->hdr_len + head->str_off + type->name_off, name))
			return id;
		at += sizeof(*type) + floor_behind(type);
	}
	return 0;
}

#define SET(to, value)                                                               \
	{                                                                            \
		.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (to), .imm = (value) \
	}
#define CALL(helper)                                        \
	{                                                   \
		.code = BPF_JMP | BPF_CALL, .imm = (helper) \
	}
/* The second instruction is the first one's upper half. */
#define RING(to)                                   \
	{                                          \
		.code = BPF_LD | BPF_DW | BPF_IMM, \
		.dst_reg = (to),                   \
		.src_reg = BPF_PSEUDO_MAP_FD,      \
	},                                         \
	{                                          \
	}
#define COPY(to, from)                                                                  \
	{                                                                               \
		.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = (to), .src_reg = (from) \
	}
#define END                                \
	SET(BPF_REG_0, 0),                 \
	{                                  \
		.code = BPF_JMP | BPF_EXIT \
	}
enum { FLOOR_FRAMES = 48 }; /* its stack has room for these */
enum { FLOOR_RING_BYTES = 1 << 20, FLOOR_MOST = 16 };

static const struct floor_work {
	const char *prefix;
	struct bpf_insn instructions[FLOOR_MOST];
	unsigned int nr;
} floor_works[] = {
	{ "clock:", { CALL(BPF_FUNC_ktime_get_ns), END }, 3 },
	{ "record:",
	  { RING(BPF_REG_1),
	    SET(BPF_REG_2, 8),
	    SET(BPF_REG_3, 0),
	    CALL(BPF_FUNC_ringbuf_reserve),
	    { .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_0, .off = 6 }, /* full */
	    COPY(BPF_REG_6, BPF_REG_0),
	    CALL(BPF_FUNC_ktime_get_ns),
	    { .code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_6, .src_reg = BPF_REG_0 },
	    COPY(BPF_REG_1, BPF_REG_6),
	    SET(BPF_REG_2, BPF_RB_NO_WAKEUP),
	    CALL(BPF_FUNC_ringbuf_submit),
	    END },
	  14 },
	{ "stack:",
	  { COPY(BPF_REG_2, BPF_REG_10),
	    { .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_2, .imm = -8 * FLOOR_FRAMES },
	    SET(BPF_REG_3, 8 * FLOOR_FRAMES),
	    SET(BPF_REG_4, 0),
	    CALL(BPF_FUNC_get_stack),
	    END },
	  7 },
	{ "", { END }, 2 },
};

/* One for all programs. */
static int floor_ring(void)
{
	static int ring;

	if (ring)
		return ring;
	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_RINGBUF;
	attr.max_entries = FLOOR_RING_BYTES;
	return ring = floor_call(BPF_MAP_CREATE);
}

static int floor_load(const struct floor_work *work, const char *function, int attach_type)
{
	static const char license[] = "GPL";
	struct bpf_insn instructions[FLOOR_MOST];

	memcpy(instructions, work->instructions, sizeof(instructions));
	if (instructions[0].src_reg == BPF_PSEUDO_MAP_FD)
		instructions[0].imm = floor_ring();
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = function ? BPF_PROG_TYPE_TRACING : BPF_PROG_TYPE_RAW_TRACEPOINT;
	attr.insns = (unsigned long)instructions;
	attr.insn_cnt = work->nr;
	attr.license = (unsigned long)license;
	if (function) {
		attr.expected_attach_type = (unsigned int)attach_type;
		attr.attach_btf_id = floor_function(function);
	}
	return floor_call(BPF_PROG_LOAD);
}

/* What is attached to a function has no name. */
static int floor_attach(const char *event, int program)
{
	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.name = (unsigned long)event;
	attr.raw_tracepoint.prog_fd = (unsigned int)program;
	return floor_call(BPF_RAW_TRACEPOINT_OPEN);
}

static int floor_open(const char *event)
{
	const struct floor_work *work = floor_works;
	const char *function;
	int program;

	while (strncmp(event, work->prefix, strlen(work->prefix)) != 0)
		work++;
	event += strlen(work->prefix);
	function = strchr(event, ':');
	program = floor_load(work, function ? function + 1 : NULL,
			     strncmp(event, "fexit:", 6) ? BPF_TRACE_FENTRY : BPF_TRACE_FEXIT);
	return program < 0 ? program : floor_attach(function ? NULL : event, program);
}

int main(int argc, char **argv)
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_MEMLOCK, &unlimited); /* 5.10 */
	signal(SIGINT, SIG_DFL); /* a shell starts what runs in the background with it ignored */
	for (int i = 1; i < argc; i++) {
		if (floor_open(argv[i]) < 0) {
			fprintf(stderr, "floor: %s: %s\n", argv[i], strerror(errno));
			return 1;
		}
	}
	pause();
	return 0;
}
