/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_live.c: I/O of this machine: attaches the collector, drains its rings, sorts records by time,
 * stores them for -w, and passes them to the view. The ledger accounts for every command.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "analyse/order.h"
#include "base/clock.h"
#include "base/log.h"
#include "session/io_source.h"
#include "session/source.h"
#include "symbol/frames.h"

static const uint64_t io_live_window_ns = 20000000; /* maximum delay of other CPUs' records */
/* A cell of a row takes 3.2e9 commands more before it overflows: 53 million a second. */
static const uint64_t io_live_keep_ns = 60000000000ULL;
static const uint64_t io_live_reuse_ns = 1000000000;

struct io_live {
	struct io *io;
	struct order order;
	struct frames *frames; /* NULL: stacks are not wanted */
	uint64_t ended;	       /* commands that had a record */
	uint64_t dropped;      /* dropped records that the capture knows of */
	int record_err;
};

static struct io_live *io_live(const struct session *s)
{
	return s->inside->data;
}

/* ---- records ---- */

static void io_live_hold(void *arg, const struct io_record *record, enum io_record_from from)
{
	struct io_live *live = arg;

	live->ended += record->what == RECORD_END && from != IO_FROM_SLOT;
	if (from != IO_FROM_RING_AGAIN && order__add(&live->order, record))
		live->record_err = log_err(-ENOMEM, "out of memory");
}

static void io_live_hand_on(void *arg, const struct io_record *record)
{
	struct session *s = arg;
	struct session_inside *in = s->inside;
	struct io_live *live = in->data;

	if (live->record_err || in->stopped)
		return;
	if (in->wants.by_path && record->status)
		io_source_count_failover(s, record, io__device_of(live->io, record));
	if (in->recorder)
		live->record_err = recorder__record(in->recorder, record);
	if (!live->record_err && in->view->on_record && !in->view_failed)
		live->record_err = in->view->on_record(in->state, s, record);
}

static int io_live_drain(struct session *s, enum session_drain what)
{
	struct io_live *live = io_live(s);
	uint64_t until_ns = what == DRAIN_ALL ? UINT64_MAX : clock__mono_ns() - io_live_window_ns;
	uint64_t dropped;
	int err;

	if (live->frames) /* first: then the views see which processes have frame pointers */
		unwinder__publish(io__unwinder(live->io), frames__symbols(live->frames));
	err = io__records(live->io, io_live_hold, live);
	order__take(&live->order, until_ns, io_live_hand_on, s);
	/* Rings that ran full: the next block says how many records are missing before it. */
	dropped = io__records_dropped(live->io);
	if (s->inside->recorder)
		recorder__lost(s->inside->recorder, "ring full", dropped - live->dropped);
	live->dropped = dropped;
	return err ?: live->record_err;
}

/* ---- the ledger ---- */

static void io_live_count_row(void *arg, const struct io_tags *tags, const struct hist *part)
{
	*(uint64_t *)arg += part->count;
	(void)tags;
}

static void io_live_take_ledger(struct session *s, uint64_t counted)
{
	const struct filter_options *f = &s->options->filter;

	io__ledger(io_live(s)->io, &s->ledger);
	s->ledger.counted = counted;
	s->ledger.counted_known = counted != IO_NOT_COUNTED && !f->min_ns.given && !f->failed;
	s->ledger_known = true;
}

/* Bios that found no place have no owner and no stages before the command; files are by number. */
static void io_live_tell_losses(struct session *s)
{
	uint64_t bios = io__bios_missed(io_live(s)->io), files = io__files_missed(io_live(s)->io),
		 events = io__events_missed(io_live(s)->io),
		 waits = io__waits_missed(io_live(s)->io);

	if (bios)
		log_warn("lost %" PRIu64 ": the table of bios was full", bios);
	if (files)
		log_note("%" PRIu64 " I/Os are shown by inode: the table of file names was full",
			 files);
	if (waits)
		log_note("%" PRIu64 " waits have no name: their table was full", waits);
	if (events)
		log_warn("lost %" PRIu64
			 " events of controllers or devices: buffer full or out of memory",
			 events);
	s->inside->lost |= bios || events;
}

