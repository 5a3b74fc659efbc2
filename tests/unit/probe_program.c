/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_program.c: the instructions of a few programs, to the letter: so that nothing is computed
 * that nobody needs. That programs compute the right thing is shown by tests/load.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "wire/probe_maps.h"
#include "probe/code/program.h"
#include "probe_event.h"

static const struct program_maps maps = { 3, 4, 5, 6, 7, 8, 9, .fronts = 14 };
static char printed[16384];
static struct plan plan; /* of the last program: it points into it */

/* Prints the program of a line at one event, or what is said instead. */
static int print_program(const struct line *line, int event, struct program_wants wants,
			 struct program *program)
{
	struct probe_list probes = { &event_probes[event], 1 };
	FILE *out = tmpfile(), *said = tmpfile();
	int err, kept = dup(STDERR_FILENO);

	plan__free(&plan);
	dup2(fileno(said), STDERR_FILENO);
	err = plan__make(&plan, line, &probes, NULL);
	wants.plan = &plan;
	wants.maps = &maps;
	memset(program, 0, sizeof(*program));
	err = err ? err : program__make(program, &wants);
	dup2(kept, STDERR_FILENO);
	close(kept);
	if (!err)
		program__print(program, out);
	rewind(err ? said : out);
	printed[fread(printed, 1, sizeof(printed) - 1, err ? said : out)] = 0;
	fclose(out);
	fclose(said);
	return err;
}

static void is_program(const char *what, const struct line *line, struct program_wants wants,
		       const char *want)
{
	struct program program;

	print_program(line, EVENT_RECORD, wants, &program);
	is_str(printed, want, what);
	program__free(&program);
}

/* The part that a value needs, in a program that does nothing else. */
static void has_part(int event, struct program_wants wants, const char *text, const char *want)
{
	struct line line = { .action = LINE_COUNT, .condition = (char *)text };
	struct program program;
	char bare[sizeof(printed)], *to = bare;
	const char *from;

	print_program(&line, event, wants, &program);
	for (from = printed; *from; from++) { /* without numbers and remarks */
		if (from == printed || from[-1] == '\n')
			from += strcspn(from, ":") + 2;
		if (*from == '\t')
			from += strcspn(from, "\n");
		*to++ = *from;
	}
	*to = 0;
	if (!ok(strstr(bare, want), "%s", text))
		printf("# there is no\n%s# in\n%s", want, bare);
	program__free(&program);
}

static void is_refused(int event, struct program_wants wants, const char *text, const char *want)
{
	struct line line = { .action = LINE_COUNT, .condition = (char *)text };
	struct program program;
	int err = print_program(&line, event, wants, &program);

	is_u64((uint64_t)-err, EINVAL, text);
	is_str(printed, want, "is refused");
}

static const struct program_wants record = { .ctx = CTX_RECORD, .cell = 9 };

static void check_count(void)
{
	is_program("count", &(struct line){ .action = LINE_COUNT }, record,
		   "   0: *(u32 *)(r10 - 8) = 9\n"
		   "   1: r1 = map[fd:3]\n"
		   "   3: r2 = r10\n"
		   "   4: r2 += -8\n"
		   "   5: call bpf_map_lookup_elem#1\n"
		   "   6: if r0 == 0 goto pc+8\n"
		   "   7: r7 = r0\n"
		   "   8: r0 = *(u64 *)(r7 + 0)\n"
		   "   9: r0 += 1\n"
		   "  10: *(u64 *)(r7 + 0) = r0\n"
		   "  11: r1 = *(u64 *)(r7 + 128)\n"
		   "  12: r1 += 1\n"
		   "  13: *(u64 *)(r7 + 128) = r1\n"
		   "  14: goto pc+0\n"
		   "  15: r0 = 1\n"
		   "  16: exit\n");
}

