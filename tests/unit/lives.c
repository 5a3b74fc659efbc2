/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lives.c: does each object get its own life? Births at entries and by return values, addresses
 * that are used again, returns that come after that, records that are missing, what waits after a
 * death, the end of the run. A life is compared as text: "+init submit endio -put", + at a birth,
 * - at a death, a return in lower case with a / before it.
 */
#include <errno.h>
#include <stdlib.h>
#include "analyse/lives.h"
#include "tap.h"

/* alloc returns what is born; init is given it; tag takes one, and is called inside of both. */
enum { INIT, ALLOC, TAG, SUBMIT, ENDIO, PUT, NR_FUNCTIONS };
static const char *const names[NR_FUNCTIONS] = { "init", "alloc", "tag", "submit", "endio", "put" };
enum { NR_OBJECTS = 4000, LINGER_NS = 1000 };

/* The kernel, which counts, and who takes the lives. */
struct world {
	struct calls *calls;
	struct lives *lives;
	uint64_t counted[NR_OBJECTS + 1];
	bool lost;
	uint64_t ns;
	uint32_t tid;
	/* the record at hand */
	struct life_event event;
	/* lives that are over */
	char text[4096]; /* one behind the other */
	size_t nr, nr_whole, nr_born, nr_dead, nr_without_values;
	uint64_t last_number;
	bool in_order;
	int answer;
};

static uint64_t address(unsigned object)
{
	return object ? 0xffff000000000000ull + 256ull * object : 0;
}

static unsigned object_at(uint64_t at)
{
	return (unsigned)((at & 0xffffffffffff) / 256);
}

/* ---- lives in words ---- */

static void put(struct world *w, const char *text)
{
	strncat(w->text, text, sizeof(w->text) - strlen(w->text) - 1);
}

static void put_step(struct world *w, const struct life_step *step)
{
	put(w, step->is_return ? "/" : "");
	put(w, step->role == LIFE_BIRTH ? "+" : step->role == LIFE_DEATH ? "-" : "");
	put(w, names[step->function]);
	w->nr_without_values += !step->values;
}

static int on_life(void *arg, const struct life *life)
{
	struct world *w = arg;

	if (w->nr++)
		put(w, "; ");
	for (size_t i = 0; i < life->nr; i++) {
		if (i)
			put(w, " ");
		put_step(w, &life->steps[i]);
	}
	if (!life->is_whole)
		put(w, " ...");
	w->in_order &= life->number > w->last_number;
	w->last_number = life->number;
	w->nr_whole += life->is_whole;
	w->nr_born += life->is_born;
	w->nr_dead += life->is_dead;
	return w->answer;
}

/* ---- the world ---- */

static int on_call(void *arg, struct call *call, const struct call_event *record)
{
	struct world *w = arg;

	return lives__take(w->lives, &w->event, call, record);
}

static int on_tree(void *arg, const struct call *root)
{
	(void)arg, (void)root;
	return 0;
}

static uint64_t counted(void *arg, uint64_t object)
{
	return ((struct world *)arg)->counted[object_at(object)];
}

static bool has_lost(void *arg)
{
	return ((struct world *)arg)->lost;
}

static void begin(struct world *w)
{
	const struct calls_wants calls = { on_call, on_tree, w };
	const struct lives_wants lives = { on_life, counted, has_lost, w, LINGER_NS };

	memset(w, 0, sizeof(*w));
	w->tid = 7;
	w->in_order = true;
	w->calls = calls__new(&calls);
	w->lives = lives__new(&lives);
}

static void end(struct world *w)
{
	lives__free(w->lives);
	calls__free(w->calls);
}

static enum life_role role_of(unsigned function, bool is_return)
{
	if (function == PUT && !is_return)
		return LIFE_DEATH;
	return (function == INIT && !is_return) || (function == ALLOC && is_return) ? LIFE_BIRTH
										    : LIFE_CALL;
}

static int record(struct world *w, unsigned function, unsigned object, bool is_return)
{
	static const char comm[16] = "test";
	const uint64_t values = 17;
	const struct call_event event = {
		.ns = ++w->ns,
		.function = function,
		.pid = w->tid,
		.tid = w->tid,
		.comm = comm,
		.is_return = is_return,
		.returns = true,
		.values = &values,
		.bytes = sizeof(values),
	};

	w->event = (struct life_event){
		.object = address(object),
		.nth = object ? ++w->counted[object] : 0,
		.role = role_of(function, is_return),
	};
	return calls__take(w->calls, &event);
}

