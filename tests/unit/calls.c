/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calls.c: do entries and returns become the right trees? Nesting, interrupts, returns that were
 * lost or whose entry was, functions without returns, idle tasks, calls that somebody holds. A tree
 * is compared as text: "read(ahead(bio)bio)", with ! behind a call that was not left.
 */
#include <errno.h>
#include <stdlib.h>
#include "analyse/calls.h"
#include "tap.h"

enum { READ, AHEAD, BIO, IRQ, NR_FUNCTIONS };
static const char *const names[NR_FUNCTIONS] = { "read", "ahead", "bio", "irq" };

struct taken {
	char text[1024]; /* trees, one behind the other */
	size_t nr_trees, nr_told, nr_unknown;
	struct call *held; /* the last call of BIO that was told */
	uint64_t read_ns, bio_ns;
	uint32_t deepest;
	int answer;
};

static void put(struct taken *t, const char *text)
{
	strncat(t->text, text, sizeof(t->text) - strlen(t->text) - 1);
}

static void put_call(struct taken *t, const struct call *call)
{
	const uint64_t ns = call->end_ns ? call->end_ns - call->start_ns : 0;

	t->deepest = call->depth > t->deepest ? call->depth : t->deepest;
	if (call->function == READ)
		t->read_ns = ns;
	if (call->function == BIO)
		t->bio_ns = ns;
	put(t, names[call->function]);
	if (!call->end_ns)
		put(t, "!");
	if (!call->first)
		return;
	put(t, "(");
	for (const struct call *c = call->first; c; c = c->next) {
		tap_failed += c->parent != call || c->depth != call->depth + 1;
		put_call(t, c);
		if (c->next)
			put(t, " ");
	}
	put(t, ")");
}

static int on_tree(void *arg, const struct call *root)
{
	struct taken *t = arg;

	if (t->nr_trees++)
		put(t, "; ");
	put_call(t, root);
	return t->answer;
}

static int on_call(void *arg, struct call *call, const struct call_event *event)
{
	struct taken *t = arg;

	t->nr_told++;
	t->nr_unknown += !call;
	if (call && call->function == BIO && !event->is_return && !t->held) {
		t->held = call;
		call__hold(call);
	}
	return 0;
}

static struct calls *make(struct taken *t)
{
	const struct calls_wants wants = { on_call, on_tree, t };

	memset(t, 0, sizeof(*t));
	return calls__new(&wants);
}

static void unmake(struct calls *calls, struct taken *t)
{
	calls__free(calls);
	if (t->held)
		call__let_go(t->held);
}

/* As the kernel has them. */
static const char long_name[16] = "sixteen letters.", short_name[16] = "x";

/* Time is the number of the event. */
static uint64_t now_ns;

static int event_on(struct calls *calls, uint32_t tid, uint32_t cpu, uint32_t function,
		    bool is_return)
{
	const uint64_t values = now_ns + 1;
	const struct call_event event = {
		.ns = ++now_ns,
		.function = function,
		.cpu = cpu,
		.pid = tid,
		.tid = tid,
		.comm = long_name, /* not terminated */
		.is_return = is_return,
		.returns = true,
		.values = &values,
		.bytes = sizeof(values),
	};

	return calls__take(calls, &event);
}

static void enter(struct calls *calls, uint32_t function)
{
	event_on(calls, 7, 1, function, false);
}

static void leave(struct calls *calls, uint32_t function)
{
	event_on(calls, 7, 1, function, true);
}

/* ---- trees ---- */