/* The first keys: in the front, the hash is behind it. */
static void check_front(void)
{
	static const struct program_wants front = { .ctx = CTX_RECORD,
						    .cell = 9,
						    .has_front = true };
	struct line line = { .action = LINE_COUNT, .by = "cpu" };
	struct program program;
	const char *end;

	print_program(&line, EVENT_RECORD, front, &program);
	end = strstr(printed, "  32: ");
	printed[end ? end - printed : 0] = 0; /* the hash, as below */
	is_str(printed,
	       "   0: call bpf_get_smp_processor_id#8\t; cpu\n"
	       "   1: r1 = r0\n"
	       "   2: *(u64 *)(r10 - 8) = r1\n"
	       "   3: *(u32 *)(r10 - 16) = 9\n"
	       "   4: r1 = map[fd:14]\n"
	       "   6: r2 = r10\n"
	       "   7: r2 += -16\n"
	       "   8: call bpf_map_lookup_elem#1\n"
	       "   9: if r0 == 0 goto pc+22\n"
	       "  10: r1 = *(u64 *)(r10 - 8)\n"
	       "  11: r2 = 0x9e3779b97f4a7c15 ll\n"
	       "  13: r1 *= r2\n"
	       "  14: r1 >>= 59\n"
	       "  15: r1 <<= 7\n"
	       "  16: r0 += r1\n"
	       "  17: r1 = *(u64 *)(r0 + 0)\n"
	       "  18: if r1 == 0 goto pc+10\n"
	       "  19: r1 = *(u64 *)(r0 + 24)\n"
	       "  20: r2 = *(u64 *)(r10 - 8)\n"
	       "  21: if r1 == r2 goto pc+46\n"
	       "  22: r0 += 64\n"
	       "  23: r1 = *(u64 *)(r0 + 0)\n"
	       "  24: if r1 == 0 goto pc+4\n"
	       "  25: r1 = *(u64 *)(r0 + 24)\n"
	       "  26: r2 = *(u64 *)(r10 - 8)\n"
	       "  27: if r1 == r2 goto pc+40\n"
	       "  28: goto pc+3\n"
	       "  29: r2 = *(u64 *)(r10 - 8)\n"
	       "  30: *(u64 *)(r0 + 24) = r2\n"
	       "  31: goto pc+36\n",
	       "a key: its row is in one of two places, or in the hash");
	program__free(&program);
}

/* The cell is for what finds no room. */
static void check_keys(void)
{
	is_program("a key: nothing but its row on the way",
		   &(struct line){ .action = LINE_COUNT, .by = "cpu" }, record,
		   "   0: call bpf_get_smp_processor_id#8\t; cpu\n"
		   "   1: r1 = r0\n"
		   "   2: *(u64 *)(r10 - 8) = r1\n"
		   "   3: r1 = map[fd:4]\n"
		   "   5: r2 = r10\n"
		   "   6: r2 += -8\n"
		   "   7: call bpf_map_lookup_elem#1\n"
		   "   8: if r0 != 0 goto pc+30\n"
		   "   9: *(u64 *)(r10 - 32) = 0\n"
		   "  10: *(u64 *)(r10 - 24) = 0\n"
		   "  11: *(u64 *)(r10 - 16) = 0\n"
		   "  12: r1 = map[fd:4]\n"
		   "  14: r2 = r10\n"
		   "  15: r2 += -8\n"
		   "  16: r3 = r10\n"
		   "  17: r3 += -32\n"
		   "  18: r4 = 1\n"
		   "  19: call bpf_map_update_elem#2\n"
		   "  20: r0 <<= 32\n"
		   "  21: r0 s>>= 32\n"
		   "  22: r1 = map[fd:4]\n"
		   "  24: r2 = r10\n"
		   "  25: r2 += -8\n"
		   "  26: call bpf_map_lookup_elem#1\n"
		   "  27: if r0 != 0 goto pc+11\n"
		   "  28: *(u32 *)(r10 - 40) = 9\n"
		   "  29: r1 = map[fd:3]\n"
		   "  31: r2 = r10\n"
		   "  32: r2 += -40\n"
		   "  33: call bpf_map_lookup_elem#1\n"
		   "  34: if r0 == 0 goto pc+8\n"
		   "  35: r1 = 1\n"
		   "  36: lock *(u64 *)(r0 + 0) += r1\n"
		   "  37: lock *(u64 *)(r0 + 40) += r1\n"
		   "  38: goto pc+4\n"
		   "  39: r1 = *(u64 *)(r0 + 0)\n"
		   "  40: r1 += 1\n"
		   "  41: *(u64 *)(r0 + 0) = r1\n"
		   "  42: goto pc+0\n"
		   "  43: r0 = 1\n"
		   "  44: exit\n");
}

