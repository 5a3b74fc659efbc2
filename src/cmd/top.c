/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top.c: which disk is busy or slow now, and what is it busy with? One screen of rates and latency,
 * every interval, which opens a disk into its operations, tasks or whatever --by says. It costs
 * what `latency` costs, and sees what `latency` sees.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/privilege.h"
#include "cmd/cmd.h"
#include "screen/messages.h"
#include "screen/top.h"
#include "screen/top_player.h"
#include "session/host_source.h"
#include "session/io_source.h"
#include "session/loop.h"
#include "session/session.h"
#include "view/latency_by.h"
#include "view/top_model.h"
#include "view/top_tables.h"
#include "view/top_troubles.h"

struct top {
	/* options */
	struct option_list by;
	/* state, and --if */
	struct top_tables tables;
	struct session *session;
	struct top_model model;
	struct cgroup_groups groups;
	struct top_screen screen;
	struct top_troubles troubles;
	double seconds;		/* since the last interval of the screen */
	unsigned int ticks;	/* likewise */
	double cpu_s, cpu_at_s; /* own CPU time so far, and when it was read */
	struct messages messages;
	struct top_player player;
	bool draws;
	int err;
};

static const struct option_def top_options[] = {
	{ "by", 0, OPTION_LIST, offsetof(struct top, by), "KEY,...",
	  "keys of rows, from the first level to the last (default dev,op)",
	  .choices = latency_by_words },
	ROW_IF_OPTION(offsetof(struct top, tables.conditions), "'p99 > 1ms'"),
	{ 0 },
};

static const struct option_group top_group = { "What is shown", top_options };

static int top_run(void *state, const struct options *options, char **argv);

const struct cmd cmd_top = {
	.name = "top",
	.group = "I/O",
	.brief = "disks and what keeps them busy, on one screen",
	.synopsis = "[options] [-- COMMAND...]",
	.groups = CMD_GROUPS(&filter_group, &run_group,
			     OUTPUT_IN(OUTPUT_BIT(OUTPUT_TEXT) | OUTPUT_BIT(OUTPUT_JSON)),
			     &read_group),
	.own = &top_group,
	.view_size = sizeof(struct top),
	.objects = CMD_OBJECTS(&top_rows, &top_samples, &top_trouble_rows, &session_ledger),
	.run = top_run,
	.needs = NEED_IO | NEED_FILES,
};

/* ---- messages, while there is a screen ---- */

static void top_hear(void *arg, const char *message)
{
	struct top *t = arg;

	snprintf(t->screen.message, sizeof(t->screen.message), "%.*s", (int)strcspn(message, "\n"),
		 message);
	if (t->screen.types)
		return; /* a mistake in a filter: only the screen has it */
	messages__keep(&t->messages, message);
}

/* The terminal is as it was before, and has what was said meanwhile. */
static void top_close_screen(struct top *t)
{
	if (t->draws)
		screen__close();
	t->draws = false;
	log_set_listener(NULL, NULL);
	messages__tell(&t->messages);
}

/* ---- one interval ---- */

static void top_label(void *arg, const struct io_tags *tags, uint32_t mask, struct latency_row *row)
{
	latency_row__label(row, arg, tags, mask);
}

static struct io_tags top_name(struct top *t, const struct io_tags *tags)
{
	struct io_tags named = *tags;

	t->err = t->err
			 ?: latency_by__tag(top_model__finest(&t->model)->mask, &t->groups,
					    t->session, &named);
	return named;
}

static void top_take_part(void *arg, const struct io_tags *tags, const struct hist *part)
{
	struct top *t = arg;
	struct io_tags named = top_name(t, tags);

	t->err = t->err ?: top_model__add(&t->model, &named, part);
}

static void top_take_open(void *arg, const struct io_tags *tags)
{
	struct top *t = arg;
	struct io_tags named = top_name(t, tags);

	t->err = t->err ?: top_model__add_open(&t->model, &named);
}

/*
 * What the run itself costs: the CPU time of this process since the last call, and that of the BPF
 * programs since the start, because few of their runs are measured.
 */
