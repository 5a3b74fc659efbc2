/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * expr_tree.c: is a text read as the tree it stands for? Trees and lists without types: what binds
 * tighter, where each node stands, exact numbers, what is refused and where. Then random trees,
 * written with as few parentheses as the grammar allows, and beside it as (op operand ...), which
 * the parser's tree has to be; and printed until the print no longer changes.
 */
#include <stdlib.h>
#include "expr/tree.h"
#include "expr_print.h"
#include "tap.h"

enum { LONG = 400000, MAX_TREES = 8 };

/* ---- a tree as text that has no precedence: (+ a (* b c)), (f() a b), (->b a) ---- */

struct form {
	char *text;
	size_t len, size;
};

__attribute__((format(printf, 2, 3))) static void form_add(struct form *form, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	form->len += (size_t)vsnprintf(form->text + form->len, form->size - form->len, fmt, args);
	va_end(args);
	if (form->len >= form->size)
		abort();
}

static void form_node(struct form *form, const struct expr *tree, uint32_t index);

static void form_operands(struct form *form, const struct expr *tree, const struct expr_node *node)
{
	const uint32_t operands[] = { node->left, node->right, node->third };
	size_t i;

	for (i = 0; i < 3 && operands[i] != EXPR_NONE; i++) {
		form_add(form, " ");
		form_node(form, tree, operands[i]);
	}
}

static void form_arguments(struct form *form, const struct expr *tree, const struct expr_node *call)
{
	uint32_t i;

	for (i = call->left; i != EXPR_NONE; i = tree->nodes[i].next) {
		form_add(form, " ");
		form_node(form, tree, i);
	}
}

static void form_node(struct form *form, const struct expr *tree, uint32_t index)
{
	const struct expr_node *node = &tree->nodes[index];
	int text_len = (int)node->text_len;

	switch (node->op) {
	case OP_NUMBER: form_add(form, "%.*s", (int)node->len, tree->source + node->at); return;
	case OP_TEXT: form_add(form, "'%.*s'", text_len, node->text); return;
	case OP_WORD: form_add(form, "%.*s", text_len, node->text); return;
	case OP_CALL:
		form_add(form, "(%.*s()", text_len, node->text);
		form_arguments(form, tree, node);
		break;
	case OP_MEMBER:
	case OP_ARROW:
		form_add(form, "(%s%.*s", expr_ops[node->op].text, text_len, node->text);
		form_operands(form, tree, node);
		break;
	case OP_INDEX:
		form_add(form, "([]");
		form_operands(form, tree, node);
		break;
	default: form_add(form, "(%s", expr_ops[node->op].text); form_operands(form, tree, node);
	}
	form_add(form, ")");
}

static const char *form_of(const struct expr *tree)
{
	static char text[LONG];
	struct form form = { text, 0, sizeof(text) };

	form_node(&form, tree, tree->root);
	return text;
}

/* ---- what binds how ---- */