static void check_filter(void)
{
	const struct line line = { .action = LINE_COUNT, .pid = 42, .cgroup = 77 };

	is_program("filters come first", &line, record,
		   "   0: call bpf_get_current_pid_tgid#14\n"
		   "   1: *(u64 *)(r10 - 8) = r0\n"
		   "   2: r0 >>= 32\n"
		   "   3: if r0 != 42 goto pc+20\n"
		   "   4: r1 = map[fd:9]\n"
		   "   6: r2 = 0\n"
		   "   7: call bpf_current_task_under_cgroup#37\n"
		   "   8: if r0 != 1 goto pc+15\n"
		   "   9: *(u32 *)(r10 - 16) = 9\n"
		   "  10: r1 = map[fd:3]\n"
		   "  12: r2 = r10\n"
		   "  13: r2 += -16\n"
		   "  14: call bpf_map_lookup_elem#1\n"
		   "  15: if r0 == 0 goto pc+8\n"
		   "  16: r7 = r0\n"
		   "  17: r0 = *(u64 *)(r7 + 0)\n"
		   "  18: r0 += 1\n"
		   "  19: *(u64 *)(r7 + 0) = r0\n"
		   "  20: r1 = *(u64 *)(r7 + 128)\n"
		   "  21: r1 += 1\n"
		   "  22: *(u64 *)(r7 + 128) = r1\n"
		   "  23: goto pc+0\n"
		   "  24: r0 = 1\n"
		   "  25: exit\n");
}

static void check_condition(void)
{
	const struct line line = { .action = LINE_COUNT, .condition = "error < 0" };
	struct program_wants atomic = record;

	atomic.is_atomic = true;
	is_program("a condition, where a hit may be interrupted", &line, atomic,
		   "   0: r6 = r1\n"
		   "   1: *(u32 *)(r10 - 8) = 9\n"
		   "   2: r1 = map[fd:3]\n"
		   "   4: r2 = r10\n"
		   "   5: r2 += -8\n"
		   "   6: call bpf_map_lookup_elem#1\n"
		   "   7: if r0 == 0 goto pc+13\n"
		   "   8: r7 = r0\n"
		   "   9: r0 = 1\n"
		   "  10: lock *(u64 *)(r7 + 0) += r0\n"
		   "  11: r1 = *(u32 *)(r6 + 32)\t; error\n"
		   "  12: r1 <<= 32\n"
		   "  13: r1 s>>= 32\n"
		   "  14: if r1 s< 0 goto pc+3\t; error < 0\n"
		   "  15: r0 = 1\n"
		   "  16: lock *(u64 *)(r7 + 8) += r0\n"
		   "  17: goto pc+3\n"
		   "  18: r1 = 1\n"
		   "  19: lock *(u64 *)(r7 + 128) += r1\n"
		   "  20: goto pc+0\n"
		   "  21: r0 = 1\n"
		   "  22: exit\n");
}

