/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/waits_rows.h"

#include <inttypes.h>
#include <string.h>
#include "base/log.h"
#include "session/table.h"
#include "session/waits_source.h"

enum { WAITS_TAIL = 9900 };

/*
 *  time call  part     what                              count    p50    p99    max share  tail
 *   1.0 fsync journal  waiting for the file system's log    40 1.20ms 9.11ms 9.40ms  81.0  93.2
 */
struct waits_row {
	const char *span;
	double time_s;
	const char *call, *dev, *file, *comm, *cgroup;
	uint64_t pid;
	const char *part, *what;
	uint64_t count, p50_ns, p99_ns, max_ns, sum_ns;
	double share, tail;
	char dev_text[64], comm_text[WAIT_COMM_LEN + 1], cgroup_text[256];
};

#define FIELD(name) offsetof(struct waits_row, name)
static const struct column waits_columns[] = {
	{ "span", "span", CELL_TEXT, 0, "interval, or total for the whole run", .at = FIELD(span),
	  .not_in_text = true },
	{ "time_s", "time", CELL_SECONDS, 5, "time of the end of the span, since the start",
	  .at = FIELD(time_s) },
	{ "call", "call", CELL_TEXT, 5, "call, e.g. fsync; other: keys beyond the first 1,024",
	  .at = FIELD(call) },
	{ "dev", "dev", CELL_TEXT, 7, "device of the file system; null without --by dev",
	  .at = FIELD(dev) },
	{ "file", "file", CELL_TEXT, 10, "path of the file; null without --by file",
	  .at = FIELD(file) },
	{ "comm", "comm", CELL_TEXT, 8, "name of the task; null without --by comm",
	  .at = FIELD(comm) },
	{ "pid", "pid", CELL_COUNT, 7, "process; null without --by pid", .at = FIELD(pid) },
	{ "cgroup", "cgroup", CELL_TEXT, 10, "cgroup of the task; null without --by cgroup",
	  .at = FIELD(cgroup) },
	{ "part", "part", CELL_TEXT, 9, "part of the time, e.g. journal; total: all parts",
	  .at = FIELD(part) },
	{ "what", "what", CELL_TEXT, 33, "description of the part", .at = FIELD(what), .drop = 1 },
	{ "count", "count", CELL_COUNT, 7, "number of calls that have this part",
	  .at = FIELD(count) },
	{ "p50_ns", "p50", CELL_DURATION, 6, "median of the part", .at = FIELD(p50_ns), .drop = 4 },
	{ "p99_ns", "p99", CELL_DURATION, 6, "99th percentile of the part", .at = FIELD(p99_ns) },
	{ "max_ns", "max", CELL_DURATION, 6, "maximum of the part, exact", .at = FIELD(max_ns),
	  .drop = 3 },
	{ "sum_ns", "sum", CELL_DURATION, 6, "sum of the part over all calls, exact",
	  .at = FIELD(sum_ns), .not_in_text = true },
	{ "share_percent", "share", CELL_PERCENT, 6, "share of the time of all calls",
	  .at = FIELD(share) },
	{ "tail_percent", "tail", CELL_PERCENT, 6, "share of the time of the slowest 1 %",
	  .at = FIELD(tail), .drop = 2 },
	{ 0 },
};

const struct object waits_rows = { "waits", { waits_columns } };

/* ---- parts of a call ---- */

enum wait_part waits_rows__part(const struct session *s, const struct wait_sleep *sleep,
				struct wait_place *place)
{
	return wait_part__of(waits_source__stack(s, sleep->stack), (enum wait_io)sleep->io, place);
}

void waits_rows__split(const struct session *s, const struct wait_record *r,
		       uint64_t parts[NR_WAIT_PARTS])
{
	struct wait_place place;

	memset(parts, 0, NR_WAIT_PARTS * sizeof(parts[0]));
	parts[PART_CPU] = r->cpu_ns;
	parts[PART_RUNNABLE] = r->runnable_ns;
	for (int i = 0; i < r->nr_sleeps && i < WAIT_SLEEPS; i++)
		parts[waits_rows__part(s, &r->sleeps[i], &place)] += r->sleeps[i].ns;
}

bool waits_rows__adds_up(const struct wait_record *r)
{
	uint64_t sum = r->cpu_ns + r->runnable_ns;

	for (int i = 0; i < r->nr_sleeps && i < WAIT_SLEEPS; i++)
		sum += r->sleeps[i].ns;
	return sum == r->end_ns - r->start_ns;
}