static const struct {
	const char *text, *form;
} readings[] = {
	{ "a", "a" },
	{ "p99.9us", NULL },
	{ "a.b", "(.b a)" },
	{ "a->b", "(->b a)" },
	{ "a[2]", "([] a 2)" },
	{ "a->b[c + 1].d[0]", "([] (.d ([] (->b a) (+ c 1))) 0)" },
	{ "-a[b[1]]", "(- ([] a ([] b 1)))" },
	{ "a . b -> c", "(->c (.b a))" },
	{ "req->q->disk->disk_name", "(->disk_name (->disk (->q req)))" },
	{ "entry.cmd->common.opcode == 2", "(== (.opcode (->common (.cmd entry))) 2)" },
	{ "(a + b)->c", "(->c (+ a b))" },
	{ "-a->b", "(- (->b a))" },
	{ "(-a).b", "(.b (- a))" },
	{ "~a.b", "(~ (.b a))" },
	{ "!a.b", "(! (.b a))" },
	{ "f()", "(f())" },
	{ "f ( )", "(f())" },
	{ "str(p, 8)", "(str() p 8)" },
	{ "f(a ? b : c, d || e, -g)", "(f() (? a b c) (|| d e) (- g))" },
	{ "f(g(h(1)))", "(f() (g() (h() 1)))" },
	{ "f(a).b->c", "(->c (.b (f() a)))" },
	{ "errno(-ret)", "(errno() (- ret))" },
	{ "1.5.x", "(.x 1.5)" },
	{ "5.e3", "(.e3 5)" },
	{ "0xf.f", "(.f 0xf)" },
	{ "\"a\".b", "(.b 'a')" },
	{ "a ? b : c", "(? a b c)" },
	{ "a ? b : c ? d : e", "(? a b (? c d e))" },
	{ "a ? b ? c : d : e", "(? a (? b c d) e)" },
	{ "(a ? b : c) ? d : e", "(? (? a b c) d e)" },
	{ "a || b ? c && d : !e", "(? (|| a b) (&& c d) (! e))" },
	{ "a && b || c", "(|| (&& a b) c)" },
	{ "a || b && c", "(|| a (&& b c))" },
	{ "!a && b", "(&& (! a) b)" },
	{ "!a == b", "(! (== a b))" },
	{ "!!a", "(! (! a))" },
	{ "a == b && c != d", "(&& (== a b) (!= c d))" },
	{ "flags & 8 == 8", "(== (& flags 8) 8)" },
	{ "8 == flags & 8", "(== 8 (& flags 8))" },
	{ "a | b == c", "(== (| a b) c)" },
	{ "a ^ b < c", "(< (^ a b) c)" },
	{ "a << b >= c", "(>= (<< a b) c)" },
	{ "a | b ^ c & d", "(| a (^ b (& c d)))" },
	{ "a & b ^ c | d", "(| (^ (& a b) c) d)" },
	{ "a | b | c", "(| (| a b) c)" },
	{ "a ^ b ^ c", "(^ (^ a b) c)" },
	{ "a & b & c", "(& (& a b) c)" },
	{ "a << b >> c", "(>> (<< a b) c)" },
	{ "a & b << c", "(& a (<< b c))" },
	{ "a << b + c", "(<< a (+ b c))" },
	{ "a + b >> c", "(>> (+ a b) c)" },
	{ "a + b * c - d", "(- (+ a (* b c)) d)" },
	{ "a / b % c", "(% (/ a b) c)" },
	{ "-a * ~b", "(* (- a) (~ b))" },
	{ "- - ~ ~a", "(- (- (~ (~ a))))" },
	{ "a-b->c", "(- a (->c b))" },
	{ "a - ->b", NULL },
	{ "a<-b", "(< a (- b))" },
	{ "a>-b", "(> a (- b))" },
	{ "a==~b", "(== a (~ b))" },
	{ "a=~b", "(=~ a 'b')" },
	{ "a = ~b", NULL },
	{ "comm like nvme*", "(=~ comm 'nvme*')" },
	{ "comm like 'a b'", "(=~ comm 'a b')" },
	{ "comm like a* && b", "(&& (=~ comm 'a*') b)" },
	{ "f(comm like a*, b)", "(f() (=~ comm 'a*') b)" },
	{ "comm like a? ? b : c", "(? (=~ comm 'a?') b c)" },
	{ "like like like", "(=~ like 'like')" },
	{ "like", "like" },
	{ "like == liked", "(== like liked)" },
	{ "a.like like b.like", "(=~ (.like a) 'b.like')" },
	{ "a + b like c", "(=~ (+ a b) 'c')" },
	{ "op == read", "(== op read)" },
	{ "\"it's\"", "'it's'" },
	{ "(((a)))", "a" },
	{ " \t a\r", "a" },
};

static void check_readings(void)
{
	struct expr_error error;
	struct expr *tree;
	size_t i;

	for (i = 0; i < sizeof(readings) / sizeof(readings[0]); i++) {
		tree = expr__parse_tree(readings[i].text, &error);
		if (readings[i].form)
			is_str(tree ? form_of(tree) : error.message, readings[i].form,
			       readings[i].text);
		else
			ok(!tree, "is none: %s", readings[i].text);
		expr__free(tree);
	}
}

/* ---- printing ---- */

static const struct {
	const char *text, *print;
} prints[] = {
	{ "a ? b : c", "(a ? b : c)" },
	{ "a ? b : c ? d : e", "(a ? b : c ? d : e)" },
	{ "a ? b ? c : d : e", "(a ? (b ? c : d) : e)" },
	{ "(a ? b : c) ? d : e", "((a ? b : c) ? d : e)" },
	{ "!a ? !b : !c", "(!a ? !b : !c)" },
	{ "a == b ? c + 1 : d | 2", "((a == b) ? (c + 1) : (d | 2))" },
	{ "(a ? b : c) + 1", "((a ? b : c) + 1)" },
	{ "!(a ? b : c)", "!(a ? b : c)" },
	{ "a|b|c^d&e<<f>>g", "(a | b | (c ^ (d & (e << f >> g))))" },
	{ "a|(b|c)", "(a | (b | c))" },
	{ "a&8==8", "((a & 8) == 8)" },
	{ "~ a", "~a" },
	{ "-~-a", "-~-a" },
	{ "~(a+b)", "~(a + b)" },
	{ "a . b -> c", "a.b->c" },
	{ "a [ b+1 ] . c", "a[b + 1].c" },
	{ "(a+b)[c?d:e]", "(a + b)[c ? d : e]" },
	{ "(a+b)->c.d", "(a + b)->c.d" },
	{ "(-a).b", "(-a).b" },
	{ "(!a).b", "(!a).b" },
	{ "-a.b", "-a.b" },
	{ "f( )", "f()" },
	{ "f(a+1,(b),c?d:e)", "f(a + 1, b, c ? d : e)" },
	{ "f(a)->b", "f(a)->b" },
	{ "comm like fio*", "(comm =~ \"fio*\")" },
	{ "comm == fio", "(comm == fio)" },
	{ "0x1F + 1e6 + 1.5ms", "(0x1F + 1e6 + 1.5ms)" },
	{ "5 .e3", "5.e3" },
};

