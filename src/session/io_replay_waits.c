/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_replay_waits.c: what captures of waits say beside the records of others: for a view of I/O
 * that asks for it. Reads their calls once, in order of time.
 */
#include <string.h>
#include "analyse/waits.h"
#include "base/log.h"
#include "capture/waits_merge.h"
#include "session/io_replay.h"
#include "session/io_source.h"
#include "session/source.h"

static bool replay_wrote(const struct wait_record *call)
{
	return call->call == WAIT_WRITE || call->call == WAIT_SYNCWRITE || call->call == WAIT_FAULT;
}

static uint64_t replay_dirty_ns(const struct io_replay *replay, const struct wait_record *call)
{
	const struct glossary *stacks =
		&capture_merge__about(replay->merge)->glossaries[GLOSSARY_STACKS];
	struct wait_place place;
	uint64_t ns = 0;

	for (int i = 0; i < call->nr_sleeps; i++) {
		const struct wait_sleep *sleep = &call->sleeps[i];
		const char *stack =
			glossary__text(stacks, (struct glossary_id){ { sleep->stack } });

		if (wait_part__of(stack, (enum wait_io)sleep->io, &place) == PART_DIRTY)
			ns += sleep->ns;
	}
	return ns;
}

static int replay_hand_on_write(struct session *s, const char *path, const struct wait_record *call,
				io_write_fn fn, void *arg)
{
	struct io_write write = { .pid = call->pid,
				  .ns = call->end_ns - call->start_ns,
				  .dirty_ns = replay_dirty_ns(io_replay(s), call) };

	memcpy(write.comm, call->comm, sizeof(call->comm));
	if (s->inside->alias)
		alias__comm(s->inside->alias, write.comm);
	return fn(arg, path, &write);
}

static int replay_each_write_of(struct session *s, struct waits_merge *waits, io_write_fn fn,
				void *arg)
{
	struct capture_merge *merge = io_replay(s)->merge;
	const struct capture_wait *wait;
	int err = 0;

	while (!err && (wait = waits_merge__next(waits, &err))) {
		const char *path = capture_reader__path(capture_merge__reader(merge, waits->from));

		if (wait->kind == CAPTURE_WAIT_CALL && replay_wrote(&wait->call) &&
		    wait->call.end_ns >= s->inside->span.from_ns &&
		    wait->call.end_ns <= s->inside->span.to_ns)
			err = replay_hand_on_write(s, path, &wait->call, fn, arg);
	}
	return err;
}

/* Without commands there is nothing for it to stand beside. */
int io_replay_each_write(struct session *s, io_write_fn fn, void *arg)
{
	struct capture_merge *merge = io_replay(s)->merge;
	struct waits_merge waits = { 0 };
	bool has_waits = false;
	int err;

	for (size_t i = 0; i < capture_merge__nr(merge); i++)
		has_waits |= capture_reader__has_waits(capture_merge__reader(merge, i));
	if (!has_waits || !io_replay_has_commands(merge))
		return 0;
	io_replay(s)->tells_waits = true;
	if (waits_merge__init(&waits, merge))
		return log_no_memory();
	err = replay_each_write_of(s, &waits, fn, arg);
	waits_merge__free(&waits);
	return err ? log_err(err, "cannot read the capture: %s", strerror(-err)) : 0;
}
