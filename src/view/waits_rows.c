/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/waits_rows.h"

#include <inttypes.h>
#include <string.h>
#include "base/log.h"
#include "session/host_source.h"
#include "session/waits_source.h"

/* The call, and the part of its time. */
static const struct column waits_call_columns[] = {
	{ "host", "host", CELL_TEXT, 5, "machine, of captures",
	  .at = offsetof(struct wait_row, whose.host) },
	{ "call", "call", CELL_TEXT, 5, "call, e.g. fsync; other: keys beyond the first 1,024",
	  .at = offsetof(struct wait_row, name) },
	{ 0 },
};

static const struct column waits_part_columns[] = {
	{ "part", "part", CELL_TEXT, 9, "part of the time, e.g. journal; total: all parts",
	  .at = offsetof(struct wait_row, part) },
	{ "what", "what", CELL_TEXT, 33, "description of the part",
	  .at = offsetof(struct wait_row, what), .drop = 1 },
	{ 0 },
};

const struct object waits_rows = {
	"waits",
	{ wait_row_when, waits_call_columns, wait_row_whose, waits_part_columns,
	  wait_row_measures },
};

static const char *waits_row_name(int part)
{
	return wait_part__name((enum wait_part)part);
}

static const char *waits_row_words(int part)
{
	return wait_part__words((enum wait_part)part);
}

static const char *waits_row_call(uint32_t call, char *buf, size_t size)
{
	(void)buf, (void)size;
	return wait_call__name((enum wait_call)call);
}

const struct wait_words waits_rows_words = {
	.nr = NR_WAIT_PARTS,
	.name = waits_row_name,
	.words = waits_row_words,
	.whole = "from the call to its return",
	.call = waits_row_call,
};

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

void waits_rows__key(const struct wait_record *r, struct wait_key *key)
{
	*key = (struct wait_key){
		.inode = r->inode,
		.cgroup = r->cgroup,
		.dev = r->dev,
		.call = r->call,
		.nth = r->nth,
		.pid = r->pid,
	};
	memcpy(key->comm, r->comm, sizeof(key->comm));
}

bool waits_rows__tell_hosts(const struct session *s, uint32_t *by)
{
	if (!host_source__are_several(s))
		return *by >> WAITS_BY_HOST & 1;
	if (!(*by >> WAITS_BY_DEV & 1))
		*by |= 1u << WAITS_BY_HOST;
	return true;
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
	  "calls that do not balance, stacks taken for others; not 0: a defect of iosonar",
	  .at = ACCOUNT(unaccounted) },
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
	/* Terms that must not hide each other: calls that do not balance, parts that do not add up,
	 * stacks that were taken for others. */
	a.unaccounted = waits_difference(a.calls, a.unwaited + a.shorter + a.sent + a.left_out +
							  a.in_flight + a.lost_ring + a.lost_ends) +
			uneven + c.wrong_stacks;
	if (s->format == TABLE_JSON)
		object__put(&waits_ledger, s->out, s->format, &a);
	lost = waits_tell_losses(&a);
	waits_tell_account(&a, lost);
	s->incomplete |= lost > 0;
}
