/* SPDX-License-Identifier: BSD-2-Clause */
#include "why/facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analyse/steps.h"
#include "wire/io_tables.h"

/* A wait for a request that is shorter is what a submission takes. */
static const uint64_t fact_waits_ns = 10000;
/* A device that answers nothing for this long, and for ten typical commands, stalls. */
static const uint64_t fact_stall_ns = 20000000;
/* A thread that sends its next command later did something else meanwhile. */
static const uint64_t fact_turn_ns = 20000;
enum {
	FACT_STALL_TIMES = 10,
	FACT_TYPICAL_OF = 256,
	FACT_NEAR = 32,
	FACT_TAIL_OF = 512,
	FACT_TAIL_FEW = 32
};

static uint32_t fact_cell(uint64_t ns)
{
	return hist_slot(ns) >> 2;
}

uint64_t fact_cell__ns(uint32_t cell)
{
	uint64_t from_ns = hist_slot_from(cell << 2);

	return cell + 1 < FACT_CELLS ? (from_ns + hist_slot_from((cell + 1) << 2)) / 2 : from_ns;
}

uint64_t fact_cells__percentile(const uint32_t cells[FACT_CELLS], uint32_t per_10000)
{
	uint64_t nr = 0, sum = 0, rank;

	for (uint32_t i = 0; i < FACT_CELLS; i++)
		nr += cells[i];
	rank = (nr * per_10000 + 9999) / 10000;
	for (uint32_t i = 0; i < FACT_CELLS; i++) {
		sum += cells[i];
		if (sum >= rank && cells[i])
			return fact_cell__ns(i);
	}
	return 0;
}

struct fact_times {
	uint64_t from_ns, end_ns, parts_ns[NR_PARTS];
};

/* ---- devices ---- */

static struct fact_device *fact_find_device(struct facts *f, int32_t device)
{
	struct fact_device *d;

	for (size_t i = 0; i < f->nr_devices; i++)
		if (f->devices[i]->device == device)
			return f->devices[i];
	if (f->nr_devices == FACT_DEVICES)
		return NULL;
	d = calloc(1, sizeof(*d));
	if (!d)
		return NULL;
	d->device = device;
	d->place = (struct fact_place){ .station = device, .head = device };
	f->describe(f->arg, device, &d->place);
	f->devices[f->nr_devices++] = d;
	return d;
}

/* The median of the last commands: what a stall is compared with. */
static void fact_note_typical(struct fact_device *d, uint64_t ns)
{
	d->recent[fact_cell(ns)]++;
	if (++d->nr_recent < (d->typical_ns ? FACT_TYPICAL_OF : FACT_ALONE))
		return;
	d->typical_ns = fact_cells__percentile(d->recent, 5000);
	memset(d->recent, 0, sizeof(d->recent));
	d->nr_recent = 0;
}

/* Nothing ended since the end before, though this command was there already. */
static void fact_find_gap(struct fact_device *d, const struct io_record *r)
{
	uint64_t long_ns = FACT_STALL_TIMES * d->typical_ns;

	if (!d->last_ns || !d->typical_ns || r->end_ns <= d->last_ns)
		return;
	long_ns = long_ns > fact_stall_ns ? long_ns : fact_stall_ns;
	if (r->end_ns - d->last_ns < long_ns || r->end_ns - r->last_ns < long_ns)
		return;
	d->gaps[d->nr_gaps++ % FACT_GAPS] =
		(struct fact_gap){ d->last_ns > r->last_ns ? d->last_ns : r->last_ns, r->end_ns };
	d->stalls++;
	if (r->end_ns - d->last_ns > d->longest_stall_ns)
		d->longest_stall_ns = r->end_ns - d->last_ns;
}

