/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * expr.c: does an expression mean what it says? Tables of true, false and refused ones; then random
 * trees, written out with as few parentheses as the grammar allows, judged by a second evaluator
 * that shares nothing with the first, and printed until the print no longer changes.
 */
#include <stdlib.h>
#include "expr/expr.h"
#include "expr_print.h"
#include "tap.h"

enum {
	F_P50,
	F_P90,
	F_P99,
	F_MEAN_SIZE,
	F_COUNT,
	F_IOPS,
	F_OP,
	F_DEV,
	F_FAILED,
	F_GONE,
	F_DOTTED,
	F_LBA,
	F_NR
};

static const struct expr_field fields[F_NR] = {
	[F_P50] = { "p50", EXPR_DURATION },
	[F_P90] = { "p90", EXPR_DURATION },
	[F_P99] = { "p99", EXPR_DURATION },
	[F_MEAN_SIZE] = { "mean_size", EXPR_SIZE },
	[F_COUNT] = { "count", EXPR_NUMBER },
	[F_IOPS] = { "iops", EXPR_NUMBER },
	[F_OP] = { "op", EXPR_TEXT },
	[F_DEV] = { "dev", EXPR_TEXT },
	[F_FAILED] = { "failed", EXPR_BOOL },
	[F_GONE] = { "gone", EXPR_NUMBER },
	[F_DOTTED] = { "bi_iter.x", EXPR_NUMBER },
	[F_LBA] = { "lba", EXPR_NUMBER },
};

struct test_row {
	double numbers[F_NR];
	uint64_t lba;
	const char *op, *dev;
	bool failed;
};

static const struct test_row row = {
	.numbers = { [F_P50] = 80e3,
		     [F_P90] = 200e3,
		     [F_P99] = 500e3,
		     [F_MEAN_SIZE] = 4096,
		     [F_COUNT] = 10007,
		     [F_IOPS] = 0,
		     [F_DOTTED] = 2.5 },
	.lba = 0x8000000000000001,
	.op = "read",
	.dev = "nvme0n1",
	.failed = true,
};

static struct expr_value lookup(const void *data, size_t field)
{
	const struct test_row *r = data;
	struct expr_value value = { .type = fields[field].type };

	if (field == F_GONE)
		value.absent = true;
	else if (field == F_OP)
		value.text = r->op;
	else if (field == F_DEV)
		value.text = r->dev;
	else if (field == F_FAILED)
		value.truth = r->failed;
	else if (field == F_LBA)
		value = (struct expr_value){ EXPR_NUMBER, .is_whole = true, .whole = r->lba };
	else
		value.number = r->numbers[field];
	return value;
}

static struct expr *parse(const char *text, struct expr_error *error)
{
	return expr__parse(text, fields, F_NR, NULL, error);
}

static void check_value(const char *text, bool want)
{
	struct expr_error error;
	struct expr *expr = parse(text, &error);

	if (!ok(expr && expr__is_true(expr, lookup, &row) == want, "%s: %s",
		want ? "true" : "false", text) &&
	    !expr)
		printf("# at %zu: %s\n", error.at, error.message);
	expr__free(expr);
}

