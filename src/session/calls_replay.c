/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calls_replay.c: calls of a capture: passes its chunks to the view, which decodes them and starts
 * once it has read the list of functions.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/log.h"
#include "capture/read.h"
#include "session/source.h"

struct calls_replay {
	struct capture_reader *reader;
	struct capture_part part; /* at hand */
	uint64_t damaged;	  /* invalid parts that were skipped */
};

static struct calls_replay *calls_replay(const struct session *s)
{
	return s->inside->data;
}

static const struct capture_about *calls_about(const struct session *s)
{
	return capture_reader__about(calls_replay(s)->reader);
}

static int calls_open(struct session *s)
{
	const struct option_list *files = &s->options->file.read;
	struct calls_replay *c = s->inside->data = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return log_err(-ENOMEM, "out of memory");
	if (files->nr > 1)
		return log_err(-EINVAL, "only one capture of calls can be read (also got '%s')",
			       files->words[1]);
	err = capture_reader__open(files->words[0], &c->reader);
	if (err)
		return session_file_err(err);
	if (!capture_reader__has_calls(c->reader))
		return log_err(-EINVAL, "%s contains no calls; class -w and calls -w keep them",
			       files->words[0]);
	s->start_ns = capture_about__info_number(calls_about(s), CAPTURE_INFO_START, 0);
	return 0;
}

static int calls_next(struct session *s, uint64_t *time_ns)
{
	*time_ns = 0;
	return capture_reader__next_part(calls_replay(s)->reader, &calls_replay(s)->part);
}

/* Invalid parts are skipped and counted, as the reader does with its own. */
static int calls_hand_on(struct session *s)
{
	struct session_inside *in = s->inside;
	struct calls_replay *c = in->data;
	int err;

	/* The parts before the calls describe them: nothing is shown without these. */
	if (c->part.chunk.type == CAPTURE_CALLS && session_is_interrupted(s))
		return 0;
	err = in->view->on_part(in->state, s, &c->part);
	c->damaged += err == -EBADMSG;
	return err == -EBADMSG ? 0 : err;
}

static void calls_position(const struct session *s, uint64_t *at, uint64_t *all)
{
	*at = capture_reader__position(calls_replay(s)->reader);
	*all = capture_reader__bytes(calls_replay(s)->reader);
}

static void calls_tell(struct session *s)
{
	struct capture_damage damage = *capture_reader__damage(calls_replay(s)->reader);

	damage.blocks_corrupt += calls_replay(s)->damaged;
	capture_damage__tell(&damage, s->options->file.read.words[0]);
	s->inside->lost |= !capture_damage__is_whole(&damage);
}

static void calls_free(struct session *s)
{
	if (calls_replay(s))
		capture_reader__free(calls_replay(s)->reader);
	free(calls_replay(s));
}

const struct session_source session_calls_replay = {
	.open = calls_open,
	.starts_view = true,
	.next = calls_next,
	.hand_on = calls_hand_on,
	.position = calls_position,
	.ledger = calls_tell,
	.about = calls_about,
	.free = calls_free,
};
