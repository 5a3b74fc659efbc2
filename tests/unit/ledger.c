/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ledger.c: does the ledger notice every way of losing a command, and say it to people and to
 * machines alike? Each reason alone, in and out of the balance, then the lines and the JSON.
 */
#include <stdlib.h>
#include <unistd.h>
#include "decode/ledger.h"
#include "tap.h"

/* in_balance: such a command was counted as issued, so it also stands in the equation. */
static const struct {
	enum lost_reason reason;
	bool in_balance;
	const char *key, *words;
} reasons[] = {
	{ LOST_NO_SLOT, false, "lost_no_slot", "table of commands in flight was full" },
	{ LOST_COMPLETION, true, "lost_completion", "completion never seen" },
	{ LOST_START, false, "lost_start", "completed without a start" },
	{ LOST_CLOCK, true, "lost_clock", "clock went backwards" },
	{ LOST_DEVICE, false, "lost_device", "unknown device" },
	{ LOST_SKIPPED, false, "lost_skipped", "skipped by the kernel" },
	{ LOST_ROW, false, "lost_row", "row `other`" },
	{ LOST_RING, false, "lost_ring", "ring full" },
	{ LOST_WRITE, false, "lost_write", "not written to the capture" },
};
enum { NR_REASONS = sizeof(reasons) / sizeof(reasons[0]) };
_Static_assert((int)NR_REASONS == (int)NR_LOST, "every reason is tried");

static const struct ledger whole = {
	.issued = 1009,
	.completed = 1000,
	.in_flight = 6,
	.never_sent = 3,
	.mid_flight = 17,
	.refused = 2,
	.retries = 5,
	.requeues = 7,
	.failed = 11,
	.counted = 1000,
	.counted_known = true,
};

static void is_left(const struct ledger *l, int64_t want, const char *what)
{
	int64_t got = ledger__unaccounted(l);

	if (!ok(got == want, "%s", what))
		printf("# got %" PRId64 ", want %" PRId64 "\n", got, want);
}

static void check_whole(void)
{
	struct ledger l = { 0 };

	ok(ledger__is_whole(&l), "nothing happened: whole");
	l = whole;
	is_left(&l, 0, "issued = completed + in flight + never sent");
	is_u64(ledger__lost(&l), 0, "nothing lost");
	ok(ledger__is_whole(&l),
	   "failures, retries, requeues, refusals and mid-flight are no loss");
}

static void check_balance(void)
{
	struct ledger l = whole;

	l.issued++;
	is_left(&l, 1, "one issued too many");
	ok(!ledger__is_whole(&l), "is not whole");
	l = whole;
	l.in_flight++;
	is_left(&l, -1, "one in flight too many");
	l = whole;
	l.never_sent--;
	is_left(&l, 1, "one never sent too few");
	l = whole;
	l.completed--;
	is_left(&l, 1, "one completed too few");
	l = whole;
	l.counted--;
	is_left(&l, 1, "a command that ended and is in no row");
	ok(!ledger__is_whole(&l), "is not whole either");
	l.counted = 1003;
	is_left(&l, -3, "rows that hold too much");
	l.counted_known = false;
	is_left(&l, 0, "where a filter hides rows they are not compared");
	l.issued = UINT64_MAX;
	l.completed = UINT64_MAX - 9;
	is_left(&l, 0, "large numbers balance too");
}

static void check_reason(int i)
{
	struct ledger l = whole;

	l.lost[reasons[i].reason] = 4;
	is_u64(ledger__lost(&l), 4, reasons[i].words);
	ok(!ledger__is_whole(&l), "a run with it is not whole");
	is_left(&l, reasons[i].in_balance ? -4 : 0,
		reasons[i].in_balance ? "it was issued" : "it was never counted as issued");
	if (!reasons[i].in_balance)
		return;
	l.issued += 4;
	is_left(&l, 0, "so it balances what was issued");
	ok(!ledger__is_whole(&l), "which makes nothing whole");
}

/* ---- to people ---- */