void waits_rows__key(const struct wait_record *r, uint32_t by, struct wait_key *key)
{
	memset(key, 0, sizeof(*key));
	key->call = r->call;
	if (by >> WAITS_BY_DEV & 1 || by >> WAITS_BY_FILE & 1)
		key->dev = r->dev;
	if (by >> WAITS_BY_FILE & 1) {
		key->inode = r->inode;
		key->nth = r->nth;
	}
	if (by >> WAITS_BY_COMM & 1)
		memcpy(key->comm, r->comm, sizeof(key->comm));
	if (by >> WAITS_BY_PID & 1)
		key->pid = r->pid;
	if (by >> WAITS_BY_CGROUP & 1)
		key->cgroup = r->cgroup;
}

/* ---- rows of groups ---- */

bool waits_rows__shows(const void *view, const struct column *column)
{
	static const char *const keys[] = { "dev", "file", "comm", "pid", "cgroup" };
	const uint32_t by = *(const uint32_t *)view;

	for (uint32_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(column->key, keys[i]))
			return by >> i & 1;
	return true;
}

struct table *waits_rows__table(const struct session *s, uint32_t *by)
{
	return session__table(s, &waits_rows, s->format == TABLE_TEXT ? waits_rows__shows : NULL,
			      by);
}

static void waits_fill_key(struct waits_row *row, const struct session *s,
			   const struct wait_key *key)
{
	row->call = wait_call__name((enum wait_call)key->call);
	row->pid = key->pid ? key->pid : CELL_NO_NUMBER;
	if (key->dev)
		row->dev = session__disk(s, key->dev, row->dev_text, sizeof(row->dev_text));
	if (key->inode)
		row->file = session__file(s, key->inode, io_file_place(key->dev, key->nth));
	memcpy(row->comm_text, key->comm, sizeof(key->comm));
	if (key->comm[0])
		row->comm = row->comm_text;
	if (key->cgroup)
		row->cgroup = session__cgroup_path(s, key->cgroup, row->cgroup_text,
						   sizeof(row->cgroup_text));
}

static void waits_measure(const struct hist *h, struct waits_row *row)
{
	row->count = h->count;
	row->p50_ns = hist__percentile(h, 5000);
	row->p99_ns = hist__percentile(h, 9900);
	row->max_ns = h->max_ns;
	row->sum_ns = h->sum_ns;
}

void waits_rows__put(struct table *table, struct session *s, const struct wait_group *group,
		     const char *span, const struct row_conditions *conditions)
{
	struct waits_row row = { .span = span, .time_s = s->elapsed_s };

	waits_fill_key(&row, s, &group->key);
	for (int i = 0; i < NR_WAIT_PARTS; i++) {
		const enum wait_part part = (enum wait_part)i;

		if (!group->parts[part])
			continue;
		row.part = wait_part__name(part);
		row.what = wait_part__words(part);
		row.share = wait_group__share(group, part);
		row.tail = wait_group__tail_share(group, part, WAITS_TAIL);
		waits_measure(group->parts[part], &row);
		if (row_conditions__admit(conditions, s, &row))
			table__row(table, &row);
	}
	row.part = "total";
	row.what = "from the call to its return";
	row.share = row.tail = 100;
	waits_measure(&group->total, &row);
	if (row_conditions__admit(conditions, s, &row))
		table__row(table, &row);
}

/* ---- the ledger ---- */

struct waits_account {
	uint64_t calls, unwaited, shorter, sent, left_out, in_flight;
	uint64_t lost_ring, lost_room, lost_ends, lost_skipped, unaccounted;
	uint64_t no_stack, no_held, lost_commands, lost_tasks;
};