/* How long it was at the device while that answered nothing. */
static uint64_t fact_stalled(struct fact_device *d, const struct io_record *r)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < d->nr_gaps && i < FACT_GAPS; i++) {
		uint64_t from_ns =
			r->last_ns > d->gaps[i].from_ns ? r->last_ns : d->gaps[i].from_ns;

		if (from_ns < d->gaps[i].to_ns && r->end_ns >= d->gaps[i].to_ns)
			ns += d->gaps[i].to_ns - from_ns;
	}
	d->stalled += ns != 0;
	return ns;
}

static void fact_count_time(struct fact_device *d, const struct io_record *r, uint64_t from_ns)
{
	uint64_t since_ns = r->first_ns > d->last_ns ? r->first_ns : d->last_ns;

	if (!d->count++ || from_ns < d->first_ns)
		d->first_ns = from_ns;
	d->flight_ns += r->end_ns - r->first_ns;
	d->busy_ns += r->end_ns > since_ns ? r->end_ns - since_ns : 0;
	d->last_ns = r->end_ns > d->last_ns ? r->end_ns : d->last_ns;
	d->ends[r->cpu % FACT_CPUS]++;
}

static void fact_count_stages(struct fact_device *d, const struct io_stages *s)
{
	if (!s)
		return;
	d->staged++;
	d->submits[s->cpu % FACT_CPUS]++;
	if (!s->depth)
		return;
	d->depths++;
	d->depth_sum += s->depth;
	d->full += d->place.limit && s->depth >= d->place.limit;
	d->deepest = s->depth > d->deepest ? s->depth : d->deepest;
}

/* ---- threads that wait for each command ---- */

static bool fact_takes_turns(enum fact_class class, const struct io_record *r)
{
	const struct io_stages *s = io_record__stages(r);

	return class <= FACT_WRITE && s && s->tid && s->queued_ns && r->attempts == 1 &&
	       !(r->flags & RECORD_PASSTHROUGH) && !io_record__is_polled(r);
}

static void fact_count_turn(struct fact_device *d, const struct io_record *r,
			    const struct fact_times *t)
{
	const struct io_stages *s = io_record__stages(r);
	struct fact_turns *turns = &d->turns;
	struct fact_thread *thread = &turns->threads[s->tid % FACT_THREADS];
	const struct fact_thread before = *thread;

	*thread = (struct fact_thread){ t->end_ns, s->tid };
	if (before.tid != s->tid || before.end_ns > t->from_ns ||
	    t->from_ns - before.end_ns > fact_turn_ns)
		return;
	turns->nr++;
	turns->turn_ns += t->from_ns - before.end_ns;
	turns->command_ns += t->end_ns - t->from_ns;
	turns->served[fact_cell(t->parts_ns[PART_DEVICE])]++;
}

/* ---- parts ---- */

static uint64_t fact_between(uint64_t from_ns, uint64_t to_ns)
{
	return from_ns && to_ns > from_ns ? to_ns - from_ns : 0;
}

/* What it waited for before it had a request. A wait that has no name is one for a request. */
static void fact_divide_waits(const struct io_record *r, const struct io_stages *s,
			      struct fact_times *t)
{
	static const uint8_t part_of[NR_IO_WAITS] = {
		[IO_WAIT_FROZEN] = PART_FROZEN,	  [IO_WAIT_IOCOST] = PART_LIMIT,
		[IO_WAIT_IOLATENCY] = PART_LIMIT, [IO_WAIT_WBT] = PART_WBT,
		[IO_WAIT_TAG] = PART_TAGS,
	};
	struct wait_part waits[IO_WAITS];
	const uint64_t held_ns = io_wait__ns(s->waits[0]);
	size_t nr;

	if (io_wait__cause(s->waits[0]) == IO_WAIT_HELD && held_ns < s->queued_ns) {
		t->from_ns -= held_ns;
		t->parts_ns[PART_LIMIT] = held_ns;
	}
	if (!s->queued_ns || s->got_ns < s->queued_ns || s->got_ns > r->first_ns)
		return;
	nr = wait__divide(s, s->got_ns - s->queued_ns, waits, &t->parts_ns[PART_TAGS]);
	for (size_t i = 0; i < nr; i++)
		t->parts_ns[part_of[waits[i].wait]] += waits[i].ns;
}