/* Prints, parses that, and must find the same tree and the same print. */
static bool prints_the_same(const struct expr *tree, char *print)
{
	static char form[LONG], again[LONG];
	struct expr_error error;
	struct expr *second;
	bool good;

	expr__print(tree, print, LONG);
	strcpy(form, form_of(tree));
	second = expr__parse_tree(print, &error);
	if (!second) {
		printf("# %s\n# at %zu: %s\n", print, error.at, error.message);
		return false;
	}
	good = expr__print(second, again, LONG) == (int)strlen(print) && !strcmp(print, again) &&
	       !strcmp(form, form_of(second));
	expr__free(second);
	return good;
}

static void check_prints(void)
{
	static char print[LONG];
	struct expr_error error;
	struct expr *tree;
	size_t i;

	for (i = 0; i < sizeof(prints) / sizeof(prints[0]); i++) {
		tree = expr__parse_tree(prints[i].text, &error);
		ok(tree && prints_the_same(tree, print), "prints what parses: %s", prints[i].text);
		is_str(tree ? print : error.message, prints[i].print, "as it should");
		expr__free(tree);
	}
	for (i = 0; i < sizeof(readings) / sizeof(readings[0]); i++) {
		tree = expr__parse_tree(readings[i].text, &error);
		ok(!tree || prints_the_same(tree, print), "prints what parses: %s",
		   readings[i].text);
		expr__free(tree);
	}
}

/* ---- numbers ---- */

static const struct {
	const char *text;
	uint64_t whole;
	bool is_duration;
} wholes[] = {
	{ "0", 0, false },
	{ "00012", 12, false },
	{ "9007199254740993", 9007199254740993, false },
	{ "18446744073709551615", UINT64_MAX, false },
	{ "18446744073709551615ns", UINT64_MAX, true },
	{ "18446744073709551.615us", UINT64_MAX, true },
	{ "1.8446744073709551615e19", UINT64_MAX, false },
	{ "184467440737095516150e-1", UINT64_MAX, false },
	{ "18446744073709551615.000", UINT64_MAX, false },
	{ "0x0", 0, false },
	{ "0x1f", 31, false },
	{ "0X1F", 31, false },
	{ "0xdeadBEEF", 0xdeadbeef, false },
	{ "0xffffffffffffffff", UINT64_MAX, false },
	{ "0x8000000000000001", 0x8000000000000001, false },
	{ "0x0000000000000000000000001", 1, false },
	{ "1e6", 1000000, false },
	{ "1E6", 1000000, false },
	{ "1e+6", 1000000, false },
	{ "1e0", 1, false },
	{ "2.5e1", 25, false },
	{ "1000e-3", 1, false },
	{ "0e999999999999", 0, false },
	{ "0.0e-999999999999", 0, false },
	{ "1e19", 10000000000000000000u, false },
	{ "1e3us", 1000000, true },
	{ "1.5us", 1500, true },
	{ "2m", 120000000000, true },
	{ "0.001us", 1, true },
	{ "1.001ms", 1001000, true },
	{ "0.5s", 500000000, true },
	{ "1.5k", 1500, false },
	{ "1.5Ki", 1536, false },
	{ "0.5Mi", 524288, false },
	{ "17179869183Gi", 17179869183u * 1073741824ull, false },
};

static const struct {
	const char *text;
	double number;
} reals[] = {
	{ "5.50", 5.5 },
	{ "0.5ns", 0.5 },
	{ "1e-3", 0.001 },
	{ "3.25e1", 32.5 },
	{ "0.1", 0.1 },
	{ "1.0000000000000000000000000000001", 1 },
	{ "0.30000000000000000000000000000000000000000000000000000000000000000000000000000004",
	  0.3 },
	{ "1e-999999999999", 0 },
	{ "18446744073709551616", 18446744073709551616.0 },
};

static void check_numbers(void)
{
	const struct expr_node *node;
	struct expr_error error;
	struct expr *tree;
	size_t i;

	for (i = 0; i < sizeof(wholes) / sizeof(wholes[0]); i++) {
		tree = expr__parse_tree(wholes[i].text, &error);
		node = tree ? &tree->nodes[tree->root] : NULL;
		ok(node && node->op == OP_NUMBER && node->is_whole &&
			   node->number == (double)wholes[i].whole &&
			   (node->type == EXPR_DURATION) == wholes[i].is_duration,
		   "whole: %s", wholes[i].text);
		is_u64(node ? node->whole : 0, wholes[i].whole, "and exact");
		expr__free(tree);
	}
	for (i = 0; i < sizeof(reals) / sizeof(reals[0]); i++) {
		tree = expr__parse_tree(reals[i].text, &error);
		node = tree ? &tree->nodes[tree->root] : NULL;
		if (!ok(node && !node->is_whole && node->number == reals[i].number, "not whole: %s",
			reals[i].text) &&
		    node)
			printf("# %d %.20g\n", node->is_whole, node->number);
		expr__free(tree);
	}
}

