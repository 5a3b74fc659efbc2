/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_live.c: a run on this machine: the collector attaches, rings are emptied fifty times a
 * second, records are put in order of time, kept if -w says so, and handed on to the view.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/privilege.h"
#include "collect/cgroup.h"
#include "session/source.h"
#include "symbol/frames.h"

static const uint64_t live_poll_ns = 20000000;	 /* a line is seen within 50 ms */
static const uint64_t live_window_ns = 20000000; /* other CPUs' records may be so late */
static const uint64_t live_clock_every_ns = 1000000000;
static const uint64_t live_keep_clocks_ns = 10000000000ULL;

struct session_live_state {
	struct io *io;
	struct order order;
	struct capture_about about; /* its clocks */
	struct frames *frames;	    /* NULL: no stacks are wanted */
	struct glossary known[NR_GLOSSARIES];
	uint64_t ended;	  /* commands that had a record */
	uint64_t dropped; /* records, as far as the capture knows */
	bool view_failed; /* it gets no more records */
	int record_err;
};

/* ---- records ---- */

static void live_hold(void *arg, const struct io_record *record, enum io_record_from from)
{
	struct session_live_state *live = arg;

	live->ended += record->what == RECORD_END && from != IO_FROM_SLOT;
	if (from != IO_FROM_RING_AGAIN && order__add(&live->order, record))
		live->record_err = log_err(-ENOMEM, "out of memory");
}

static void live_hand_on(void *arg, const struct io_record *record)
{
	struct session *s = arg;
	struct session_inside *in = s->inside;
	struct session_live_state *live = in->live;

	if (live->record_err || in->stopped)
		return;
	if (in->wants.by_path && record->status)
		session_count_failover(s, record, io__device_of(live->io, record));
	if (in->recorder)
		live->record_err = recorder__record(in->recorder, record);
	if (!live->record_err && in->view->on_record && !live->view_failed)
		live->record_err = in->view->on_record(in->state, s, record);
}

/* Rings that ran full: what is written next says how many records are missing before it. */
static void live_tell_lost(struct session *s)
{
	struct session_live_state *live = s->inside->live;
	uint64_t dropped = io__records_dropped(live->io);

	if (s->inside->recorder)
		recorder__lost(s->inside->recorder, "ring full", dropped - live->dropped);
	live->dropped = dropped;
}

/* What the rings hold; what happened before until_ns goes on. */
static int live_fetch(struct session *s, uint64_t until_ns)
{
	struct session_live_state *live = s->inside->live;
	int err = io__records(live->io, live_hold, live);

	order__take(&live->order, until_ns, live_hand_on, s);
	live_tell_lost(s);
	return err ?: live->record_err;
}

/* The wall clock may be set while we run: one moment on all clocks each second. */
static int live_on_clock(void *arg)
{
	struct session *s = arg;
	struct capture_about *about = &s->inside->live->about;
	const struct capture_clock clock = session_clock();
	int err;

	capture_about__forget_clocks(about, clock.mono_ns - live_keep_clocks_ns);
	err = capture_about__add_clock(about, &clock);
	if (!err && s->inside->recorder)
		err = recorder__clock(s->inside->recorder, &clock);
	return err;
}

static int live_on_poll(void *arg)
{
	struct session *s = arg;
	int err = live_fetch(s, clock__mono_ns() - live_window_ns);

	session_check_full(s);
	return err ?: session_flush(s);
}

static void live_count_row(void *arg, const struct io_tags *tags, const struct hist *part)
{
	*(uint64_t *)arg += part->count;
	(void)tags;
}

/*
 * Every command that ended had a record, or is in a row: because the ring was full, or parked.
 * Where rows hold all commands, the view counts them itself.
 */
static int live_end_records(struct session *s)
{
	uint64_t rows = 0;
	int err = live_fetch(s, UINT64_MAX);

	log_verbose("records sent: %" PRIu64, io__records_tried(s->inside->live->io));
	session_check_full(s);
	if (s->inside->wants.rows || s->inside->view->keeps_no_ledger)
		return err;
	io__read(s->inside->live->io, live_count_row, &rows);
	session__take_ledger(s, s->inside->live->ended + rows);
	return err;
}

/* ---- the run ---- */

static int live_on_tick(void *arg)
{
	struct session *s = arg;
	const struct option_number *count = &s->options->run.count;
	int err;

	session_set_time(s, clock__mono_ns());
	s->span_s = s->elapsed_s;
	err = session_tick(s);
	if (count->given && s->inside->ticks >= count->value && !s->inside->view->counts_records)
		loop__stop(s->inside->loop);
	return err;
}

static int live_on_signal(void *arg)
{
	struct session *s = arg;
	int err = live_fetch(s, clock__mono_ns() - live_window_ns);

	return err ?: s->inside->view->on_signal(s->inside->state, s);
}

static int live_time_is_up(void *arg)
{
	loop__stop(((struct session *)arg)->inside->loop);
	return 0;
}

