/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/async_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "session/async_source.h"
#include "session/host_source.h"

/* The operation, and the step of its time. */
static const struct column async_op_columns[] = {
	{ "host", "host", CELL_TEXT, 5, "machine, of captures",
	  .at = offsetof(struct wait_row, whose.host) },
	{ "op", "op", CELL_TEXT, 10, "operation, e.g. read; other: keys beyond the first 1,024",
	  .at = offsetof(struct wait_row, name) },
	{ 0 },
};

static const struct column async_step_columns[] = {
	{ "step", "step", CELL_TEXT, 6, "step, e.g. device; total: all steps",
	  .at = offsetof(struct wait_row, part) },
	{ "what", "what", CELL_TEXT, 31, "description of the step",
	  .at = offsetof(struct wait_row, what), .drop = 1 },
	{ 0 },
};

const struct object async_rows = {
	"async",
	{ wait_row_when, async_op_columns, wait_row_whose, async_step_columns, wait_row_measures },
};

static const char *async_row_name(int step)
{
	return async_step__name((enum async_step)step);
}

static const char *async_row_words(int step)
{
	return async_step__words((enum async_step)step);
}

const struct wait_words async_rows_words = {
	.nr = NR_ASYNC_STEPS,
	.name = async_row_name,
	.words = async_row_words,
	.whole = "from submission to completion",
	.call = async_op__name,
};

void async_rows__key(const struct async_record *r, struct wait_key *key)
{
	*key = (struct wait_key){
		.inode = r->inode,
		.cgroup = r->cgroup,
		.dev = r->dev,
		.call = r->opcode,
		.nth = r->nth,
		.pid = r->pid,
	};
	memcpy(key->comm, r->comm, sizeof(key->comm));
}

/* ---- the slowest ---- */

/*
 *  # op   dev     pid comm punted  whole link submit punt worker device post rest file
 *  1 read nvme0n1 812 fio       1 1.20ms    -   12us 40us   10us  1.1ms  5us    - /data/a
 */
struct async_request {
	uint64_t rank, time_ns, whole_ns, submit_ns, post_ns, user_data, pid, tid, bios;
	uint64_t punted, polled, sqpoll;
	uint64_t steps[NR_WAIT_PARTS];
	const char *op;
	struct wait_whose whose;
	char op_text[16];
};

#define OF(name)   offsetof(struct async_request, name)
#define STEP(step) (OF(steps) + (step) * sizeof(uint64_t))
static const struct column async_slow_columns[] = {
	{ "rank", "#", CELL_COUNT, 3, "rank, 1 is the slowest", .at = OF(rank) },
	{ "time_s", "time", CELL_TIME, 11, "when its completion was posted, since the start",
	  .at = OF(time_ns), .drop = 1 },
	{ "host", "host", CELL_TEXT, 5, "machine, of captures of several", .at = OF(whose.host),
	  .not_in_text = true },
	{ "op", "op", CELL_TEXT, 6, "operation, e.g. read", .at = OF(op) },
	{ "dev", "dev", CELL_TEXT, 7, "device of the file system", .at = OF(whose.dev), .drop = 3 },
	{ "pid", "pid", CELL_COUNT, 7, "process", .at = OF(pid) },
	{ "tid", "tid", CELL_COUNT, 7, "thread that submitted it", .at = OF(tid),
	  .not_in_text = true },
	{ "comm", "comm", CELL_TEXT, 8, "name of the task", .at = OF(whose.comm), .drop = 2 },
	{ "cgroup", "cgroup", CELL_TEXT, 10, "cgroup of the task", .at = OF(whose.cgroup),
	  .not_in_text = true },
	{ "user_data", "user_data", CELL_COUNT, 15, "the number that the program gave it",
	  .at = OF(user_data), .not_in_text = true },
	{ "whole_ns", "whole", CELL_DURATION, 6, "time from submission to completion; all steps",
	  .at = OF(whole_ns) },
	{ "link_ns", "link", CELL_DURATION, 6, "step link", .at = STEP(STEP_LINK), .drop = 4 },
	{ "submit_ns", "submit", CELL_DURATION, 6, "step submit", .at = STEP(STEP_SUBMIT) },
	{ "punt_ns", "punt", CELL_DURATION, 6, "step punt", .at = STEP(STEP_PUNT) },
	{ "worker_ns", "worker", CELL_DURATION, 6, "step worker", .at = STEP(STEP_WORKER) },
	{ "device_ns", "device", CELL_DURATION, 6, "step device", .at = STEP(STEP_DEVICE) },
	{ "post_ns", "post", CELL_DURATION, 6, "step post", .at = STEP(STEP_POST) },
	{ "rest_ns", "rest", CELL_DURATION, 6, "step rest", .at = STEP(STEP_REST) },
	{ "bios", "bios", CELL_COUNT, 5, "bios that were queued for it, or its command",
	  .at = OF(bios), .not_in_text = true },
	{ "punted", "punted", CELL_COUNT, 6, "1: it was given to a worker (io-wq); else 0",
	  .at = OF(punted), .not_in_text = true },
	{ "polled", "polled", CELL_COUNT, 6, "1: the ring polls for completions; else 0",
	  .at = OF(polled), .not_in_text = true },
	{ "sqpoll", "sqpoll", CELL_COUNT, 6, "1: a thread of the kernel submitted it; else 0",
	  .at = OF(sqpoll), .not_in_text = true },
	{ "start_ns", "start", CELL_COUNT, 15, "submission, CLOCK_MONOTONIC", .at = OF(submit_ns),
	  .not_in_text = true },
	{ "end_ns", "end", CELL_COUNT, 15, "completion, CLOCK_MONOTONIC", .at = OF(post_ns),
	  .not_in_text = true },
	{ "file", "file", CELL_TEXT, 10, "path of the file", .at = OF(whose.file) },
	{ 0 },
};

