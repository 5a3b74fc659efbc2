/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/blame.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analyse/servers.h"
#include "base/compare.h"

_Static_assert((int)SERVERS_KINDS >= (int)BLAME_PARTIES, "a party is a kind of service");

/* A command is held until commands submitted before it have ended, unless they take longer. */
static const uint64_t blame_hold_ns = 250000000;
/* A submission may take this much longer than the quickest. */
static const uint64_t blame_submit_ns = 10000;
/* Service beside others is longer than alone if it is so by this share, and this sure. */
static const double blame_stretch_least = 0.05, blame_stretch_errors = 4;
enum { BLAME_ALONE_LEAST = 32 }; /* commands that show how long service takes alone */

int blame__init(struct blame *b)
{
	b->submits = calloc(BLAME_BATCH, sizeof(*b->submits));
	b->issues = calloc(BLAME_BATCH, sizeof(*b->issues));
	return b->submits && b->issues ? index__make_room(&b->index, BLAME_PARTIES) : -ENOMEM;
}

void blame__free(struct blame *b)
{
	for (size_t i = 0; i < b->nr; i++)
		free(b->sums[i].cells);
	for (size_t i = 0; i < b->nr_devices; i++) {
		free(b->devices[i].ios);
		free(b->devices[i].queue);
	}
	index__free(&b->index);
	free(b->submits);
	free(b->issues);
	b->nr = b->nr_devices = 0;
	b->submits = b->issues = NULL;
}

/* ---- parties ---- */

static bool blame_is(const void *parties, uint32_t number, const void *tags)
{
	return !memcmp(&((const struct blame_party *)parties)[number].tags, tags,
		       sizeof(struct blame_tags));
}

static uint16_t blame_like(const struct blame *b, const struct blame_tags *tags, uint32_t self)
{
	for (uint32_t i = 0; i < self; i++) {
		struct blame_tags other = b->parties[i].tags;

		other.part = tags->part;
		other.qid = tags->qid;
		if (!memcmp(&other, tags, sizeof(other)))
			return (uint16_t)i;
	}
	return (uint16_t)self;
}

/* The number of the party, or of the rest of its device; -ENOMEM. */
static int blame_find(struct blame *b, const struct blame_tags *tags)
{
	const struct blame_tags rest = { .device = BLAME_REST, .station = tags->station };
	const uint64_t hash = index__mix_bytes(0, tags, sizeof(*tags));
	uint32_t at = index__find(&b->index, hash, blame_is, b->parties, tags);

	if (at != INDEX_NONE)
		return (int)at;
	if (b->nr >= BLAME_PARTIES - BLAME_DEVICES - 1 && tags->device != BLAME_REST)
		return blame_find(b, &rest);
	b->sums[b->nr].cells = calloc(1, sizeof(struct blame_cells));
	if (!b->sums[b->nr].cells)
		return -ENOMEM;
	at = index__add(&b->index, hash);
	b->parties[at].tags = *tags;
	b->parties[at].like = blame_like(b, tags, at);
	b->sums[at].left_out = b->leaves_out && b->leaves_out(b->arg, tags);
	b->nr++;
	return (int)at;
}

static struct blame_device *blame_find_device(struct blame *b, int32_t station)
{
	struct blame_device *d;

	for (size_t i = 0; i < b->nr_devices; i++)
		if (b->devices[i].device == station)
			return &b->devices[i];
	if (b->nr_devices == BLAME_DEVICES)
		return NULL;
	d = &b->devices[b->nr_devices];
	d->device = station;
	d->ios = malloc(BLAME_BATCH * sizeof(*d->ios));
	d->queue = calloc(1, sizeof(*d->queue));
	if (!d->ios || !d->queue) {
		free(d->ios);
		free(d->queue);
		return NULL;
	}
	blame_queue__init(d->queue, b->sums, b->leaves_out != NULL);
	b->nr_devices++;
	return d;
}

/* ---- a batch ---- */

static int blame_by_from(const void *a, const void *b)
{
	const struct service *x = a, *y = b;
	int order = COMPARE(x->from_ns, y->from_ns);

	return order ?: COMPARE(x->kind, y->kind);
}

