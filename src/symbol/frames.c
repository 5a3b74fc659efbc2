/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/log.h"
#include "decode/column.h"
#include "symbol/symbols.h"

enum { FRAMES_OF_OURS = 8 }; /* the hook's frames are among the first */

static const char frames_truncated[] = "[truncated]";

struct frames {
	struct symbols *symbols;
	bool kernel, user;
};

struct frames *frames__new(bool kernel, bool user)
{
	struct frames *frames = calloc(1, sizeof(*frames));

	if (!frames)
		return NULL;
	frames->symbols = symbols__new("");
	frames->kernel = kernel;
	frames->user = user;
	if (frames->symbols && user)
		symbols__prepare_user(frames->symbols);
	if (frames->symbols)
		return frames;
	free(frames);
	return NULL;
}

void frames__prepare(struct frames *frames)
{
	const char *trouble = NULL;

	if (frames->kernel && symbols__prepare_kernel(frames->symbols))
		trouble = symbols__kernel_trouble(frames->symbols);
	if (trouble)
		log_warn("%s", trouble);
	/* Its answer means that the kernel now notes what is executed. */
	if (frames->user)
		symbols__see(frames->symbols,
			     &(struct symbols_process){ .pid = (uint32_t)getpid() });
	trouble = frames->user ? symbols__user_trouble(frames->symbols) : NULL;
	if (trouble)
		log_warn("%s", trouble);
}

void frames__free(struct frames *frames)
{
	if (!frames)
		return;
	symbols__free(frames->symbols);
	free(frames);
}

/* bpf_prog_…, bpf_trace_run1, __bpf_trace_block_bio_queue, __traceiter_block_bio_queue */
static bool frame_is_ours(const char *name)
{
	static const char *const begins[] = { "bpf_",	       "__bpf_",	 "___bpf_",
					      "__traceiter_",  "trace_call_bpf", "perf_trace_",
					      "perf_syscall_", "kprobe_",	 "kretprobe_",
					      "ftrace_",       "fprobe_",	 "__ftrace_" };

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return true;
	return false;
}

/*
 * A function with a program of ours at its start or its end has called through a trampoline, which
 * is then between it and its caller.
 */
static bool frame_is_passage(const char *name)
{
	return !strncmp(name, "bpf_trampoline_", strlen("bpf_trampoline_")) ||
	       !strncmp(name, "kretprobe_trampoline", strlen("kretprobe_trampoline"));
}

/* The frames of our hook: the innermost ones, with what has no name between them. */
static size_t frames_of_hook(const char *const *names, size_t nr)
{
	bool is_hook = true; /* all frames so far */
	size_t ours = 0;

	for (size_t i = 0; i < nr && i < FRAMES_OF_OURS; i++) {
		if (frame_is_ours(names[i]) && (is_hook || !frame_is_passage(names[i])))
			ours = i + 1;
		is_hook &= ours == i + 1 || names[i][0] == '[';
	}
	return ours;
}

/* Returns how many. */
static size_t frames_name(struct frames *frames, const struct io_stack *stack, uint32_t pid,
			  const char *names[STACK_FRAMES])
{
	const struct symbols_process process = { .pid = pid };
	size_t nr = stack->nr < STACK_FRAMES ? stack->nr : STACK_FRAMES, ours = 0;

	for (size_t i = 0; i < nr; i++) {
		uint64_t address = stack->frames[i] - (i > 0); /* the call, not the return */
		struct symbol symbol = stack->user
					       ? symbols__user(frames->symbols, &process, address)
					       : symbols__kernel(frames->symbols, address);

		names[i] = symbol.name;
	}
	if (!stack->user)
		ours = frames_of_hook(names, nr);
	memmove(names, names + ours, (nr - ours) * sizeof(*names));
	return nr - ours;
}

static char *frames_join(const char *const *names, size_t nr, bool is_truncated)
{
	char *text = NULL;
	size_t len;
	FILE *out = nr ? open_memstream(&text, &len) : NULL;

	if (!out)
		return NULL;
	for (size_t i = 0; i < nr; i++) {
		if (i)
			fputc(';', out);
		for (const char *c = names[i]; *c; c++)
			fputc(*c == ';' ? ':' : *c, out);
	}
	if (is_truncated)
		fprintf(out, ";%s", frames_truncated);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

char *frames__text(struct frames *frames, const struct io_stack *stack, uint32_t pid)
{
	const char *names[STACK_FRAMES];

	return frames_join(names, frames_name(frames, stack, pid, names), stack->is_truncated);
}

bool frames__is_truncated(const char *text)
{
	const char *outermost = text ? strrchr(text, ';') : NULL;

	return outermost && !strcmp(outermost + 1, frames_truncated);
}

struct symbols *frames__symbols(struct frames *frames)
{
	return frames->symbols;
}

const char *frames__next(const char *text, char name[FRAME_NAME])
{
	size_t len = strcspn(text, ";");

	snprintf(name, FRAME_NAME, "%.*s", (int)len, text);
	return text[len] ? text + len + 1 : NULL;
}

void frames__put(FILE *out, const char *text)
{
	char name[FRAME_NAME];

	while (text) {
		text = frames__next(text, name);
		fputs("      ", out);
		text__put_terminal(out, name);
		fputc('\n', out);
	}
}