static void test_nesting(void)
{
	struct taken t;
	struct calls *calls = make(&t);

	enter(calls, READ);
	enter(calls, AHEAD);
	enter(calls, BIO);
	leave(calls, BIO);
	enter(calls, BIO);
	leave(calls, BIO);
	is_u64(t.nr_trees, 0, "no tree before its root is left");
	leave(calls, AHEAD);
	leave(calls, READ);
	is_str(t.text, "read(ahead(bio bio))", "calls are inside each other, in order");
	is_u64(t.read_ns, 7, "a call lasts from its entry to its return");
	is_u64(t.bio_ns, 1, "and so does one inside it");
	is_u64(t.deepest, 2, "depth is how many it is in");
	enter(calls, READ);
	enter(calls, READ);
	leave(calls, READ);
	leave(calls, READ);
	is_str(t.text, "read(ahead(bio bio)); read(read)", "a function inside itself");
	is_u64(t.nr_told, 12, "each event is told");
	ok(!t.nr_unknown, "all in pairs");
	calls__finish(calls);
	is_u64(t.nr_trees, 2, "nothing is left for the end");
	unmake(calls, &t);
}

static void test_tasks(void)
{
	struct taken t;
	struct calls *calls = make(&t);

	event_on(calls, 7, 0, READ, false);
	event_on(calls, 8, 1, AHEAD, false);
	event_on(calls, 7, 1, BIO, false); /* went to another CPU */
	event_on(calls, 8, 0, IRQ, false);
	event_on(calls, 8, 0, IRQ, true);
	event_on(calls, 7, 1, BIO, true);
	event_on(calls, 8, 0, AHEAD, true);
	event_on(calls, 7, 1, READ, true);
	is_str(t.text, "ahead(irq); read(bio)", "tasks do not mix, wherever they run");
	unmake(calls, &t);
}

/* Many more than a table has room for, and those that are gone make room. */
static void test_many_tasks(void)
{
	struct taken t;
	struct calls *calls = make(&t);

	for (uint32_t tid = 1; tid <= 5000; tid++)
		event_on(calls, tid, 0, READ, false);
	for (uint32_t tid = 1; tid <= 5000; tid++)
		event_on(calls, tid, 0, IRQ, false);
	for (uint32_t tid = 1; tid <= 5000; tid++)
		event_on(calls, tid, 0, IRQ, true);
	for (uint32_t tid = 1; tid <= 5000; tid++)
		event_on(calls, tid, 0, READ, true);
	is_u64(t.nr_trees, 5000, "as many trees as tasks");
	is_u64(t.nr_unknown, 0, "each finds its own");
	is_u64(t.read_ns, 15000, "even the last one");
	unmake(calls, &t);
}

static void test_interrupt(void)
{
	struct taken t;
	struct calls *calls = make(&t);

	enter(calls, READ);
	enter(calls, IRQ);
	enter(calls, BIO);
	leave(calls, BIO);
	leave(calls, IRQ);
	enter(calls, AHEAD);
	leave(calls, AHEAD);
	leave(calls, READ);
	enter(calls, IRQ);
	leave(calls, IRQ);
	is_str(t.text, "read(irq(bio) ahead); irq", "an interrupt is inside what it interrupted");
	unmake(calls, &t);
}

static void test_idle(void)
{
	struct taken t;
	struct calls *calls = make(&t);

	event_on(calls, 0, 0, IRQ, false);
	event_on(calls, 0, 3, AHEAD, false);
	event_on(calls, 0, 0, BIO, false);
	event_on(calls, 0, 3, AHEAD, true);
	event_on(calls, 0, 0, BIO, true);
	event_on(calls, 0, 0, IRQ, true);
	is_str(t.text, "ahead; irq(bio)", "idle tasks are told apart by CPU");
	is_u64(t.nr_unknown, 0, "and none is taken for another's");
	unmake(calls, &t);
}

/* ---- what is missing ---- */

static void test_lost_return(void)
{
	struct taken t;
	struct calls *calls = make(&t);

	enter(calls, READ);
	enter(calls, AHEAD);
	enter(calls, BIO);
	leave(calls, READ);
	is_str(t.text, "read(ahead!(bio!))", "who left around them left them, too");
	is_u64(t.read_ns, 3, "the one around has its time");
	enter(calls, READ);
	leave(calls, READ);
	is_u64(t.nr_trees, 2, "the next call is a tree of its own");
	unmake(calls, &t);
}

