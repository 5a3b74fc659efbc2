/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waits_live.c: calls in which threads of this machine waited: programs send one record per call
 * and each stack once; the view gets the records in the order of their ends on each CPU.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analyse/wait_commands.h"
#include "analyse/wait_commits.h"
#include "base/log.h"
#include "collect/cache.h"
#include "decode/op.h"
#include "session/source.h"
#include "session/waits_source.h"
#include "symbol/frames.h"

struct waits_live {
	struct waits *waits;
	struct frames *frames;
	char *stacks[WAIT_STACKS + 1]; /* by number */
	struct wait_threads threads;
	struct wait_commits commits;
};

static struct waits_live *waits_live(const struct session *s)
{
	return s->inside->data;
}

static int waits_on_record(void *arg, const struct wait_record *record)
{
	struct session *s = arg;
	const struct session_inside *in = s->inside;

	return in->stopped || in->view_failed ? 0 : in->view->on_wait(in->state, s, record);
}

/*
 * A function that has our own program is there twice, with the program's trampoline between: "f;
 * bpf_trampoline_1 [bpf];f" becomes "f".
 */
static void waits_leave_out_trampolines(char *text)
{
	static const char trampoline[] = ";bpf_trampoline_";
	char *at = text, *end;

	while (at && (at = strstr(at, trampoline))) {
		end = strchr(at + 1, ';');
		end = end ? strchr(end + 1, ';') : NULL;
		if (end)
			memmove(at, end, strlen(end) + 1);
		else
			*at = 0;
	}
}

static int waits_on_stack(void *arg, const struct io_stack *stack)
{
	struct waits_live *live = waits_live(arg);

	if (stack->number > WAIT_STACKS || live->stacks[stack->number])
		return 0;
	live->stacks[stack->number] = frames__text(live->frames, stack, 0);
	waits_leave_out_trampolines(live->stacks[stack->number]);
	return 0;
}

static int waits_on_command(void *arg, const struct wait_command *command)
{
	char buf[32];
	const char *op = waits_source__op(arg, command->op, buf, sizeof(buf));

	return wait_threads__add(&waits_live(arg)->threads, command, op) ? log_no_memory() : 0;
}

static int waits_on_commit(void *arg, const struct wait_commit *commit)
{
	struct waits_live *live = waits_live(arg);

	wait_commits__add(&live->commits, commit, &live->threads);
	return 0;
}

static int waits_on_who(void *arg, const struct wait_who *who)
{
	wait_commits__add_task(&waits_live(arg)->commits, who);
	return 0;
}

static int waits_drain(struct session *s, enum session_drain what)
{
	static const struct waits_takers takers = { waits_on_record, waits_on_stack,
						    waits_on_command, waits_on_commit,
						    waits_on_who };

	(void)what;
	return waits__take(waits_live(s)->waits, &takers, s);
}

static int waits_open(struct session *s)
{
	struct session_inside *in = s->inside;
	struct waits_wants wants = in->view->wants_waits(in->state, s->options);
	struct waits_live *live = in->data = calloc(1, sizeof(*live));
	int err;

	if (!live)
		return log_err(-ENOMEM, "out of memory");
	live->frames = frames__new(true, false);
	if (!live->frames)
		return log_err(-ENOMEM, "out of memory");
	in->drains = true;
	err = waits__open(&live->waits, &wants);
	if (err)
		return err;
	frames__prepare(live->frames);
	s->start_ns = waits__start_ns(live->waits);
	return 0;
}

static void waits_detach(struct session *s)
{
	waits__detach(waits_live(s)->waits);
}

static char *waits_find_text(const struct session *s, enum glossary_kind kind,
			     struct glossary_id id)
{
	if (kind == GLOSSARY_FILES)
		return waits__file(waits_live(s)->waits, id.words[0], id.words[1]);
	return kind == GLOSSARY_DISKS ? cache__disk((uint32_t)id.words[0]) : NULL;
}

static void waits_free(struct session *s)
{
	struct waits_live *live = waits_live(s);

	if (!live)
		return;
	for (size_t i = 0; i <= WAIT_STACKS; i++)
		free(live->stacks[i]);
	wait_threads__free(&live->threads);
	frames__free(live->frames);
	waits__free(live->waits);
	free(live);
}

const char *waits_source__stack(const struct session *s, uint32_t number)
{
	return number <= WAIT_STACKS ? waits_live(s)->stacks[number] : NULL;
}

const struct wait_commands *waits_source__commands(const struct session *s,
						   const struct wait_record *record)
{
	return wait_threads__find(&waits_live(s)->threads, record->tid, record->start_ns);
}

const struct wait_commit_story *waits_source__commit(const struct session *s,
						     const struct wait_record *record)
{
	return wait_commits__find(&waits_live(s)->commits, record->dev, record->start_ns,
				  record->end_ns);
}

const char *waits_source__op(const struct session *s, uint8_t op, char *buf, size_t size)
{
	return op__word(IO_BLOCK, op, waits__op_names(waits_live(s)->waits), buf, size);
}

void waits_source__counts(const struct session *s, struct waits_counts *counts)
{
	waits__counts(waits_live(s)->waits, counts);
}

const struct session_source session_waits_live = {
	.open = waits_open,
	.drain = waits_drain,
	.detach = waits_detach,
	.find_text = waits_find_text,
	.free = waits_free,
};