static const char *const true_texts[] = {
	"op == read",
	"op != 'a b'",
	"read == op",
	"!(op == write && failed)",
	"count > 10k",
	"mean_size >= 4Ki",
	"mean_size == 4096",
	"dev =~ nvme*",
	"dev =~ nvme?n1",
	"dev =~ \"*n1\"",
	"dev=~*&&failed",
	"(dev =~ n*e*n*1)",
	"dev =~ nvme0n1",
	"dev =~ **1",
	"p99 == 500us",
	"p99 == 0.5ms",
	"p99 == 500000ns",
	"p99 >= 0.0005s",
	"p99 <= 500us",
	"p99 > p50 * 6",
	"6 * p50 < p99",
	"p99 / p50 > 6",
	"p99 - p50 == 420us",
	"-p99 < -p50",
	"--p99 == p99",
	"p99 / 5 == 100us",
	"count % 10 == 7",
	"-7 % 4 == -3",
	"10%4 == 2",
	"10% 4 == 2",
	"10%(4) == 2",
	"10% == 10",
	"10%==10",
	"(10%) < +10.5%",
	"+10% <= 10 && +3 > -3%",
	"count % 10% 4 == 3",
	"count > +10%",
	"1 + +2 == 3",
	"mean_size / 512 == 8",
	"1Mi / mean_size == 256",
	"mean_size % 512 == 0",
	"1 + 2 * 3 == 7",
	"(1 + 2) * 3 == 9",
	"10 - 3 - 2 == 5",
	"64 / 4 / 2 == 8",
	"failed",
	"!!failed",
	"failed == (op == read)",
	"failed != (!failed)",
	"! op == write",
	"op == read || 1 / iops > 0 && failed",
	"!(gone == 0)",
	"!(gone != 0)",
	"p99 == 500us && p50 == 80us && count == 10007",
	"1.001ms == 1001us",
	"1G == 1000M",
	"1Gi == 1024Mi",
	"1M == 1000k",
	"1Mi == 1024Ki",
	"0.5 == 1/2",
	"  \t failed ",
	"op=='read'",
	"'read'==op",
	"op != \"it's\"",
	"(op) == (read)",
	"18446744073709551615 > 1",
	"(1 < 2) == failed",
	/* words with dots, other spellings */
	"bi_iter.x == 2.5",
	"dev like nvme*",
	"dev like 'nvme?n1' && failed",
	"!(dev like sd*)",
	"count == 0x2717",
	"count == 1.0007e4",
	"count > 1e3",
	"p99 == 5e2us",
	"p99 == 5e-4s",
	/* exact to the last bit */
	"18446744073709551615 != 18446744073709551614",
	"18446744073709551615 > 18446744073709551614",
	"9007199254740993 - 9007199254740992 == 1",
	"9007199254740993 + 9007199254740993 == 18014398509481986",
	"3037000501 * 3037000501 == 9223372043074251001",
	"9007199254740993 / 3 == 3002399751580331",
	"18446744073709551615 % 10 == 5",
	"-9223372036854775808 % 10 == -8",
	"lba == 0x8000000000000001",
	"lba != 0x8000000000000000",
	"lba - 1 == 1 << 63",
	"18446744073709551615 + 1 == 18446744073709551616",
	"-18446744073709551615 < -18446744073709549568",
	"18446744073709551615 * 18446744073709551615 > 18446744073709551615",
	"-18446744073709551615 * 18446744073709551615 < 0",
	"-9223372036854775808 * 18446744073709551615 < -18446744073709551615",
	"-9223372036854775808 * -9223372036854775808 > 18446744073709551615",
	"7 / 2 == 3.5",
	"-(2.5) == -bi_iter.x",
	"9 % 2.5 == 1",
	/* bits */
	"5 | 2 == 7",
	"5 ^ 1 == 4",
	"5 & 4 == 4",
	"count & 7 == 7",
	"7 == count & 7",
	"1 | 2 ^ 3 & 2 == 1",
	"1 << 4 == 16",
	"256 >> 4 == 16",
	"1 << 2 + 1 == 8",
	"1 << 63 == 9223372036854775808",
	"1 << 64 == 0",
	"1 >> 64 == 0",
	"-1 >> 64 == 0",
	"1 << 1000 == 0",
	"1 << -1 == 0",
	"3 << 63 == 0x8000000000000000",
	"-8 >> 1 == -4",
	"-8 << 1 == -16",
	"-1 & 0xff == 255",
	"-1 | 0 == -1",
	"~0 == 0xffffffffffffffff",
	"~0 == 18446744073709551615",
	"~~5 == 5",
	"~-1 == 0",
	"~-8 == 7",
	"-~5 < 0",
	"mean_size & ~0xfff == 4096",
	"mean_size & 511 == 0",
	"4096 == mean_size",
	"mean_size >> 12 == 1",
	"p99 >> 1 == 250us",
	"p99 | p50 > p50",
	"lba & 0xff == 1",
	"lba >> 63 == 1",
	"4.0 & 4 == 4",
	"8 / 2 & 4 == 4",
	"!(2.5 & 3 >= 0)",
	"!(gone & 1 >= 0)",
	"!(~gone >= 0)",
	/* choices */
	"failed ? op == read : op == write",
	"(failed ? count : iops) == count",
	"(!failed ? count : iops) == 0",
	"(failed ? op : dev) == read",
	"(op == write ? op : dev) =~ nvme*",
	"(failed ? op : none) == read",
	"('x' == op ? 'a' : 'b') == 'b'",
	"failed ? 1 > 2 ? failed : failed : failed == (1 > 2)",
	"(gone > 1 ? 1 : 2) == 2",
	"(failed ? mean_size : 4Ki) == 4096",
	"(failed ? 1us : p99) < p99",
	"(failed ? gone : 1) == 1 || failed",
	"p99 > (op == read ? 100us : 1ms) && (op == read ? count : iops) & 1 == 1",
};

static void check_true(void)
{
	size_t i;

	for (i = 0; i < sizeof(true_texts) / sizeof(true_texts[0]); i++)
		check_value(true_texts[i], true);
}

static const char *const false_texts[] = {
	"op == write",
	"op != read",
	"op == rea",
	"op == reads",
	"op == Read",
	"dev =~ nvme",
	"dev =~ *n2",
	"dev =~ nvme?",
	"dev =~ ''",
	"dev =~ n*x*1",
	"p99 > 500us",
	"p99 < 500us",
	"count > 11k",
	"mean_size > 4Ki",
	"gone == 0",
	"gone != 0",
	"gone < 1",
	"gone >= 0",
	"gone + 1 > 0",
	"-gone < 1",
	"1 / iops > 0",
	"1 / iops <= 0",
	"1 / iops != 1",
	"count % iops == 0",
	"count % 0.5 == 0",
	"count % iops != 0",
	"!failed",
	"failed && op == write",
	"!(op == read) || op == write",
	"op == write && failed || op == write",
	"! op == read",
	"dev like sd*",
	"lba == 0x8000000000000000",
	"lba == 0x8000000000000002",
	"18446744073709551615 == 18446744073709551614",
	"5 & 2 == 2",
	"2.5 & 3 == 2",
	"2.5 | 0 != 0",
	"~2.5 != 0",
	"1 << 0.5 >= 0",
	"0.5 >> 1 >= 0",
	"18446744073709551616 & 1 >= 0",
	"gone | 1 >= 0",
	"1 ^ gone >= 0",
	"~gone != 0",
	"failed ? op == write : failed",
	"(failed ? gone : 1) == 1",
	"gone > 1 ? failed : !failed",
};