static void fact_divide_stages(const struct io_record *r, const struct io_stages *s,
			       struct fact_times *t)
{
	const uint64_t answered_ns =
		s->reaped_ns && s->reaped_ns < r->end_ns && s->reaped_ns > r->last_ns ? s->reaped_ns
										      : r->end_ns;
	const uint64_t ready_ns = s->flushed_ns > s->got_ns ? s->flushed_ns : s->got_ns;

	if (s->queued_ns && s->queued_ns < t->from_ns)
		t->from_ns = s->queued_ns;
	if (r->kind != IO_BLOCK || s->written_ns)
		t->end_ns = s->done_ns > t->end_ns ? s->done_ns : t->end_ns;
	fact_divide_waits(r, s, t);
	if (ready_ns <= r->first_ns)
		t->parts_ns[PART_FLUSH] = fact_between(s->got_ns, s->flushed_ns);
	if (s->inserted_ns >= ready_ns)
		t->parts_ns[PART_SCHED] = fact_between(s->inserted_ns, r->first_ns);
	if (s->written_ns)
		t->parts_ns[PART_FLUSH] += fact_between(r->end_ns, t->end_ns);
	else
		t->parts_ns[PART_DONE] = fact_between(answered_ns, t->end_ns);
	t->parts_ns[PART_DEVICE] = fact_between(r->last_ns, answered_ns);
}

static void fact_divide(struct fact_device *d, const struct io_record *r, struct fact_times *t)
{
	const struct io_stages *s = io_record__stages(r);
	uint64_t *parts = t->parts_ns, stalled_ns;

	t->from_ns = r->first_ns;
	t->end_ns = r->end_ns;
	parts[PART_DEVICE] = fact_between(r->last_ns, r->end_ns);
	parts[PART_RETRY] = r->attempts > 1 ? fact_between(r->first_ns, r->last_ns) : 0;
	if (s)
		fact_divide_stages(r, s, t);
	stalled_ns = fact_stalled(d, r);
	parts[PART_STALL] = stalled_ns < parts[PART_DEVICE] ? stalled_ns : parts[PART_DEVICE];
	parts[PART_DEVICE] -= parts[PART_STALL];
}

/* ---- which group ---- */

static uint64_t fact_place_bytes(const struct fact_device *d, const struct io_record *r)
{
	uint64_t at = r->cdw10[0] | (uint64_t)r->cdw10[1] << 32;

	return at * (r->kind == IO_BLOCK ? 512 : d->place.block_bytes);
}

/* Near the command before: completions need not come in order. */
static bool fact_is_in_order(struct fact_device *d, const struct io_record *r,
			     enum fact_class class, uint64_t at)
{
	struct fact_stream *s = &d->streams[(r->pid * 2 + class) % FACT_STREAMS];
	uint64_t far = s->at_bytes > at ? s->at_bytes - at : at - s->at_bytes;
	bool known = s->at_bytes && s->pid == r->pid && s->class == class;

	*s = (struct fact_stream){ at + r->bytes, r->pid, (uint8_t) class };
	return known && far <= FACT_NEAR * (uint64_t)r->bytes && far != r->bytes;
}

static bool fact_is_fua(const struct io_record *r)
{
	return r->flags & RECORD_FUA || (r->kind == IO_NVME && r->cdw10[2] >> 30 & 1);
}

static bool fact_was_due(struct facts *f, int32_t device, const struct io_record *r)
{
	for (uint32_t i = 0; f->nr_due && i < FACT_DUE; i++)
		if (f->due[i].first_ns == r->first_ns && f->due[i].device == device) {
			f->due[i].first_ns = 0;
			f->nr_due--;
			return true;
		}
	return false;
}

