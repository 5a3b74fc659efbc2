/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * expr.c: does an expression mean what it says? Tables of true, false and refused ones; then random
 * trees, written out with as few parentheses as the grammar allows, judged by a second evaluator
 * that shares nothing with the first, and printed until the print no longer changes.
 */
#include <stdlib.h>
#include "expr/expr.h"
#include "tap.h"

enum { F_P50, F_P90, F_P99, F_MEAN_SIZE, F_COUNT, F_IOPS, F_OP, F_DEV, F_FAILED, F_GONE, F_NR };

static const struct expr_field fields[F_NR] = {
	[F_P50] = { "p50", EXPR_DURATION },   [F_P90] = { "p90", EXPR_DURATION },
	[F_P99] = { "p99", EXPR_DURATION },   [F_MEAN_SIZE] = { "mean_size", EXPR_SIZE },
	[F_COUNT] = { "count", EXPR_NUMBER }, [F_IOPS] = { "iops", EXPR_NUMBER },
	[F_OP] = { "op", EXPR_TEXT },	      [F_DEV] = { "dev", EXPR_TEXT },
	[F_FAILED] = { "failed", EXPR_BOOL }, [F_GONE] = { "gone", EXPR_NUMBER },
};

struct test_row {
	double numbers[F_NR];
	const char *op, *dev;
	bool failed;
};

static const struct test_row row = {
	.numbers = { [F_P50] = 80e3,
		     [F_P90] = 200e3,
		     [F_P99] = 500e3,
		     [F_MEAN_SIZE] = 4096,
		     [F_COUNT] = 10007,
		     [F_IOPS] = 0 },
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
	else
		value.number = r->numbers[field];
	return value;
}

static struct expr *parse(const char *text, struct expr_error *error)
{
	return expr__parse(text, fields, F_NR, error);
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
	{ "p98 > 1ms", "^", "no field 'p98'; did you mean p99?" },
	{ "p70 > 1ms", "^", "no field 'p70'; did you mean p50 or p90?" },
	{ "p99 > 1ms && cuont > 3", "             ^", "no field 'cuont'; did you mean count?" },
	{ "zebra > 1", "^",
	  "no field 'zebra'; there are: p50, p90, p99, mean_size, count, iops, op, dev, failed, "
	  "gone" },
	{ "count == foo", "         ^",
	  "no field 'foo'; there are: p50, p90, p99, mean_size, count, iops, op, dev, failed, "
	  "gone" },
	{ "opp == 'read'", "^", "no field 'opp'; did you mean op?" },
	{ "read == write", "^",
	  "no field 'read'; there are: p50, p90, p99, mean_size, count, iops, op, dev, failed, "
	  "gone" },
	{ "faled", "^", "no field 'faled'; did you mean failed?" },
	{ "!faled", " ^", "no field 'faled'; did you mean failed?" },
	{ "-cont > 1", " ^", "no field 'cont'; did you mean count?" },
	{ "p99 > 500", "      ^", "p99 is a duration: write 500us" },
	{ "500 < p99", "^", "p99 is a duration: write 500us" },
	{ "p99 + 5 > 1ms", "      ^", "p99 is a duration: write 5us" },
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
	{ "failed < failed", "^", "truths have no order: use == or !=" },
	{ "failed == 1", "          ^",
	  "failed is a truth, 1 is a number: they cannot be compared" },
	{ "count =~ 1*", "^", "=~ is for texts: count is a number" },
	{ "p99", "^", "p99 is a duration, not a truth: compare it" },
	{ "count && failed", "^", "count is a number, not a truth: compare it" },
	{ "failed || op", "          ^", "op is a text, not a truth: compare it" },
	{ "!count", " ^", "count is a number, not a truth: compare it" },
	{ "-op == 1", " ^", "op is a text, not a number" },
	{ "", "^", "expected a field, a number or a text" },
	{ "count >", "       ^", "expected a field, a number or a text" },
	{ "count > )", "        ^", "expected a field, a number or a text" },
	{ "count > 1)", "         ^", "this ) closes nothing" },
	{ "(count > 1", "          ^", "expected ) for the ( at 1" },
	{ "count = 1", "      ^", "write == to compare" },
	{ "failed & failed", "       ^", "write &&" },
	{ "failed | failed", "       ^", "write ||" },
	{ "failed and failed", "       ^", "write && for and" },
	{ "failed or failed", "       ^", "write || for or" },
	{ "failed failed", "       ^", "expected an operator or the end" },
	{ "1 < count < 3", "          ^", "comparisons do not chain: write a < b && b < c" },
	{ "failed == !failed", "          ^", "put parentheses: (!...)" },
	{ "p99 > 5m", "       ^", "no unit 'm'; there are: ns us ms s, k M G Ki Mi Gi" },
	{ "count > 1e3", "         ^", "no unit 'e3'; there are: ns us ms s, k M G Ki Mi Gi" },
	{ "count > 99999999999999999999", "        ^", "number too large: at most 2^64" },
	{ "op == 'read", "      ^", "this ' has no other end" },
	{ "op == #", "      ^", "unexpected '#'" },
	{ "op == \x01", "      ^", "unexpected character \\x01; quote texts" },
	{ "dev =~", "      ^", "=~ needs a pattern, as in nvme*" },
	{ "dev =~ (a)", "       ^", "=~ needs a pattern, as in nvme*" },
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
	char text[301], small[8];

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
	check_print("! op == read", "!(op == \"read\")");
	check_print("!(!failed)", "!!failed");
	check_print("(!failed) == failed", "((!failed) == failed)");
	check_print("1-2-3*4 < - 5", "((1 - 2 - (3 * 4)) < -5)");
	check_print("1-(2-3) < -(4+5)", "((1 - (2 - 3)) < -(4 + 5))");
	check_print("dev=~nvme*", "(dev =~ \"nvme*\")");
	check_print("op == 'a\"b'", "(op == 'a\"b')");
	check_print("(1 < 2) == failed", "((1 < 2) == failed)");
	check_print("failed", "failed");
	is_u64((uint64_t)expr__print(expr, NULL, 0), 31, "the length alone");
	expr__print(expr, buf, sizeof(buf));
	is_str(buf, "((op ==", "a small buffer is ended");
	expr__free(expr);
}