const struct object async_slow = { "async_request", { async_slow_columns } };

static void async_fill_request(struct async_request *row, const struct session *s,
			       const struct async_slow *request)
{
	const struct async_record *r = &request->record;
	struct wait_key key;

	async__split(r, row->steps);
	row->time_ns = r->post_ns - s->start_ns;
	row->whole_ns = async__whole_ns(r);
	row->submit_ns = r->submit_ns;
	row->post_ns = r->post_ns;
	row->user_data = r->user_data;
	row->pid = r->pid;
	row->tid = r->tid;
	row->bios = r->bios;
	row->punted = !!(r->flags & ASYNC_PUNTED);
	row->polled = !!(r->flags & ASYNC_POLLED);
	row->sqpoll = !!(r->flags & ASYNC_SQPOLL);
	row->op = async_op__name(r->opcode, row->op_text, sizeof(row->op_text));
	async_rows__key(r, &key);
	key.host = request->host;
	wait_whose__fill(&row->whose, s, &key);
	row->whose.comm = row->whose.comm_text;
	if (!host_source__are_several(s))
		row->whose.host = NULL;
}

int async_slowest__init(struct async_slowest *l, size_t most)
{
	l->requests = calloc(most, sizeof(l->requests[0]));
	l->most = most;
	return l->requests ? 0 : -ENOMEM;
}

void async_slowest__add(struct async_slowest *l, const struct session *s,
			const struct async_record *record)
{
	size_t at = l->nr;

	while (at && async__whole_ns(&l->requests[at - 1].record) < async__whole_ns(record))
		at--;
	if (at == l->most)
		return;
	if (l->nr < l->most)
		l->nr++;
	memmove(&l->requests[at + 1], &l->requests[at], (l->nr - at - 1) * sizeof(l->requests[0]));
	l->requests[at] = (struct async_slow){ *record, host_source__here(s) };
}

void async_slowest__put(const struct async_slowest *l, struct table *table, struct session *s)
{
	if (l->nr && s->format == TABLE_TEXT)
		fprintf(s->out, "\nthe slowest requests:\n");
	for (size_t i = 0; i < l->nr; i++) {
		struct async_request row = { .rank = i + 1 };

		async_fill_request(&row, s, &l->requests[i]);
		table__row(table, &row);
	}
}

void async_slowest__free(struct async_slowest *l)
{
	free(l->requests);
}

/* ---- the ledger ---- */

struct async_account {
	uint64_t requests, silent, refused, elsewhere, shorter, shown, left_out, in_flight;
	uint64_t lost_ring, lost_room, lost_twins, lost_ends, lost_skipped, unaccounted;
	uint64_t no_issue, no_bio;
};

#define ACCOUNT(name) offsetof(struct async_account, name)
static const struct column async_ledger_columns[] = {
	{ "requests", "requests", CELL_COUNT, 7,
	  "requests that were submitted, = silent + refused + elsewhere + shorter + shown + "
	  "left_out + in_flight + "
	  "lost_ring + lost_room + lost_twins + lost_ends",
	  .at = ACCOUNT(requests) },
	{ "silent", "silent", CELL_COUNT, 7,
	  "requests that are to have no completion (IOSQE_CQE_SKIP_SUCCESS): not followed",
	  .at = ACCOUNT(silent) },
	{ "refused", "refused", CELL_COUNT, 7, "requests with which io_submit failed",
	  .at = ACCOUNT(refused) },
	{ "elsewhere", "elsewhere", CELL_COUNT, 7, "requests on other files than --file",
	  .at = ACCOUNT(elsewhere) },
	{ "shorter", "shorter", CELL_COUNT, 7, "requests shorter than --min",
	  .at = ACCOUNT(shorter) },
	{ "shown", "shown", CELL_COUNT, 7, "requests in the rows", .at = ACCOUNT(shown) },
	{ "left_out", "left out", CELL_COUNT, 7, "requests of a capture that the filters leave out",
	  .at = ACCOUNT(left_out) },
	{ "in_flight", "in flight", CELL_COUNT, 7, "requests that had not completed at the end",
	  .at = ACCOUNT(in_flight) },
	{ "lost_ring", "lost", CELL_COUNT, 7, "requests dropped because the ring was full",
	  .at = ACCOUNT(lost_ring) },
	{ "lost_room", "lost", CELL_COUNT, 7,
	  "requests not followed because too many were in flight", .at = ACCOUNT(lost_room) },
	{ "lost_twins", "lost", CELL_COUNT, 7,
	  "requests with the user_data of another one in flight, which this kernel cannot tell "
	  "apart",
	  .at = ACCOUNT(lost_twins) },
	{ "lost_ends", "lost", CELL_COUNT, 7, "requests with no completion seen",
	  .at = ACCOUNT(lost_ends) },
	{ "lost_skipped", "lost", CELL_COUNT, 7, "program runs skipped by the kernel",
	  .at = ACCOUNT(lost_skipped) },
	{ "no_issue", "no issue", CELL_COUNT, 7,
	  "issues not followed: time in rest instead of a step", .at = ACCOUNT(no_issue) },
	{ "no_bio", "no bio", CELL_COUNT, 7,
	  "bios not followed: time in rest or post instead of device", .at = ACCOUNT(no_bio) },
	{ "unaccounted", "unaccounted", CELL_COUNT, 7,
	  "requests that do not balance; not 0: a defect of iosonar", .at = ACCOUNT(unaccounted) },
	{ 0 },
};

