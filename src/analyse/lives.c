/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/lives.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/compare.h"
#include "base/grow.h"

struct lives {
	struct lives_wants wants;
	/* Hashed by address, a power of two; NULL: free. Not base/index.h: entries are removed. */
	struct life **places;
	size_t nr, room;
	struct life *apart; /* lives without a place that wait for returns */
	uint64_t begun;
};

/* ---- places ---- */

static size_t lives_home(uint64_t object, size_t room)
{
	return (size_t)(object * 0x9e3779b97f4a7c15ull >> 32) & (room - 1);
}

static struct life **lives_place(struct life **places, size_t room, uint64_t object)
{
	size_t at = lives_home(object, room);

	while (places[at] && places[at]->object != object)
		at = (at + 1) & (room - 1);
	return &places[at];
}

static int lives_grow(struct lives *lives)
{
	size_t room = lives->room ? 2 * lives->room : 64;
	struct life **places = calloc(room, sizeof(*places));

	if (!places)
		return -ENOMEM;
	for (size_t i = 0; i < lives->room; i++)
		if (lives->places[i])
			*lives_place(places, room, lives->places[i]->object) = lives->places[i];
	free(lives->places);
	lives->places = places;
	lives->room = room;
	return 0;
}

/* Later entries close up, as a search would otherwise miss them. */
static void lives_take_out(struct lives *lives, struct life *life)
{
	size_t mask = lives->room - 1;
	size_t hole =
		(size_t)(lives_place(lives->places, lives->room, life->object) - lives->places);
	size_t at = hole;

	lives->places[hole] = NULL;
	lives->nr--;
	while (lives->places[at = (at + 1) & mask]) {
		size_t home = lives_home(lives->places[at]->object, lives->room);

		if (((at - home) & mask) < ((at - hole) & mask))
			continue;
		lives->places[hole] = lives->places[at];
		lives->places[hole = at] = NULL;
	}
}

/* ---- a life ---- */

static void life_forget(struct life *life)
{
	for (size_t i = 0; i < life->nr; i++)
		if (life->steps[i].call) {
			life->steps[i].call->life = NULL;
			call__let_go(life->steps[i].call);
		}
	free(life->steps);
	life->steps = NULL;
	life->nr = life->room = 0;
}

static void life_free(struct life *life)
{
	life_forget(life);
	free(life);
}

/* A life without a seen birth owns all records of the address since the last life was over: a
 * missing record may have been the birth. */
static void life_begin(struct lives *lives, struct life *life, const struct life_event *event)
{
	life->number = ++lives->begun;
	life->is_born = event->role == LIFE_BIRTH;
	life->first_nth = life->is_born ? event->nth : life->first_nth + life->records;
	life->records = 0;
	life->is_dead = life->is_over = false;
}

static struct life *life_new(struct lives *lives, const struct life_event *event)
{
	struct life *life = calloc(1, sizeof(*life));

	if (!life)
		return NULL;
	life->object = event->object;
	life->first_nth = 1;
	life_begin(lives, life, event);
	return life;
}

/* A record's values after the object's death belong to another object. */
static const void *life_values(const struct life *life, const struct call *call, bool is_return)
{
	if (!call || (is_return && (life->is_dead || life->is_apart)))
		return NULL;
	return is_return ? call->left : call->entered;
}

static struct life_step *life_new_step(struct life *life)
{
	return GROW(life->steps, life->room, life->nr + 1) ? NULL : &life->steps[life->nr++];
}

static int life_add(struct life *life, const struct life_event *event, struct call *call,
		    const struct call_event *record)
{
	struct life_step *step = life_new_step(life);

	if (!step)
		return -ENOMEM;
	*step = (struct life_step){
		.call = call,
		.is_return = record->is_return,
		.role = event->role,
		.ns = record->ns,
		.function = record->function,
		.cpu = record->cpu,
		.values = life_values(life, call, record->is_return),
	};
	if (call)
		call__hold(call);
	if (call && !record->is_return && record->returns) {
		life->open++;
		call->life = life;
	}
	if (event->role == LIFE_DEATH) {
		life->is_dead = true;
		life->dead_ns = record->ns;
	}
	return 0;
}

/* ---- end of a life ---- */

/* One that had only records which were passed is nobody's. */
static int lives_tell(const struct lives *lives, const struct life *life)
{
	return life->nr ? lives->wants.on_life(lives->wants.arg, life) : 0;
}

static int lives_hand_on(struct lives *lives, struct life *life)
{
	int err = lives_tell(lives, life);

	life_free(life);
	return err;
}

/* Another object has its address now; a function around it may still have to return. expected:
 * number of records since its first. */