static uint8_t fact_flags(struct facts *f, struct fact_device *d, const struct io_record *r,
			  enum fact_class class)
{
	const struct io_stages *s = io_record__stages(r);
	const uint32_t unit = d->place.unit_bytes > 4096 ? 4096 : d->place.unit_bytes;
	uint64_t at = fact_place_bytes(d, r);
	uint8_t flags = 0;

	if (s && s->inode == FILE_SWAP)
		flags |= FACT_SWAP;
	if (r->status)
		flags |= FACT_FAILED;
	if (fact_was_due(f, d->device, r))
		flags |= FACT_TIMED_OUT;
	if (class > FACT_WRITE || !r->bytes || r->flags & RECORD_PASSTHROUGH)
		return flags;
	if (class == FACT_WRITE && fact_is_fua(r))
		flags |= FACT_FUA;
	if (unit && (at % unit || r->bytes % unit))
		flags |= FACT_ODD;
	if (fact_is_in_order(d, r, class, at) && r->bytes <= FACT_SMALL)
		flags |= FACT_IN_ORDER;
	return flags;
}

static bool fact_is(const void *of, uint32_t number, const void *key)
{
	const struct fact_group *const *groups = of;

	return !memcmp(&groups[number]->key, key, sizeof(struct fact_key));
}

/* NULL: there are too many; *err is -ENOMEM if there is no memory. */
static struct fact_group *fact_find_group(struct facts *f, const struct fact_key *key, int *err)
{
	const uint64_t hash = index__mix_bytes(0, key, sizeof(*key));
	uint32_t at = index__find(&f->index, hash, fact_is, f->groups, key);

	if (at != INDEX_NONE)
		return f->groups[at];
	if (f->nr == FACT_GROUPS)
		return NULL;
	f->groups[f->nr] = calloc(1, sizeof(struct fact_group));
	if (!f->groups[f->nr]) {
		*err = -ENOMEM;
		return NULL;
	}
	at = index__add(&f->index, hash);
	f->nr++;
	f->groups[at]->key = *key;
	f->groups[at]->tail_from = FACT_CELLS;
	return f->groups[at];
}

/* ---- one command ---- */

static void fact_sums_add(struct fact_sums *sums, const struct fact_times *t)
{
	sums->nr++;
	sums->total_ns += t->end_ns - t->from_ns;
	for (int i = 0; i < NR_PARTS; i++)
		sums->parts_ns[i] += t->parts_ns[i];
}

static uint32_t fact_tail_from(const struct fact_group *const *groups, size_t nr)
{
	uint64_t all = 0, sum = 0;

	for (size_t i = 0; i < nr; i++)
		all += groups[i]->all.nr;
	for (uint32_t cell = FACT_CELLS; cell-- > 0;) {
		for (size_t i = 0; i < nr; i++)
			sum += groups[i]->cells[cell].nr;
		if (sum * 100 >= all)
			return cell;
	}
	return 0;
}

/* Returns whether it is of the slowest of its group, as far as is known. */
static bool fact_group_add(struct fact_group *g, const struct io_record *r,
			   const struct fact_times *t)
{
	const struct io_stages *s = io_record__stages(r);
	const struct fact_group *const self = g;
	uint32_t cell = fact_cell(t->end_ns - t->from_ns);
	uint32_t served = fact_cell(t->parts_ns[PART_DEVICE]);

	fact_sums_add(&g->all, t);
	fact_sums_add(&g->cells[cell], t);
	g->bytes += r->bytes;
	for (int part = 0; part <= PART_TAGS; part++)
		g->waited[part] += t->parts_ns[part] > fact_waits_ns;
	if (s && s->depth && s->depth <= 2) {
		g->alone[served]++;
		g->nr_alone++;
		g->alone_ns += t->parts_ns[PART_DEVICE];
	}
	if (g->all.nr % FACT_TAIL_OF == 0 ||
	    (g->all.nr < FACT_TAIL_OF && g->all.nr % FACT_TAIL_FEW == 0))
		g->tail_from = fact_tail_from(&self, 1);
	return cell >= g->tail_from;
}