static void check_false(void)
{
	size_t i;

	for (i = 0; i < sizeof(false_texts) / sizeof(false_texts[0]); i++)
		check_value(false_texts[i], false);
}

/* Written out: '^' stands under the character that the error must point at. */
static const struct refusal {
	const char *text, *caret, *message;
} refusals[] = {
	{ "p98 > 1ms", "^", "unknown field 'p98'; did you mean p99?" },
	{ "p70 > 1ms", "^", "unknown field 'p70'; did you mean p50 or p90?" },
	{ "p99 > 1ms && cuont > 3", "             ^",
	  "unknown field 'cuont'; did you mean count?" },
	{ "zebra > 1", "^",
	  "unknown field 'zebra'; available: p50, p90, p99, mean_size, count, iops, op, dev, "
	  "failed, "
	  "gone, ..." },
	{ "count == foo", "         ^",
	  "unknown field 'foo'; available: p50, p90, p99, mean_size, count, iops, op, dev, failed, "
	  "gone, ..." },
	{ "opp == 'read'", "^", "unknown field 'opp'; did you mean op?" },
	{ "read == write", "^",
	  "unknown field 'read'; available: p50, p90, p99, mean_size, count, iops, op, dev, "
	  "failed, "
	  "gone, ..." },
	{ "faled", "^", "unknown field 'faled'; did you mean failed?" },
	{ "!faled", " ^", "unknown field 'faled'; did you mean failed?" },
	{ "-cont > 1", " ^", "unknown field 'cont'; did you mean count?" },
	{ "p99 > 500", "      ^", "p99 is a duration: write 500us" },
	{ "500 < p99", "^", "p99 is a duration: write 500us" },
	{ "p99 + 5 > 1ms", "      ^", "p99 is a duration: write 5us" },
	{ "p99 > 10%", "      ^", "p99 is a duration, 10% is a number: they cannot be compared" },
	{ "count > +op", "         ^", "expected a number after the +" },
	{ "count > ++1", "         ^", "expected a number after the +" },
	{ "count > 10k%", "            ^", "expected a field, a number or a text" },
	{ "p99 > 5k", "      ^", "p99 is a duration, 5k is a number: they cannot be compared" },
	{ "p99 > count", "      ^",
	  "p99 is a duration, count is a number: they cannot be compared" },
	{ "p99 == 'x'", "       ^", "p99 is a duration, 'x' is a text: they cannot be compared" },
	{ "mean_size > 5ms", "            ^",
	  "mean_size is a size, 5ms is a duration: they cannot be compared" },
	{ "p99 * p50 > 1ms", "      ^",
	  "p99 is a duration, p50 is a duration: they cannot be multiplied or divided" },
	{ "op + 1 == 2", "     ^", "op is a text, 1 is a number: they cannot be added" },
	{ "op < read", "^", "texts have no order: use ==, != or =~" },
	{ "failed < failed", "^", "booleans have no order: use == or !=" },
	{ "failed == 1", "          ^",
	  "failed is a boolean, 1 is a number: they cannot be compared" },
	{ "count =~ 1*", "^", "=~ requires a text: count is a number" },
	{ "p99", "^", "p99 is a duration, not a boolean: compare it" },
	{ "count && failed", "^", "count is a number, not a boolean: compare it" },
	{ "failed || op", "          ^", "op is a text, not a boolean: compare it" },
	{ "!count", " ^", "count is a number, not a boolean: compare it" },
	{ "-op == 1", " ^", "op is a text, not a number" },
	{ "", "^", "expected a field, a number or a text" },
	{ "count >", "       ^", "expected a field, a number or a text" },
	{ "count > )", "        ^", "expected a field, a number or a text" },
	{ "count > 1)", "         ^", "this ) has no matching (" },
	{ "(count > 1", "          ^", "expected ) for the ( at 1" },
	{ "count = 1", "      ^", "write == to compare" },
	{ "failed & failed", "       ^", "write &&" },
	{ "failed | failed", "       ^", "write ||" },
	{ "failed and failed", "       ^", "write && instead of and" },
	{ "failed or failed", "       ^", "write || instead of or" },
	{ "failed failed", "       ^", "expected an operator or the end" },
	{ "1 < count < 3", "          ^", "comparisons do not chain: write a < b && b < c" },
	{ "failed == !failed", "          ^", "use parentheses: (!...)" },
	{ "p99 > 5w", "       ^", "unknown unit 'w'; available: ns us ms s m h d, k M G Ki Mi Gi" },
	{ "count > 99999999999999999999", "        ^", "number too large: at most 2^64" },
	{ "op == 'read", "      ^", "this ' is not closed" },
	{ "op == #", "      ^", "unexpected '#'" },
	{ "op == \x01", "      ^", "unexpected character \\x01; quote texts" },
	{ "dev =~", "      ^", "=~ requires a pattern, as in nvme*" },
	{ "dev =~ (a)", "       ^", "=~ requires a pattern, as in nvme*" },
	{ "dev like", "        ^", "like requires a pattern, as in nvme*" },
	{ "count like 1*", "^", "like requires a text: count is a number" },
	{ "count like 1* like 2", "              ^",
	  "comparisons do not chain: write a < b && b < c" },
	/* of trees only */
	{ "str(op) == read", "^",
	  "functions are not supported here: only fields, numbers and texts" },
	{ "failed && op (1)", "             ^", "expected an operator or the end" },
	{ "op->x == 1", "  ^", "members are not supported here: only fields, numbers and texts" },
	{ "(op).x == 1", "    ^",
	  "members are not supported here: only fields, numbers and texts" },
	{ "op .x == 1", "   ^", "members are not supported here: only fields, numbers and texts" },
	{ "op.x == 1", "^", "unknown field 'op.x'; did you mean op?" },
	{ "bi_iter.y == 1", "^", "unknown field 'bi_iter.y'; did you mean bi_iter.x?" },
	{ "count > 1, failed", "         ^", "unexpected ','" },
	{ "failed : failed", "       ^", "unexpected ':'" },
	/* bits */
	{ "failed & op == read", "       ^", "write &&" },
	{ "op == read & failed", "           ^", "write &&" },
	{ "op == read | dev == x", "           ^", "write ||" },
	{ "count > 1 & iops > 2", "          ^", "write &&" },
	{ "failed | count > 2", "       ^", "write ||" },
	{ "failed ^ failed", "         ^",
	  "failed is a boolean, failed is a boolean: they cannot be joined by ^" },
	{ "op & 1 == 1", "     ^", "op is a text, 1 is a number: they cannot be joined by &" },
	{ "p99 | 1 > 1ms", "      ^",
	  "p99 is a duration, 1 is a number: they cannot be joined by |" },
	{ "1 << p99 > 1", "     ^", "1 is a number, p99 is a duration: they cannot be shifted" },
	{ "count >> mean_size > 1", "         ^",
	  "count is a number, mean_size is a size: they cannot be shifted" },
	{ "cuont & 1 == 1", "^", "unknown field 'cuont'; did you mean count?" },
	{ "1 << cuont == 1", "     ^", "unknown field 'cuont'; did you mean count?" },
	{ "~op == 1", " ^", "op is a text, not a number" },
	{ "~failed", " ^", "failed is a boolean, not a number" },
	{ "~cuont == 1", " ^", "unknown field 'cuont'; did you mean count?" },
	{ "~count", "^", "~count is a number, not a boolean: compare it" },
	{ "(1 + 2) * 3", "^", "(1 + 2) * 3 is a number, not a boolean: compare it" },
	/* choices */
	{ "count ? failed : failed", "^", "count is a number, not a boolean: compare it" },
	{ "faled ? failed : failed", "^", "unknown field 'faled'; did you mean failed?" },
	{ "(failed ? p99 : 5) > 1ms", "                ^", "p99 is a duration: write 5us" },
	{ "(failed ? p99 : count) > 1ms", "                ^",
	  "p99 is a duration, count is a number: they cannot be alternatives" },
	{ "(failed ? op : 5) == read", "               ^",
	  "op is a text, 5 is a number: they cannot be alternatives" },
	{ "(failed ? cuont : 5) == 1", "          ^",
	  "unknown field 'cuont'; did you mean count?" },
	{ "failed ? count : iops", "^",
	  "failed ? count : iops is a number, not a boolean: compare it" },
	{ "failed ? failed", "               ^", "expected : for the ? at 8" },
	{ "failed ? : failed", "         ^", "unexpected ':'" },
	{ "count > .5", "        ^", "unexpected '.'" },
	/* syntax first */
	{ "p99 > count &&", "              ^", "expected a field, a number or a text" },
	{ "count > 0xg", "          ^", "expected only hexadecimal digits after 0x" },
};