static void check_operations(void)
{
	has_part(EVENT_RECORD, record, "bytes + nr_sector == 5",
		 "r1 = *(u32 *)(r6 + 28)\nr2 = *(u32 *)(r6 + 24)\nr1 += r2\nif r1 == 5 goto");
	has_part(EVENT_RECORD, record, "bytes + (nr_sector + (dev + (bytes + (dev + error))))",
		 "r1 = *(u32 *)(r6 + 28)\nr2 = *(u32 *)(r6 + 24)\nr3 = *(u32 *)(r6 + 8)\n"
		 "r4 = *(u32 *)(r6 + 28)\n*(u64 *)(r10 - 8) = r4\nr4 = *(u32 *)(r6 + 8)\n"
		 "*(u64 *)(r10 - 16) = r4\nr4 = *(u32 *)(r6 + 32)\nr4 <<= 32\nr4 s>>= 32\n"
		 "r5 = r4\nr4 = *(u64 *)(r10 - 16)\nr4 += r5\nr5 = r4\nr4 = *(u64 *)(r10 - 8)\n"
		 "r4 += r5\nr3 += r4\nr2 += r3\nr1 += r2\nif r1 != 0 goto");
	has_part(EVENT_RECORD, record, "error / -3",
		 "r2 = -3\nr0 = r1\nr0 ^= r2\nif r1 s>= 0 goto pc+1\nr1 = -r1\n"
		 "if r2 s>= 0 goto pc+1\nr2 = -r2\nr1 /= r2\nif r0 s>= 0 goto pc+1\nr1 = -r1\n");
	has_part(EVENT_RECORD, record, "error % 3",
		 "r2 = 3\nr0 = r1\nif r1 s>= 0 goto pc+1\nr1 = -r1\nif r2 s>= 0 goto pc+1\n"
		 "r2 = -r2\nr1 %= r2\nif r0 s>= 0 goto pc+1\nr1 = -r1\n");
	has_part(EVENT_RECORD, record, "sector / 512", "r1 = *(u64 *)(r6 + 16)\nr1 /= 512\n");
	has_part(EVENT_RECORD, record, "sector << bytes",
		 "if r2 > 63 goto pc+2\nr1 <<= r2\ngoto pc+1\nr1 = 0\n");
	has_part(EVENT_RECORD, record, "sector << 64", "r1 = *(u64 *)(r6 + 16)\nr1 = 0\n");
	has_part(EVENT_RECORD, record, "!error || bytes && sector",
		 "if r1 == 0 goto pc+8\nr1 = *(u32 *)(r6 + 28)\nif r1 == 0 goto pc+2\n"
		 "r1 = *(u64 *)(r6 + 16)\nif r1 != 0 goto pc+4\n");
	has_part(EVENT_RECORD, record, "cpu * tid",
		 "call bpf_get_smp_processor_id#8\nr1 = r0\n*(u64 *)(r10 - 8) = r1\n"
		 "call bpf_get_current_pid_tgid#14\nr1 = r0\nr1 <<= 32\nr1 >>= 32\nr2 = r1\n"
		 "r1 = *(u64 *)(r10 - 8)\nr1 *= r2\n");
}

static void check_texts(void)
{
	has_part(EVENT_RECORD, record, "str(filename) == \"/tmp/x.123\"",
		 "r3 = r1\nr1 = r10\nr1 += -72\nr2 = 65\ncall bpf_probe_read_user_str#114\n"
		 "if r0 s>= 0 goto pc+4\nr0 = *(u64 *)(r7 + 88)\nr0 += 1\n*(u64 *)(r7 + 88) = r0\n"
		 "*(u8 *)(r10 - 1) = 255\n"
		 "r1 = *(u64 *)(r10 - 72)\nr0 = 0x312e782f706d742f ll\nif r1 != r0 goto pc+3\n"
		 "r1 = *(u64 *)(r10 - 64)\nif r1 != 13106 goto pc+1\n");
	has_part(EVENT_RECORD, record, "str(filename, 15) like /dev/n*",
		 "r1 = *(u64 *)(r10 - 16)\nr0 = 0xffffffffffff ll\nr1 &= r0\n"
		 "r0 = 0x6e2f7665642f ll\nif r1 != r0 goto");
	has_part(EVENT_RECORD, record, "str(cmd, 9) == x",
		 "r3 = *(u32 *)(r6 + 60)\nr3 &= 65535\nr3 += r6\nr1 = r10\nr1 += -16\nr2 = 10\n"
		 "call bpf_probe_read_kernel_str#115\n");
	has_part(EVENT_RAW, (struct program_wants){ .ctx = CTX_RAW }, "str(name, 7) == x",
		 "r3 = r1\nr0 = r3\nr0 >>= " /* and a bit of this machine's addresses */);
}

