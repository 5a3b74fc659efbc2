/* SPDX-License-Identifier: BSD-2-Clause */
#include "why/rule.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "decode/column.h"

/* Less than this is no wait: commands beside others take as long as alone. */
static const double why_stretched = 1.1;

double why_share(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

static double why_bound(double share)
{
	return share > 1 ? 1 : share < 0 ? 0 : share;
}

void verdict__weigh(struct why_finding *f, const struct why_case *c, uint64_t all_ns,
		    uint64_t tail_ns)
{
	f->cost_ns = all_ns;
	f->total = why_bound(why_share(all_ns, c->all.total_ns));
	f->tail = why_bound(why_share(tail_ns, c->tail.total_ns));
}

double verdict__share(const struct why_finding *f)
{
	return f->total > f->tail ? f->total : f->tail;
}

void verdict__say(struct why_finding *f, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(f->what, sizeof(f->what), fmt, args);
	va_end(args);
}

/* Names of tasks may contain the separator. */
void verdict__prove(struct why_finding *f, const char *fmt, ...)
{
	size_t len = strlen(f->evidence);
	va_list args;
	char *at;

	if (len && len < sizeof(f->evidence) - 1)
		f->evidence[len++] = ';';
	at = f->evidence + len;
	va_start(args, fmt);
	vsnprintf(at, sizeof(f->evidence) - len, fmt, args);
	va_end(args);
	for (; *at; at++)
		*at = *at == ';' ? ',' : *at;
}

static bool why_is_plain(const char *text)
{
	return *text &&
	       strspn(text,
		      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+,-") ==
		       strlen(text);
}

/* A value that a shell would change is quoted; one that ends the quotation is left out. */
void verdict__more(struct why_finding *f, const char *command, const char *option,
		   const char *value)
{
	f->more = command;
	f->more_args[0] = 0;
	if (!option || (value && strchr(value, '\'')))
		return;
	snprintf(f->more_args, sizeof(f->more_args),
		 !value		       ? " %s"
		 : why_is_plain(value) ? " %s %s"
				       : " %s '%s'",
		 option, value);
}

struct why_text why_ns(double ns)
{
	struct why_text t = { "" };

	text__duration(t.text, sizeof(t.text), ns > 0 ? (uint64_t)ns : 0);
	return t;
}

const char *fact_class__word(enum fact_class class)
{
	static const char *const words[] = { "reads", "writes", "flushes", "discards", "others" };

	return words[class];
}

/* ---- tests that rules share ---- */

bool why_test_part(const struct why_case *c, enum fact_part part, struct why_finding *f)
{
	verdict__weigh(f, c, c->all.parts_ns[part], c->tail.parts_ns[part]);
	return verdict__share(f) >= c->least && f->total >= 0.05;
}

uint64_t why_waited(const struct why_case *c, enum fact_part part)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < c->facts->nr; i++)
		if (fact_group__is_judged(c->facts->groups[i], c->device->device))
			nr += c->facts->groups[i]->waited[part];
	return nr;
}

bool why_test_held(const struct why_case *c, enum fact_part part, const char *what,
		   struct why_finding *f)
{
	f->affected = why_waited(c, part);
	if (!f->affected || !why_test_part(c, part, f))
		return false;
	verdict__say(f, "%s", what);
	verdict__prove(f, "%" PRIu64 " of %" PRIu64 " commands were held back, %s each",
		       f->affected, c->all.nr,
		       why_ns((double)c->all.parts_ns[part] / (double)f->affected).text);
	verdict__prove(f, "the device itself takes %s; at most %" PRIu32 " were in flight",
		       why_ns((double)c->all.parts_ns[PART_DEVICE] / (double)c->all.nr).text,
		       c->device->deepest);
	verdict__more(f, "layers", NULL, NULL);
	return true;
}

double why_stretch(const struct why_case *c, uint32_t classes)
{
	double nr = 0, known = 0, ns = 0, alone_ns = 0;

	for (size_t i = 0; i < c->facts->nr; i++) {
		const struct fact_group *g = c->facts->groups[i];
		const uint64_t *parts = g->all.parts_ns;
		double each_ns;

		if (!fact_group__is_judged(g, c->device->device) || !(classes >> g->key.class & 1))
			continue;
		each_ns = facts__alone_ns(c->facts, g);
		nr += (double)g->all.nr;
		known += each_ns > 0 ? (double)g->all.nr : 0;
		alone_ns += each_ns * (double)g->all.nr;
		if (each_ns > 0)
			ns += (double)(parts[PART_TAGS] + parts[PART_SCHED] + parts[PART_DEVICE]);
	}
	return 2 * known >= nr && alone_ns > 0 ? ns / alone_ns : INFINITY;
}