/* What ledger__print says; the caller frees it. */
static char *printed(const struct ledger *l)
{
	char *text = calloc(1, 4096);
	FILE *file = tmpfile();
	int err = dup(STDERR_FILENO);

	dup2(fileno(file), STDERR_FILENO);
	ledger__print(l);
	dup2(err, STDERR_FILENO);
	close(err);
	rewind(file);
	text[fread(text, 1, 4095, file)] = 0;
	fclose(file);
	return text;
}

static void check_print_whole(void)
{
	struct ledger l = { .issued = 100003, .completed = 100003 };
	char *text = printed(&l);

	is_str(text, "issued 100003 = completed 100003 + in flight 0; nothing lost\n",
	       "a whole run is one line");
	free(text);
	l = whole;
	l.oldest_ns = 2500000000;
	text = printed(&l);
	is_str(text,
	       "issued 1009 = completed 1000 + in flight 6, the oldest for 2.50s; nothing lost\n"
	       "  also: failed 11, retried attempts 5, handed back by a busy driver 7, never sent "
	       "3, "
	       "refused by the driver 2, attached mid-flight 17\n",
	       "what else happened is a second");
	free(text);
}

static void check_print_lost(void)
{
	struct ledger l = whole;
	char *text, line[64];

	l.issued += 5;
	for (int i = 0; i < NR_LOST; i++)
		l.lost[i] = 101 + (uint64_t)i;
	text = printed(&l);
	ok(strstr(text, "INCOMPLETE") && !strstr(text, "nothing lost"), "a loss is shouted");
	for (int i = 0; i < NR_REASONS; i++) {
		snprintf(line, sizeof(line), "  lost %d: ", 101 + reasons[i].reason);
		ok(strstr(text, line) && strstr(strstr(text, line), reasons[i].words),
		   "with its number and reason: %s", reasons[i].words);
	}
	ok(strstr(text, "  unaccounted -201\n") != NULL, "and what is left over");
	free(text);
}

/* ---- to machines ---- */

static char *json(const struct ledger *l)
{
	const struct column *columns[64];
	size_t nr = 0, size;
	struct table *table;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	while (ledger_columns[nr].key) {
		columns[nr] = &ledger_columns[nr];
		nr++;
	}
	table = table__new(out, TABLE_JSON, "ledger", columns, nr);
	table__row(table, l);
	table__free(table);
	fclose(out);
	return text;
}

static void check_json(void)
{
	struct ledger l = whole;
	char *text;

	for (int i = 0; i < NR_LOST; i++)
		l.lost[i] = 101 + (uint64_t)i;
	l.issued += 5 + l.lost[LOST_COMPLETION] + l.lost[LOST_CLOCK];
	text = json(&l);
	is_str(text,
	       "{\"type\":\"ledger\",\"issued\":1220,\"completed\":1000,\"in_flight\":6,"
	       "\"never_sent\":3,\"mid_flight\":17,\"failed\":11,\"retries\":5,\"requeues\":7,"
	       "\"refused\":2,\"lost_no_slot\":101,\"lost_completion\":102,\"lost_start\":103,"
	       "\"lost_clock\":104,\"lost_device\":105,\"lost_skipped\":106,\"lost_row\":107,"
	       "\"lost_ring\":108,\"lost_write\":109,"
	       "\"unaccounted\":5}\n",
	       "every term under its own key");
	free(text);
	l.is_sampled = true;
	l.timed = 17;
	text = printed(&l);
	ok(strstr(text, "; timed 17; "), "also in text");
	free(text);
}

static void check_json_reason(int i)
{
	struct ledger l = { 0 };
	char *text, want[64];

	l.lost[reasons[i].reason] = 7;
	text = json(&l);
	snprintf(want, sizeof(want), "\"%s\":7", reasons[i].key);
	ok(strstr(text, want) != NULL, "JSON: %s", want);
	snprintf(want, sizeof(want), "\"unaccounted\":%d", reasons[i].in_balance ? 7 : 0);
	ok(strstr(text, want) != NULL, "JSON: %s, without a sign", want);
	free(text);
}

int main(void)
{
	check_whole();
	check_balance();
	for (int i = 0; i < NR_REASONS; i++)
		check_reason(i);
	check_print_whole();
	check_print_lost();
	check_json();
	for (int i = 0; i < NR_REASONS; i++)
		check_json_reason(i);
	return done_testing();
}
