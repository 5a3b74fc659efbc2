/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * line.c: can the words of a line break the any-event commands before the kernel sees anything? A
 * libFuzzer target: words are read, planned against events made by hand, and made into programs;
 * what is refused must say so in one message, what is taken must fit its bounds.
 *
 * The first four bytes choose command, options, event and end; words follow, a line each.
 */
#define _GNU_SOURCE 1 /* memfd_create */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "../unit/probe_event.h"
#include "probe/lang/line.h"
#include "probe/code/program.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	HEAD_BYTES = 4,
	MOST_WORDS = 64,
	NR_EVENTS = sizeof(event_probes) / sizeof(event_probes[0])
};

static int said_fd, stderr_fd;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	events_make();
	said_fd = memfd_create("said", MFD_CLOEXEC);
	stderr_fd = dup(STDERR_FILENO);
	return said_fd < 0 || stderr_fd < 0;
}

/* ---- what is said ---- */

static void hush(void)
{
	if (ftruncate(said_fd, 0) || lseek(said_fd, 0, SEEK_SET))
		abort();
	dup2(said_fd, STDERR_FILENO);
}

/* A message is one line, or three: the text of the clause and a caret stand below it. */
static bool has_said_why(void)
{
	char text[1024];
	ssize_t len = pread(said_fd, text, sizeof(text) - 1, 0);
	size_t lines = 0;

	if (len <= 0)
		return false;
	text[len] = 0;
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	return !strncmp(text, "iosonar: ", 9) && text[9] &&
	       (lines == 1 || lines == 3 || len == sizeof(text) - 1);
}

/* What goes wrong is wrong usage, and somebody has said so; what goes well needs no words. */
static void check_answer(int err)
{
	off_t said = lseek(said_fd, 0, SEEK_CUR);

	dup2(stderr_fd, STDERR_FILENO);
	if (err ? err != -EINVAL || !has_said_why() : said)
		abort();
}

/* ---- what is taken ---- */

static void check_part(const struct plan_part *part, uint32_t bytes)
{
	if (part->at % 8 || part->shape.size % 8 || part->at + part->shape.size > bytes ||
	    !part->text)
		abort();
}

static void check_plan(const struct plan *plan)
{
	if (plan->key_bytes > PLAN_MAX_KEY || plan->saved_bytes > PLAN_MAX_SAVED ||
	    plan->nr_keys > PLAN_MAX_PARTS || plan->nr_on > PLAN_MAX_ON)
		abort();
	for (size_t i = 0; i < plan->nr_keys; i++)
		check_part(&plan->keys[i], plan->key_bytes);
	for (size_t i = 0; i < plan->nr_saved; i++)
		check_part(&plan->saved[i], plan->saved_bytes);
	for (size_t i = 0; i < plan->nr_probes; i++) {
		const struct plan_probe *probe = &plan->probes[i];

		if (probe->shown_bytes > PLAN_MAX_SHOWN)
			abort();
		for (size_t j = 0; j < probe->nr_shown; j++)
			check_part(&probe->shown[j].part, probe->shown_bytes);
	}
}

static enum program_ctx ctx_of(const struct probe *probe, bool is_tracing)
{
	switch (probe->kind) {
	case PROBE_TRACEPOINT: return CTX_RECORD;
	case PROBE_RAW: return is_tracing ? CTX_TRACING : CTX_RAW;
	case PROBE_FN:
	case PROBE_RET: return is_tracing ? CTX_TRACING : CTX_REGS;
	case PROBE_PROFILE: return CTX_PERF;
	default: return CTX_REGS;
	}
}

/* A program too long, or an argument that a way cannot give, is refused in words, too. */
static void check_program(const struct plan *plan, size_t probe, bool is_tracing)
{
	static const struct program_maps maps = { 3, 4, 5, 6, 7, 8 };
	const struct program_wants wants = {
		.plan = plan,
		.probe = probe,
		.ctx = ctx_of(plan->probes[probe].probe, is_tracing),
		.maps = &maps,
		.is_atomic = probe & 1,
	};
	struct program program = { 0 };
	int err;

	hush();
	err = program__make(&program, &wants);
	check_answer(err == -E2BIG ? -EINVAL : err);
	if (!err && (!program.nr || program.insns[program.nr - 1].code != (BPF_JMP | BPF_EXIT)))
		abort();
	program__free(&program);
}

/* A value that is known is reckoned at once: whatever it is, that ends well. */
static void check_condition(const struct plan_probe *probe)
{
	static const uint8_t record[256], start[2048];
	struct value_world world = {
		.record = record, .record_bytes = sizeof(record), .comm = "fio", .start = start
	};
	struct value_result result;

	if (probe->condition)
		value__reckon(probe->condition, &world, &result);
}

/* ---- one line ---- */

static bool is_latency(const struct line *line)
{
	return (line->action == LINE_HIST || line->action == LINE_SUM) && line->of &&
	       !strcmp(line->of, "latency");
}

static void plan_line(struct line *line, const uint8_t *head)
{
	struct probe_list probes = { &event_probes[head[2] % NR_EVENTS], 1 };
	struct probe_list ends = { &event_probes[head[3] % NR_EVENTS], line->action == LINE_PAIR };
	struct plan plan;
	int err;

	if (is_latency(line)) {
		probes.probes = &event_probes[EVENT_FN];
		ends = (struct probe_list){ &event_probes[EVENT_RET], 1 };
	} else if (head[1] & 1 && line->action != LINE_PAIR) {
		probes = (struct probe_list){ event_probes, NR_EVENTS };
	}
	hush();
	err = plan__make(&plan, line, &probes, &ends);
	check_answer(err);
	if (err)
		return;
	check_plan(&plan);
	for (size_t i = 0; i < plan.nr_probes; i++) {
		check_condition(&plan.probes[i]);
		check_program(&plan, i, head[1] & 2);
	}
	plan__free(&plan);
}

static void set_options(struct line *line, uint8_t options)
{
	line->each = line->action == LINE_PAIR && options & 4;
	line->kernel_stack = options & 8;
	line->user_stack = options & 16;
	line->buckets = (enum line_buckets)(options >> 5 & 3) % 3;
	line->linear_to = 64;
	line->linear_step = 1;
	line->pid = options & 128 ? 189 : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *words[MOST_WORDS];
	struct line line = { 0 };
	size_t nr = 0;
	char *text;
	int err;

	if (size < HEAD_BYTES || !(text = calloc(1, size - HEAD_BYTES + 1)))
		return 0;
	memcpy(text, data + HEAD_BYTES, size - HEAD_BYTES);
	for (char *at = text; nr < MOST_WORDS; at = strchr(at, 0) + 1) {
		char *end = strchrnul(at, '\n');
		bool is_last = !*end;

		*end = 0;
		words[nr++] = at;
		if (is_last)
			break;
	}
	hush();
	err = line__read(&line, (enum line_action)(data[0] % (LINE_PAIR + 1)), words, nr);
	check_answer(err);
	if (!err) {
		set_options(&line, data[1]);
		plan_line(&line, data);
	}
	line__free(&line);
	free(text);
	return 0;
}