static int fact_blame(struct facts *f, const struct fact_device *d, const struct fact_key *key,
		      const struct io_record *r, const struct fact_times *t, bool is_tail)
{
	struct blame_tags tags = { .device = d->device, .op = key->class, .part = is_tail };
	/* For limits, and while the queue is frozen, it waits for no command. */
	const uint64_t held_ns =
		t->parts_ns[PART_LIMIT] + t->parts_ns[PART_FROZEN] + t->parts_ns[PART_WBT];
	const struct blame_times times = { t->from_ns + held_ns, r->first_ns, r->end_ns };

	tags.kind = key->flags & (FACT_SWAP | FACT_BYSTANDER);
	memcpy(tags.comm, r->comm, strnlen(r->comm, sizeof(r->comm)));
	return blame__add(&f->blame, d->place.station, &tags, &times);
}

/* The driver stopped waiting for it, or its wait timed out: its end follows. */
static void fact_note_due(struct facts *f, struct fact_device *d, const struct io_record *r)
{
	d->timeouts++;
	for (uint32_t i = 0; i < FACT_DUE && r->first_ns; i++)
		if (f->due[i].first_ns == r->first_ns && f->due[i].device == d->device) {
			d->timeouts--; /* it timed out, and now it is cancelled */
			return;
		}
	for (uint32_t i = 0; i < FACT_DUE && r->first_ns; i++)
		if (!f->due[i].first_ns) {
			f->due[i] = (struct fact_due){ r->first_ns, d->device };
			f->nr_due++;
			return;
		}
}

static int fact_end(struct facts *f, struct fact_device *d, enum fact_class class,
		    const struct io_record *r, uint8_t whose)
{
	struct fact_key key = { .device = d->device, .class = (uint8_t) class };
	struct fact_group *group;
	struct fact_times times = { 0 };
	int err = 0;

	key.flags = fact_flags(f, d, r, class) | whose;
	key.size_class = (uint8_t)io_size_class(r->bytes);
	fact_find_gap(d, r);
	fact_divide(d, r, &times);
	fact_count_time(d, r, times.from_ns);
	fact_count_stages(d, io_record__stages(r));
	d->retried += !whose && r->attempts > 1;
	d->polled += !whose && io_record__is_polled(r);
	if (!whose && fact_takes_turns(class, r))
		fact_count_turn(d, r, &times);
	if (class == FACT_FLUSH || times.parts_ns[PART_FLUSH])
		flushers__add(&d->flushers, r->comm, class != FACT_FLUSH);
	if (!times.parts_ns[PART_STALL])
		fact_note_typical(d, times.parts_ns[PART_DEVICE]);
	group = fact_find_group(f, &key, &err);
	f->left_out += !group;
	return group ? fact_blame(f, d, &key, r, &times, fact_group_add(group, r, &times)) : err;
}

/* whose: FACT_BYSTANDER or 0. */
static int fact_add(struct facts *f, int32_t device, enum fact_class class,
		    const struct io_record *r, uint8_t whose)
{
	const bool is_due = r->what == RECORD_TIMEOUT || r->what == RECORD_CANCELLED;
	struct fact_device *d;

	if (r->kind != IO_NVME && r->kind != IO_BLOCK)
		return 0;
	if (!is_due &&
	    (r->what != RECORD_END || r->end_ns < r->last_ns || r->last_ns < r->first_ns))
		return 0;
	d = fact_find_device(f, device);
	if (!d) {
		f->left_out += !is_due;
		return f->nr_devices == FACT_DEVICES ? 0 : -ENOMEM;
	}
	if (!is_due)
		return fact_end(f, d, class, r, whose);
	if (!whose)
		fact_note_due(f, d, r);
	return 0;
}

int facts__add(struct facts *f, int32_t device, enum fact_class class, const struct io_record *r)
{
	return fact_add(f, device, class, r, 0);
}

int facts__add_bystander(struct facts *f, int32_t device, enum fact_class class,
			 const struct io_record *r)
{
	return fact_add(f, device, class, r, FACT_BYSTANDER);
}