/* ---- what is refused; '^' stands under the character ---- */

static const struct refusal {
	const char *text, *caret, *message;
} refusals[] = {
	{ "", "^", "expected a field, a number or a text" },
	{ "a +", "   ^", "expected a field, a number or a text" },
	{ ".a", "^", "unexpected '.'" },
	{ "->a", "^", "expected a field, a number or a text" },
	{ "a ? : b", "    ^", "unexpected ':'" },
	{ "a ? b :", "       ^", "expected a field, a number or a text" },
	{ "a ? b", "     ^", "expected : for the ? at 3" },
	{ "a ? b, c", "     ^", "expected : for the ? at 3" },
	{ "(a ? b)", "      ^", "expected : for the ? at 4" },
	{ "a : b", "  ^", "unexpected ':'" },
	{ "a.", "  ^", "expected the name of a member" },
	{ "a->", "   ^", "expected the name of a member" },
	{ "a.5", "  ^", "expected the name of a member" },
	{ "p99.9", "    ^", "expected the name of a member" },
	{ "a.'b'", "  ^", "expected the name of a member" },
	{ "a->(b)", "   ^", "expected the name of a member" },
	{ "a.b(c)", "   ^", "expected an operator or the end" },
	{ "(f)(a)", "   ^", "expected an operator or the end" },
	{ "5(a)", " ^", "expected an operator or the end" },
	{ "f(", "  ^", "expected a field, a number or a text" },
	{ "f(,a)", "  ^", "unexpected ','" },
	{ "f(a,)", "    ^", "expected a field, a number or a text" },
	{ "f(a", "   ^", "expected , or ) for the ( at 2" },
	{ "f(a b)", "    ^", "expected , or ) for the ( at 2" },
	{ "f(a))", "    ^", "this ) has no matching (" },
	{ "(a, b)", "  ^", "expected ) for the ( at 1" },
	{ "a b", "  ^", "expected an operator or the end" },
	{ "a[0", "   ^", "expected ] for the [ at 2" },
	{ "a[]", "  ^", "expected a field, a number or a text" },
	{ "a[0)", "   ^", "expected ] for the [ at 2" },
	{ "a]", " ^", "this ] has no matching [" },
	{ "[0]", "^", "expected a field, a number or a text" },
	{ "a = b", "  ^", "write == to compare" },
	{ "a <<= b", "    ^", "write == to compare" },
	{ "a and b", "  ^", "write && instead of and" },
	{ "a == !b", "     ^", "use parentheses: (!...)" },
	{ "~!a", " ^", "use parentheses: (!...)" },
	{ "a < b < c", "      ^", "comparisons do not chain: write a < b && b < c" },
	{ "a < (b & c) < d", "            ^", "comparisons do not chain: write a < b && b < c" },
	{ "a like b like c", "         ^", "comparisons do not chain: write a < b && b < c" },
	{ "a > 1 & b > 2", "      ^", "write &&" },
	{ "a == 1 | b == 2", "       ^", "write ||" },
	{ "a like", "      ^", "like requires a pattern, as in nvme*" },
	{ "a =~ ,", "     ^", "=~ requires a pattern, as in nvme*" },
	{ "0x", "  ^", "expected only hexadecimal digits after 0x" },
	{ "0x1g", "   ^", "expected only hexadecimal digits after 0x" },
	{ "0x1us", "   ^", "expected only hexadecimal digits after 0x" },
	{ "0x10000000000000000", "^", "number too large: at most 2^64" },
	{ "18446744073709555713", "^", "number too large: at most 2^64" },
	{ "1e20", "^", "number too large: at most 2^64" },
	{ "1e999999999999", "^", "number too large: at most 2^64" },
	{ "20000000000s", "^", "number too large: at most 2^64" },
	{ "1e", " ^", "unknown unit 'e'; available: ns us ms s m h d, k M G Ki Mi Gi" },
	{ "1e-", " ^", "unknown unit 'e'; available: ns us ms s m h d, k M G Ki Mi Gi" },
	{ "1e3e4", "   ^", "unknown unit 'e4'; available: ns us ms s m h d, k M G Ki Mi Gi" },
	{ "5w.x", " ^", "unknown unit 'w'; available: ns us ms s m h d, k M G Ki Mi Gi" },
	{ "'a", "^", "this ' is not closed" },
};

static void check_refusal(const struct refusal *r, const struct expr_error *error, bool is_refused)
{
	bool good = is_refused && error->at == strlen(r->caret) - 1 &&
		    !strcmp(error->message, r->message);

	if (!ok(good, "refused: %s", r->text) && is_refused)
		printf("# at %zu: %s\n", error->at, error->message);
}

