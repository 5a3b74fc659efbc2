/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/ledger.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/log.h"

/* in_balance: the command was counted as issued, so the equation includes its loss. */
static const struct {
	const char *what;
	bool in_balance;
} lost_reasons[NR_LOST] = {
	[LOST_NO_SLOT] = { "no slot: the table of commands in flight was full", false },
	[LOST_COMPLETION] = { "completion never seen", true },
	[LOST_START] = { "completed without a start", false },
	[LOST_CLOCK] = { "clock went backwards", true },
	[LOST_DEVICE] = { "unknown device", false },
	[LOST_SKIPPED] = { "program skipped by the kernel (recursion_misses)", false },
	[LOST_RING] = { "ring full: records dropped; try a larger --buffer", false },
	[LOST_WRITE] = { "not written to the capture: the disk was full or writing failed", false },
	[LOST_ROW] = { "counted in the row `other`: the table of rows was full", false },
};

int64_t ledger__unaccounted(const struct ledger *l)
{
	uint64_t known = l->completed + l->in_flight + l->never_sent;
	int64_t left;

	for (int i = 0; i < NR_LOST; i++)
		if (lost_reasons[i].in_balance)
			known += l->lost[i];
	left = (int64_t)(l->issued - known);
	if (!left && l->counted_known)
		left = (int64_t)(l->completed - l->counted);
	return left;
}

uint64_t ledger__lost(const struct ledger *l)
{
	uint64_t lost = 0;

	for (int i = 0; i < NR_LOST; i++)
		lost += l->lost[i];
	return lost;
}

bool ledger__is_whole(const struct ledger *l)
{
	return !ledger__lost(l) && !ledger__unaccounted(l);
}

static void ledger_print_also(const struct ledger *l)
{
	const struct {
		uint64_t nr;
		const char *what;
	} also[] = {
		{ l->failed, "failed" },
		{ l->retries, "retried attempts" },
		{ l->requeues, "handed back by a busy driver" },
		{ l->never_sent, "never sent" },
		{ l->refused, "refused by the driver" },
		{ l->mid_flight, "attached mid-flight" },
	};
	char line[256] = "";
	size_t len = 0;

	for (size_t i = 0; i < sizeof(also) / sizeof(also[0]); i++)
		if (also[i].nr && len < sizeof(line))
			len += (size_t)snprintf(line + len, sizeof(line) - len, "%s%s %" PRIu64,
						len ? ", " : "", also[i].what, also[i].nr);
	if (len)
		log_note("  also: %s", line);
}

void ledger__print(const struct ledger *l)
{
	int64_t left = ledger__unaccounted(l);
	char age[32], timed[32] = "";

	if (l->is_sampled)
		snprintf(timed, sizeof(timed), "; timed %" PRIu64, l->timed);
	log_note("issued %" PRIu64 " = completed %" PRIu64 " + in flight %" PRIu64 "%s%s%s; %s",
		 l->issued, l->completed, l->in_flight, l->oldest_ns ? ", the oldest for " : "",
		 l->oldest_ns ? text__duration(age, sizeof(age), l->oldest_ns) : "", timed,
		 ledger__is_whole(l) ? "nothing lost" : "INCOMPLETE");
	ledger_print_also(l);
	for (int i = 0; i < NR_LOST; i++)
		if (l->lost[i])
			log_note("  lost %" PRIu64 ": %s", l->lost[i], lost_reasons[i].what);
	if (left)
		log_note("  unaccounted %" PRId64, left);
}

static struct cell ledger_get_unaccounted(const void *row)
{
	int64_t left = ledger__unaccounted(row);

	return (struct cell){ .kind = CELL_COUNT, .n = (uint64_t)(left < 0 ? -left : left) };
}

#define COUNT(name, field, words)                                                      \
	{                                                                              \
		name, name, CELL_COUNT, 0, words, offsetof(struct ledger, field), NULL \
	}

const struct column ledger_columns[] = {
	COUNT("issued", issued, "commands sent to a device; retries are not counted again"),
	COUNT("completed", completed, "commands that ended"),
	COUNT("in_flight", in_flight, "commands still in flight, counted in the slots"),
	COUNT("never_sent", never_sent, "commands that ended before they were sent to the device"),
	COUNT("mid_flight", mid_flight, "completions of commands sent before iosonar attached"),
	COUNT("failed", failed, "commands that ended with an error"),
	COUNT("retries", retries, "attempts after the first one of a command"),
	COUNT("requeues", requeues, "times that a busy driver handed a command back"),
	COUNT("refused", refused, "commands that the driver refused to send"),
	COUNT("lost_no_slot", lost[LOST_NO_SLOT],
	      "commands without a slot: the table of commands in flight was full"),
	COUNT("lost_completion", lost[LOST_COMPLETION], "commands with no completion seen"),
	COUNT("lost_start", lost[LOST_START], "completions with no start seen"),
	COUNT("lost_clock", lost[LOST_CLOCK], "commands lost because the clock went backwards"),
	COUNT("lost_device", lost[LOST_DEVICE], "commands lost because their device is unknown"),
	COUNT("lost_skipped", lost[LOST_SKIPPED], "program runs skipped by the kernel"),
	COUNT("lost_row", lost[LOST_ROW], "commands counted in the row `other`"),
	COUNT("lost_ring", lost[LOST_RING], "records dropped because the ring was full"),
	COUNT("lost_write", lost[LOST_WRITE], "records that the capture could not take: disk full"),
	{ "unaccounted", "unaccounted", CELL_COUNT, 0,
	  "difference that does not balance; 0 in a complete run", 0, ledger_get_unaccounted },
	{ 0 },
};

/* Terms without a column that the balance or the text needs. */
static const struct {
	const char *name;
	size_t at;
} hidden_terms[] = {
	{ "oldest_ns", offsetof(struct ledger, oldest_ns) },
	{ "counted", offsetof(struct ledger, counted) },
};
enum { HIDDEN_TERMS = sizeof(hidden_terms) / sizeof(hidden_terms[0]) };

static uint64_t *ledger_field(const struct ledger *l, size_t at)
{
	return (uint64_t *)((char *)l + at);
}

size_t ledger__terms(const struct ledger *l, struct ledger_term terms[LEDGER_TERMS])
{
	size_t nr = 0;

	for (const struct column *c = ledger_columns; c->key; c++)
		if (!c->get)
			terms[nr++] = (struct ledger_term){ c->key, *ledger_field(l, c->at) };
	for (size_t i = 0; i < HIDDEN_TERMS; i++)
		if (hidden_terms[i].at != offsetof(struct ledger, counted) || l->counted_known)
			terms[nr++] = (struct ledger_term){ hidden_terms[i].name,
							    *ledger_field(l, hidden_terms[i].at) };
	return nr;
}

void ledger__add_term(struct ledger *l, const struct ledger_term *term)
{
	for (const struct column *c = ledger_columns; c->key; c++)
		if (!c->get && !strcmp(c->key, term->name))
			*ledger_field(l, c->at) += term->value;
	for (size_t i = 0; i < HIDDEN_TERMS; i++)
		if (!strcmp(hidden_terms[i].name, term->name))
			*ledger_field(l, hidden_terms[i].at) += term->value;
	l->counted_known |= !strcmp(term->name, "counted");
}