static int lives_end(struct lives *lives, struct life *life, uint64_t expected)
{
	life->is_whole = expected == life->records;
	life->is_apart = true;
	lives_take_out(lives, life);
	if (!life->open)
		return lives_hand_on(lives, life);
	life->next = lives->apart;
	life->back = &lives->apart;
	if (life->next)
		life->next->back = &life->next;
	lives->apart = life;
	return 0;
}

static void lives_take_from_apart(struct life *life)
{
	*life->back = life->next;
	if (life->next)
		life->next->back = life->back;
}

/* ---- records ---- */

static bool step_is_inside(const struct life_step *step, const struct call *outer)
{
	const struct call *call = step->call;

	return call && call->start_ns >= outer->start_ns && call->tid == outer->tid &&
	       (call->tid || call->cpu == outer->cpu);
}

static struct life *lives_begin(struct lives *lives, const struct life_event *event)
{
	struct life *life;

	if (2 * lives->nr >= lives->room && lives_grow(lives))
		return NULL;
	life = life_new(lives, event);
	if (!life)
		return NULL;
	*lives_place(lives->places, lives->room, event->object) = life;
	lives->nr++;
	return life;
}

/* A step of the previous owner of the address. */
static int life_take_over(struct life *life, struct life *last, const struct life_step *from)
{
	struct life_step *step = life_new_step(life);

	if (!step)
		return -ENOMEM;
	*step = *from;
	step->values = from->is_return ? from->call->left : from->call->entered;
	life->records++;
	if (from->call->life == last) { /* its return was lost */
		from->call->life = life;
		last->open--;
		life->open++;
	}
	return 0;
}

/* Steps inside the call that returned the object, after the last owner's death: an interrupt may
 * have come in between. */
static int life_take_over_all(struct life *life, struct life *last, const struct call *call)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < last->nr; i++)
		if (!err && step_is_inside(&last->steps[i], call) &&
		    !(last->is_dead && last->steps[i].call->start_ns <= last->dead_ns))
			err = life_take_over(life, last, &last->steps[i]);
		else
			last->steps[kept++] = last->steps[i];
	last->nr = kept;
	last->records -= life->records;
	return err;
}

/* The owner of a missing record is unknown: both lives count it as missing. */
static int lives_give_way(struct lives *lives, struct life *last, const struct life_event *event,
			  const struct call *returned, struct life **found)
{
	const uint64_t missing = event->nth - last->first_nth - last->records;
	struct life *life = life_new(lives, event);
	int err;

	if (!life)
		return -ENOMEM;
	err = returned ? life_take_over_all(life, last, returned) : 0;
	if (err) {
		life_free(life);
		return err;
	}
	if (life->records)
		life->first_nth = event->nth - life->records - missing;
	err = lives_end(lives, last, last->records + missing);
	*lives_place(lives->places, lives->room, event->object) = life;
	lives->nr++;
	*found = life;
	return err;
}

/*
 * The life that owns the address from this record on. A birth starts another life. An object that a
 * function returns as born may have been used inside it: bio_init of bio_alloc_bioset is the same
 * birth, and where it is inlined, the functions it calls come before the birth.
 */
static int lives_find(struct lives *lives, const struct life_event *event, const struct call *call,
		      const struct call_event *record, struct life **found)
{
	const struct call *returned = record->is_return ? call : NULL;
	struct life *life =
		lives->room ? *lives_place(lives->places, lives->room, event->object) : NULL;
	int err = 0;

	if (life && life->is_over) {
		life_begin(lives, life, event);
	} else if (life && event->role == LIFE_BIRTH) {
		if (returned && life->nr && !life->is_dead &&
		    step_is_inside(&life->steps[0], returned))
			life->is_born = true;
		else
			err = lives_give_way(lives, life, event, returned, &life);
	} else if (!life) {
		life = lives_begin(lives, event);
	}
	if (!life)
		return err ?: -ENOMEM;
	*found = life;
	life->records++;
	if (life->last_nth < event->nth)
		life->last_nth = event->nth;
	return err;
}

/* A return may come after another object took the address: it belongs to the object of the
 * entry. But a newborn object is always new, and if an entry was lost the call is one around it. */
static bool lives_is_late(const struct life *life, const struct life_event *event)
{
	return !event->object || (event->object == life->object && event->role != LIFE_BIRTH);
}

/* A return with another object belongs to a call whose entry was lost; its own was lost, too. */
static bool lives_is_anothers(const struct life *life, const struct life_event *event)
{
	return event->object && event->object != life->object && event->role != LIFE_BIRTH;
}

static int lives_let_go(struct lives *lives, struct call *call)
{
	struct life *life = call->life;

	call->life = NULL;
	life->open--;
	if (!life->is_apart || life->open)
		return 0;
	lives_take_from_apart(life);
	life->is_whole &= !lives->wants.has_lost(lives->wants.arg);
	return lives_hand_on(lives, life);
}