/* A list of one is refused as a tree is. */
static void check_refused(void)
{
	const struct refusal *r = refusals;
	struct expr *tree, *trees[1] = { NULL };
	struct expr_error error;
	size_t nr = 1;

	for (; r < refusals + sizeof(refusals) / sizeof(refusals[0]); r++) {
		tree = expr__parse_tree(r->text, &error);
		check_refusal(r, &error, !tree);
		expr__free(tree);
		ok(expr__parse_list(r->text, trees, 1, &nr, &error) == -22 && !nr,
		   "and so is a list of it");
	}
	tree = expr__parse_tree("a, b", &error);
	ok(!tree && error.at == 1 && !strcmp(error.message, "unexpected ','"),
	   "a list is no expression");
}

/* ---- lists ---- */

static void check_list(const char *text, const char *forms)
{
	struct expr *trees[MAX_TREES];
	struct expr_error error = { 0 };
	char all[1024] = "";
	size_t nr, i;

	if (expr__parse_list(text, trees, MAX_TREES, &nr, &error))
		snprintf(all, sizeof(all), "%s", error.message);
	for (i = 0; i < nr; i++) {
		strcat(all, i ? "; " : "");
		strcat(all, form_of(trees[i]));
		expr__free(trees[i]);
	}
	is_str(all, forms, text);
}

static const struct refusal list_refusals[] = {
	{ "a,", "  ^", "expected a field, a number or a text" },
	{ "a,,b", "  ^", "unexpected ','" },
	{ ",a", "^", "unexpected ','" },
	{ "a, b c", "     ^", "expected a comma or an operator" },
	{ "a, b)", "    ^", "this ) has no matching (" },
	{ "a, (b, c)", "     ^", "expected ) for the ( at 4" },
	{ "a, b.", "     ^", "expected the name of a member" },
	{ "a, 5x", "    ^", "unknown unit 'x'; available: ns us ms s m h d, k M G Ki Mi Gi" },
	{ "a, b, #", "      ^", "unexpected '#'" },
	{ "a,b,c,d,e,f,g,h,i", "                ^", "too many: at most 8" },
};

static void check_lists(void)
{
	const struct refusal *r = list_refusals;
	struct expr *trees[MAX_TREES];
	struct expr_error error;
	size_t nr = 99;
	int err;

	check_list("a", "a");
	check_list("a, b->c, str(d, 8)", "a; (->c b); (str() d 8)");
	check_list("a ? b : c,d", "(? a b c); d");
	check_list("comm like a*,b == 'x,y'", "(=~ comm 'a*'); (== b 'x,y')");
	check_list("a,b,c,d,e,f,g,h", "a; b; c; d; e; f; g; h");
	for (; r < list_refusals + sizeof(list_refusals) / sizeof(list_refusals[0]); r++) {
		err = expr__parse_list(r->text, trees, MAX_TREES, &nr, &error);
		check_refusal(r, &error, err == -22 && !nr);
	}
	ok(expr__parse_list("a", trees, 0, &nr, &error) && !nr, "no room for one");
}

/* ---- where things stand ---- */

static bool spans(const char *text, size_t at, size_t len, const char *want)
{
	bool good = len == strlen(want) && !memcmp(text + at, want, len);

	if (!good)
		printf("# %zu, %zu: '%.*s', want '%s'\n", at, len, (int)len, text + at, want);
	return good;
}

static void check_spans(void)
{
	static const char text[] = "x, ( (a) + b ) * -(c), p -> q .r, f( a , (b) ) ";
	struct expr *t[MAX_TREES];
	const struct expr_node *n;
	struct expr_error error;
	size_t nr;

	if (!ok(!expr__parse_list(text, t, MAX_TREES, &nr, &error) && nr == 4, "%s", text))
		return;
	n = &t[1]->nodes[t[1]->root];
	ok(spans(text, n->from, n->to - n->from, "( (a) + b ) * -(c)"), "a list's second, whole");
	ok(spans(text, n->at, n->len, "( (a) + b ) * -(c)"), "and without parentheses of its own");
	ok(spans(text, n->op_at, 1, "*"), "its operator");
	n = &t[1]->nodes[t[1]->nodes[t[1]->root].left];
	ok(spans(text, n->at, n->len, "(a) + b"), "a sum");
	ok(spans(text, n->from, n->to - n->from, "( (a) + b )"), "and its parentheses");
	n = &t[1]->nodes[n->left];
	ok(spans(text, n->at, n->len, "a"), "a word");
	n = &t[2]->nodes[t[2]->root];
	ok(spans(text, n->at, n->len, "p -> q .r") && n->op == OP_MEMBER, "a member");
	ok(spans(text, expr_node__name_at(n), 1, "r"), "its name");
	ok(spans(text, expr_node__name_at(&t[2]->nodes[n->left]), 1, "q"), "another's");
	n = &t[3]->nodes[t[3]->root];
	ok(spans(text, n->at, n->len, "f( a , (b) )"), "a call");
	ok(spans(text, expr_node__name_at(n), 1, "f"), "its name");
	while (nr)
		expr__free(t[--nr]);
}