static void top_measure_cost(struct top *t, const struct session *s)
{
	const struct io *io = io_source__collector(s);
	struct io_own_cost own = io ? io__own_cost(io) : (struct io_own_cost){ 0 };
	double cpu_s = (double)clock__cpu_ns() / 1e9;

	if (s->elapsed_s > t->cpu_at_s)
		t->screen.facts.cpu_percent =
			100 * (cpu_s - t->cpu_s) / (s->elapsed_s - t->cpu_at_s);
	t->cpu_s = cpu_s;
	t->cpu_at_s = s->elapsed_s;
	t->screen.facts.bpf_percent = own.measured ? (double)own.ns / 1e7 / s->elapsed_s : NAN;
}

static int top_read(struct top *t, struct session *s)
{
	struct io *io = io_source__collector(s);

	top_model__begin(&t->model);
	io_source__read(s, top_take_part, t);
	t->err = t->err ?: top_model__end(&t->model, t->seconds);
	if (io)
		io__ledger(io, &t->screen.facts.ledger);
	top_measure_cost(t, s);
	t->screen.now_s = s->elapsed_s;
	t->seconds = 0;
	t->ticks = 0;
	return t->err ? log_err(t->err, "out of memory") : top_troubles__look(&t->troubles);
}

static void top_set_clock(struct top_facts *facts)
{
	time_t now = time(NULL);
	struct tm local;

	if (localtime_r(&now, &local))
		strftime(facts->clock, sizeof(facts->clock), "%H:%M:%S", &local);
}

static int top_draw(void *state)
{
	struct top *t = state;

	t->model.lines = (size_t)screen__lines();
	if (top_model__arrange(&t->model, top_label, t->session))
		return log_no_memory();
	top_screen__draw(&t->screen);
	return 0;
}

static int top_print(struct top *t, struct session *s)
{
	const struct top_facts *facts = &t->screen.facts;
	const struct ledger *l = &facts->ledger;
	bool is_live = io_source__collector(s);
	struct top_sample sample = {
		.in_flight = is_live ? t->model.in_flight : CELL_NO_NUMBER,
		.issued = is_live ? l->issued : CELL_NO_NUMBER,
		.completed = is_live ? l->completed : CELL_NO_NUMBER,
		.lost = is_live ? ledger__lost(l) : CELL_NO_NUMBER,
		.cpu_percent = facts->cpu_percent,
		.bpf_percent = facts->bpf_percent,
	};

	top_troubles__print(&t->troubles);
	return top_tables__put_interval(&t->tables, s, &t->model, &sample);
}

/* While the screen is frozen nothing is read: the next interval has all that came meanwhile. */
static int top_on_tick(void *state, struct session *s)
{
	struct top *t = state;
	int err;

	t->seconds += s->interval_s;
	if (t->screen.is_frozen || ++t->ticks < t->screen.multiple)
		return 0;
	err = top_read(t, s);
	if (!err && s->format == TABLE_JSON)
		err = top_print(t, s);
	if (err || !t->draws || t->screen.browse.is_on)
		return err;
	top_set_clock(&t->screen.facts);
	return top_draw(t);
}

/* ---- what the terminal tells ---- */

static int top_on_keys(void *state)
{
	struct top *t = state;
	int key, err = 0;

	while ((key = screen__key()) != SCREEN_NO_KEY && !t->screen.quits) {
		t->screen.quits |= key == SCREEN_GONE;
		top_screen__on_key(&t->screen, key);
		if (top_model__arrange(&t->model, top_label, t->session))
			return log_no_memory();
	}
	if (t->screen.quits)
		session__stop_loop(t->session);
	else if (t->screen.browse.is_on)
		err = top_player__follow(&t->player);
	return err ?: top_draw(t);
}

static int top_on_resize(void *state)
{
	screen__resize();
	return top_draw(state);
}

/* Ctrl-Z. The shell has its terminal back until it continues us. */
static int top_on_stop(void *state)
{
	screen__suspend();
	raise(SIGSTOP);
	return top_on_resize(state);
}