static void check_refused(void)
{
	const struct refusal *r = refusals;
	struct expr_error error;
	struct expr *expr;
	bool good;

	for (; r < refusals + sizeof(refusals) / sizeof(refusals[0]); r++) {
		expr = parse(r->text, &error);
		good = !expr && error.at == strlen(r->caret) - 1 &&
		       !strcmp(error.message, r->message);
		if (!ok(good, "refused: %s", r->text) && !expr)
			printf("# at %zu: %s\n", error.at, error.message);
		expr__free(expr);
	}
}

static void check_point(const char *text, size_t at, const char *want, const char *what)
{
	struct expr_error error = { .at = at };
	char buf[256];

	expr__point_at(text, &error, buf, sizeof(buf));
	is_str(buf, want, what);
}

static void check_pointing(void)
{
	struct expr_error error = { .at = 3 };
	char text[301], small[8], long_line[256];

	check_point("p99 > 5", 6, "p99 > 5\n      ^", "a caret under the character");
	check_point("p99 >", 99, "p99 >\n     ^", "never past the end");
	check_point("'\xc3\xa9' < 5", 7, "'\xc3\xa9' < 5\n      ^", "columns, not bytes");
	check_point("a\t\033b", 3, "a??b\n   ^", "control characters are not let through");
	memset(text, 'x', 300);
	text[300] = '\0';
	text[200] = '!';
	check_point(text, 200,
		    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx!"
		    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"
		    "                                                            ^",
		    "of a long text the part around it");
	memset(text + 1, 0x80, 299);
	expr__point_at(text, &(struct expr_error){ .at = 1 }, long_line, sizeof(long_line));
	ok(strlen(long_line) < 100 && long_line[strlen(long_line) - 1] == '^',
	   "bytes that end no character are not shown for ever");
	expr__point_at("abcdefghij", &error, small, sizeof(small));
	is_str(small, "abcdefg", "a small buffer is not overrun");
}