/* The kernel counted it, and the ring was full. */
static void lose(struct world *w, unsigned object)
{
	w->counted[object]++;
}

static void enter(struct world *w, unsigned function, unsigned object)
{
	record(w, function, object, false);
}

static void leave(struct world *w, unsigned function, unsigned object)
{
	record(w, function, object, true);
}

static void call(struct world *w, unsigned function, unsigned object)
{
	enter(w, function, object);
	leave(w, function, object);
}

static void is_told(struct world *w, const char *want, const char *what)
{
	is_str(w->text, want, what);
	w->text[0] = 0;
	w->nr = 0;
}

/* ---- births ---- */

static void test_birth_at_entry(void)
{
	struct world w;

	begin(&w);
	call(&w, INIT, 1);
	call(&w, SUBMIT, 1);
	call(&w, PUT, 1);
	is_u64(w.nr, 0, "an object is not over with its death");
	lives__settle(w.lives, w.ns + LINGER_NS);
	is_told(&w, "+init /init submit /submit -put /put", "from its birth to its death");
	ok(w.nr_whole == 1 && w.nr_born == 1 && w.nr_dead == 1, "whole, born and dead");
	is_u64(w.nr_without_values, 1, "what the death left behind is not its own any more");
	lives__finish(w.lives);
	is_u64(w.nr, 0, "it is told once");
	end(&w);
}

static void pass(struct world *w, unsigned object)
{
	const struct life_event event = { address(object), ++w->counted[object], LIFE_CALL };

	lives__pass(w->lives, &event);
}

/* Records that are not shown are not missing; without any other there is no life to tell. */
static void test_passed(void)
{
	struct world w;

	begin(&w);
	pass(&w, 1);
	enter(&w, ALLOC, 0);
	pass(&w, 1);
	leave(&w, ALLOC, 1);
	pass(&w, 1);
	call(&w, SUBMIT, 1);
	pass(&w, 1);
	call(&w, PUT, 1);
	pass(&w, 2);
	lives__finish(w.lives);
	is_told(&w, "/+alloc submit /submit -put /put", "what is passed is no step");
	is_u64(w.nr_whole, 1, "and does not make it incomplete");
	end(&w);
	begin(&w);
	w.lost = true;
	call(&w, INIT, 1);
	pass(&w, 1);
	lose(&w, 1);
	call(&w, PUT, 1);
	lives__finish(w.lives);
	is_told(&w, "+init /init -put /put ...", "beside it a lost one is still missed");
	end(&w);
}

static void test_birth_by_return(void)
{
	struct world w;

	begin(&w);
	enter(&w, ALLOC, 0);
	leave(&w, ALLOC, 1);
	call(&w, SUBMIT, 1);
	enter(&w, ALLOC, 0);
	leave(&w, ALLOC, 0); /* there was none to be had */
	lives__finish(w.lives);
	is_told(&w, "/+alloc submit /submit", "born as it is returned");
	ok(w.nr_born == 1 && w.nr_whole == 1 && !w.nr_dead, "and not dead yet");
	end(&w);
}

/* bio_init inside bio_alloc_bioset. */
static void test_one_birth(void)
{
	struct world w;

	begin(&w);
	enter(&w, ALLOC, 0);
	call(&w, INIT, 1);
	leave(&w, ALLOC, 1);
	call(&w, PUT, 1);
	lives__finish(w.lives);
	is_told(&w, "+init /init /+alloc -put /put", "two births, of which one is in the other");
	is_u64(w.nr_whole, 1, "it is whole");
	end(&w);
}

/* Where bio_init is inlined in bio_alloc_bioset, what it calls has the object before its birth. */
static void test_called_before_birth(void)
{
	struct world w;

	begin(&w);
	enter(&w, ALLOC, 0);
	call(&w, TAG, 1);
	leave(&w, ALLOC, 1);
	call(&w, PUT, 1);
	enter(&w, ALLOC, 0);
	call(&w, TAG, 1);
	leave(&w, ALLOC, 1);
	lives__finish(w.lives);
	is_told(&w, "tag /tag /+alloc -put /put; tag /tag /+alloc",
		"what happened on the way to a birth is the new one's");
	ok(w.nr_born == 2 && w.nr_whole == 2, "both were born, and are whole");
	end(&w);
}