static void check_unknown(void)
{
	static const char *const names[] = { "sector", "nr_sector", "rwbs", "bytes" };
	const struct expr_node *nodes;
	struct expr_error error;
	struct expr *tree = expr__parse_tree("f(sectr) + rq->bites + x", &error);

	if (!ok(tree, "names to be known"))
		return;
	nodes = tree->nodes;
	ok(expr_error__unknown(&error, &nodes[0], "unknown field", names, 4) == -22 &&
		   error.at == 2,
	   "points at the word");
	is_str(error.message, "unknown field 'sectr'; did you mean sector?", "names the nearest");
	expr_error__unknown(&error, &nodes[3], "no member", names, 4);
	is_u64(error.at, 15, "at the name of a member");
	is_str(error.message, "no member 'bites'; did you mean bytes?", "of its own kind");
	expr_error__unknown(&error, &nodes[1], "unknown function", names, 0);
	is_u64(error.at, 0, "at the name of a call");
	is_str(error.message, "unknown function 'f'", "where there are no names");
	expr_error__unknown(&error, &nodes[5], "unknown field", names, 4);
	is_str(error.message, "unknown field 'x'; available: sector, nr_sector, rwbs, bytes",
	       "or names them all");
	expr__free(tree);
}

/* ---- bounds ---- */

/* Does n times `unit`, then `middle`, then n times `end` parse, and print what parses? */
static bool parses_repeated(const char *unit, int n, const char *middle, const char *end)
{
	char *text = malloc((strlen(unit) + strlen(end)) * (size_t)n + strlen(middle) + 1);
	static char print[LONG];
	struct expr_error error;
	struct expr *tree;
	char *to = text;
	bool good;
	int i;

	for (i = 0; i < n; i++)
		to = stpcpy(to, unit);
	to = stpcpy(to, middle);
	for (i = 0; i < n; i++)
		to = stpcpy(to, end);
	tree = expr__parse_tree(text, &error);
	good = tree && prints_the_same(tree, print);
	if (tree && !good)
		ok(false, "%d times %s prints what parses", n, unit);
	expr__free(tree);
	free(text);
	return good;
}

static void check_depth(void)
{
	ok(parses_repeated("f(", 60, "a", ")"), "60 calls");
	ok(!parses_repeated("f(", 70, "a", ")"), "70 are too deep");
	ok(!parses_repeated("f(", 30000, "a", ""), "30000 too");
	ok(parses_repeated("", 900, "a", ".b"), "900 members");
	ok(!parses_repeated("", 1100, "a", "->b"), "1100 are too many");
	ok(parses_repeated("a?b:", 60, "c", ""), "60 choices in a row");
	ok(!parses_repeated("a?b:", 70, "c", ""), "70 are too deep");
	ok(!parses_repeated("a?b:", 16000, "c", ""), "16000 too");
	ok(parses_repeated("a?", 30, "b", ":c"), "30 choices in each other");
	ok(!parses_repeated("a?", 40, "b", ":c"), "40 would print as 80");
	ok(!parses_repeated("a?", 30000, "b", ""), "30000 are too deep");
	ok(parses_repeated("~", 60, "a", ""), "60 complements");
	ok(!parses_repeated("~", 60000, "a", ""), "60000 are too deep");
	ok(parses_repeated("(-", 20, "a", ").b"), "20 members of negatives");
	ok(!parses_repeated("(-", 40, "a", ").b"), "40 are too deep");
	ok(parses_repeated("a|", 1000, "a", ""), "1000 in a row");
	ok(!parses_repeated("a<<", 5000, "a", ""), "5000 in a row are too many");
	ok(parses_repeated("", 5000, "f(a", ", a") == false, "a call without an end");
	ok(parses_repeated("f(", 1, "a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a", ")"),
	   "20 arguments");
}

/* At the very bound: what parses must print what parses, which has other parentheses. */
static void check_bounds(void)
{
	static const char *const patterns[][3] = {
		{ "-", "f()+1", "" },	  { "~", "a.b|1", "" },	     { "!", "a||b", "" },
		{ "a?b:", "c", "" },	  { "a?b:", "f()", "" },     { "a?", "b", ":c" },
		{ "(a?b:", "c", ")+1" },  { "(-", "a", ").b" },	     { "f(", "a+1", ")" },
		{ "f(a,", "a?b:c", ")" }, { "f(a?b:", "c", ")->d" }, { "(a|", "f()", ")" },
	};
	size_t i;
	int n, longest;

	for (i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		longest = 0;
		for (n = 1; n <= EXPR_MAX_NEST + 2; n++)
			if (parses_repeated(patterns[i][0], n, patterns[i][1], patterns[i][2]))
				longest = n;
		ok(longest >= EXPR_MAX_NEST / 3 && longest <= EXPR_MAX_NEST, "%d times %s", longest,
		   patterns[i][0]);
	}
}

