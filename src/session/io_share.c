/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_share.c: -j of a replay of I/O: forked copies of the run decode stretches of blocks and add
 * them up, and the run adds their sums in the order of the file. A stretch that is damaged, that
 * crosses the end of an interval, or whose sum does not suffice is read by the run itself, as
 * without -j: its output and messages are then the same by construction. Each copy costs what a
 * reader and the rows of the view take; it is at
 * most one pipe (256 KiB) of sums, or four parts of 8 MiB of lines, ahead of the run.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/crew.h"
#include "base/grow.h"
#include "base/log.h"
#include "session/io_replay.h"
#include "session/share.h"

enum {
	SHARE_BLOCKS = 64,   /* in a stretch, at most: 0.5 M records */
	SHARE_PER_COPY = 4,  /* stretches of each copy, at least, so that all end together */
	SHARE_WORTH = 32,    /* with fewer blocks, copies cost more than they save */
	SHARE_PIPED = 65536, /* bytes that are not worth a place in shared memory */
	SHARE_ROWS = 4096,   /* of a copy, 18 KB each: more are left to the run */
};

struct io_stretch {
	size_t from, to; /* blocks */
	uint64_t span;	 /* number of its interval */
	unsigned int by; /* the copy that reads it; SHARE_OWN: the run does */
};
enum { SHARE_OWN = CREW_MOST };

/* Comes before the bytes of the view. */
struct share_head {
	struct session_share share;
	size_t bytes;
	bool is_lent; /* and not behind the head in the pipe */
	uint64_t nr_submits, nr_other, nr_stageless, nr_unplaced;
};

struct io_shares {
	struct crew crew;
	struct capture_reader *reader;
	struct io_stretch *stretches;
	size_t nr, room, next;
	struct share_head head; /* of the stretch at hand */
	const uint8_t *at;	/* its bytes: */
	uint8_t *bytes;		/* those of a pipe */
	size_t bytes_room;
};

/* ---- who reads what ---- */

static uint64_t share_span(const struct session *s, uint64_t ns)
{
	uint64_t from_ns = s->inside->span.from_ns;

	if (!s->inside->view->on_tick || ns < from_ns)
		return 0;
	return (ns - from_ns) / session_interval(s);
}

static bool share_extends(const struct io_stretch *last, const struct io_stretch *block,
			  size_t most)
{
	if (last->to != block->from || (last->by == SHARE_OWN) != (block->by == SHARE_OWN))
		return false;
	return block->by == SHARE_OWN ||
	       (last->span == block->span && last->to - last->from < most);
}

static int share_add_block(struct io_shares *shares, const struct io_stretch *block, size_t most)
{
	struct io_stretch *last = shares->nr ? &shares->stretches[shares->nr - 1] : NULL;

	if (last && share_extends(last, block, most)) {
		last->to = block->to;
		return 0;
	}
	if (GROW(shares->stretches, shares->room, shares->nr + 1))
		return -ENOMEM;
	shares->stretches[shares->nr++] = *block;
	return 0;
}

static size_t share_most(const struct session *s)
{
	const struct session_sharing *sharing = s->inside->view->sharing;

	return sharing && sharing->blocks ? sharing->blocks : SHARE_BLOCKS;
}

/* Returns how many blocks the copies read; -ENOMEM. */
static ssize_t share_divide(struct io_shares *shares, const struct session *s, unsigned int nr)
{
	size_t blocks = capture_reader__nr_blocks(shares->reader), most, copied = 0, turn = 0;

	most = blocks / ((size_t)nr * SHARE_PER_COPY);
	most = most > share_most(s) ? share_most(s) : most;
	most = most ? most : 1;
	for (size_t i = 0; i < blocks; i++) {
		const struct capture_chunk *chunk = capture_reader__block(shares->reader, i);
		struct io_stretch block = { i, i + 1, share_span(s, chunk->min_ns), 0 };

		if (!capture_reader__wants_block(shares->reader, i))
			continue;
		if (share_span(s, chunk->max_ns) != block.span)
			block.by = SHARE_OWN;
		copied += block.by != SHARE_OWN;
		if (share_add_block(shares, &block, most))
			return -ENOMEM;
	}
	for (size_t i = 0; i < shares->nr; i++)
		if (shares->stretches[i].by != SHARE_OWN)
			shares->stretches[i].by = (unsigned int)(turn++ % nr);
	return (ssize_t)copied;
}

/* ---- rows, for a view without on_record ---- */