static int live_arm_records(struct session *s)
{
	struct loop *loop = s->inside->loop;
	int err = live_on_clock(s);

	err = err ?: loop__every(loop, live_clock_every_ns, live_on_clock, s);
	return err ?: loop__every(loop, live_poll_ns, live_on_poll, s);
}

static int live_arm(struct session *s)
{
	const struct option_number *duration = &s->options->run.duration_ns;
	const struct session_view *view = s->inside->view;
	struct loop *loop = s->inside->loop;
	struct io *io = s->inside->live->io;
	int err = 0;

	if (view->on_tick)
		err = loop__every(loop, session_interval(s), live_on_tick, s);
	if (!err && s->inside->wants.records)
		err = live_arm_records(s);
	if (!err && view->on_signal)
		err = loop__on_signal(loop, SIGUSR1, live_on_signal, s);
	if (!err && duration->given)
		err = loop__after(loop, duration->value, live_time_is_up, s);
	if (!err && io__uevent_fd(io) >= 0)
		err = loop__add_fd(loop, io__uevent_fd(io), io__on_uevent, io);
	return err;
}

/* ---- what ids stand for ---- */

/* "cgroup-1234" is no path. */
static char *live_cgroup(uint64_t id)
{
	char path[4096];

	return cgroup__path(id, path, sizeof(path))[0] == '/' ? strdup(path) : NULL;
}

static char *live_find_text(const struct session_live_state *live, enum glossary_kind kind,
			    struct glossary_id id)
{
	const struct io_stack *stack;

	switch (kind) {
	case GLOSSARY_CGROUPS: return live_cgroup(id.words[0]);
	case GLOSSARY_STACKS:
		stack = io__stack(live->io, (uint32_t)id.words[0]);
		return stack && live->frames
			       ? frames__text(live->frames, stack, (uint32_t)id.words[1])
			       : NULL;
	case GLOSSARY_FILES: return io__file(live->io, id.words[0], id.words[1]);
	default: return NULL;
	}
}

/* Asked once, while it is there; what has no text now will not have one later. */
static const char *live_text(const struct session *s, enum glossary_kind kind,
			     struct glossary_id id)
{
	struct session_live_state *live = s->inside->live;
	const struct glossary_entry *entry = glossary__find(&live->known[kind], id);
	char *text;

	if (entry)
		return entry->text;
	text = live_find_text(live, kind, id);
	entry = glossary__add(&live->known[kind], id, text);
	free(text);
	return entry ? entry->text : NULL;
}

static const char *live_text_of(void *s, enum glossary_kind kind, struct glossary_id id)
{
	return live_text(s, kind, id);
}

static bool live_knows(const struct session *s, enum glossary_kind kind)
{
	(void)s, (void)kind;
	return true;
}

static int live_device_of(void *s, const struct io_record *record)
{
	return io__device_of(((struct session *)s)->inside->live->io, record);
}

/* After the programs were attached: who may not measure must not empty an old file. */
static int live_keep(struct session *s)
{
	struct io *io = s->inside->live->io;
	const struct recorder_run run = {
		.options = &s->options->file,
		.devices = io__devices(io),
		.device_of = live_device_of,
		.text = live_text_of,
		.arg = s,
		.op_names = io__kernel(io)->op_names,
		.start_ns = s->start_ns,
		.alias = s->inside->alias,
		.maker = maker__is_there(&s->inside->maker) ? &s->inside->maker : NULL,
	};

	return s->options->file.write ? recorder__new(&run, &s->inside->recorder) : 0;
}

static int live_start(struct session *s, char **argv)
{
	struct session_inside *in = s->inside;
	int err;

	in->live = calloc(1, sizeof(*in->live));
	if (!in->live)
		return log_err(-ENOMEM, "out of memory");
	if (s->options->file.write && !in->wants.records)
		in->wants.records = in->wants.rows = true;
	if (in->wants.kernel_stacks || in->wants.user_stacks) {
		in->live->frames = frames__new(in->wants.kernel_stacks, in->wants.user_stacks);
		if (!in->live->frames)
			return log_err(-ENOMEM, "out of memory");
	}
	err = io__open(&in->live->io, &in->wants);
	if (!err && in->live->frames)
		frames__prepare(in->live->frames);
	if (!err && argv && argv[0])
		err = loop__start_child(in->loop, argv);
	if (err)
		return err;
	s->start_ns = in->last_ns = io__start_ns(in->live->io);
	err = live_keep(s);
	err = err ?: in->view->on_start(in->state, s);
	return err ?: live_arm(s);
}

/* Bios that found no place: their I/Os have no owner and no stages before the command. */
static void live_tell_bios(struct session *s)
{
	uint64_t missed = io__bios_missed(s->inside->live->io);

	if (!missed)
		return;
	log_warn("lost %" PRIu64 ": bios found their table full", missed);
	s->inside->lost = true;
}