/*
 * A command that takes not much longer to its issue than the quickest one is not held: that is what
 * a submission takes. Returns the number of those that are.
 */
static size_t blame_find_held(struct blame_device *d)
{
	uint64_t quickest = UINT64_MAX;
	size_t held = 0;

	for (size_t i = 0; i < d->nr; i++) {
		uint64_t ns = d->ios[i].at.issue_ns - d->ios[i].at.from_ns;

		quickest = ns < quickest ? ns : quickest;
	}
	for (size_t i = 0; i < d->nr; i++) {
		struct blame_times *at = &d->ios[i].at;

		if (d->ios[i].flight == BLAME_NO_FLIGHT &&
		    (at->issue_ns - at->from_ns) / 8 <= quickest + blame_submit_ns / 8)
			at->issue_ns = at->from_ns;
		held += at->issue_ns != at->from_ns;
	}
	return held;
}

/* kind is the index of the command. */
static struct service blame_event(const struct blame_device *d, size_t i, bool is_issue)
{
	const struct blame_times *at = &d->ios[i].at;

	return (struct service){ is_issue ? at->issue_ns : at->from_ns, at->end_ns, (uint32_t)i };
}

/* In order of submission, or of issue. Most are nearly in order. */
static void blame_sort(const struct blame_device *d, bool is_issue, struct service *sorted)
{
	size_t steps = 0, i = 0;

	for (; i < d->nr && steps < 32 * (size_t)BLAME_BATCH; i++) {
		const struct service event = blame_event(d, i, is_issue);
		size_t at = i;

		for (; at && sorted[at - 1].from_ns > event.from_ns; at--, steps++)
			sorted[at] = sorted[at - 1];
		sorted[at] = event;
	}
	if (i == d->nr)
		return;
	for (; i < d->nr; i++)
		sorted[i] = blame_event(d, i, is_issue);
	qsort(sorted, d->nr, sizeof(*sorted), blame_by_from);
}

/* Commands in flight, on average, while these were submitted. */
static double blame_depth(const struct service *sorted, size_t nr)
{
	double sum = 0, span = (double)(sorted[nr - 1].from_ns - sorted[0].from_ns);

	for (size_t i = 0; i < nr; i++)
		sum += (double)(sorted[i].end_ns - sorted[i].from_ns);
	return span > 0 ? sum / span : (double)nr;
}

/* The busiest part of a batch and the calmest: the one has queues, the other has none. */
struct blame_parts {
	size_t nr, busiest, calmest;
	double most, least; /* in flight */
};

static void blame_part(const struct service *sorted, size_t nr, struct blame_parts *parts)
{
	*parts = (struct blame_parts){ nr < BLAME_SPAN ? nr : BLAME_SPAN, 0, 0, -1, INFINITY };
	for (size_t at = 0; at + parts->nr <= nr; at += parts->nr) {
		double depth = blame_depth(&sorted[at], parts->nr);

		if (depth > parts->most) {
			parts->most = depth;
			parts->busiest = at;
		}
		if (depth < parts->least) {
			parts->least = depth;
			parts->calmest = at;
		}
	}
}

static uint32_t blame_estimate(const struct blame *b, const struct blame_device *d,
			       const struct service *sorted, const struct blame_parts *parts)
{
	struct service *copy = malloc(2 * parts->nr * sizeof(*copy));
	struct service_span spans[] = { { copy, parts->nr }, { copy + parts->nr, parts->nr } };
	uint32_t servers;

	if (!copy)
		return SERVERS_ALL;
	memcpy(copy, &sorted[parts->busiest], parts->nr * sizeof(*copy));
	memcpy(copy + parts->nr, &sorted[parts->calmest], parts->nr * sizeof(*copy));
	for (size_t i = 0; i < 2 * parts->nr; i++)
		copy[i].kind = b->parties[d->ios[copy[i].kind].party].like;
	servers = servers__estimate(spans, parts->busiest == parts->calmest ? 1 : 2);
	free(copy);
	return servers;
}

