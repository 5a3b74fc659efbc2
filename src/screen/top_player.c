/* SPDX-License-Identifier: BSD-2-Clause */
#include "screen/top_player.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include "base/clock.h"
#include "session/browse.h"
#include "session/loop.h"

static const uint64_t player_second_ns = 1000000000, player_timer_ns = 50000000;

static double player_now(void)
{
	return (double)clock__mono_ns() / 1e9;
}

/* In UTC, as --wall has it. */
static void player_set_clock(const struct top_player *p)
{
	struct top_facts *facts = &p->screen->facts;
	uint64_t wall_ns = session__wall_ns(p->session, p->screen->browse.at_ns);
	time_t at = (time_t)(wall_ns / player_second_ns);
	struct tm parts;

	facts->clock[0] = '\0';
	if (wall_ns && gmtime_r(&at, &parts))
		strftime(facts->clock, sizeof(facts->clock), "%Y-%m-%d %H:%M:%S UTC", &parts);
}

/* After a jump the model has seen nothing but the windows of the strip. */
static int player_visit(struct top_player *p)
{
	struct top_browse *b = &p->screen->browse;
	uint64_t from_ns = top_browse__from(b, TOP_INTERVALS);
	uint64_t to_ns = b->at_ns + b->window_ns < b->at_ns ? UINT64_MAX : b->at_ns + b->window_ns;
	double start_s = player_now();
	int err;

	if (!top_browse__has_moved(b))
		return 0;
	if (!top_browse__follows(b))
		top_model__forget(p->screen->model);
	err = session__visit(p->session, from_ns, to_ns, b->window_ns);
	top_browse__visited(b, from_ns, player_now() - start_s);
	b->is_damaged = session__is_damaged(p->session);
	player_set_clock(p);
	return err;
}

int top_player__open(struct top_player *p)
{
	const struct session *s = p->session;
	const struct option_number *interval = &s->options->run.interval_ns;
	const struct option_list *files = &s->options->file.read;
	struct top_browse *b = &p->screen->browse;
	const char *name = strrchr(files->words[0], '/');
	uint64_t first_ns, last_ns;

	session__extent(s, &first_ns, &last_ns);
	top_browse__begin(b, first_ns, last_ns,
			  interval->given ? interval->value : player_second_ns);
	b->start_ns = s->start_ns;
	snprintf(b->file, sizeof(b->file), "%s%s", name ? name + 1 : files->words[0],
		 files->nr > 1 ? " and others" : "");
	p->screen->facts.ledger = s->ledger;
	p->screen->facts.has_ledger = s->ledger_known;
	return player_visit(p);
}

/* In the time of the capture. A window that takes longer to read delays those after it. */
static int player_on_timer(void *arg)
{
	struct top_player *p = arg;
	struct top_browse *b = &p->screen->browse;
	double now_s = player_now();
	int err;

	if (!b->plays || now_s < p->next_s)
		return 0;
	p->next_s += (double)b->window_ns / 1e9;
	p->next_s = p->next_s < now_s ? now_s : p->next_s;
	b->plays = top_browse__step(b, 1);
	p->next_s = b->plays ? p->next_s : 0;
	err = player_visit(p);
	return err ?: p->draw(p->arg);
}

int top_player__follow(struct top_player *p)
{
	const struct top_browse *b = &p->screen->browse;
	int err = player_visit(p);

	if (err)
		return err;
	if (!b->plays)
		p->next_s = 0;
	else if (p->next_s <= 0)
		p->next_s = player_now() + (double)b->window_ns / 1e9;
	if (p->has_timer || !b->plays)
		return 0;
	p->has_timer = true;
	return session__every(p->session, player_timer_ns, player_on_timer, p);
}