/* Other commands may have other rows. */
static void share_free_rows(struct io_replay *replay)
{
	uint32_t mask = replay->rows.mask;

	breakdown__free(&replay->rows);
	breakdown__init(&replay->rows, mask);
	memset(replay->places, 0, sizeof(replay->places));
}

static void share_give_rows(struct session *s, struct byte_out *out)
{
	struct breakdown *rows = &io_replay(s)->rows;
	uint64_t *failovers = s->inside->failovers, nr = 0;

	for (uint16_t i = 0; i < SESSION_PATHS && s->inside->wants.by_path; i++)
		nr += !!failovers[i];
	byte_out__varint(out, nr);
	for (uint16_t i = 0; i < SESSION_PATHS && nr; i++) {
		if (!failovers[i])
			continue;
		byte_out__varint(out, i);
		byte_out__varint(out, failovers[i]);
		failovers[i] = 0;
	}
	for (size_t i = 0; i < rows->nr; i++) {
		struct breakdown_row *row = rows->rows[i];

		if (!row->total.count)
			continue;
		byte_out__put(out, &row->tags, sizeof(row->tags));
		share__put_hist(out, &row->total);
		memset(&row->total, 0, sizeof(row->total));
	}
	if (rows->nr > SHARE_ROWS / 2)
		share_free_rows(io_replay(s));
}

static int share_take_rows(struct session *s, struct byte_in *in)
{
	for (uint64_t nr = byte_in__varint(in); nr && !in->bad; nr--) {
		uint64_t path = byte_in__varint(in), count = byte_in__varint(in);

		s->inside->failovers[path % SESSION_PATHS] += count;
	}
	while (byte_in__left(in)) {
		struct breakdown_row *row;
		struct io_tags tags;

		share__get(in, &tags, sizeof(tags));
		row = breakdown__row(&io_replay(s)->rows, &tags);
		if (!row)
			return log_no_memory();
		share__take_hist(in, &row->total);
	}
	return 0;
}

/* ---- a copy ---- */

static void share_forget(struct io_replay *replay)
{
	replay->nr_records = replay->nr_submits = replay->nr_other = 0;
	replay->filter.nr_stageless = replay->filter.nr_unplaced = 0;
}

/* Counts of the stretch; the sum of its records is in the state of the view. */
static int share_read(struct session *s, struct share_head *head)
{
	const struct session_source *source = s->inside->source;
	const struct io_replay *replay = io_replay(s);
	struct session_share *share = &head->share;
	uint64_t time_ns = 0;
	int err = 0, more = 0;

	while (!err && (more = source->next(s, &time_ns)) > 0) {
		if (!share->nr++)
			share->first_ns = time_ns;
		share->last_ns = time_ns > share->last_ns ? time_ns : share->last_ns;
		err = source->hand_on(s);
		if (replay->rows.nr > SHARE_ROWS)
			err = -EAGAIN;
	}
	head->nr_submits = replay->nr_submits;
	head->nr_other = replay->nr_other;
	head->nr_stageless = replay->filter.nr_stageless;
	head->nr_unplaced = replay->filter.nr_unplaced;
	return more < 0 ? more : err;
}

static int share_give(struct session *s, struct byte_out *out)
{
	const struct session_view *view = s->inside->view;

	if (view->on_record)
		return view->sharing->give(s->inside->state, s, out);
	share_give_rows(s, out);
	return 0;
}

/* Did reading a stretch find no damage? */
static bool share_is_whole(const struct capture_damage *before, const struct capture_damage *after)
{
	return before->blocks_corrupt == after->blocks_corrupt &&
	       before->records_corrupt == after->records_corrupt &&
	       before->records_astray == after->records_astray;
}

static void share_make(struct session *s, const struct io_stretch *stretch, struct share_head *head,
		       struct byte_out *out)
{
	struct capture_reader *reader = io_replay(s)->shares->reader;
	struct capture_damage before = *capture_reader__damage(reader);
	int err, given;

	*head = (struct share_head){ 0 };
	out->len = 0;
	share_forget(io_replay(s));
	capture_reader__stretch(reader, stretch->from, stretch->to);
	err = share_read(s, head);
	given = share_give(s, out); /* also after an error: it forgets */
	head->share.is_made = !err && !given && !out->failed &&
			      share_is_whole(&before, capture_reader__damage(reader));
	if (!head->share.is_made)
		out->len = 0;
	head->bytes = out->len;
}

/* Sums are small; lines of text are not. */
static int share_send(struct crew_end *end, struct share_head *head, const struct byte_out *out)
{
	int err = 0;

	head->is_lent = out->len > SHARE_PIPED && out->len <= CREW_LENT;
	if (head->is_lent)
		err = crew__lend(end, out->bytes, out->len);
	err = err ?: crew__send(end, head, sizeof(*head));
	return err ?: head->is_lent ? err : crew__send(end, out->bytes, out->len);
}