/* Now and then, and when there is more in flight than before. A short rest shows less. */
static void blame_renew_servers(const struct blame *b, struct blame_device *d,
				const struct service *sorted)
{
	const bool begun = d->queue->now_ns;
	struct blame_parts parts;

	blame_part(sorted, d->nr, &parts);
	if (begun &&
	    (d->nr < BLAME_SPAN || (++d->batches < BLAME_RENEWS && parts.most < 1.25 * d->depth)))
		return;
	d->batches = 0;
	d->depth = parts.most;
	blame_queue__set_servers(d->queue, blame_estimate(b, d, sorted, &parts));
}

static void blame_unsee(struct blame *b, const struct blame_io *io, uint64_t ns)
{
	b->sums[io->party].unseen++;
	b->sums[io->party].unseen_ns += ns;
}

static void blame_issue(struct blame_device *d, const struct blame_io *io)
{
	if (io->flight == BLAME_NO_FLIGHT || io->at.issue_ns == io->at.from_ns)
		return; /* it was not followed, or it was issued when it was submitted */
	blame_queue__advance(d->queue, io->at.issue_ns);
	blame_queue__issue(d->queue, io->flight);
}

static void blame_submit(struct blame *b, struct blame_device *d, struct blame_io *io)
{
	if (io->at.from_ns == io->at.end_ns) /* its end was here before */
		return;
	blame_queue__advance(d->queue, io->at.from_ns);
	io->flight = io->at.issue_ns == io->at.from_ns
			     ? blame_queue__submit_issued(d->queue, io->party)
			     : blame_queue__submit(d->queue, io->party);
	if (io->flight == BLAME_NO_FLIGHT)
		blame_unsee(b, io, io->at.end_ns - io->at.from_ns);
}

static void blame_end(struct blame_device *d, const struct blame_io *io)
{
	blame_queue__advance(d->queue, io->at.end_ns);
	if (io->flight != BLAME_NO_FLIGHT)
		blame_queue__end(d->queue, io->flight);
}

/* Those that happened in the batch before are over. */
static size_t blame_first(const struct blame_device *d, const struct service *sorted)
{
	size_t first = 0;

	while (d->queue->now_ns && first < d->nr && sorted[first].from_ns <= d->queue->now_ns)
		first++;
	return first;
}

static uint64_t blame_when(const struct blame_device *d, const struct service *sorted, size_t at)
{
	return at < d->nr ? sorted[at].from_ns : UINT64_MAX;
}

/* All that happened up to then; what was in flight stays. Returns how many ended. */
static size_t blame_pass(struct blame *b, struct blame_device *d, uint64_t until_ns)
{
	size_t submits = blame_first(d, b->submits), issues = blame_first(d, b->issues), ends = 0;

	for (;;) {
		uint64_t submit_ns = blame_when(d, b->submits, submits);
		uint64_t issue_ns = blame_when(d, b->issues, issues);
		uint64_t end_ns = ends < d->nr ? d->ios[ends].at.end_ns : UINT64_MAX;

		/* What ends now is not in the way of what is submitted now. */
		if (ends < d->nr && end_ns <= until_ns && end_ns <= submit_ns && end_ns <= issue_ns)
			blame_end(d, &d->ios[ends++]);
		else if (submits < d->nr && submit_ns <= until_ns && submit_ns <= issue_ns)
			blame_submit(b, d, &d->ios[b->submits[submits++].kind]);
		else if (issues < d->nr && issue_ns <= until_ns)
			blame_issue(d, &d->ios[b->issues[issues++].kind]);
		else
			return ends;
	}
}

static void blame_judge(struct blame *b, struct blame_device *d, uint64_t until_ns)
{
	size_t held = blame_find_held(d), ended;

	blame_sort(d, false, b->submits);
	if (held)
		blame_sort(d, true, b->issues);
	else
		memcpy(b->issues, b->submits, d->nr * sizeof(*b->issues));
	blame_renew_servers(b, d, b->issues);
	ended = blame_pass(b, d, until_ns);
	if (until_ns != UINT64_MAX && until_ns > d->queue->now_ns)
		blame_queue__advance(d->queue, until_ns);
	memmove(d->ios, d->ios + ended, (d->nr - ended) * sizeof(*d->ios));
	d->nr -= ended;
	b->held -= ended;
}