/* The one that is returned ended meanwhile, in an interrupt of the same task. */
static void test_death_before_birth(void)
{
	struct world w;

	begin(&w);
	call(&w, INIT, 1);
	enter(&w, ALLOC, 0);
	enter(&w, ENDIO, 1);
	call(&w, PUT, 1);
	leave(&w, ENDIO, 1);
	call(&w, TAG, 1);
	leave(&w, ALLOC, 1);
	lives__finish(w.lives);
	is_told(&w, "+init /init endio -put /put /endio; tag /tag /+alloc",
		"what ends there is the old one's");
	is_u64(w.nr_whole, 2, "both are whole");
	end(&w);
	begin(&w);
	enter(&w, ALLOC, 0);
	call(&w, PUT, 1);
	leave(&w, ALLOC, 1);
	lives__finish(w.lives);
	is_told(&w, "-put /put; /+alloc", "even if nothing else is known of it");
	end(&w);
}

/* Another task's call with the old object, while this one is given a new one. */
static void test_birth_elsewhere(void)
{
	struct world w;

	begin(&w);
	call(&w, INIT, 1);
	enter(&w, ALLOC, 0);
	w.tid = 8;
	call(&w, INIT, 1);
	w.tid = 7;
	leave(&w, ALLOC, 1);
	lives__finish(w.lives);
	is_told(&w, "+init /init; +init /init; /+alloc", "births of two tasks are two");
	is_u64(w.nr_whole, 3, "all are whole");
	end(&w);
}

static void test_not_born(void)
{
	struct world w;

	begin(&w);
	leave(&w, SUBMIT, 1);
	call(&w, ENDIO, 1);
	call(&w, INIT, 1);
	lives__finish(w.lives);
	is_told(&w, "/submit endio /endio; +init /init", "one that was there before us ends, too");
	ok(w.nr_born == 1 && w.nr_whole == 2, "its birth was not seen");
	end(&w);
}

/* What puts a dead one away was lost: whether it was, the kernel's count tells, or the next birth.
 */
static void test_last_are_lost(void)
{
	struct world w;

	begin(&w);
	call(&w, INIT, 1);
	call(&w, PUT, 1);
	call(&w, INIT, 2);
	call(&w, PUT, 2);
	lose(&w, 1);
	w.lost = true;
	lives__settle(w.lives, w.ns + LINGER_NS);
	is_told(&w, "+init /init -put /put", "the one of which nothing was lost is over");
	w.ns += LINGER_NS;
	call(&w, INIT, 1);
	is_told(&w, "+init /init -put /put ...", "the other is not whole, as the next birth tells");
	end(&w);
}

/* ---- addresses that are used again ---- */

static void test_reuse(void)
{
	struct world w;

	begin(&w);
	for (int i = 0; i < 3; i++) {
		call(&w, INIT, 1);
		call(&w, SUBMIT, 1);
	}
	is_u64(w.nr, 2, "a birth ends who had the address");
	lives__finish(w.lives);
	is_told(&w,
		"+init /init submit /submit; +init /init submit /submit; +init /init submit "
		"/submit",
		"three objects at one address");
	is_u64(w.last_number, 3, "each has its number");
	ok(w.in_order && w.nr_whole == 3 && !w.nr_dead, "in order, and whole");
	end(&w);
}

/* submit is still under way when the I/O is over and its bio another's. */
static void test_late_return(void)
{
	struct world w;

	begin(&w);
	call(&w, INIT, 1);
	enter(&w, SUBMIT, 1);
	w.tid = 8;
	call(&w, PUT, 1);
	call(&w, INIT, 1);
	is_u64(w.nr, 0, "who is still in a function waits for its return");
	w.tid = 7;
	leave(&w, SUBMIT, 1);
	is_told(&w, "+init /init submit -put /put /submit", "the return is the old one's");
	is_u64(w.nr_without_values, 2, "but the values are another's, after a death or a rebirth");
	w.tid = 8;
	call(&w, PUT, 1);
	lives__settle(w.lives, w.ns + LINGER_NS);
	is_told(&w, "+init /init -put /put", "the new one does without it");
	is_u64(w.nr_whole, 2, "both are whole: the address was counted");
	end(&w);
}

/* As a kretprobe has it: the arguments are gone. */
static void test_unknowing_return(void)
{
	struct world w;

	begin(&w);
	enter(&w, INIT, 1);
	leave(&w, INIT, 0);
	enter(&w, SUBMIT, 1);
	leave(&w, SUBMIT, 0);
	leave(&w, ENDIO, 0);
	lives__finish(w.lives);
	is_told(&w, "+init /init submit /submit", "a return that does not know goes by its call");
	is_u64(w.nr_whole, 1, "and is not counted");
	end(&w);
}