static int share_work(void *arg, unsigned int number, struct crew_end *end)
{
	struct session *s = arg;
	const struct io_shares *shares = io_replay(s)->shares;
	struct session_view view = *s->inside->view;
	struct byte_out out = { 0 };
	struct share_head head;
	int err = 0;

	if (view.on_record && view.sharing->add)
		view.on_record = view.sharing->add;
	s->inside->view = &view;
	if (view.on_record && view.sharing->begin)
		err = view.sharing->begin(s->inside->state, s);
	for (size_t i = 0; i < shares->nr && !err; i++) {
		if (shares->stretches[i].by != number)
			continue;
		share_make(s, &shares->stretches[i], &head, &out);
		err = share_send(end, &head, &out);
	}
	return err ? 1 : 0;
}

/* ---- the run ---- */

static unsigned int share_wanted(const struct session *s)
{
	const struct option_number *jobs = &s->options->file.jobs;
	const struct session_view *view = s->inside->view;

	if (view->on_record && !view->sharing)
		return 1;
	if (view->on_record && view->sharing->can && !view->sharing->can(s->inside->state, s))
		return 1;
	return jobs->given ? (unsigned int)jobs->value : crew__default();
}

int io_replay_share(struct session *s)
{
	struct io_replay *replay = io_replay(s);
	struct capture_reader *reader = capture_merge__only_reader(replay->merge);
	unsigned int nr = reader ? share_wanted(s) : 1;
	struct io_shares *shares;
	ssize_t worth = s->options->file.jobs.given ? 1 : SHARE_WORTH, copied;

	if (nr < 2)
		return 0;
	shares = replay->shares = calloc(1, sizeof(*shares));
	if (!shares)
		return log_no_memory();
	shares->reader = reader;
	copied = share_divide(shares, s, nr);
	if (copied < 0)
		return log_no_memory();
	if (copied < worth)
		return 0;
	crew__start(&shares->crew, nr, share_work, s);
	if (shares->crew.nr == nr)
		return 1;
	crew__end(&shares->crew); /* no more processes: the run reads all */
	return 0;
}

static int share_receive(struct io_shares *shares, unsigned int from)
{
	int err = crew__receive(&shares->crew, from, &shares->head, sizeof(shares->head));

	if (err)
		return err;
	if (shares->head.is_lent) {
		shares->at = crew__borrow(&shares->crew, from);
		return 0;
	}
	if (GROW(shares->bytes, shares->bytes_room, shares->head.bytes + 1))
		return log_no_memory();
	shares->at = shares->bytes;
	return crew__receive(&shares->crew, from, shares->bytes, shares->head.bytes);
}

int io_replay_next_share(struct session *s, struct session_share *share)
{
	struct io_shares *shares = io_replay(s)->shares;
	const struct io_stretch *stretch;
	int err = 0;

	if (shares->head.is_lent) /* the stretch before */
		crew__return(&shares->crew, shares->stretches[shares->next - 1].by);
	if (shares->next == shares->nr) {
		capture_reader__stretch(shares->reader, SIZE_MAX, SIZE_MAX);
		return 0;
	}
	stretch = &shares->stretches[shares->next++];
	capture_reader__stretch(shares->reader, stretch->from, stretch->to);
	shares->head = (struct share_head){ 0 };
	if (stretch->by != SHARE_OWN)
		err = share_receive(shares, stretch->by);
	*share = shares->head.share;
	return err ?: 1;
}

int io_replay_take_share(struct session *s)
{
	const struct session_view *view = s->inside->view;
	struct io_replay *replay = io_replay(s);
	const struct share_head *head = &replay->shares->head;
	struct byte_in in = { replay->shares->at, replay->shares->at + head->bytes, false };
	int err = view->on_record ? view->sharing->take(s->inside->state, s, &in)
				  : share_take_rows(s, &in);

	if (err)
		return err;
	replay->nr_records += head->share.nr;
	replay->nr_submits += head->nr_submits;
	replay->nr_other += head->nr_other;
	replay->filter.nr_stageless += head->nr_stageless;
	replay->filter.nr_unplaced += head->nr_unplaced;
	return 0;
}

void io_replay_end_shares(struct io_replay *replay)
{
	if (!replay->shares)
		return;
	crew__end(&replay->shares->crew);
	free(replay->shares->stretches);
	free(replay->shares->bytes);
	free(replay->shares);
}
