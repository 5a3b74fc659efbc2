/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_replay_waits.c: what captures of waits say beside the records of others, or alone: for a view
 * of I/O that asks for it. Reads their calls once, in order of time.
 */
#include <string.h>
#include "analyse/waits.h"
#include "base/log.h"
#include "capture/waits_merge.h"
#include "session/host_source.h"
#include "session/io_replay.h"
#include "session/io_source.h"
#include "session/source.h"

static void replay_split(const struct io_replay *replay, const struct wait_record *call,
			 uint64_t parts[NR_WAIT_PARTS])
{
	const struct glossary *stacks =
		&capture_merge__about(replay->merge)->glossaries[GLOSSARY_STACKS];
	struct wait_place place;

	memset(parts, 0, NR_WAIT_PARTS * sizeof(parts[0]));
	parts[PART_CPU] = call->cpu_ns;
	parts[PART_RUNNABLE] = call->runnable_ns;
	for (int i = 0; i < call->nr_sleeps; i++) {
		const struct wait_sleep *sleep = &call->sleeps[i];
		const char *stack =
			glossary__text(stacks, (struct glossary_id){ { sleep->stack } });

		parts[wait_part__of(stack, (enum wait_io)sleep->io, &place)] += sleep->ns;
	}
}

static int replay_hand_on_call(struct session *s, size_t nr, const struct wait_record *call,
			       io_call_fn fn, void *arg)
{
	const struct io_beside of = { capture_reader__path(
					      capture_merge__reader(io_replay(s)->merge, nr)),
				      nr, host_source__of(s, nr) };
	struct wait_record copy = *call;
	uint64_t parts[NR_WAIT_PARTS];

	replay_split(io_replay(s), call, parts);
	if (s->inside->alias)
		alias__comm(s->inside->alias, copy.comm);
	return fn(arg, &of, &(struct io_call){ &copy, parts, parts[PART_DIRTY] });
}

static int replay_each_call_of(struct session *s, struct waits_merge *waits, io_call_fn fn,
			       void *arg)
{
	const struct capture_wait *wait;
	int err = 0;

	while (!err && (wait = waits_merge__next(waits, &err)))
		if (wait->kind == CAPTURE_WAIT_CALL &&
		    wait->call.end_ns >= s->inside->span.from_ns &&
		    wait->call.end_ns <= s->inside->span.to_ns)
			err = replay_hand_on_call(s, waits->from, &wait->call, fn, arg);
	return err;
}

int io_replay_each_call(struct session *s, io_call_fn fn, void *arg)
{
	struct capture_merge *merge = io_replay(s)->merge;
	struct waits_merge waits = { 0 };
	bool has_waits = false;
	int err;

	for (size_t i = 0; i < capture_merge__nr(merge); i++)
		has_waits |= capture_reader__has_waits(capture_merge__reader(merge, i));
	if (!has_waits)
		return 0;
	io_replay(s)->tells_waits = true;
	if (waits_merge__init(&waits, merge))
		return log_no_memory();
	err = replay_each_call_of(s, &waits, fn, arg);
	waits_merge__free(&waits);
	return err ? log_err(err, "cannot read the capture: %s", strerror(-err)) : 0;
}