static void check_contexts(void)
{
	struct program_wants raw = { .ctx = CTX_RAW }, tracing = { .ctx = CTX_TRACING };
	struct program_wants regs = { .ctx = CTX_REGS }, asks = { .ctx = CTX_REGS };

	asks.asks_address = true;
	/* What others see of the event: see program__verdict. */
	has_part(EVENT_RECORD, record, "error", "r0 = 1\nexit\n");
	has_part(EVENT_RAW, raw, "rq", "r0 = 0\nexit\n");
	has_part(EVENT_FN, tracing, "name", "r0 = 0\nexit\n");
	has_part(EVENT_FN, regs, "rq->tag", "r0 = 0\nexit\n");
	has_part(EVENT_RAW, raw, "rq", "r1 = *(u64 *)(r6 + 0)\nif r1 != 0 goto");
	has_part(EVENT_RAW, tracing, "rq", "r1 = *(u64 *)(r6 + 0)\nr1 = le64 r1\nif r1 != 0 goto");
	has_part(EVENT_RAW, raw, "nr_bytes", "r1 = *(u64 *)(r6 + 8)\nr1 <<= 32\nr1 >>= 32\n");
	has_part(EVENT_FN, tracing, "name", "r1 = *(u64 *)(r6 + 32)\nr1 = le64 r1\n");
	has_part(EVENT_RAW, raw, "rq->tag",
		 "r3 = r1\nr3 += 8\nr1 = r10\nr1 += -8\nr2 = 4\ncall bpf_probe_read_kernel#113\n"
		 "if r0 s>= 0 goto pc+3\nr0 = *(u64 *)(r7 + 88)\nr0 += 1\n*(u64 *)(r7 + 88) = r0\n"
		 "r1 = *(u32 *)(r10 - 8)\nr1 <<= 32\nr1 s>>= 32\n");
	has_part(EVENT_RAW, raw, "rq->depth", "r1 = *(u16 *)(r10 - 8)\nr1 <<= 54\nr1 s>>= 59\n");
	/* Whose memory a function's argument points into nobody says. */
	has_part(EVENT_FN, regs, "rq->tag",
		 "r2 = 4\ncall bpf_probe_read_kernel#113\ngoto pc+4\n"
		 "r1 = r10\nr1 += -8\nr2 = 4\ncall bpf_probe_read_user#112\n"
		 "if r0 s>= 0 goto pc+3\n");
	has_part(EVENT_FN, asks, "probe", "r1 = r6\ncall bpf_get_func_ip#173\nr1 = r0\n");
	has_part(EVENT_USDT, regs, "arg0 + arg1",
		 "r1 = 7\nr2 = *(u64 *)(r6 + 16)\nr2 <<= 32\nr2 s>>= 32\nr1 += r2\n");
	has_part(EVENT_USDT, regs, "arg2",
		 "r3 = *(u64 *)(r6 + 24)\nr3 += -8\nr1 = r10\nr1 += -8\nr2 = 2\n"
		 "call bpf_probe_read_user#112\n");
#if defined(__aarch64__)
	/* The ninth argument is the first on the stack. */
	has_part(EVENT_USER, regs, "arg7", "r1 = *(u64 *)(r6 + 56)\n");
	has_part(EVENT_USER, regs, "arg8", "r3 = *(u64 *)(r6 + 248)\nr3 += 0\nr1 = r10\n");
	has_part(EVENT_USER, regs, "arg11",
		 "r3 = *(u64 *)(r6 + 248)\nr3 += 24\nr1 = r10\nr1 += -8\nr2 = 8\n"
		 "call bpf_probe_read_user#112\nif r0 s>= 0 goto pc+3\n");
	has_part(EVENT_FN, regs, "name", "r1 = *(u64 *)(r6 + 32)\n");
	has_part(EVENT_RET, regs, "ret", "r1 = *(u64 *)(r6 + 0)\nr1 <<= 32\nr1 s>>= 32\n");
#elif defined(__x86_64__)
	/* The seventh argument is the first on the stack, above the return address. */
	has_part(EVENT_USER, regs, "arg5", "r1 = *(u64 *)(r6 + 64)\n");
	has_part(EVENT_USER, regs, "arg6",
		 "r3 = *(u64 *)(r6 + 152)\nr3 += 8\nr1 = r10\nr1 += -8\nr2 = 8\n"
		 "call bpf_probe_read_user#112\nif r0 s>= 0 goto pc+3\n");
	has_part(EVENT_USER, regs, "arg11", "r3 = *(u64 *)(r6 + 152)\nr3 += 48\n");
	has_part(EVENT_FN, regs, "name", "r1 = *(u64 *)(r6 + 72)\n");
	has_part(EVENT_RET, regs, "ret", "r1 = *(u64 *)(r6 + 80)\nr1 <<= 32\nr1 s>>= 32\n");
#endif
	is_refused(EVENT_RAW, record, "1 + rq",
		   "iosonar: raw:rq_done: 'rq': this event has no arguments\n");
	is_refused(EVENT_RECORD, raw, "bytes",
		   "iosonar: block:rq_issue: 'bytes': a raw tracepoint has no record\n");
	is_refused(EVENT_USER, regs, "arg12",
		   "iosonar: if: this event has 12 arguments: arg0 to arg11\narg12\n^\n");
}

