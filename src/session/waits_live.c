/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waits_live.c: calls in which threads of this machine waited: programs send one record per call
 * and each stack once; the view gets the records in the order of their ends on each CPU, and -w
 * everything in the same order, at least once a second.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "collect/cache.h"
#include "session/source.h"
#include "session/waits_info.h"
#include "session/waits_source.h"
#include "symbol/frames.h"

enum { WAITS_KEPT = 1024, WAITS_KEPT_NS = 1000000000 };

struct waits_live {
	struct waits *waits;
	struct frames *frames;
	char *stacks[WAIT_STACKS + 1]; /* by number */
	struct waits_stories stories;
	/* with a recorder: */
	uint32_t calls;
	struct capture_wait *kept; /* wait to be written; NULL: no -w */
	size_t nr_kept;
	uint64_t written_ns, nr_calls;
};

static struct waits_live *waits_live(const struct session *s)
{
	return s->inside->data;
}

/* ---- what is kept ---- */

static int waits_write(struct session *s)
{
	struct waits_live *live = waits_live(s);
	int err = s->inside->recorder
			  ? recorder__waits(s->inside->recorder, live->kept, live->nr_kept)
			  : 0;

	live->nr_kept = 0;
	live->written_ns = clock__mono_ns();
	return err;
}

/* The next entry for the recorder, cleared; NULL: there is no recorder. */
static struct capture_wait *waits_keep(struct session *s, enum capture_wait_kind kind)
{
	struct waits_live *live = waits_live(s);
	struct capture_wait *wait;

	if (!s->inside->recorder || !live->kept)
		return NULL;
	wait = &live->kept[live->nr_kept++];
	memset(wait, 0, sizeof(*wait));
	wait->kind = kind;
	return wait;
}

static int waits_kept(struct session *s)
{
	return waits_live(s)->nr_kept == WAITS_KEPT ? waits_write(s) : 0;
}

/* ---- what comes ---- */

static int waits_keep_record(struct session *s, const struct wait_record *record)
{
	struct capture_wait *kept = waits_keep(s, CAPTURE_WAIT_CALL);

	if (!kept)
		return 0;
	kept->call = *record;
	waits_source__fs(s, record, kept->fs);
	waits_live(s)->nr_calls++;
	return waits_kept(s);
}

static int waits_on_record(void *arg, const struct wait_record *record)
{
	struct session *s = arg;
	const struct session_inside *in = s->inside;
	int err = waits_keep_record(s, record);

	if (err)
		return err;
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
	struct capture_wait *kept = waits_keep(arg, CAPTURE_WAIT_COMMAND);
	char buf[32];
	const char *op = waits_source__op(arg, command->op, buf, sizeof(buf));
	int err = waits_stories__command(&waits_live(arg)->stories, command, op), keep_err;

	if (kept)
		kept->command = *command;
	keep_err = waits_kept(arg);
	return err ? err : keep_err;
}

static int waits_on_commit(void *arg, const struct wait_commit *commit)
{
	struct capture_wait *kept = waits_keep(arg, CAPTURE_WAIT_COMMIT);

	if (kept)
		kept->commit = *commit;
	waits_stories__commit(&waits_live(arg)->stories, commit);
	return waits_kept(arg);
}

static int waits_on_who(void *arg, const struct wait_who *who)
{
	struct capture_wait *kept = waits_keep(arg, CAPTURE_WAIT_TASK);

	if (kept)
		kept->task = *who;
	wait_commits__add_task(&waits_live(arg)->stories.commits, who);
	return waits_kept(arg);
}

static int waits_drain(struct session *s, enum session_drain what)
{
	static const struct waits_takers takers = { waits_on_record, waits_on_stack,
						    waits_on_command, waits_on_commit,
						    waits_on_who };

	struct waits_live *live = waits_live(s);
	int err = waits__take(live->waits, &takers, s);

	if (err || !live->nr_kept)
		return err;
	if (what == DRAIN_SETTLED && clock__mono_ns() - live->written_ns < WAITS_KEPT_NS)
		return 0;
	return waits_write(s);
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
	if (s->options->file.write)
		live->kept = calloc(WAITS_KEPT, sizeof(*live->kept));
	if (!live->frames || (s->options->file.write && !live->kept))
		return log_err(-ENOMEM, "out of memory");
	wants.commands |= s->options->file.write != NULL; /* a replay may ask for them */
	live->calls = wants.calls;
	in->drains = true;
	err = waits__open(&live->waits, &wants);
	if (err)
		return err;
	frames__prepare(live->frames);
	s->start_ns = waits__start_ns(live->waits);
	return 0;
}

static void waits_describe(struct session *s, struct recorder_run *run)
{
	run->op_names = waits__op_names(waits_live(s)->waits);
}

static int waits_keep_start(struct session *s)
{
	return waits_info__put_start(s->inside->recorder, waits_live(s)->calls);
}

/* What a failed drain has left. */
static int waits_settle(struct session *s)
{
	return waits_live(s)->nr_kept ? waits_write(s) : 0;
}

static bool waits_counts(const struct session *s, struct waits_counts *counts)
{
	waits__counts(waits_live(s)->waits, counts);
	return true;
}

static int waits_keep_end(struct session *s)
{
	struct waits_counts counts;

	if (!s->inside->recorder)
		return 0;
	waits_counts(s, &counts);
	return waits_info__put_end(s->inside->recorder, &counts, waits_live(s)->nr_calls);
}

static void waits_detach(struct session *s)
{
	waits__detach(waits_live(s)->waits);
}

static char *waits_find_text(const struct session *s, enum glossary_kind kind,
			     struct glossary_id id)
{
	const char *stack = kind == GLOSSARY_STACKS && id.words[0] <= WAIT_STACKS
				    ? waits_live(s)->stacks[id.words[0]]
				    : NULL;

	if (stack)
		return strdup(stack);
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
	wait_threads__free(&live->stories.threads);
	free(live->kept);
	frames__free(live->frames);
	waits__free(live->waits);
	free(live);
}

static const char *waits_stack(const struct session *s, uint32_t number)
{
	return number <= WAIT_STACKS ? waits_live(s)->stacks[number] : NULL;
}

static const struct waits_stories *waits_stories(const struct session *s)
{
	return &waits_live(s)->stories;
}

static char *const *waits_op_names(const struct session *s)
{
	return waits__op_names(waits_live(s)->waits);
}

static const char *waits_fs(const struct session *s, const struct wait_record *record)
{
	return waits__fs(waits_live(s)->waits, record->inode, record->dev);
}

static const struct waits_answers waits_live_answers = {
	.stack = waits_stack,
	.stories = waits_stories,
	.op_names = waits_op_names,
	.fs = waits_fs,
	.counts = waits_counts,
};

const struct session_source session_waits_live = {
	.open = waits_open,
	.describe = waits_describe,
	.keep_start = waits_keep_start,
	.drain = waits_drain,
	.detach = waits_detach,
	.settle = waits_settle,
	.keep_end = waits_keep_end,
	.waits = &waits_live_answers,
	.find_text = waits_find_text,
	.free = waits_free,
};
