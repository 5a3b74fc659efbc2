/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calls_replay.c: a trace of calls out of a capture. Its chunks go to the view, which knows what
 * they mean; time is theirs. Needs no privileges.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "capture/read.h"
#include "session/source.h"

static const struct capture_about *called_about(const struct session *s)
{
	return capture_reader__about(s->inside->called);
}

static int called_open(struct session *s)
{
	const struct option_list *files = &s->options->file.read;
	int err;

	if (files->nr > 1)
		return log_err(-EINVAL, "one capture of calls is read: '%s' is one too many",
			       files->words[1]);
	err = capture_reader__open(files->words[0], &s->inside->called);
	if (err) /* the file's fault, not that of the command line */
		return err == -ENOMEM || err == -EOPNOTSUPP ? err : -EIO;
	if (!capture_reader__has_calls(s->inside->called))
		return log_err(-EINVAL, "%s holds no calls: class -w and calls -w keep them",
			       files->words[0]);
	return 0;
}

static void called_set_time(struct session *s)
{
	const char *start = capture_about__info(called_about(s), CAPTURE_INFO_START);

	s->start_ns = s->inside->last_ns = start ? strtoull(start, NULL, 10) : 0;
}

/* What makes no sense is skipped and counted, as the reader does with what it understands. */
static int called_chunks(struct session *s, uint64_t *damaged)
{
	struct session_inside *in = s->inside;
	struct capture_part part;
	int err = 0, more = 0;

	while (!err && !in->stopped && (more = capture_reader__next_part(in->called, &part)) > 0) {
		/* What comes before the calls says what they are: nothing is shown without it. */
		if (part.chunk.type == CAPTURE_CALLS && session_is_interrupted(s))
			break;
		err = in->view->on_part(in->state, s, &part);
		if (err == -EBADMSG) {
			(*damaged)++;
			err = 0;
		}
	}
	if (more < 0)
		return log_err(more, "cannot read the capture: %s", strerror(-more));
	return err;
}

static void called_tell(struct session *s, uint64_t damaged)
{
	struct capture_damage damage = *capture_reader__damage(s->inside->called);

	damage.blocks_corrupt += damaged;
	capture_damage__tell(&damage, s->options->file.read.words[0]);
	s->inside->lost |= !capture_damage__is_whole(&damage);
}

static int called_run(struct session *s, char **argv)
{
	struct session_inside *in = s->inside;
	uint64_t damaged = 0;
	int err = called_open(s);

	(void)argv;
	if (err)
		return err;
	called_set_time(s);
	err = called_chunks(s, &damaged);
	if (!err)
		session_tell_interrupted(s, capture_reader__position(in->called),
					 capture_reader__bytes(in->called));
	err = err ?: in->view->on_end(in->state, s);
	err = err ?: session_flush(s);
	if (!err)
		called_tell(s, damaged);
	return err;
}

static void called_free(struct session *s)
{
	capture_reader__free(s->inside->called);
}

const struct session_source session_called = {
	.run = called_run,
	.about = called_about,
	.free = called_free,
};