static void test_stray(void)
{
	struct taken t;
	struct calls *calls = make(&t);

	leave(calls, BIO);
	is_u64(t.nr_unknown, 1, "a return without an entry is told without a call");
	enter(calls, READ);
	leave(calls, IRQ);
	leave(calls, READ);
	is_str(t.text, "read", "and does not end another call");
	is_u64(t.nr_unknown, 2, "nor inside one");
	unmake(calls, &t);
}

static void test_no_returns(void)
{
	const struct call_event event = { .ns = 5, .function = BIO, .tid = 7, .comm = short_name };
	struct taken t;
	struct calls *calls = make(&t);

	calls__take(calls, &event);
	is_str(t.text, "bio!", "without returns a call is over at once");
	enter(calls, READ);
	calls__take(calls, &event);
	calls__take(calls, &event);
	leave(calls, READ);
	is_str(t.text, "bio!; read(bio! bio!)", "and nothing is inside it");
	ok(t.held && !t.held->entered, "who has no values has none");
	unmake(calls, &t);
}

static void test_finish(void)
{
	struct taken t;
	struct calls *calls = make(&t);

	event_on(calls, 7, 0, READ, false);
	event_on(calls, 7, 0, BIO, false);
	event_on(calls, 7, 0, BIO, true);
	event_on(calls, 0, 1, IRQ, false);
	is_u64(t.nr_trees, 0, "two are open");
	is_u64((uint64_t)calls__finish(calls), 0, "at the end");
	ok(!strcmp(t.text, "read!(bio); irq!") || !strcmp(t.text, "irq!; read!(bio)"),
	   "they are handed on as they are");
	is_u64((uint64_t)calls__finish(calls), 0, "once");
	is_u64(t.nr_trees, 2, "only");
	unmake(calls, &t);
}

/* ---- what is kept ---- */

static void test_held(void)
{
	struct taken t;
	struct calls *calls = make(&t);
	uint64_t entered, left;

	enter(calls, READ);
	enter(calls, BIO);
	enter(calls, AHEAD);
	leave(calls, AHEAD);
	leave(calls, BIO);
	leave(calls, READ);
	if (!ok(t.held && t.held->end_ns, "a call that is held outlives its tree")) {
		unmake(calls, &t);
		return;
	}
	ok(!t.held->parent && !t.held->first && !t.held->next, "and stands alone then");
	is_str(t.held->comm, "sixteen letters.", "a name that fills its place ends");
	memcpy(&entered, t.held->entered, sizeof(entered));
	memcpy(&left, t.held->left, sizeof(left));
	ok(entered == t.held->start_ns && left == t.held->end_ns, "it keeps what the records held");
	calls__free(calls);
	ok(t.held->function == BIO, "and outlives all of them");
	call__let_go(t.held);
}

/* Freed with open trees, a held call among them. */
static void test_free(void)
{
	struct taken t;
	struct calls *calls = make(&t);

	enter(calls, READ);
	enter(calls, BIO);
	calls__free(calls);
	ok(!t.nr_trees && t.held && !t.held->parent, "what is open is given up without a word");
	call__let_go(t.held);
	calls__free(NULL);
}

static void test_error(void)
{
	struct taken t;
	struct calls *calls = make(&t);

	t.answer = -EPIPE;
	enter(calls, READ);
	is_u64((uint64_t)event_on(calls, 7, 1, READ, true), (uint64_t)-EPIPE,
	       "what the view returns comes back");
	enter(calls, READ);
	is_u64((uint64_t)calls__finish(calls), (uint64_t)-EPIPE, "at the end, too");
	unmake(calls, &t);
}