#define ACCOUNT(name) offsetof(struct waits_account, name)
static const struct column waits_ledger_columns[] = {
	{ "calls", "calls", CELL_COUNT, 7,
	  "calls that began, = unwaited + shorter + shown + left_out + in_flight + lost_ring + "
	  "lost_ends",
	  .at = ACCOUNT(calls) },
	{ "unwaited", "unwaited", CELL_COUNT, 7, "calls that never waited",
	  .at = ACCOUNT(unwaited) },
	{ "shorter", "shorter", CELL_COUNT, 7, "calls that waited, but shorter than --min",
	  .at = ACCOUNT(shorter) },
	{ "shown", "shown", CELL_COUNT, 7, "calls in the rows", .at = ACCOUNT(sent) },
	{ "left_out", "left out", CELL_COUNT, 7, "calls of a capture that the filters leave out",
	  .at = ACCOUNT(left_out) },
	{ "in_flight", "in flight", CELL_COUNT, 7, "calls that had not returned at the end",
	  .at = ACCOUNT(in_flight) },
	{ "lost_ring", "lost", CELL_COUNT, 7, "calls dropped because the ring was full",
	  .at = ACCOUNT(lost_ring) },
	{ "lost_room", "lost", CELL_COUNT, 7,
	  "calls not followed because the thread's place was taken", .at = ACCOUNT(lost_room) },
	{ "lost_ends", "lost", CELL_COUNT, 7, "calls with no end seen", .at = ACCOUNT(lost_ends) },
	{ "lost_skipped", "lost", CELL_COUNT, 7, "program runs skipped by the kernel",
	  .at = ACCOUNT(lost_skipped) },
	{ "lost_commands", "lost", CELL_COUNT, 7,
	  "with --slow: commands not shown because the ring or the table of bios was full",
	  .at = ACCOUNT(lost_commands) },
	{ "lost_tasks", "lost", CELL_COUNT, 7,
	  "with --slow: shares of tasks in commits not shown because the ring or a table was full",
	  .at = ACCOUNT(lost_tasks) },
	{ "no_stack", "no stack", CELL_COUNT, 7, "sleeps whose place is not known: in part rest",
	  .at = ACCOUNT(no_stack) },
	{ "no_held", "no held", CELL_COUNT, 7,
	  "bios not followed while io.max may hold them back: in device or others",
	  .at = ACCOUNT(no_held) },
	{ "unaccounted", "unaccounted", CELL_COUNT, 7,
	  "calls that do not balance; not 0: a defect of iosonar", .at = ACCOUNT(unaccounted) },
	{ 0 },
};

const struct object waits_ledger = { "ledger", { waits_ledger_columns } };

static uint64_t waits_tell_loss(uint64_t nr, const char *words)
{
	if (nr)
		log_warn("lost %" PRIu64 ": %s", nr, words);
	return nr;
}

static uint64_t waits_tell_losses(const struct waits_account *a)
{
	uint64_t lost =
		waits_tell_loss(a->lost_ring, "calls dropped: the ring was full; try --buffer 16M");

	lost += waits_tell_loss(a->lost_room, "calls not followed: the thread's place was taken");
	lost += waits_tell_loss(a->lost_ends, "calls with no end seen");
	lost += waits_tell_loss(a->lost_skipped,
				"program skipped by the kernel (recursion_misses)");
	lost += waits_tell_loss(a->lost_commands,
				"commands of calls: the ring or the table of bios was full");
	lost += waits_tell_loss(a->lost_tasks,
				"shares of tasks in commits: the ring or a table was full");
	lost += waits_tell_loss(a->unaccounted, "calls unaccounted for");
	if (a->no_stack)
		log_note("the place of %" PRIu64 " sleeps is not known: they are in the part rest",
			 a->no_stack);
	if (a->no_held)
		log_note("io.max may have held back %" PRIu64
			 " more bios: their time is in device or others",
			 a->no_held);
	return lost;
}

static uint64_t waits_difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static void waits_tell_account(const struct waits_account *a, uint64_t lost)
{
	char left_out[48] = "";

	if (a->left_out)
		snprintf(left_out, sizeof(left_out), " + left out %" PRIu64, a->left_out);
	log_note("calls %" PRIu64 " = without a wait %" PRIu64 " + shorter than --min %" PRIu64
		 " + shown %" PRIu64 "%s + in flight %" PRIu64 "%s",
		 a->calls, a->unwaited, a->shorter, a->sent, left_out, a->in_flight,
		 lost ? "" : "; nothing lost");
}

void waits_rows__close(struct session *s, uint64_t taken, uint64_t uneven)
{
	struct waits_counts c;
	struct waits_account a;
	uint64_t lost;

	if (!waits_source__counts(s, &c)) {
		log_note("the ledger is not known: not all of the capture was read");
		return;
	}
	a = (struct waits_account){
		.calls = c.n.begun,
		.unwaited = c.n.ended - c.n.waited,
		.shorter = c.n.waited - c.n.sent - c.n.lost,
		.sent = taken,
		.left_out = waits_source__left_out(s),
		.in_flight = c.in_flight,
		.lost_ring = c.n.lost,
		.lost_room = c.n.no_room,
		.lost_ends = c.n.unclosed,
		.lost_skipped = c.skipped,
		.lost_commands = c.n.lost_commands,
		.lost_tasks = c.n.lost_shares,
		.no_stack = c.n.no_stack,
		.no_held = c.n.no_held,
	};
	/* Two terms that must not hide each other: calls that do not balance, parts that do not add
	 * up. */
	a.unaccounted = waits_difference(a.calls, a.unwaited + a.shorter + a.sent + a.left_out +
							  a.in_flight + a.lost_ring + a.lost_ends) +
			uneven;
	if (s->format == TABLE_JSON)
		object__put(&waits_ledger, s->out, s->format, &a);
	lost = waits_tell_losses(&a);
	waits_tell_account(&a, lost);
	s->incomplete |= lost > 0;
}