static void check_print(const char *text, const char *want)
{
	struct expr_error error;
	struct expr *expr = parse(text, &error);
	char buf[256] = "";

	if (expr)
		is_u64((uint64_t)expr__print(expr, buf, sizeof(buf)), strlen(want), text);
	is_str(buf, want, "is printed in full");
	expr__free(expr);
}

static void check_prints(void)
{
	struct expr_error error;
	struct expr *expr = parse("op == read && count > 1", &error);
	char buf[8];

	check_print("op==read&&count>10k", "((op == \"read\") && (count > 10k))");
	check_print("failed || failed || failed && failed",
		    "(failed || failed || (failed && failed))");
	check_print("failed || (failed || failed)", "(failed || (failed || failed))");
	check_print("(0%) + 0 < 0.5%", "(((0%) + 0) < 0.5%)");
	check_print("1 + (2%) + 3 < 1", "((1 + (2%) + 3) < 1)");
	check_print("! op == read", "!(op == \"read\")");
	check_print("!(!failed)", "!!failed");
	check_print("(!failed) == failed", "((!failed) == failed)");
	check_print("1-2-3*4 < - 5", "((1 - 2 - (3 * 4)) < -5)");
	check_print("1-(2-3) < -(4+5)", "((1 - (2 - 3)) < -(4 + 5))");
	check_print("dev=~nvme*", "(dev =~ \"nvme*\")");
	check_print("op == 'a\"b'", "(op == 'a\"b')");
	check_print("(1 < 2) == failed", "((1 < 2) == failed)");
	check_print("failed", "failed");
	check_print("dev like nvme*", "(dev =~ \"nvme*\")");
	check_print("bi_iter.x>0x1F", "(bi_iter.x > 0x1F)");
	check_print("count&7==7|8", "((count & 7) == (7 | 8))");
	check_print("~count<<2>1e3", "((~count << 2) > 1e3)");
	check_print("failed?!failed:count>1?failed:failed",
		    "(failed ? !failed : (count > 1) ? failed : failed)");
	check_print("op == read ? failed : dev == x ? failed : failed",
		    "((op == \"read\") ? failed : (dev == \"x\") ? failed : failed)");
	is_u64((uint64_t)expr__print(expr, NULL, 0), 31, "the length alone");
	expr__print(expr, buf, sizeof(buf));
	is_str(buf, "((op ==", "a small buffer is ended");
	expr__free(expr);
}

/* Does a text made of n times `unit`, then `end`, parse? */
static bool parses_repeated(const char *begin, const char *unit, int n, const char *end)
{
	char *text = malloc(strlen(begin) + strlen(unit) * (size_t)n + strlen(end) + 1), *to;
	char *print = malloc(400000), *again = malloc(400000);
	struct expr_error error;
	struct expr *expr, *second = NULL;
	bool good;

	to = stpcpy(text, begin);
	while (n--)
		to = stpcpy(to, unit);
	strcpy(to, end);
	expr = parse(text, &error);
	good = expr != NULL;
	if (expr) {
		expr__print(expr, print, 400000);
		second = parse(print, &error);
		expr__is_true(expr, lookup, &row);
		if (!second || expr__print(second, again, 400000) < 0 || strcmp(print, again))
			ok(false, "a deep one prints and parses again: %s", error.message);
	}
	expr__free(expr);
	expr__free(second);
	free(text);
	free(print);
	free(again);
	return good;
}