static void io_live_tell_cost(const struct session *s)
{
	struct io_own_cost cost = io__own_cost(io_live(s)->io);

	if (cost.measured)
		log_verbose("time of our own programs: %.6f s of CPU time in %.3f s, as %" PRIu64
			    " measured runs show",
			    (double)cost.ns / 1e9, s->elapsed_s, cost.measured);
}

/*
 * Every completed command had a record, or is in a row because the ring was full or it was parked.
 * Where rows hold all commands, the view counts them itself.
 */
static int io_live_settle(struct session *s)
{
	struct session_inside *in = s->inside;
	uint64_t rows = 0;

	if (in->drains)
		log_verbose("records sent: %" PRIu64, io__records_tried(io_live(s)->io));
	unwinder__tell(io__unwinder(io_live(s)->io));
	io_live_tell_cost(s);
	if (in->view->keeps_no_ledger)
		return 0;
	if (in->drains && !in->wants.rows) {
		io__read(io_live(s)->io, io_live_count_row, &rows);
		io_live_take_ledger(s, io_live(s)->ended + rows);
	}
	io_live_tell_losses(s);
	return 0;
}

/* A view that failed has no count: the ledger goes without a second count. */
static int io_live_keep_end(struct session *s)
{
	uint64_t rows = 0;

	if (s->ledger_known || s->inside->view->keeps_no_ledger)
		return 0;
	io__read(io_live(s)->io, io_live_count_row, &rows);
	io_live_take_ledger(s, IO_NOT_COUNTED);
	return 0;
}

/* ---- names of ids ---- */

/* The first stacks of a process are taken by frame pointers, before its tables are known. */
static char *io_live_frames(const struct io_live *live, const struct io_stack *stack, uint32_t pid)
{
	struct io_stack copy = *stack;

	copy.is_truncated |= stack->user && stack->number <= IO_MAX_STACKS &&
			     unwinder__is_cut_by_fp(io__unwinder(live->io), pid);
	return frames__text(live->frames, &copy, pid);
}

static char *io_live_find_text(const struct session *s, enum glossary_kind kind,
			       struct glossary_id id)
{
	const struct io_live *live = io_live(s);
	const struct io_stack *stack;

	if (kind == GLOSSARY_FILES)
		return io__file(live->io, id.words[0], id.words[1]);
	if (kind != GLOSSARY_STACKS || !live->frames)
		return NULL;
	stack = io__stack(live->io, (uint32_t)id.words[0]);
	return stack ? io_live_frames(live, stack, (uint32_t)id.words[1]) : NULL;
}

static int io_live_device_of(void *s, const struct io_record *record)
{
	return io__device_of(io_live(s)->io, record);
}

static void io_live_ledger(void *s, struct ledger *ledger)
{
	io__ledger(io_live(s)->io, ledger);
}

static void io_live_describe(struct session *s, struct recorder_run *run)
{
	const struct filter_options *f = &s->options->filter;

	run->ledger = io_live_ledger;
	run->counts_all = !f->min_ns.given && !f->failed;
	run->devices = io__devices(io_live(s)->io);
	run->device_of = io_live_device_of;
	run->op_names = io__kernel(io_live(s)->io)->op_names;
}

/* ---- the run ---- */

static int io_live_open(struct session *s)
{
	struct session_inside *in = s->inside;
	struct io_live *live = in->data = calloc(1, sizeof(*live));
	int err;

	if (!live)
		return log_err(-ENOMEM, "out of memory");
	if (s->options->file.write && !in->wants.records)
		in->wants.records = in->wants.rows = true;
	in->drains = in->wants.records;
	if (in->wants.kernel_stacks || in->wants.user_stacks) {
		live->frames = frames__new(in->wants.kernel_stacks, in->wants.user_stacks);
		if (!live->frames)
			return log_err(-ENOMEM, "out of memory");
	}
	err = io__open(&live->io, &in->wants);
	if (err)
		return err;
	if (live->frames) {
		frames__prepare(live->frames);
		unwinder__first(io__unwinder(live->io), frames__symbols(live->frames));
	}
	if (in->scout.shared)
		io__read_by(live->io, &in->scout);
	s->start_ns = io__start_ns(live->io);
	return 0;
}