/* The values of what was still under way at a rebirth are nobody's; it never returns. */
static void test_never_left(void)
{
	struct world w;

	begin(&w);
	call(&w, INIT, 1);
	enter(&w, SUBMIT, 1);
	w.tid = 8;
	call(&w, INIT, 1);
	is_u64(w.nr, 0, "it waits");
	lives__finish(w.lives);
	is_told(&w, "+init /init submit; +init /init", "until the end of the run");
	is_u64(w.nr_whole, 2, "nothing of it is missing: it never was left");
	end(&w);
}

/* ---- what is missing ---- */

/* Nobody counts returns that do not know their object: a later one of the same function is taken
 * for it. */
static void test_lost_return(void)
{
	struct world w;

	begin(&w);
	call(&w, INIT, 1);
	enter(&w, PUT, 1);
	w.lost = true;
	call(&w, INIT, 1);
	leave(&w, PUT, 0);
	is_u64(w.nr, 1, "the first one is over");
	is_u64(w.nr_whole, 0,
	       "a return that came after a rebirth may be another's where some were lost");
	enter(&w, SUBMIT, 1);
	lives__finish(w.lives);
	is_u64(w.nr, 2, "so is the second");
	is_u64(w.nr_whole, 0, "one that never came may be lost");
	end(&w);
}

/* The end of one's put and the beginning of another's were lost. */
static void test_return_of_another(void)
{
	struct world w;

	begin(&w);
	call(&w, INIT, 1);
	enter(&w, PUT, 1);
	w.lost = true;
	lose(&w, 1);
	call(&w, INIT, 2);
	lose(&w, 2);
	leave(&w, PUT, 2);
	lives__settle(w.lives, w.ns + 2 * LINGER_NS);
	is_u64(w.nr, 0, "another's return ends nothing of his");
	lives__finish(w.lives);
	is_u64(w.nr, 2, "they are told at the end");
	is_u64(w.nr_whole, 0, "neither is whole");
	end(&w);
}

static void test_missing(void)
{
	struct world w;

	begin(&w);
	call(&w, INIT, 1);
	lose(&w, 1);
	call(&w, PUT, 1);
	lives__settle(w.lives, w.ns + LINGER_NS);
	is_u64(w.nr, 0, "what is missing is waited for");
	call(&w, INIT, 1);
	is_told(&w, "+init /init -put /put ...", "until the next birth");
	is_u64(w.nr_whole, 0, "it is not whole");
	call(&w, PUT, 1);
	lives__settle(w.lives, w.ns + LINGER_NS);
	is_told(&w, "+init /init -put /put", "the next one is");
	end(&w);
}

static void test_missing_at_end(void)
{
	struct world w;

	begin(&w);
	call(&w, INIT, 1);
	call(&w, INIT, 2);
	call(&w, SUBMIT, 1);
	lose(&w, 1);
	lives__finish(w.lives);
	is_told(&w, "+init /init submit /submit ...; +init /init",
		"at the end the kernel's count tells who is whole");
	end(&w);
}

/* The birth of another, after the first one is over: what is left of it is not a whole one. */
static void test_missing_start(void)
{
	struct world w;

	begin(&w);
	call(&w, INIT, 1);
	call(&w, PUT, 1);
	lives__settle(w.lives, w.ns + LINGER_NS);
	is_told(&w, "+init /init -put /put", "one that is over");
	lose(&w, 1);
	call(&w, SUBMIT, 1);
	call(&w, INIT, 1);
	is_told(&w, "submit /submit ...", "one whose birth was lost is not whole");
	call(&w, PUT, 1);
	lives__settle(w.lives, w.ns + LINGER_NS);
	is_told(&w, "+init /init -put /put", "the next one is");
	call(&w, ENDIO, 1);
	lose(&w, 2);
	call(&w, SUBMIT, 2);
	lives__finish(w.lives);
	is_told(&w, "endio /endio; submit /submit ...",
		"what comes late is whole, what began with a loss is not");
	end(&w);
}