static void check_first(const char *text, int want)
{
	struct expr_error error;
	struct expr *expr = parse(text, &error);

	ok(expr && expr__first_field(expr) == want, "first field of %s", text);
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

/* level: what the grammar would read here without parentheses; 0 sum, 1 term, 2 unary. */
static struct opinion random_number(struct writer *w, int depth, int level);

static struct opinion random_leaf(struct writer *w)
{
	static const int numbers[] = { F_COUNT, F_IOPS, F_GONE, F_MEAN_SIZE };
	struct opinion o = { 0 };
	char digits[32];
	int field;

	if (random_below(2)) {
		o.number = random_below(20);
		snprintf(digits, sizeof(digits), "%.0f", o.number);
		write_text(w, digits);
		return o;
	}
	field = numbers[random_below(4)];
	write_text(w, fields[field].name);
	o.absent = field == F_GONE;
	o.number = w->row->numbers[field];
	return o;
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
	struct opinion o = random_number(w, depth - 1, 1), next;
	int n = 1 + (int)random_below(3);

	while (n--) {
		char op[2] = { random_below(2) ? '+' : '-', 0 };

		write_text(w, op);
		next = random_number(w, depth - 1, 1);
		o = judge_sum(op[0], o, next);
	}
	return o;
}

/* Only plain numbers divide, so that no type is refused; sizes stay on the left. */
static struct opinion random_term(struct writer *w, int depth)
{
	struct opinion o = random_number(w, depth - 1, 2), next = { 0 };
	char digits[8];

	write_text(w, "/");
	next.number = random_below(4);
	snprintf(digits, sizeof(digits), "%.0f", next.number);
	write_text(w, digits);
	return judge_sum('/', o, next);
}

static struct opinion random_number(struct writer *w, int depth, int level)
{
	struct opinion o;
	bool parentheses = depth > 0 && level > 0 && random_below(3) == 0;
	uint32_t pick = depth <= 0 ? 3 : random_below(4);

	if (parentheses) {
		write_text(w, "(");
		level = 0;
	}
	if (pick == 0 && level == 0) {
		o = random_sum(w, depth);
	} else if (pick == 1 && level <= 1) {
		o = random_term(w, depth);
	} else if (pick == 2) {
		write_text(w, "-");
		o = random_number(w, depth - 1, 2);
		o.number = -o.number;
	} else {
		o = random_leaf(w);
	}
	if (parentheses)
		write_text(w, ")");
	return o;
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
	write_text(w, is_glob ? "=~" : is_equal ? "==" : "!=");
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
	a = random_number(w, depth, 0);
	write_text(w, ops[op]);
	b = random_number(w, depth, 0);
	if (a.absent || b.absent)
		return false;
	return (bool[]){ a.number == b.number, a.number != b.number,
			 a.number<b.number, a.number <= b.number, a.number> b.number,
			 a.number >= b.number }[op];
}

/* level: 0 or, 1 and, 2 not */
static bool random_truth(struct writer *w, int depth, int level)
{
	uint32_t pick = depth <= 0 ? 4 : random_below(5);
	bool truth, next;

	if (pick == 0 && level == 0) {
		truth = random_truth(w, depth - 1, 1);
		write_text(w, "||");
		next = random_truth(w, depth - 1, 1);
		return truth || next;
	}
	if (pick == 1 && level <= 1) {
		truth = random_truth(w, depth - 1, 2);
		write_text(w, "&&");
		next = random_truth(w, depth - 1, 2);
		return truth && next;
	}
	if (pick == 2) {
		write_text(w, "!");
		return !random_truth(w, depth - 1, 2);
	}
	if (pick == 3) {
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
	static const char *const tokens[] = { "p99", "count", "op", "failed", "read", "5",    "5us",
					      "4Ki", "'a'",   "(",  ")",      "!",    "-",    "+",
					      "*",   "/",     "%",  "==",     "!=",   "<",    ">=",
					      "=~",  "&&",    "||", "a*",     "\"",   "\x80", "." };
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
	check_first("1 < 2", -1);
	check_first("1 < count && op == read", F_COUNT);
	check_first("read == op && count > 1", F_OP);
	check_depth();
	check_random(20000);
	check_noise(50000);
	expr__free(NULL);
	return done_testing();
}