/* Any order of events, lost ones among them: each entry is one call, and nothing leaks. */
static void test_any_order(void)
{
	struct taken t;
	struct calls *calls = make(&t);
	uint64_t seed = 0x9e3779b97f4a7c15ull, returns = 0;

	for (int i = 0; i < 20000; i++) {
		bool is_return;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		is_return = seed >> 40 & 1;
		returns += is_return;
		event_on(calls, (uint32_t)(seed >> 20) % 5, (uint32_t)(seed >> 30) % 2,
			 (uint32_t)(seed >> 50) % NR_FUNCTIONS, is_return);
	}
	ok(t.nr_unknown && t.nr_unknown < returns, "20,000 events in any order");
	is_u64(t.nr_told, 20000, "each is told once");
	calls__finish(calls);
	unmake(calls, &t);
}

/* ---- deep ones ---- */

enum { DEEP = 300000 };

struct deep {
	uint64_t nr, timed, deepest, nr_unknown;
};

static int on_deep(void *arg, const struct call *root)
{
	struct deep *d = arg;

	for (const struct call *call = root; call; call = call__next(call, root)) {
		d->nr++;
		d->timed += call->end_ns > 0;
		d->deepest = call->depth > d->deepest ? call->depth : d->deepest;
	}
	return 0;
}

static int on_no_call(void *arg, struct call *call, const struct call_event *event)
{
	((struct deep *)arg)->nr_unknown += !call;
	(void)event;
	return 0;
}

/* A stack of 8 MB holds no recursion of so many levels; nor does a test's patience hold their
 * square, which looking upwards for each stray return would cost. */
static void test_deep(void)
{
	struct deep d = { 0 };
	struct calls *calls = calls__new(&(struct calls_wants){ on_no_call, on_deep, &d });

	for (int i = 0; i < DEEP; i++)
		enter(calls, READ);
	for (int i = 0; i < DEEP; i++)
		leave(calls, BIO);
	is_u64(d.nr_unknown, DEEP, "300,000 returns that were never entered");
	for (int i = 0; i < DEEP; i++)
		leave(calls, READ);
	is_u64(d.nr, DEEP, "300,000 calls inside one another");
	is_u64(d.timed, DEEP, "each has its return");
	is_u64(d.deepest, DEEP - 1, "and its depth");
	for (int i = 0; i < DEEP; i++)
		enter(calls, READ);
	calls__free(calls);
	ok(true, "those that are open are freed");
}

static void enter_user(struct calls *calls, uint32_t function, bool is_return)
{
	const struct call_event event = { .ns = ++now_ns,
					  .function = function,
					  .pid = 7,
					  .tid = 7,
					  .comm = short_name,
					  .is_return = is_return,
					  .returns = true,
					  .is_user = true };

	calls__take(calls, &event);
}

/* The kernel plants the returns of the outermost 64 user functions of a task. */
static void test_kept(void)
{
	struct deep d = { 0 };
	struct calls *calls = calls__new(&(struct calls_wants){ on_no_call, on_deep, &d });

	for (int i = 0; i < 100; i++)
		enter_user(calls, READ, false);
	enter(calls, IRQ); /* the kernel's own are not limited */
	leave(calls, IRQ);
	for (int i = 0; i < CALLS_MOST_KEPT; i++)
		enter_user(calls, READ, true);
	is_u64(d.nr, 101, "100 user calls inside one another, and one of the kernel");
	is_u64(d.timed, CALLS_MOST_KEPT + 1, "64 returns are those of the outermost");
	is_u64(d.deepest, CALLS_MOST_KEPT, "what has no return is inside the last that has");
	is_u64(calls__unkept(calls), 36, "the others are counted");
	is_u64(d.nr_unknown, 0, "and nothing is left over");
	calls__free(calls);
}

int main(void)
{
	test_deep();
	test_kept();
	test_nesting();
	test_tasks();
	test_many_tasks();
	test_interrupt();
	test_idle();
	test_lost_return();
	test_stray();
	test_no_returns();
	test_finish();
	test_held();
	test_free();
	test_error();
	test_any_order();
	return done_testing();
}