static void live_tell_events(struct session *s)
{
	uint64_t missed = io__events_missed(s->inside->live->io);

	if (!missed)
		return;
	log_warn("lost %" PRIu64 " events of controllers or devices: no room", missed);
	s->inside->lost = true;
}

/* Their rows are there, by number. */
static void live_tell_files(const struct session *s)
{
	uint64_t missed = io__files_missed(s->inside->live->io);

	if (missed)
		log_note("%" PRIu64 " I/Os are of files whose names found no room: they are shown "
			 "by their inode",
			 missed);
}

static void live_tell_losses(struct session *s)
{
	live_tell_bios(s);
	live_tell_files(s);
	live_tell_events(s);
}

/* A view that failed counted nothing: the ledger without a second count. */
static void live_ledger_of_failed(struct session *s)
{
	uint64_t rows = 0;

	io__read(s->inside->live->io, live_count_row, &rows);
	session__take_ledger(s, SESSION_NOT_COUNTED);
}

/* A run that failed, or whose reader has gone, still ends its capture. */
static int live_end(struct session *s, int err)
{
	struct session_inside *in = s->inside;
	int end_err = 0;

	session_set_time(s, clock__mono_ns());
	s->span_s = s->elapsed_s;
	session__status(s, "");
	in->live->view_failed = err;
	io__detach(in->live->io);
	if (in->wants.records)
		end_err = live_end_records(s);
	if (!in->view->keeps_no_ledger)
		live_tell_losses(s);
	err = err ?: end_err;
	err = err ?: in->view->on_end(in->state, s);
	if (!s->ledger_known && !in->view->keeps_no_ledger)
		live_ledger_of_failed(s);
	if (!err)
		session_show_ledger(s);
	if (in->recorder)
		end_err = recorder__finish(in->recorder, in->last_ns, &s->ledger);
	session_check_full(s);
	return err ?: end_err;
}

/*
 * The last thing before the loop: programs are attached, files are open, and the COMMAND was
 * forked. It waits at its gate for loop__run and then runs with the privileges we were started
 * with; forked later it would inherit the filter.
 */
static void live_drop_privileges(const struct session *s)
{
	const struct privilege_needs needs = {
		.child = loop__child_pid(s->inside->loop),
		.attaches = io__attaches_later(s->inside->live->io),
		.runs = s->inside->view->runs_programs,
	};

	if (!s->options->run.keep_privileges)
		privilege__drop(&needs);
}

static int live_run(struct session *s, char **argv)
{
	int err = live_start(s, argv);

	if (err)
		return s->inside->recorder ? live_end(s, err) : err;
	live_drop_privileges(s);
	return live_end(s, loop__run(s->inside->loop));
}

/* ---- what a view asks ---- */

static struct io *live_io(const struct session *s)
{
	return s->inside->live->io;
}

static const struct device *live_device(struct session *s, const struct io_record *record)
{
	struct io *io = s->inside->live->io;
	int index = io__device_of(io, record);

	return index < 0 ? NULL : &io__devices(io)->devices[index];
}

static const struct device_list *live_devices(const struct session *s)
{
	return io__devices(s->inside->live->io);
}

static void live_stack_losses(const struct session *s, uint64_t *taken, uint64_t *failed)
{
	io__stack_losses(s->inside->live->io, taken, failed);
}

static char *const *live_op_names(const struct session *s)
{
	return io__kernel(s->inside->live->io)->op_names;
}

static const struct capture_about *live_about(const struct session *s)
{
	return &s->inside->live->about;
}

static bool live_sees(const struct session *s, bool nvme)
{
	return nvme ? io__sees_nvme(s->inside->live->io) : io__sees_block(s->inside->live->io);
}

static void live_read(struct session *s, io_row_fn fn, void *arg)
{
	io__read(s->inside->live->io, fn, arg);
}

static void live_take_ledger(struct session *s, uint64_t counted)
{
	const struct filter_options *f = &s->options->filter;

	io__ledger(s->inside->live->io, &s->ledger);
	s->ledger.counted = counted;
	s->ledger.counted_known = counted != SESSION_NOT_COUNTED && !f->min_ns.given && !f->failed;
	s->ledger_known = true;
}

static void live_free(struct session *s)
{
	struct session_live_state *live = s->inside->live;

	if (!live)
		return;
	order__free(&live->order);
	capture_about__free(&live->about);
	for (int kind = 0; kind < NR_GLOSSARIES; kind++)
		glossary__free(&live->known[kind]);
	frames__free(live->frames);
	io__free(live->io);
	free(live);
}

const struct session_source session_live = {
	.run = live_run,
	.io = live_io,
	.device = live_device,
	.devices = live_devices,
	.text = live_text,
	.knows = live_knows,
	.stack_losses = live_stack_losses,
	.op_names = live_op_names,
	.about = live_about,
	.sees = live_sees,
	.read = live_read,
	.take_ledger = live_take_ledger,
	.free = live_free,
};
