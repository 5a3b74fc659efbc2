/* SPDX-License-Identifier: BSD-2-Clause */
#include "frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "collect/symbols.h"
#include "log.h"

enum { FRAMES_OF_OURS = 8 }; /* the hook's frames are among the first */

struct frames {
	struct symbols *symbols;
	bool user;
	uint32_t seen; /* the last process that was looked at */
};

struct frames *frames__new(bool user)
{
	struct frames *frames = calloc(1, sizeof(*frames));

	if (!frames)
		return NULL;
	frames->symbols = symbols__new("");
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
	const char *trouble;

	symbols__prepare_kernel(frames->symbols);
	trouble = symbols__kernel_trouble(frames->symbols);
	if (trouble)
		log_warn("%s", trouble);
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

void frames__see(struct frames *frames, uint32_t pid)
{
	if (pid == frames->seen)
		return;
	frames->seen = pid;
	symbols__see(frames->symbols, &(struct symbols_process){ .pid = pid });
}

/* bpf_prog_…, bpf_trace_run1, __bpf_trace_block_bio_queue, __traceiter_block_bio_queue */
static bool frame_is_ours(const char *name)
{
	static const char *const begins[] = { "bpf_", "__bpf_", "___bpf_", "__traceiter_",
					      "trace_call_bpf" };

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return true;
	return false;
}

static size_t frames_of_ours(const struct frame *named, size_t nr)
{
	size_t ours = 0;

	for (size_t i = 0; i < nr && i < FRAMES_OF_OURS; i++)
		if (frame_is_ours(named[i].name))
			ours = i + 1;
	return ours;
}

size_t frames__name(struct frames *frames, const struct io_stack *stack, uint32_t pid,
		    struct frame named[STACK_FRAMES])
{
	const struct symbols_process process = { .pid = pid };
	size_t nr = stack ? stack->nr : 0, ours;

	for (size_t i = 0; i < nr; i++) {
		uint64_t address =
			stack->frames[i] - (i > 0); /* where it was called, not returns */
		struct symbol symbol = stack->user
					       ? symbols__user(frames->symbols, &process, address)
					       : symbols__kernel(frames->symbols, address);

		named[i] = (struct frame){ symbol.name, stack->frames[i] };
	}
	ours = stack && !stack->user ? frames_of_ours(named, nr) : 0;
	memmove(named, named + ours, (nr - ours) * sizeof(*named));
	return nr - ours;
}

char *frames__text(struct frames *frames, const struct io_stack *stack, uint32_t pid)
{
	struct frame named[STACK_FRAMES];
	size_t nr = frames__name(frames, stack, pid, named), len;
	char *text = NULL;
	FILE *out;

	if (!nr)
		return NULL;
	out = open_memstream(&text, &len);
	if (!out)
		return NULL;
	for (size_t i = 0; i < nr; i++)
		fprintf(out, "%s%s", i ? ";" : "", named[i].name);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}