/* What has been closed does not count, neither way. */
static void check_siblings(void)
{
	static const char sibling[] = "f(a)+(a?a:a)+-a+";
	char text[4096], *to = text;
	struct expr_error error;
	struct expr *tree;
	int i;

	ok(parses_repeated(sibling, 200, "a", ""), "600 beside each other");
	for (i = 0; i < 100; i++)
		to = stpcpy(to, sibling);
	memset(to, '(', 65);
	to[65] = 'a';
	memset(to + 66, ')', 65);
	to[131] = '\0';
	tree = expr__parse_tree(text, &error);
	ok(!tree && error.at == (size_t)(to - text) + 64, "the 65th parenthesis behind them");
	expr__free(tree);
	memmove(to, to + 1, 130);
	to[129] = '\0';
	tree = expr__parse_tree(text, &error);
	ok(tree, "but not the 64th");
	expr__free(tree);
}

static void check_arguments(void)
{
	enum { NR = 20000 };
	static char text[3 * NR + 8], print[LONG];
	struct expr_error error;
	struct expr *tree;
	char *to = stpcpy(text, "f(a");
	int i;

	for (i = 1; i < NR; i++)
		to = stpcpy(to, ",a");
	strcpy(to, ")");
	tree = expr__parse_tree(text, &error);
	ok(tree && tree->nr_nodes == NR + 1 && prints_the_same(tree, print),
	   "%d arguments are as high as one", NR);
	expr__free(tree);
}

/* ---- random trees ---- */

static uint64_t random_state = 88172645463325252ULL;

static uint32_t random_below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 20) % n;
}

/* The text in words, and the form of what was written. */
struct writer {
	struct form text, form;
};

static void write_word(struct writer *w, const char *word)
{
	static const char *const spaces[] = { "", " ", "  ", "\t" };

	form_add(&w->text, "%s%s", word, spaces[random_below(4)]);
}

/* From loosest to tightest, as the manual has them; not asked of the code under test. */
enum {
	L_COND,
	L_OR,
	L_AND,
	L_NOT,
	L_COMPARE,
	L_BITS,
	L_SHIFT = L_BITS + 3,
	L_SUM,
	L_TERM,
	L_UNARY,
	L_POSTFIX,
	L_ATOM
};

static const char *const row_ops[][6] = {
	[L_OR] = { "||" },
	[L_AND] = { "&&" },
	[L_COMPARE] = { "==", "!=", "<", "<=", ">", ">=" },
	[L_BITS] = { "|" },
	[L_BITS + 1] = { "^" },
	[L_BITS + 2] = { "&" },
	[L_SHIFT] = { "<<", ">>" },
	[L_SUM] = { "+", "-" },
	[L_TERM] = { "*", "/", "%" },
};

static void random_tree(struct writer *w, int depth, int level);

static const char *random_op(int level)
{
	uint32_t nr = 0;

	while (nr < 6 && row_ops[level][nr])
		nr++;
	return row_ops[level][random_below(nr)];
}

static void random_leaf(struct writer *w)
{
	static const char *const leaves[] = {
		"a", "b", "like", "p99", "0x1F", "1e6", "7", "1.5us"
	};
	const char *leaf = leaves[random_below(8)];

	write_word(w, leaf);
	form_add(&w->form, "%s", leaf);
}

/* Puts "(op " before what was written from `from` on: its left operand is known by then. */
static void form_wrap(struct form *form, size_t from, const char *op)
{
	size_t len = strlen(op) + 2;

	if (form->len + len >= form->size)
		abort();
	memmove(form->text + from + len, form->text + from, form->len - from + 1);
	form->text[from] = '(';
	memcpy(form->text + from + 1, op, len - 2);
	form->text[from + len - 1] = ' ';
	form->len += len;
}

static void random_row(struct writer *w, int depth, int level)
{
	int n = level == L_COMPARE ? 1 : 1 + (int)random_below(3);
	size_t from = w->form.len;
	const char *op;

	random_tree(w, depth - 1, level + 1);
	while (n--) {
		op = random_op(level);
		form_wrap(&w->form, from, op);
		write_word(w, op);
		form_add(&w->form, " ");
		random_tree(w, depth - 1, level + 1);
		form_add(&w->form, ")");
	}
}

static void random_choice(struct writer *w, int depth)
{
	form_add(&w->form, "(? ");
	random_tree(w, depth - 1, L_OR);
	write_word(w, "?");
	form_add(&w->form, " ");
	random_tree(w, depth - 1, L_COND);
	write_word(w, ":");
	form_add(&w->form, " ");
	random_tree(w, depth - 1, L_COND);
	form_add(&w->form, ")");
}