static void check_depth(void)
{
	ok(parses_repeated("", "(", 20, "failed))))))))))))))))))))"), "20 parentheses");
	ok(parses_repeated("", "!", 60, "failed"), "60 times not");
	ok(!parses_repeated("", "!", 100, "failed"), "100 times not is too deep");
	ok(!parses_repeated("", "(", 30000, "failed"), "30000 parentheses are too deep");
	ok(!parses_repeated("", "!", 60000, "failed"), "60000 times not is too deep");
	ok(!parses_repeated("1 < ", "-", 60000, "1"), "60000 times minus is too deep");
	ok(!parses_repeated("1 < ", "(1+2*", 40, "1))))))))))))))))))))))))))))))))))))))))"),
	   "40 that would print as 80 are too deep");
	ok(parses_repeated("1 < ", "(1+2*", 30, "1))))))))))))))))))))))))))))))"), "30 are not");
	ok(parses_repeated("failed", "||failed", 1000, ""), "1000 in a row");
	ok(parses_repeated("1", "+1-1", 400, " == 1"), "800 sums");
	ok(parses_repeated("1", "|1&1", 400, " == 1"), "800 bit operators");
	ok(parses_repeated("", "failed?failed:", 60, "failed"), "60 choices");
	ok(!parses_repeated("", "failed?failed:", 4000, "failed"), "4000 choices are too deep");
	ok(!parses_repeated("", "failed?", 9000, "failed"), "9000 without an end too");
	ok(!parses_repeated("1 < ", "~", 60000, "1"), "60000 complements too");
	ok(!parses_repeated("failed", "||failed", 5000, ""), "5000 in a row are too many");
	ok(!parses_repeated("failed", " ", 70000, ""), "70000 bytes are too long");
}

/* ---- random trees and the second opinion ---- */

static uint64_t random_state = 88172645463325252ULL;

static uint32_t random_below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 20) % n;
}

struct opinion {
	double number;
	const char *text;
	bool truth, absent;
};

/* A tree is written and judged in the same walk. */
struct writer {
	char text[8192];
	size_t len;
	const struct test_row *row;
};

static void write_text(struct writer *w, const char *text)
{
	static const char *const spaces[] = { "", " ", "  ", "\t" };

	w->len += (size_t)snprintf(w->text + w->len, sizeof(w->text) - w->len, "%s%s", text,
				   spaces[random_below(4)]);
}

/* What the grammar reads here without parentheses, loosest first. */
enum { N_OR, N_XOR, N_AND, N_SHIFT, N_SUM, N_TERM, N_UNARY };

static struct opinion random_number(struct writer *w, int depth, int level);
static bool random_truth(struct writer *w, int depth, int level);

static struct opinion random_literal(struct writer *w, uint32_t below)
{
	struct opinion o = { .number = random_below(below) };
	char digits[32];

	snprintf(digits, sizeof(digits), random_below(4) ? "%u" : "%#x", (unsigned)o.number);
	write_text(w, digits);
	return o;
}

static struct opinion random_leaf(struct writer *w)
{
	static const int numbers[] = { F_COUNT, F_IOPS, F_GONE, F_MEAN_SIZE };
	int field = numbers[random_below(4)];
	struct opinion o = { .absent = field == F_GONE, .number = w->row->numbers[field] };

	if (random_below(2))
		return random_literal(w, 20);
	write_text(w, fields[field].name);
	return o;
}

static bool judge_is_whole(double number)
{
	return number == (double)(long long)number;
}

static struct opinion judge_bits(char op, struct opinion a, struct opinion b)
{
	struct opinion o = { .absent = a.absent || b.absent };
	long long x, y;

	if (o.absent || !judge_is_whole(a.number) || !judge_is_whole(b.number)) {
		o.absent = true;
		return o;
	}
	x = (long long)a.number;
	y = (long long)b.number;
	o.number = (double)(op == '|' ? x | y : op == '^' ? x ^ y : x & y);
	return o;
}

/* A bit at a time. */
static struct opinion judge_shift(char op, struct opinion a, struct opinion b)
{
	int by = (int)b.number;

	if (a.absent || !judge_is_whole(a.number))
		return (struct opinion){ .absent = true };
	if (by >= 64)
		return (struct opinion){ .number = 0 };
	while (by--)
		a.number = op == '<' ? a.number * 2 : (double)((long long)a.number >> 1);
	return a;
}

static struct opinion judge_sum(char op, struct opinion a, struct opinion b)
{
	struct opinion o = { .absent = a.absent || b.absent };

	if (o.absent)
		return o;
	if (op == '+')
		o.number = a.number + b.number;
	else if (op == '-')
		o.number = a.number - b.number;
	else if (b.number == 0)
		o.absent = true;
	else
		o.number = a.number / b.number;
	return o;
}

static struct opinion random_sum(struct writer *w, int depth)
{
	struct opinion o = random_number(w, depth - 1, N_TERM), next;
	int n = 1 + (int)random_below(3);

	while (n--) {
		char op[2] = { random_below(2) ? '+' : '-', 0 };

		write_text(w, op);
		next = random_number(w, depth - 1, N_TERM);
		o = judge_sum(op[0], o, next);
	}
	return o;
}

/* Only plain numbers divide, so that no type is refused; sizes stay on the left. */
static struct opinion random_term(struct writer *w, int depth)
{
	struct opinion o = random_number(w, depth - 1, N_UNARY);

