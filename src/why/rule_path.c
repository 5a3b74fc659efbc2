/* SPDX-License-Identifier: BSD-2-Clause */
/* rule_path.c: one path to a multipath drive is slower than the others. */
#include <inttypes.h>
#include "why/rules.h"

static const double path_times = 2;

struct path {
	uint64_t nr, nr_others, head_ns;
	double ns, tail_ns, mean_ns, others_ns; /* ns: that it takes longer */
};

static const struct fact_device *path_device(const struct facts *f, int32_t device)
{
	for (size_t i = 0; i < f->nr_devices; i++)
		if (f->devices[i]->device == device)
			return f->devices[i];
	return NULL;
}

static bool path_is_other(const struct why_case *c, const struct fact_group *g,
			  const struct fact_group *like)
{
	const struct fact_device *other = path_device(c->facts, g->key.device);

	return g->key.class == like->key.class && g->key.size_class == like->key.size_class &&
	       other && other != c->device && other->place.is_path &&
	       other->place.head == c->device->place.head;
}

static void path_compare(const struct why_case *c, const struct fact_group *g, struct path *path)
{
	uint64_t nr = 0, ns = 0;

	for (size_t i = 0; i < c->facts->nr; i++) {
		const struct fact_group *other = c->facts->groups[i];

		if (!path_is_other(c, other, g))
			continue;
		nr += other->all.nr;
		ns += other->all.parts_ns[PART_DEVICE];
	}
	if (nr < FACT_ALONE)
		return;
	path->nr += g->all.nr;
	path->nr_others += nr;
	path->mean_ns += (double)g->all.parts_ns[PART_DEVICE];
	path->others_ns += (double)ns / (double)nr * (double)g->all.nr;
	path->ns = path->mean_ns - path->others_ns;
	path->tail_ns += (double)g->tail.parts_ns[PART_DEVICE] -
			 (double)ns / (double)nr * (double)g->tail.nr;
}

static bool path_test(const struct why_case *c, struct why_finding *f)
{
	struct path path = { 0 };

	for (size_t i = 0; c->device->place.is_path && i < c->facts->nr; i++)
		if (fact_group__is_judged(c->facts->groups[i], c->device->device))
			path_compare(c, c->facts->groups[i], &path);
	if (path.nr < FACT_ALONE || path.mean_ns < path_times * path.others_ns)
		return false;
	verdict__weigh(f, c, (uint64_t)path.ns, path.tail_ns > 0 ? (uint64_t)path.tail_ns : 0);
	if (f->total < c->least)
		return false;
	f->affected = path.nr;
	verdict__say(f, "this path to the drive is slower than its other paths");
	verdict__prove(f, "%" PRIu64 " commands on this path take %s each at the device", path.nr,
		       why_ns(path.mean_ns / (double)path.nr).text);
	verdict__prove(f, "on the other paths the same commands take %s",
		       why_ns(path.others_ns / (double)path.nr).text);
	verdict__more(f, "latency", "--by", "dev,path");
	return true;
}

const struct why_rule rule_path = { "path", false, false, path_test, { "timeouts", "retries" } };