/*
 * Later arrivals end later, and were submitted before `until` only if they took longer than the
 * hold. At least half of the batch is judged.
 */
static void blame_judge_batch(struct blame *b, struct blame_device *d)
{
	uint64_t hold_ns = 2 * d->longest_ns > blame_hold_ns ? 2 * d->longest_ns : blame_hold_ns;
	uint64_t half_ns = d->ios[d->nr / 2].at.end_ns;

	d->longest_ns /= 2;
	blame_judge(b, d, d->newest_ns - half_ns < hold_ns ? half_ns : d->newest_ns - hold_ns);
}

/* ---- commands ---- */

/* The part before what was judged already is not seen; false: all of it. */
static bool blame_clip(struct blame *b, const struct blame_device *d, struct blame_io *io)
{
	uint64_t now_ns = d ? d->queue->now_ns : 0;

	if (d && (io->at.from_ns > now_ns || !now_ns))
		return true;
	if (!d || io->at.end_ns <= now_ns + 1) {
		blame_unsee(b, io, io->at.end_ns - io->at.from_ns);
		return false;
	}
	blame_unsee(b, io, now_ns + 1 - io->at.from_ns);
	io->at.from_ns = now_ns + 1;
	if (io->at.issue_ns < io->at.from_ns)
		io->at.issue_ns = io->at.from_ns;
	return true;
}

static void blame_keep(struct blame *b, struct blame_device *d, const struct blame_io *io)
{
	uint64_t took_ns = io->at.end_ns - io->at.from_ns;

	size_t at = d->nr++;

	for (; at && d->ios[at - 1].at.end_ns > io->at.end_ns; at--)
		d->ios[at] = d->ios[at - 1];
	d->ios[at] = *io;
	b->held++;
	if (io->at.end_ns > d->newest_ns)
		d->newest_ns = io->at.end_ns;
	if (took_ns > d->longest_ns)
		d->longest_ns = took_ns;
	if (d->nr == BLAME_BATCH)
		blame_judge_batch(b, d);
	for (size_t i = 0; b->held >= BLAME_HELD && i < b->nr_devices; i++)
		if (b->devices[i].nr)
			blame_judge_batch(b, &b->devices[i]);
}

/* In this order, whatever the file says; its end is not its issue. */
static struct blame_times blame_in_order(const struct blame_times *times)
{
	struct blame_times at = *times;

	at.from_ns = at.from_ns < at.end_ns ? at.from_ns : at.end_ns;
	if (at.issue_ns >= at.end_ns)
		at.issue_ns = at.end_ns ? at.end_ns - 1 : 0;
	at.issue_ns = at.issue_ns > at.from_ns ? at.issue_ns : at.from_ns;
	return at;
}

int blame__add(struct blame *b, int32_t station, const struct blame_tags *tags,
	       const struct blame_times *times)
{
	struct blame_device *d = blame_find_device(b, station);
	struct blame_tags all = d ? *tags : (struct blame_tags){ .device = BLAME_REST };
	struct blame_io io = { .at = blame_in_order(times), .flight = BLAME_NO_FLIGHT };
	int party;

	all.station = d ? station : BLAME_REST;
	party = blame_find(b, &all);
	if (party < 0)
		return party;
	io.party = (uint16_t)party;
	b->parties[party].count++;
	b->parties[party].latency_ns += io.at.end_ns - io.at.from_ns;
	b->rest += b->parties[party].tags.device == BLAME_REST;
	if (blame_clip(b, d, &io))
		blame_keep(b, d, &io);
	return 0;
}

/* ---- the end ---- */

/* Service of the party with as few others as there were, and of the rest. */
static void blame_part_services(const struct blame_sum *sum, struct blame_services *alone,
				struct blame_services *beside)
{
	memset(alone, 0, sizeof(*alone));
	memset(beside, 0, sizeof(*beside));
	for (int i = 0; i < BLAME_DEPTHS; i++) {
		struct blame_services *to = alone->nr < BLAME_ALONE_LEAST ? alone : beside;

		to->nr += sum->services[i].nr;
		to->sum += sum->services[i].sum;
		to->squares += sum->services[i].squares;
	}
}