/* A view may read nothing before the end. */
static int io_live_keep_counts(void *arg)
{
	io__keep_counts(arg);
	return 0;
}

static int io_live_keep_budget(void *arg)
{
	io__keep_budget(arg);
	return 0;
}

/* A record that is still in the rings has the number of its device. */
static bool io_live_lets_go(void *arg, uint32_t number, uint64_t gone_ns)
{
	const struct session *s = arg;

	return !s->inside->recorder || recorder__lets_go(s->inside->recorder, number, gone_ns);
}

static int io_live_reuse(void *arg)
{
	struct session *s = arg;
	int err = io_live_drain(s, DRAIN_SETTLED);

	if (!err)
		io__reuse(io_live(s)->io, io_live_lets_go, s);
	return err;
}

static int io_live_arm(struct session *s)
{
	struct io *io = io_live(s)->io;
	int err = loop__every(s->inside->loop, io_live_keep_ns, io_live_keep_counts, io);

	if (!err && s->inside->wants.reuse_after_ns)
		err = loop__every(s->inside->loop, io_live_reuse_ns, io_live_reuse, s);

	if (!err && s->inside->wants.budget > 0)
		err = loop__every(s->inside->loop, IO_BUDGET_NS, io_live_keep_budget, io);

	if (!err && io__uevent_fd(io) >= 0)
		err = loop__add_fd(s->inside->loop, io__uevent_fd(io), io__on_uevent, io);
	return err;
}

static void io_live_needs(const struct session *s, struct privilege_needs *needs)
{
	needs->attaches = io__attaches_later(io_live(s)->io);
	needs->runs = s->inside->view->runs_programs;
}

static void io_live_detach(struct session *s)
{
	io__detach(io_live(s)->io);
}

static void io_live_free(struct session *s)
{
	struct io_live *live = io_live(s);

	if (!live)
		return;
	order__free(&live->order);
	frames__free(live->frames);
	io__free(live->io);
	free(live);
}

/* ---- queries of a view ---- */

static struct io *io_live_collector(const struct session *s)
{
	return io_live(s)->io;
}

static const struct device *io_live_device(struct session *s, const struct io_record *record)
{
	struct io *io = io_live(s)->io;
	int index = io__device_of(io, record);

	return index < 0 ? NULL : &io__devices(io)->devices[index];
}

static const struct device_list *io_live_devices(const struct session *s)
{
	return io__devices(io_live(s)->io);
}

static void io_live_stack_losses(const struct session *s, uint64_t *taken, uint64_t *failed)
{
	io__stack_losses(io_live(s)->io, taken, failed);
}

static char *const *io_live_op_names(const struct session *s)
{
	return io__kernel(io_live(s)->io)->op_names;
}

static bool io_live_sees(const struct session *s, bool nvme)
{
	return nvme ? io__sees_nvme(io_live(s)->io) : io__sees_block(io_live(s)->io);
}

static void io_live_read(struct session *s, io_row_fn fn, void *arg)
{
	io__read(io_live(s)->io, fn, arg);
}

static const struct io_answers io_live_answers = {
	.collector = io_live_collector,
	.device = io_live_device,
	.devices = io_live_devices,
	.stack_losses = io_live_stack_losses,
	.op_names = io_live_op_names,
	.sees = io_live_sees,
	.read = io_live_read,
	.take_ledger = io_live_take_ledger,
};

const struct session_source session_io_live = {
	.open = io_live_open,
	.describe = io_live_describe,
	.arm = io_live_arm,
	.needs = io_live_needs,
	.drain = io_live_drain,
	.detach = io_live_detach,
	.settle = io_live_settle,
	.keep_end = io_live_keep_end,
	.ledger = session_show_ledger,
	.find_text = io_live_find_text,
	.io = &io_live_answers,
	.free = io_live_free,
};