static int top_open_screen(struct top *t, struct session *s)
{
	struct sigaction stop;
	struct utsname name;
	int err = 0;

	tzset(); /* reads a file */
	uname(&name);
	snprintf(t->screen.facts.host, sizeof(t->screen.facts.host), "%s", name.nodename);
	snprintf(t->screen.facts.kernel, sizeof(t->screen.facts.kernel), "%s", name.release);
	t->screen.style = chart__style_of(stdout, s->options->output.color);
	t->player = (struct top_player){
		.session = s, .screen = &t->screen, .draw = top_draw, .arg = t
	};
	if (s->options->file.read.nr)
		err = top_player__open(&t->player);
	err = err ?: screen__open(t->screen.style);
	if (err)
		return err;
	t->draws = true;
	log_set_listener(top_hear, t);
	err = session__watch(s, STDIN_FILENO, top_on_keys, t);
	err = err ?: session__on_signal(s, SIGWINCH, top_on_resize, t);
	err = err ?: session__on_signal(s, SIGCONT, top_on_resize, t);
	if (!sigaction(SIGTSTP, NULL, &stop) && stop.sa_handler != SIG_IGN)
		err = err ?: session__on_signal(s, SIGTSTP, top_on_stop, t);
	return err ?: top_draw(t);
}

/* ---- the run ---- */

static struct io_wants top_wants(void *state, const struct options *options)
{
	uint32_t mask = top_model__finest(&((struct top *)state)->model)->mask;
	struct io_wants wants = latency_by__wants(mask, &options->filter);

	wants.own_cost = wants.failures = true;
	return wants;
}

static void top_needs(const void *state, struct privilege_needs *needs)
{
	const struct top *t = state;

	needs->draws = t->draws;
	needs->runs = t->troubles.inflight;
}

static int top_on_start(void *state, struct session *s)
{
	struct top *t = state;
	struct io *io = io_source__collector(s);
	int err;

	t->session = s;
	t->model.knows_open = io;
	if (io)
		io__tell_open(io, top_take_open, t);
	top_measure_cost(t, s);
	err = top_tables__open(&t->tables, s, &t->model);
	err = err ?: top_troubles__open(&t->troubles, s);
	return err || s->format != TABLE_TEXT ? err : top_open_screen(t, s);
}

static int top_on_end(void *state, struct session *s)
{
	struct top *t = state;
	const struct breakdown *finest = top_model__finest(&t->model);
	uint64_t counted = 0; /* by the rows: a second count of the same commands */
	int err;

	char title[TOP_BROWSE_TEXT];

	top_close_screen(t);
	if (t->screen.browse.is_on)
		return top_tables__put_window(&t->tables, s, &t->model,
					      top_browse__text(&t->screen.browse, title));
	err = top_read(t, s);
	for (size_t i = 0; i < finest->nr; i++)
		counted += finest->rows[i]->total.count;
	io_source__take_ledger(s, counted);
	return err ?: top_tables__put_totals(&t->tables, s, &t->model);
}

static bool top_browses(const void *state, const struct options *options)
{
	(void)state;
	return options->output.format == OUTPUT_TEXT;
}

static const struct session_view top_view = {
	.browses = top_browses,
	.wants = top_wants,
	.on_start = top_on_start,
	.on_tick = top_on_tick,
	.on_end = top_on_end,
	.needs = top_needs,
	.owns_terminal = true,
};

/* The screen needs a terminal, for itself. */
static int top_check(const struct options *options, char **argv)
{
	if (options->output.format != OUTPUT_TEXT)
		return 0;
	if (options->file.read.nr && options->run.count.given)
		return log_err(-EINVAL, "top -r takes -n only with -o json: its keys end it");
	if (argv && argv[0])
		return log_err(-EINVAL,
			       "top takes a COMMAND only with -o json: its output would be on the "
			       "screen (got '%s')",
			       argv[0]);
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return log_err(-EINVAL,
			       "top requires a terminal, and standard %s is none; -o json prints "
			       "samples without a screen",
			       isatty(STDIN_FILENO) ? "output" : "input");
	return 0;
}

static int top_run(void *state, const struct options *options, char **argv)
{
	struct top *t = state;
	enum breakdown_by keys[NR_BY];
	size_t nr = latency_by__keys(&t->by, keys);
	int err = top_check(options, argv);

	for (size_t i = 0; i < nr && !err; i++)
		err = host_source__check(options, keys[i] == BY_HOST);
	if (err)
		return err;
	top_model__init(&t->model, keys, nr);
	t->screen.model = &t->model;
	t->screen.troubles = &t->troubles;
	t->screen.multiple = 1;
	err = top_tables__parse(&t->tables, &t->model) ?: session__run(&top_view, t, options, argv);
	top_close_screen(t); /* if the run failed */
	top_model__free(&t->model);
	cgroup_groups__free(&t->groups);
	top_tables__free(&t->tables);
	top_troubles__free(&t->troubles);
	return err;
}