/* Two objects at one address are one if the birth between them is lost. */
static void test_missing_birth(void)
{
	struct world w;

	begin(&w);
	call(&w, INIT, 1);
	call(&w, PUT, 1);
	lose(&w, 1);
	call(&w, SUBMIT, 1);
	call(&w, PUT, 1);
	call(&w, INIT, 1);
	is_told(&w, "+init /init -put /put submit /submit -put /put ...",
		"who may be two is not shown as a whole one");
	end(&w);
}

/* ---- after death ---- */

static void test_linger(void)
{
	struct world w;
	uint64_t dead_ns;

	begin(&w);
	call(&w, INIT, 1);
	enter(&w, PUT, 1);
	dead_ns = w.ns;
	lives__settle(w.lives, dead_ns + LINGER_NS);
	is_u64(w.nr, 0, "a death that was not left");
	leave(&w, PUT, 1);
	lives__settle(w.lives, dead_ns + LINGER_NS - 1);
	is_u64(w.nr, 0, "or was a moment ago is no end");
	call(&w, ENDIO, 1);
	lives__settle(w.lives, dead_ns - 1);
	is_u64(w.nr, 0, "nor is one that is yet to come");
	lives__settle(w.lives, dead_ns + LINGER_NS);
	is_told(&w, "+init /init -put /put endio /endio", "who puts it away belongs to it");
	end(&w);
}

/* Their places in the table move as others leave. */
static void test_many(void)
{
	struct world w;

	begin(&w);
	for (unsigned i = 1; i <= NR_OBJECTS; i++)
		call(&w, INIT, i);
	for (unsigned i = 1; i <= NR_OBJECTS; i++)
		call(&w, SUBMIT, i);
	for (unsigned i = 1; i <= NR_OBJECTS; i += 2)
		call(&w, PUT, i);
	lives__settle(w.lives, w.ns + LINGER_NS);
	is_u64(w.nr, NR_OBJECTS / 2, "half of many are over");
	for (unsigned i = 2; i <= NR_OBJECTS; i += 2)
		call(&w, ENDIO, i);
	w.in_order = true;
	w.last_number = 0;
	lives__finish(w.lives);
	is_u64(w.nr, NR_OBJECTS, "the others at the end");
	is_u64(w.nr_whole, NR_OBJECTS, "each of them whole");
	ok(w.in_order, "in the order of their beginning");
	end(&w);
}

static void test_error(void)
{
	struct world w;

	begin(&w);
	call(&w, INIT, 1);
	call(&w, INIT, 2);
	w.answer = -EPIPE;
	is_u64((uint64_t)record(&w, INIT, 1, false), (uint64_t)-EPIPE,
	       "what the view returns comes back");
	is_u64((uint64_t)lives__finish(w.lives), (uint64_t)-EPIPE, "at the end, too");
	end(&w);
}

/* Freed with lives at their places and beside them. */
static void test_free(void)
{
	struct world w;

	begin(&w);
	call(&w, INIT, 1);
	enter(&w, SUBMIT, 1);
	w.tid = 8;
	enter(&w, INIT, 1);
	end(&w);
	is_u64(w.nr, 0, "what is left is given up without a word");
	lives__free(NULL);
}

/* Whatever comes: records are in one life each, and nothing leaks. */
static void test_any_order(void)
{
	uint64_t seed = 0x9e3779b97f4a7c15ull;
	struct world w;

	begin(&w);
	for (int i = 0; i < 50000; i++) {
		unsigned object, function;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		object = (unsigned)(seed >> 20) % 9;
		function = (unsigned)(seed >> 33) % NR_FUNCTIONS;
		w.tid = (uint32_t)(seed >> 45) % 3;
		if (seed >> 60 == 1)
			lose(&w, object);
		else
			record(&w, function, object, seed >> 50 & 1);
		if (!(i % 101))
			lives__settle(w.lives, w.ns);
	}
	lives__finish(w.lives);
	ok(w.nr > 1000 && w.nr_whole && w.nr_whole < w.nr, "50,000 records in any order");
	end(&w);
}

int main(void)
{
	test_birth_at_entry();
	test_birth_by_return();
	test_passed();
	test_one_birth();
	test_called_before_birth();
	test_death_before_birth();
	test_birth_elsewhere();
	test_not_born();
	test_last_are_lost();
	test_reuse();
	test_late_return();
	test_unknowing_return();
	test_never_left();
	test_lost_return();
	test_return_of_another();
	test_missing();
	test_missing_at_end();
	test_missing_start();
	test_missing_birth();
	test_linger();
	test_many();
	test_error();
	test_free();
	test_any_order();
	return done_testing();
}