int lives__take(struct lives *lives, const struct life_event *event, struct call *call,
		const struct call_event *record)
{
	const bool is_left =
		record->is_return && call && call->life && !lives_is_anothers(call->life, event);
	struct life *life = NULL;
	int err = 0;

	if (event->object)
		err = lives_find(lives, event, call, record, &life);
	if (is_left && lives_is_late(call->life, event))
		life = call->life;
	if (!err && life)
		err = life_add(life, event, call, record);
	return err || !is_left ? err : lives_let_go(lives, call);
}

int lives__pass(struct lives *lives, const struct life_event *event)
{
	const struct call_event unseen = { 0 };
	struct life *life;

	return event->object ? lives_find(lives, event, NULL, &unseen, &life) : 0;
}

/* ---- all ---- */

/* If records were lost, the last ones of a dead object may be among them: then its next birth,
 * or the end of the run, decides. */
static bool lives_has_last(const struct lives *lives, const struct life *life)
{
	uint64_t counted;

	if (!lives->wants.has_lost(lives->wants.arg))
		return true;
	counted = lives->wants.counted(lives->wants.arg, life->object);
	return counted == LIVES_UNKNOWN || counted == life->last_nth;
}

static bool lives_is_over(const struct lives *lives, const struct life *life, uint64_t now_ns)
{
	return life->is_dead && !life->is_over && !life->open && now_ns >= life->dead_ns &&
	       now_ns - life->dead_ns >= lives->wants.linger_ns &&
	       life->last_nth - life->first_nth + 1 == life->records && lives_has_last(lives, life);
}

/* Keeps as many places as the kernel has counts. */
static int lives_bury(struct lives *lives, struct life *life)
{
	int err;

	life->is_whole = true;
	err = lives_tell(lives, life);
	life_forget(life);
	life->is_over = true;
	return err;
}

int lives__settle(struct lives *lives, uint64_t now_ns)
{
	int err = 0;

	for (size_t i = 0; !err && i < lives->room; i++) {
		struct life *life = lives->places[i];

		if (life && lives_is_over(lives, life, now_ns))
			err = lives_bury(lives, life);
	}
	return err;
}

static int lives_compare(const void *a, const void *b)
{
	const struct life *x = *(struct life *const *)a, *y = *(struct life *const *)b;

	return COMPARE(x->number, y->number);
}

static int lives_finish_apart(struct lives *lives)
{
	int err = 0;

	while (!err && lives->apart) {
		struct life *life = lives->apart;

		lives_take_from_apart(life);
		life->is_whole &= !lives->wants.has_lost(lives->wants.arg);
		err = lives_hand_on(lives, life);
	}
	return err;
}

/* Functions around it may return after the end. */
static int lives_finish_one(struct lives *lives, struct life *life)
{
	uint64_t counted = lives->wants.counted(lives->wants.arg, life->object);
	uint64_t last_nth = counted == LIVES_UNKNOWN ? life->last_nth : counted;
	uint64_t expected = last_nth - life->first_nth + 1;

	if (life->open && lives->wants.has_lost(lives->wants.arg))
		expected = life->records + 1;
	life->open = 0;
	return lives_end(lives, life, expected);
}

/* In the order in which they began. */
int lives__finish(struct lives *lives)
{
	struct life **left = calloc(lives->nr + 1, sizeof(*left));
	int err = left ? lives_finish_apart(lives) : -ENOMEM;
	size_t nr = 0;

	for (size_t i = 0; !err && i < lives->room; i++)
		if (lives->places[i] && !lives->places[i]->is_over)
			left[nr++] = lives->places[i];
	if (nr)
		qsort(left, nr, sizeof(*left), lives_compare);
	for (size_t i = 0; !err && i < nr; i++)
		err = lives_finish_one(lives, left[i]);
	free(left);
	return err;
}

void lives__each_object(const struct lives *lives, void (*fn)(void *arg, uint64_t object),
			void *arg)
{
	for (size_t i = 0; i < lives->room; i++)
		if (lives->places[i])
			fn(arg, lives->places[i]->object);
}

struct lives *lives__new(const struct lives_wants *wants)
{
	struct lives *lives = calloc(1, sizeof(*lives));

	if (lives)
		lives->wants = *wants;
	return lives;
}

void lives__free(struct lives *lives)
{
	if (!lives)
		return;
	while (lives->apart) {
		struct life *life = lives->apart;

		lives->apart = life->next;
		life_free(life);
	}
	for (size_t i = 0; i < lives->room; i++)
		if (lives->places[i])
			life_free(lives->places[i]);
	free(lives->places);
	free(lives);
}