/* ---- the end ---- */

int facts__init(struct facts *f)
{
	int err = index__make_room(&f->index, FACT_GROUPS);

	return err ?: blame__init(&f->blame);
}

void facts__free(struct facts *f)
{
	const fact_describe_fn describe = f->describe;
	const struct mounts *mounts = f->mounts;
	const struct dirty *dirty = f->dirty;
	const struct pages *pages = f->pages;
	const char *whose = f->whose;
	const void *arg = f->arg;

	for (size_t i = 0; i < f->nr; i++)
		free(f->groups[i]);
	for (size_t i = 0; i < f->nr_devices; i++)
		free(f->devices[i]);
	index__free(&f->index);
	blame__free(&f->blame);
	memset(f, 0, sizeof(*f));
	f->describe = describe;
	f->whose = whose;
	f->mounts = mounts;
	f->dirty = dirty;
	f->pages = pages;
	f->arg = arg;
}

static bool fact_is_kind(const struct fact_key *a, const struct fact_key *b)
{
	return a->device == b->device && a->class == b->class && a->size_class == b->size_class;
}

static void fact_sums_merge(struct fact_sums *into, const struct fact_sums *from)
{
	into->nr += from->nr;
	into->total_ns += from->total_ns;
	for (int i = 0; i < NR_PARTS; i++)
		into->parts_ns[i] += from->parts_ns[i];
}

/* Groups of one kind differ in flags alone: together they have one tail, without bystanders. */
static void fact_find_tail(struct facts *f, struct fact_group *g)
{
	const struct fact_group *like[FACT_GROUPS];
	size_t nr = 0;

	for (size_t i = 0; i < f->nr; i++)
		if (fact_is_kind(&f->groups[i]->key, &g->key) &&
		    !((f->groups[i]->key.flags ^ g->key.flags) & FACT_BYSTANDER))
			like[nr++] = f->groups[i];
	g->tail_from = fact_tail_from(like, nr);
	for (uint32_t i = g->tail_from; i < FACT_CELLS; i++)
		fact_sums_merge(&g->tail, &g->cells[i]);
}

void facts__finish(struct facts *f)
{
	blame__finish(&f->blame);
	for (size_t i = 0; i < f->nr; i++)
		fact_find_tail(f, f->groups[i]);
}

void facts__sum(const struct facts *f, struct fact_choice choice, struct fact_sums *all,
		struct fact_sums *tail)
{
	memset(all, 0, sizeof(*all));
	memset(tail, 0, sizeof(*tail));
	for (size_t i = 0; i < f->nr; i++) {
		const struct fact_group *g = f->groups[i];

		if (g->key.device != choice.device || !(choice.classes >> g->key.class & 1) ||
		    (choice.flags && !(g->key.flags & choice.flags)) ||
		    (!choice.bystanders && g->key.flags & FACT_BYSTANDER))
			continue;
		fact_sums_merge(all, &g->all);
		fact_sums_merge(tail, &g->tail);
	}
}

double facts__alone_ns(const struct facts *f, const struct fact_group *group)
{
	uint64_t nr = 0, ns = 0;

	for (size_t i = 0; i < f->nr; i++) {
		const struct fact_group *g = f->groups[i];

		if (!fact_is_kind(&g->key, &group->key))
			continue;
		nr += g->nr_alone;
		ns += g->alone_ns;
	}
	return nr >= FACT_ALONE ? (double)ns / (double)nr : 0;
}

uint64_t facts__percentile(const struct facts *f, int32_t device, uint32_t per_10000)
{
	uint32_t cells[FACT_CELLS] = { 0 };

	for (size_t i = 0; i < f->nr; i++)
		for (uint32_t j = 0; fact_group__is_judged(f->groups[i], device) && j < FACT_CELLS;
		     j++)
			cells[j] += (uint32_t)f->groups[i]->cells[j].nr;
	return fact_cells__percentile(cells, per_10000);
}
