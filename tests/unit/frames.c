/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frames.c: is a stack named from its first frame of interest on, innermost first? Frames of this
 * program, and of this kernel, whose addresses are looked up in /proc/kallsyms by other code.
 */
#include <stdlib.h>
#include <unistd.h>
#include "symbol/frames.h"
#include "tap.h"

/* Functions that lie side by side, so that a call at the end of one returns to the other. */
#define FUNCTION(name) \
	".globl " name "\n.type " name ", %function\n" name ": .space 64\n.size " name ", 64\n"
__asm__(".text\n" FUNCTION("called") FUNCTION("neighbour") FUNCTION("bpf_of_a_process")
		FUNCTION("\"semi;colon\""));
extern const char called[], neighbour[], bpf_of_a_process[];

static uint64_t at(const char *function)
{
	return (uint64_t)(uintptr_t)function;
}

static void is_named(struct frames *frames, const struct io_stack *stack, const char *want,
		     const char *what)
{
	char *text = frames__text(frames, stack, (uint32_t)getpid());

	if (want)
		is_str(text, want, what);
	else
		ok(!text, "%s", what);
	free(text);
}

static void check_user(struct frames *frames)
{
	struct io_stack stack = { .user = 1, .nr = 3 };

	stack.frames[0] = at(neighbour);
	stack.frames[1] = at(neighbour);
	stack.frames[2] = at(bpf_of_a_process) + 8;
	is_named(frames, &stack, "neighbour;called;bpf_of_a_process",
		 "the innermost is where it is, another where it called, none is left out");
	stack.is_truncated = 1;
	is_named(frames, &stack, "neighbour;called;bpf_of_a_process;[truncated]", "truncated");
	ok(frames__is_truncated("a;[truncated]") && !frames__is_truncated("[truncated];a") &&
		   !frames__is_truncated("a") && !frames__is_truncated(NULL),
	   "and known as such by its end");
	stack.is_truncated = 0;
	stack.frames[1] = at(bpf_of_a_process) + 64 + 8; /* behind it */
	is_named(frames, &stack, "neighbour;semi:colon;bpf_of_a_process",
		 "the separator in a name does not make two of it");
	stack.nr = 1;
	stack.frames[0] = 4096;
	is_named(frames, &stack, "[unknown]", "what is nowhere has a name, too");
	stack.nr = 0;
	is_named(frames, &stack, NULL, "a stack without frames is no text");
}

/* An address inside the kernel's function, 0 if it is hidden or not there. */
static uint64_t kernel_at(const char *function)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	unsigned long long address, found = 0;
	char line[512], type, name[256];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%llx %c %255s", &address, &type, name) == 3 &&
		    strchr("tT", type) && !strcmp(name, function) && !found)
			found = address;
	if (file)
		fclose(file);
	return found ? found + 4 : 0;
}

static void check_kernel(struct frames *frames)
{
	uint64_t hook = kernel_at("bpf_trace_run1"),
		 event = kernel_at("__traceiter_block_bio_queue");
	uint64_t submit = kernel_at("submit_bio"), reads = kernel_at("vfs_read");
	struct io_stack stack = { .nr = 5 };

	if (!hook || !event || !submit || !reads) {
		ok(true, "frames of the kernel # SKIP /proc/kallsyms does not tell its addresses");
		return;
	}
	stack.frames[0] = 5; /* a program that was compiled at run time */
	stack.frames[1] = hook;
	stack.frames[2] = event;
	stack.frames[3] = submit;
	stack.frames[4] = reads;
	is_named(frames, &stack, "submit_bio;vfs_read", "our hook is left out, and all before it");
	stack.nr = 3;
	is_named(frames, &stack, NULL, "a stack of nothing else is no text");
	stack.nr = 2;
	stack.frames[0] = submit;
	stack.frames[1] = reads;
	is_named(frames, &stack, "submit_bio;vfs_read", "without a hook all is named");
	stack.nr = 12;
	for (size_t i = 0; i < 12; i++)
		stack.frames[i] = i == 11 ? hook : submit;
	is_named(frames, &stack,
		 "submit_bio;submit_bio;submit_bio;submit_bio;submit_bio;submit_bio;submit_bio;"
		 "submit_bio;submit_bio;submit_bio;submit_bio;bpf_trace_run1",
		 "another's hook, far from the innermost, stays");
}

/* A function of the kernel whose name begins as those of trampolines do. */
static void check_passage(struct frames *frames)
{
	uint64_t passage = kernel_at("bpf_trampoline_get"), submit = kernel_at("submit_bio");
	struct io_stack stack = { .nr = 3, .frames = { submit, passage, submit } };

	if (!passage || !submit) {
		ok(true, "trampolines # SKIP /proc/kallsyms does not tell their addresses");
		return;
	}
	is_named(frames, &stack, "submit_bio;bpf_trampoline_get;submit_bio",
		 "a trampoline between two functions is not the hook");
	stack.frames[0] = 5;
	is_named(frames, &stack, "submit_bio", "one behind a program is");
}

static void check_next(void)
{
	char name[FRAME_NAME], hostile[2 * FRAME_NAME];
	const char *text = "submit_bio;;vfs_read";

	text = frames__next(text, name);
	is_str(name, "submit_bio", "the innermost");
	text = frames__next(text, name);
	is_str(name, "", "a name may be empty");
	ok(!frames__next(text, name), "the last has none behind it");
	is_str(name, "vfs_read", "but a name");
	memset(hostile, 'x', sizeof(hostile));
	hostile[sizeof(hostile) - 1] = 0;
	ok(!frames__next(hostile, name), "a long name is one");
	is_u64(strlen(name), FRAME_NAME - 1, "and is cut");
}

int main(void)
{
	struct frames *frames = frames__new(true, true);

	if (!frames)
		printf("Bail out! no memory\n"), exit(1);
	frames__prepare(frames);
	check_user(frames);
	check_kernel(frames);
	check_passage(frames);
	check_next();
	frames__free(frames);
	frames__free(NULL);
	return done_testing();
}