/* Where a text is looked at character by character it is in the cell. */
static void check_scratch(void)
{
	has_part(EVENT_RECORD, record, "str(cmd, 200) like \"*x\" && str(cmd, 199) like \"*x\"",
		 "*(u64 *)(r7 + 160) = 0\n");
}

/* The flag is in the task, and the mark above the number. */
static void check_compat(void)
{
	event_probes[EVENT_RECORD].compat = (struct probe_compat){ .at = 24, .size = 4, .bits = 2 };
	has_part(EVENT_RECORD, record, "syscall(bytes) == 20",
		 "*(u64 *)(r10 - 8) = r1\ncall bpf_get_current_task#35\nr3 = r0\nr3 += 24\n"
		 "r1 = r10\nr1 += -16\nr2 = 4\ncall bpf_probe_read_kernel#113\n"
		 "r2 = *(u32 *)(r10 - 16)\nr1 = *(u64 *)(r10 - 8)\nr2 &= 2\n"
		 "if r2 == 0 goto pc+3\nr2 = 0x100000000 ll\nr1 |= r2\nif r1 == 20 goto");
	event_probes[EVENT_RECORD].compat.bits = 0;
	has_part(EVENT_RECORD, record, "syscall(bytes) == 20",
		 "r1 = *(u32 *)(r6 + 28)\nif r1 == 20 goto");
}

/* The command by words, where programs may load from the task. */
static void check_task(void)
{
	static const struct probe_task task = { .comm_at = 1000, .tid_at = 600, .pid_at = 604 };
	struct program_wants wants = { .ctx = CTX_RAW, .task = &task };

	has_part(EVENT_RAW, wants, "comm == dd",
		 "call bpf_get_current_task_btf#158\nr4 = r0\nr1 = *(u64 *)(r4 + 1000)\n");
	has_part(EVENT_RAW, wants, "comm == dd",
		 "if r2 != -1 goto pc+18\nr1 = *(u64 *)(r4 + 1008)\n");
	has_part(EVENT_RAW, (struct program_wants){ .ctx = CTX_RAW }, "comm == dd",
		 "r2 = 16\ncall bpf_get_current_comm#16\n");
}

/* The program at the entry of a function that shows members of its argument. */
static void print_call(const char *shown, uint32_t behind_bytes, bool is_direct)
{
	const struct plan_call call = {
		.probe = &event_probes[EVENT_FN],
		.follows = "arg0",
		.shown = shown,
		.behind_bytes = behind_bytes,
	};
	const struct line nobody = { 0 };
	const struct program_wants wants = {
		.plan = &plan,
		.ctx = CTX_TRACING,
		.maps = &maps,
		.is_direct = is_direct,
	};
	struct program program = { 0 };
	FILE *out = tmpfile();

	plan__free(&plan);
	memset(printed, 0, sizeof(printed));
	if (ok(!plan__make_calls(&plan, &nobody, &call, 1) && !program__make(&program, &wants),
	       "%s: made", shown))
		program__print(&program, out);
	rewind(out);
	printed[fread(printed, 1, sizeof(printed) - 1, out)] = 0;
	fclose(out);
	program__free(&program);
}

static void check_direct(void)
{
	print_call("arg0->tag", 0, true);
	ok(strstr(printed, "r9 = *(u64 *)(r6 + 0)"), "an object in its register");
	ok(strstr(printed, "r1 = *(u32 *)(r9 + 8)"), "a member is one load");
	ok(strstr(printed, "r4 |= r1") && strstr(printed, "if r4 == 0 goto"),
	   "zeros alone are in doubt");
	ok(strstr(printed, "call bpf_probe_read_kernel#113"), "then a helper reads");
	print_call("arg0->tag, arg0->q->disk", 0, true);
	ok(strstr(printed, "r5 = *(u64 *)(r9 + 0)") && strstr(printed, "r1 = *(u64 *)(r5 + 8)"),
	   "through a pointer");
	ok(!strstr(printed, "if r4 == 0 goto"), "a good pointer is proof");
	print_call("arg0->tag", 0, false);
	ok(!strstr(printed, "(r9 + "), "not where the verifier refused it");
	print_call("arg0->tag, arg0->name", 0, true);
	ok(!strstr(printed, "(r9 + "), "not beside a text that a helper reads");
	print_call("arg0->tag", 4, true);
	ok(!strstr(printed, "(r9 + "), "not behind the struct");
}