	write_text(w, "/");
	return judge_sum('/', o, random_literal(w, 4));
}

/* As far as a double stays exact, or 64 and more. */
static struct opinion random_shift(struct writer *w, int depth)
{
	struct opinion o = random_number(w, depth - 1, N_SUM), by = { 0 };
	const char *op = random_below(2) ? "<<" : ">>";
	char digits[8];

	write_text(w, op);
	by.number = random_below(10) ? random_below(6) : 64 + random_below(9);
	snprintf(digits, sizeof(digits), "%.0f", by.number);
	write_text(w, digits);
	return judge_shift(*op, o, by);
}

static struct opinion random_bits(struct writer *w, int depth, int level)
{
	struct opinion o = random_number(w, depth - 1, level + 1), next;
	int n = 1 + (int)random_below(2);
	char op[2] = { "|^&"[level], 0 };

	while (n--) {
		write_text(w, op);
		next = random_number(w, depth - 1, level + 1);
		o = judge_bits(*op, o, next);
	}
	return o;
}

/* Cut to a few bits: a double does not hold 64. */
static struct opinion random_complement(struct writer *w, int depth)
{
	const struct opinion mask = { .number = 1023 };
	struct opinion o;

	write_text(w, "(1023&~");
	o = random_number(w, depth - 1, N_UNARY);
	write_text(w, ")");
	o.number = -o.number - 1;
	return judge_bits('&', o, mask);
}

static struct opinion random_choice(struct writer *w, int depth)
{
	struct opinion a, b;
	bool truth;

	write_text(w, "(");
	truth = random_truth(w, depth - 1, 1);
	write_text(w, "?");
	a = random_number(w, depth - 1, N_OR);
	write_text(w, ":");
	b = random_number(w, depth - 1, N_OR);
	write_text(w, ")");
	return truth ? a : b;
}

static struct opinion random_minus(struct writer *w, int depth)
{
	struct opinion o;

	write_text(w, "-");
	o = random_number(w, depth - 1, N_UNARY);
	o.number = -o.number;
	return o;
}

static struct opinion random_parentheses(struct writer *w, int depth)
{
	struct opinion o;

	write_text(w, "(");
	o = random_number(w, depth - 1, N_OR);
	write_text(w, ")");
	return o;
}

static struct opinion random_number(struct writer *w, int depth, int level)
{
	uint32_t pick = depth <= 0 ? 99 : (uint32_t)level + random_below(12 - (uint32_t)level);

	switch (pick) {
	case N_OR:
	case N_XOR:
	case N_AND: return random_bits(w, depth, (int)pick);
	case N_SHIFT: return random_shift(w, depth);
	case N_SUM: return random_sum(w, depth);
	case N_TERM: return random_term(w, depth);
	case N_UNARY: return random_minus(w, depth);
	case 7: return random_complement(w, depth);
	case 8: return random_choice(w, depth);
	case 9: return random_parentheses(w, depth);
	default: return random_leaf(w);
	}
}

/* The slow matcher: every way a star can be read. */
static bool slow_glob(const char *glob, const char *text)
{
	if (!*glob)
		return !*text;
	if (*glob == '*')
		return slow_glob(glob + 1, text) || (*text && slow_glob(glob, text + 1));
	return *text && (*glob == '?' || *glob == *text) && slow_glob(glob + 1, text + 1);
}

static bool random_text_comparison(struct writer *w)
{
	static const char letters[] = "ab";
	static const char globs[] = "ab*?";
	bool is_glob = random_below(2), is_equal = random_below(2);
	char word[16] = "", quoted[20];
	int i, n = 1 + (int)random_below(8);

	for (i = 0; i < n; i++)
		word[i] = is_glob ? globs[random_below(4)] : letters[random_below(2)];
	write_text(w, "dev");
	write_text(w, is_glob ? random_below(2) ? "=~" : " like " : is_equal ? "==" : "!=");
	snprintf(quoted, sizeof(quoted), random_below(2) ? "'%s'" : "\"%s\"", word);
	/* A bare pattern ends at a space only. */
	write_text(w, is_glob && random_below(2) ? word : quoted);
	write_text(w, " ");
	if (!w->row->dev)
		return false;
	if (is_glob)
		return slow_glob(word, w->row->dev);
	return is_equal == !strcmp(word, w->row->dev);
}

static bool random_comparison(struct writer *w, int depth)
{
	static const char *const ops[] = { "==", "!=", "<", "<=", ">", ">=" };
	struct opinion a, b;
	uint32_t op = random_below(6);

	if (random_below(4) == 0)
		return random_text_comparison(w);
	a = random_number(w, depth, N_OR);
	write_text(w, ops[op]);
	b = random_number(w, depth, N_OR);
	if (a.absent || b.absent)
		return false;
	return (bool[]){ a.number == b.number, a.number != b.number,
			 a.number<b.number, a.number <= b.number, a.number> b.number,
			 a.number >= b.number }[op];
}