static void random_prefix(struct writer *w, int depth, int level)
{
	const char *op = level == L_NOT ? "!" : random_below(2) ? "-" : "~";

	write_word(w, op);
	form_add(&w->form, "(%s ", op);
	random_tree(w, depth - 1, level);
	form_add(&w->form, ")");
}

static void random_members(struct writer *w, int depth)
{
	int n = 1 + (int)random_below(3);
	size_t from = w->form.len;
	const char *op;

	random_tree(w, depth - 1, L_ATOM);
	while (n--) {
		op = random_below(2) ? "." : "->";
		write_word(w, op);
		write_word(w, "like");
		form_wrap(&w->form, from, *op == '.' ? ".like" : "->like");
		form_add(&w->form, ")");
	}
}

static void random_call(struct writer *w, int depth)
{
	int i, n = (int)random_below(4);

	write_word(w, "f");
	write_word(w, "(");
	form_add(&w->form, "(f()");
	for (i = 0; i < n; i++) {
		if (i)
			write_word(w, ",");
		form_add(&w->form, " ");
		random_tree(w, depth - 1, L_COND);
	}
	write_word(w, ")");
	form_add(&w->form, ")");
}

static void random_atom(struct writer *w, int depth)
{
	uint32_t pick = depth <= 0 ? 0 : random_below(3);

	if (pick == 0) {
		random_leaf(w);
	} else if (pick == 1) {
		random_call(w, depth);
	} else {
		write_word(w, "(");
		random_tree(w, depth - 1, L_COND);
		write_word(w, ")");
	}
}

/* What stands here binds at least as tightly as `level`. */
static void random_tree(struct writer *w, int depth, int level)
{
	if (depth <= 0)
		level = L_ATOM;
	else
		level += (int)random_below((uint32_t)(L_ATOM - level + 1));
	switch (level) {
	case L_COND: random_choice(w, depth); break;
	case L_NOT:
	case L_UNARY: random_prefix(w, depth, level); break;
	case L_POSTFIX: random_members(w, depth); break;
	case L_ATOM: random_atom(w, depth); break;
	default: random_row(w, depth, level);
	}
}

static void check_random(int rounds)
{
	static char text[LONG], form[LONG], print[LONG];
	struct writer w = { { text, 0, LONG }, { form, 0, LONG } };
	int refused = 0, wrong = 0, changed = 0;
	struct expr_error error;
	struct expr *tree;

	while (rounds--) {
		w.text.len = w.form.len = 0;
		random_tree(&w, 6, L_COND);
		tree = expr__parse_tree(text, &error);
		if (!tree && !refused++)
			printf("# %s\n# at %zu: %s\n", text, error.at, error.message);
		if (tree && strcmp(form_of(tree), form) && !wrong++)
			printf("# %s\n# got  %s\n# want %s\n", text, form_of(tree), form);
		if (tree && !prints_the_same(tree, print) && !changed++)
			printf("# %s\n# %s\n", text, print);
		expr__free(tree);
	}
	is_u64((uint64_t)refused, 0, "random trees all parse");
	is_u64((uint64_t)wrong, 0, "and are read as they were meant");
	is_u64((uint64_t)changed, 0, "and print what parses to the same tree");
}

/* Texts of random tokens: most are refused, none may crash, all that parse must print well. */
static void check_noise(int rounds)
{
	static const char *const tokens[] = { "a",  "b",  "like", "5",	"0x1f", "1e3", "'t'",
					      "(",  ")",  "!",	  "-",	"~",	"+",   "*",
					      "<<", ">>", "&",	  "|",	"^",	"==",  "<",
					      "=~", "&&", "||",	  "?",	":",	",",   "->",
					      ".",  "f(", "a*",	  "\"", "\x80" };
	static char text[LONG], print[LONG];
	struct writer w = { .text = { text, 0, LONG } };
	int i, n, bad = 0, parsed = 0;
	struct expr *trees[MAX_TREES];
	struct expr_error error;
	size_t nr;

	for (i = 0; i < rounds; i++) {
		w.text.len = 0;
		for (n = 1 + (int)random_below(7); n; n--)
			write_word(&w, tokens[random_below(sizeof(tokens) / sizeof(tokens[0]))]);
		if (expr__parse_list(text, trees, MAX_TREES, &nr, &error))
			bad += nr || error.at > strlen(text) || !*error.message;
		parsed += nr != 0;
		while (nr) {
			bad += !prints_the_same(trees[--nr], print);
			expr__free(trees[nr]);
		}
	}
	is_u64((uint64_t)bad, 0, "noise is refused in words, or prints what parses");
	ok(parsed > rounds / 100, "%d of %d parsed", parsed, rounds);
}

int main(void)
{
	check_readings();
	check_prints();
	check_numbers();
	check_refused();
	check_lists();
	check_spans();
	check_unknown();
	check_depth();
	check_bounds();
	check_siblings();
	check_arguments();
	check_random(20000);
	check_noise(50000);
	return done_testing();
}