static void check_blame(void)
{
	static const char log[] =
		"func#0 @0\n0: R1=ctx(off=0,imm=0) R10=fp0\n0: (bf) r6 = r1\n"
		"11: (61) r1 = *(u32 *)(r6 +28)\ninvalid bpf_context access off=28\n"
		"processed 9 insns\n";
	const struct line line = { .action = LINE_COUNT, .condition = "error && bytes" };
	const struct value *blamed;
	struct program program;

	print_program(&line, EVENT_RECORD, record, &program);
	blamed = program__blame(&program, log);
	ok(!blamed, "the log ends in what is no value's");
	blamed = program__blame(&program, "16: (61) r1 = *(u32 *)(r6 +28)\nbad\n");
	ok(blamed && blamed->at == 9 && blamed->len == 5, "or in the second value");
	ok(!program__blame(&program, "") && !program__blame(&program, "999: (61) x"),
	   "or nobody knows where");
	program__free(&program);
}

/* The program of a system call for one of its turns, into printed. */
static void print_turn(const struct line *line, bool holds, enum program_turn turn)
{
	static struct probe_field exec_fields[] = {
		{ .name = "filename", .type = { .kind = TYPE_TEXT, .size = 4 }, .at = 8 },
		{ .name = "old_pid", .type = EVENT_NUMBER(4, true), .at = 16 },
	};
	static char call_name[] = "syscalls:sys_enter_execve";
	static const struct probe exec = { EVENT_FIELDS(exec_fields) };
	struct probe call = event_probes[EVENT_RECORD];
	struct probe_list probes = { &call, 1 };
	const struct program_wants wants = {
		.ctx = CTX_RECORD, .plan = &plan, .maps = &maps, .holds = holds, .turn = turn
	};
	struct program program;
	FILE *out = tmpfile();

	call.name = call_name;
	call.func = call_name + strlen("syscalls:");
	plan__free(&plan);
	printed[0] = 0;
	if (!plan__make(&plan, line, &probes, NULL)) {
		plan.probes[0].execed = &exec;
		if (!program__make(&program, &wants)) {
			program__print(&program, out);
			program__free(&program);
		}
	}
	rewind(out);
	printed[fread(printed, 1, sizeof(printed) - 1, out)] = 0;
	fclose(out);
	plan__free(&plan); /* it points into call */
	memset(&plan, 0, sizeof(plan));
}

static bool calls(const char *helper)
{
	char text[64];

	snprintf(text, sizeof(text), "bpf_%s#", helper);
	return strstr(printed, text);
}

/* A text that is not in memory as its call begins. */
static void check_turns(void)
{
	const struct line shown = { .action = LINE_PRINT, .show = "str(filename), comm, uid, cpu" };
	const struct line other = { .action = LINE_COUNT, .by = "str(sector)" };

	print_turn(&shown, false, TURN_FIRST);
	ok(calls("probe_read_user_str") && !calls("ringbuf_discard") && !calls("map_update_elem"),
	   "a hit that may not be held");
	print_turn(&shown, true, TURN_FIRST);
	ok(calls("probe_read_user_str") && calls("ringbuf_discard") && calls("map_update_elem"),
	   "one that may: its record goes, it is noted");
	print_turn(&shown, false, TURN_ENDED);
	ok(calls("probe_read_user_str") && calls("map_delete_elem"), "is read as the call ends");
	ok(!calls("get_current_comm") && !calls("get_current_uid_gid") && !calls("ktime_get_ns"),
	   "with the task and the time of its begin");
	print_turn(&shown, false, TURN_EXEC);
	ok(calls("probe_read_kernel_str") && !calls("probe_read_user_str"),
	   "a new program's path is the kernel's copy");
	print_turn(&other, false, TURN_EXEC);
	ok(calls("map_delete_elem") && !calls("probe_read_user_str"),
	   "other addresses mean nothing any more");
}

int main(void)
{
	events_make();
	check_count();
	check_front();
	check_keys();
	check_filter();
	check_condition();
	check_operations();
	check_texts();
	check_contexts();
	check_scratch();
	check_compat();
	check_task();
	check_direct();
	check_blame();
	check_turns();
	plan__free(&plan);
	btf__free(event_btf);
	return done_testing();
}