/* level: 0 choice, 1 or, 2 and, 3 not */
static bool random_truth(struct writer *w, int depth, int level)
{
	uint32_t pick = depth <= 0 ? 5 : random_below(6);
	bool truth, next, third;

	if (pick == 0 && level == 0) {
		truth = random_truth(w, depth - 1, 1);
		write_text(w, "?");
		next = random_truth(w, depth - 1, 0);
		write_text(w, ":");
		third = random_truth(w, depth - 1, 0);
		return truth ? next : third;
	}
	if (pick == 1 && level <= 1) {
		truth = random_truth(w, depth - 1, 2);
		write_text(w, "||");
		next = random_truth(w, depth - 1, 2);
		return truth || next;
	}
	if (pick == 2 && level <= 2) {
		truth = random_truth(w, depth - 1, 3);
		write_text(w, "&&");
		next = random_truth(w, depth - 1, 3);
		return truth && next;
	}
	if (pick == 3) {
		write_text(w, "!");
		return !random_truth(w, depth - 1, 3);
	}
	if (pick == 4) {
		write_text(w, "(");
		truth = random_truth(w, depth - 1, 0);
		write_text(w, ")");
		return truth;
	}
	if (random_below(6) == 0) {
		write_text(w, "failed ");
		return w->row->failed;
	}
	return random_comparison(w, depth < 3 ? depth : 3);
}

static void random_row(struct test_row *r, char *dev, int size)
{
	int i, n = (int)random_below((uint32_t)size);

	*r = row;
	r->numbers[F_COUNT] = random_below(20);
	r->numbers[F_IOPS] = random_below(3);
	r->numbers[F_MEAN_SIZE] = random_below(20);
	r->failed = random_below(2);
	for (i = 0; i < n; i++)
		dev[i] = "ab"[random_below(2)];
	dev[i] = '\0';
	r->dev = random_below(10) ? dev : NULL;
}

static bool prints_the_same(const struct expr *expr)
{
	static char first[65536], second[65536];
	struct expr_error error;
	struct expr *again;
	bool good;

	expr__print(expr, first, sizeof(first));
	again = parse(first, &error);
	good = again && expr__print(again, second, sizeof(second)) == (int)strlen(first) &&
	       !strcmp(first, second);
	expr__free(again);
	return good;
}

static void check_random(int rounds)
{
	int refused = 0, wrong = 0, changed = 0, nr_true = 0, i;
	struct expr_error error;
	struct test_row r;
	struct writer w;
	struct expr *expr;
	char dev[16];
	bool want;

	for (i = 0; i < rounds; i++) {
		random_row(&r, dev, 10);
		w.len = 0;
		w.row = &r;
		want = random_truth(&w, 5, 0);
		expr = parse(w.text, &error);
		nr_true += want;
		if (!expr && !refused++)
			printf("# %s\n# at %zu: %s\n", w.text, error.at, error.message);
		if (expr && expr__is_true(expr, lookup, &r) != want && !wrong++)
			printf("# should be %d: %s\n", want, w.text);
		changed += expr && !prints_the_same(expr);
		expr__free(expr);
	}
	is_u64((uint64_t)refused, 0, "random expressions all parse");
	is_u64((uint64_t)wrong, 0, "and mean what a slow reading says");
	is_u64((uint64_t)changed, 0, "and print what parses to the same print");
	ok(nr_true > rounds / 5 && nr_true < rounds / 5 * 4,
	   "some are true, some are not: %d of %d", nr_true, rounds);
}

/* Texts of random tokens: most are refused, none may crash, all that parse must print well. */
static void check_noise(int rounds)
{
	static const char *const tokens[] = {
		"p99", "count", "op", "failed", "read", "5",	"5us", "4Ki", "'a'", "(",  ")",
		"!",   "-",	"+",  "*",	"/",	"%",	"==",  "!=",  "<",   ">=", "=~",
		"&&",  "||",	"a*", "\"",	"\x80", ".",	"&",   "|",   "^",   "~",  "<<",
		">>",  "?",	":",  ",",	"->",	"like", "0x1", "1e3"
	};
	int i, n, bad = 0, parsed = 0;
	struct expr_error error;
	struct expr *expr;
	struct writer w;

	for (i = 0; i < rounds; i++) {
		w.len = 0;
		for (n = 1 + (int)random_below(7); n; n--)
			write_text(&w, tokens[random_below(sizeof(tokens) / sizeof(tokens[0]))]);
		expr = parse(w.text, &error);
		parsed += expr != NULL;
		bad += expr ? !prints_the_same(expr) : error.at > strlen(w.text) || !*error.message;
		if (expr)
			expr__is_true(expr, lookup, &row);
		expr__free(expr);
	}
	is_u64((uint64_t)bad, 0, "noise is refused in words, or prints what parses");
	ok(parsed > rounds / 1000, "%d of %d parsed", parsed, rounds);
}

int main(void)
{
	check_true();
	check_false();
	check_refused();
	check_pointing();
	check_prints();
	check_depth();
	check_random(20000);
	check_noise(50000);
	expr__free(NULL);
	return done_testing();
}