static double blame_variance(const struct blame_services *s)
{
	double mean = s->sum / s->nr;

	return s->squares / s->nr - mean * mean;
}

/*
 * Standard error of the difference of both means, if both were of one distribution. Few short
 * services spread little because they are short, so the variance is that of both together.
 */
static double blame_error(const struct blame_services *a, const struct blame_services *b)
{
	double squares = a->nr * blame_variance(a) + b->nr * blame_variance(b);

	return sqrt(squares / (a->nr + b->nr) * (1 / a->nr + 1 / b->nr));
}

/* The sum of service that is longer than alone; 0: none that is sure. */
static double blame_stretch(const struct blame_sum *sum)
{
	struct blame_services alone, beside;
	double longer, mean;

	blame_part_services(sum, &alone, &beside);
	if (!beside.nr)
		return 0;
	mean = alone.sum / alone.nr;
	longer = beside.sum / beside.nr - mean;
	if (longer < blame_stretch_least * mean ||
	    longer < blame_stretch_errors * blame_error(&alone, &beside))
		return 0;
	return longer * beside.nr;
}

static void blame_give_stretch(struct blame *b, size_t victim)
{
	double stretch = blame_stretch(&b->sums[victim]), all = 0;

	for (size_t i = 0; i < b->nr && stretch > 0; i++)
		all += blame_sum__beside(b->sums, victim, i);
	stretch = stretch < all ? stretch : all;
	for (size_t i = 0; i < b->nr && stretch > 0; i++)
		b->sums[victim].cells->stretch_ns[i] =
			(uint64_t)(blame_sum__beside(b->sums, victim, i) / all * stretch);
}

/*
 * Waits by interval are in the cells, waits by command in the sum: they agree but for rounding.
 * Each cell becomes the difference of two rounded sums, so that cells add up.
 */
static void blame_round(struct blame *b, size_t victim)
{
	const struct blame_sum *sum = &b->sums[victim];
	double all = 0, so_far = 0, off;
	uint64_t given = 0;

	for (size_t i = 0; i < b->nr; i++)
		all += blame_sum__waited(b->sums, victim, i);
	off = fabs(all - (double)sum->wait_ns);
	if (off > 1000 + 1e-6 * all)
		b->unaccounted_ns += (uint64_t)off;
	for (size_t i = 0; i < b->nr && all > 0; i++) {
		uint64_t upto;

		so_far += blame_sum__waited(b->sums, victim, i);
		upto = so_far < all ? (uint64_t)(so_far / all * (double)sum->wait_ns)
				    : sum->wait_ns;
		upto = upto < sum->wait_ns ? upto : sum->wait_ns;
		sum->cells->wait_ns[i] = upto - given;
		given = upto;
	}
}

static void blame_finish_party(struct blame *b, size_t victim)
{
	blame_round(b, victim);
	blame_give_stretch(b, victim);
}

void blame__finish(struct blame *b)
{
	for (size_t i = 0; i < b->nr_devices; i++)
		if (b->devices[i].nr)
			blame_judge(b, &b->devices[i], UINT64_MAX);
	for (size_t i = 0; i < b->nr; i++)
		blame_finish_party(b, i);
}

uint64_t blame__between(const struct blame *b, size_t victim, size_t culprit)
{
	const struct blame_cells *cells = b->sums[victim].cells;

	return cells->wait_ns[culprit] + cells->stretch_ns[culprit];
}

uint64_t blame__device(const struct blame *b, size_t victim)
{
	const struct blame_sum *sum = &b->sums[victim];
	uint64_t ns = sum->service_ns + sum->idle_ns + sum->unseen_ns;

	for (size_t i = 0; i < b->nr; i++)
		ns -= sum->cells->stretch_ns[i];
	return ns;
}

uint32_t blame__servers(const struct blame *b, int32_t station)
{
	for (size_t i = 0; i < b->nr_devices; i++)
		if (b->devices[i].device == station)
			return b->devices[i].queue->servers;
	return 0;
}