const struct object async_ledger = { "async_ledger", { async_ledger_columns } };

static uint64_t async_tell_loss(uint64_t nr, const char *words)
{
	if (nr)
		log_warn("lost %" PRIu64 ": %s", nr, words);
	return nr;
}

static uint64_t async_tell_losses(const struct async_account *a)
{
	uint64_t lost = async_tell_loss(a->lost_ring,
					"requests dropped: the ring was full; try --buffer 16M");

	lost += async_tell_loss(a->lost_room, "requests not followed: too many in flight");
	lost += async_tell_loss(a->lost_twins,
				"requests not followed: this kernel cannot tell requests with "
				"the same user_data apart");
	lost += async_tell_loss(a->lost_ends, "requests with no completion seen");
	lost += async_tell_loss(a->lost_skipped,
				"program skipped by the kernel (recursion_misses)");
	lost += async_tell_loss(a->unaccounted, "requests unaccounted for");
	if (a->no_issue || a->no_bio)
		log_note("not followed: %" PRIu64 " issues and %" PRIu64
			 " bios; their time is in rest or post",
			 a->no_issue, a->no_bio);
	return lost;
}

static void async_tell_account(const struct async_account *a, uint64_t lost)
{
	char silent[64] = "", refused[64] = "", elsewhere[64] = "", left_out[48] = "";

	if (a->silent)
		snprintf(silent, sizeof(silent), " + without completion %" PRIu64, a->silent);
	if (a->refused)
		snprintf(refused, sizeof(refused), " + refused %" PRIu64, a->refused);
	if (a->elsewhere)
		snprintf(elsewhere, sizeof(elsewhere), " + other files %" PRIu64, a->elsewhere);
	if (a->left_out)
		snprintf(left_out, sizeof(left_out), " + left out %" PRIu64, a->left_out);
	log_note("requests %" PRIu64 " = shorter than --min %" PRIu64 " + shown %" PRIu64
		 "%s%s%s%s + in flight %" PRIu64 "%s",
		 a->requests, a->shorter, a->shown, left_out, silent, refused, elsewhere,
		 a->in_flight, lost ? "" : "; nothing lost");
}

static uint64_t async_difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

void async_rows__close(struct session *s, uint64_t taken, uint64_t uneven)
{
	struct async_counts c;
	struct async_account a;
	uint64_t lost;

	if (!async_source__counts(s, &c)) {
		log_note("the ledger is not known: not all of the capture was read");
		return;
	}
	a = (struct async_account){
		.requests = c.n.submitted,
		.silent = c.n.silent,
		.refused = c.n.refused,
		.elsewhere = c.n.elsewhere,
		.shorter = c.n.shorter,
		.shown = taken,
		.left_out = async_source__left_out(s),
		.in_flight = c.in_flight,
		.lost_ring = c.n.lost,
		.lost_room = c.n.no_room,
		.lost_twins = c.n.twins,
		.lost_ends = c.n.unclosed,
		.lost_skipped = c.skipped,
		.no_issue = c.n.no_issue,
		.no_bio = c.n.no_bio,
	};
	/* Two terms that must not hide each other: requests that do not balance, steps that do not
	 * add up. */
	a.unaccounted = async_difference(a.requests,
					 a.silent + a.refused + a.elsewhere + a.shorter + a.shown +
						 a.left_out + a.in_flight + a.lost_ring +
						 a.lost_room + a.lost_twins + a.lost_ends) +
			uneven;
	if (s->format == TABLE_JSON)
		object__put(&async_ledger, s->out, s->format, &a);
	lost = async_tell_losses(&a);
	async_tell_account(&a, lost);
	s->incomplete |= lost > 0;
}