/* Like it, but without the flag, and of this or the next size. */
static void why_without(const struct why_case *c, const struct fact_group *like, uint8_t flag,
			uint64_t *nr, uint64_t *ns)
{
	const uint8_t odd = FACT_FAILED | FACT_TIMED_OUT | flag;

	*nr = *ns = 0;
	for (size_t i = 0; i < c->facts->nr; i++) {
		const struct fact_group *g = c->facts->groups[i];
		int sizes = g->key.size_class - like->key.size_class;

		if (g->key.device != like->key.device || g->key.class != like->key.class ||
		    g->key.flags & odd || sizes < -1 || sizes > 1)
			continue;
		*nr += g->all.nr;
		*ns += g->all.parts_ns[PART_DEVICE];
	}
}

static void why_extra_add(struct why_extra *e, const struct fact_group *g, uint64_t nr, uint64_t ns)
{
	const double each_ns = (double)ns / (double)nr;

	e->nr += g->all.nr;
	e->nr_without += nr;
	e->ns += (double)g->all.parts_ns[PART_DEVICE] - each_ns * (double)g->all.nr;
	e->tail_ns += (double)g->tail.parts_ns[PART_DEVICE] - each_ns * (double)g->tail.nr;
	e->mean_ns += (double)g->all.parts_ns[PART_DEVICE];
	e->without_ns += each_ns * (double)g->all.nr;
}

void why_extra__find(const struct why_case *c, uint8_t flag, struct why_extra *e)
{
	memset(e, 0, sizeof(*e));
	for (size_t i = 0; i < c->facts->nr; i++) {
		const struct fact_group *g = c->facts->groups[i];
		uint64_t nr, ns;

		if (!fact_group__is_judged(g, c->device->device) || g->key.class != FACT_WRITE ||
		    !(g->key.flags & flag))
			continue;
		why_without(c, g, flag, &nr, &ns);
		if (nr >= FACT_ALONE)
			why_extra_add(e, g, nr, ns);
	}
	e->ns = e->ns > 0 ? e->ns : 0;
	e->tail_ns = e->tail_ns > 0 ? e->tail_ns : 0;
	e->mean_ns /= e->nr ? (double)e->nr : 1;
	e->without_ns /= e->nr ? (double)e->nr : 1;
}

const struct pages_disk *why_pages(const struct why_case *c)
{
	const struct fact_place *place = &c->device->place;

	return c->facts->pages && place->number
		       ? pages__disk(c->facts->pages, place->host, place->number)
		       : NULL;
}

/* Of all tasks: others may have read what is wasted. */
static uint64_t why_read_bytes(const struct why_case *c)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < c->facts->nr; i++)
		if (c->facts->groups[i]->key.device == c->device->device &&
		    c->facts->groups[i]->key.class == FACT_READ)
			bytes += c->facts->groups[i]->bytes;
	return bytes;
}

/* The capture of the page cache may be of a longer time: no part is more than the whole. */
bool why_test_wasted(const struct why_case *c, double bytes, struct why_finding *f)
{
	const struct pages_disk *pages = why_pages(c);
	const double of_pages = why_bound(bytes / (double)pages->bytes);
	const double share = of_pages * why_bound(why_share(pages->bytes, why_read_bytes(c)));
	struct fact_sums all, tail;

	facts__sum(c->facts,
		   (struct fact_choice){ .device = c->device->device, .classes = 1 << FACT_READ },
		   &all, &tail);
	verdict__weigh(f, c, (uint64_t)(share * (double)all.total_ns),
		       (uint64_t)(share * (double)tail.total_ns));
	f->affected = (uint64_t)(of_pages * (double)pages->commands);
	return f->total >= c->least && all.nr >= FACT_ALONE;
}

bool why_test_culprit(const struct why_case *c, culprit_is_fn is, struct why_finding *f,
		      struct culprit_worst *worst)
{
	const struct actor *victim, *culprit;
	char culprits[64];

	if (!culprits__worst(c->culprits, c->device->device, is, worst))
		return false;
	victim = &c->culprits->actors[worst->victim];
	culprit = &c->culprits->actors[worst->culprit];
	f->cost_ns = worst->wait.all_ns;
	f->total = why_bound(worst->total);
	f->tail = why_bound(worst->tail);
	f->affected = victim->count;
	if (f->total < c->least / 2 || verdict__share(f) < c->least ||
	    why_stretch(c, 1u << victim->class) < why_stretched)
		return false;
	snprintf(f->whose, sizeof(f->whose), "%s of %s", fact_class__word(victim->class),
		 victim->comm);
	snprintf(culprits, sizeof(culprits), "%s of %s%s", fact_class__word(culprit->class),
		 actor__is_other(victim, culprit) ? "other " : "", culprit->comm);
	verdict__prove(f, "%" PRIu64 " %s of %s take %s each, of which %s are waits for %s",
		       victim->count, fact_class__word(victim->class), victim->comm,
		       why_ns((double)victim->latency_ns / (double)victim->count).text,
		       why_ns((double)worst->wait.all_ns / (double)victim->count).text, culprits);
	verdict__prove(f, "%s: %" PRIu64 ", %s each", culprits, culprit->count,
		       why_ns((double)culprit->latency_ns / (double)culprit->count).text);
	verdict__more(f, "blame", "--victim", victim->comm);
	return true;
}
