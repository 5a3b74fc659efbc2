/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * count.c: events that the machine counts by itself: `soft:` and `hw:` without a number. No program
 * runs, so nothing can be read at an event: no condition, no key but the probe.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/log.h"
#include "probe/run/inside.h"

enum { COUNT_NAMED = 8 }; /* named counters that are left out, without -v */

static bool count_has_only_probes(const struct plan *plan)
{
	for (size_t i = 0; i < plan->nr_keys; i++)
		if (!run_part_is_probe(&plan->keys[i]))
			return false;
	return true;
}

static int count_check(const struct plan *plan, const struct plan_probe *p)
{
	const char *unable = NULL;

	if (plan->action != LINE_COUNT)
		unable = "supports only count";
	else if (p->condition)
		unable = "is a counter, which supports no condition";
	else if (!count_has_only_probes(plan))
		unable = "is a counter, which supports no key but probe";
	return unable ? log_err(-EINVAL, "%s %s; take samples instead, e.g. %s:1000",
				p->probe->name, unable, p->probe->name)
		      : 0;
}

int run_check_counters(const struct run *run)
{
	int err = 0;

	for (size_t i = 0; !err && i < run->nr_counters; i++)
		err = count_check(run->plan, &run->plan->probes[run->counters[i].probe]);
	return err;
}

static int count_open(struct run *run, struct run_counter *counter)
{
	const struct plan_probe *p = &run->plan->probes[counter->probe];
	const struct attach_task task = { run->plan->pid, run->plan->cgroup, run->plan->children };
	int err = attach__count(run->attacher, p->probe, &task, &counter->fds, &counter->nr);

	run->errs[counter->probe] = err;
	/* A machine has some counters and lacks others; a task that does not exist is a mistake
	 * in the line. */
	if (!err || err == -ENOENT || err == -ENODEV || err == -EOPNOTSUPP || err == -EINVAL)
		return 0;
	return log_err(err == -ESRCH ? -EINVAL : -EOPNOTSUPP, "cannot count %s: %s", p->probe->name,
		       attach__why(ATTACH_PERF, err));
}

static bool count_has_any(const struct run *run)
{
	for (size_t i = 0; i < run->plan->nr_probes; i++)
		if (!run->errs[i])
			return true;
	return false;
}

/* "hw:cycles, hw:branches and 3 more (-v names them)". Returns how many there are. */
static size_t count_name_lacking(const struct run *run, char *names, size_t size)
{
	const size_t named = log_verbosity() ? SIZE_MAX : COUNT_NAMED;
	size_t len = 0, nr = 0;

	names[0] = 0;
	for (size_t i = 0; i < run->nr_counters; i++) {
		const size_t probe = run->counters[i].probe;

		if (!run->errs[probe] || nr++ >= named || len >= size)
			continue;
		len += (size_t)snprintf(names + len, size - len, "%s%s", len ? ", " : "",
					run->plan->probes[probe].probe->name);
	}
	if (nr > named)
		snprintf(names + len, size - len, " and %zu more (-v names them)", nr - named);
	return nr;
}

static const char *count_why(const struct run *run)
{
	size_t i = 0;

	while (!run->errs[run->counters[i].probe])
		i++;
	return attach__why(ATTACH_PERF, run->errs[run->counters[i].probe]);
}

/* One line for all missing counters, with the reason of the first; the others run. */
static int count_tell_lacking(const struct run *run)
{
	char names[4096];
	size_t nr = count_name_lacking(run, names, sizeof(names));

	if (!nr)
		return 0;
	if (!count_has_any(run))
		return log_err(-EOPNOTSUPP, "cannot count %s: %s", names, count_why(run));
	log_warn("%s %s left out: %s", names, nr > 1 ? "are" : "is", count_why(run));
	return 0;
}

int run_open_counters(struct run *run)
{
	int err = 0;

	for (size_t i = 0; !err && i < run->nr_counters; i++)
		err = count_open(run, &run->counters[i]);
	return err ?: count_tell_lacking(run);
}

void run_read_counters(struct run *run)
{
	for (size_t i = 0; i < run->nr_counters; i++) {
		struct run_counter *counter = &run->counters[i];
		uint64_t count;

		if (counter->nr &&
		    !attach__read_counter(counter->fds, counter->nr, &count, &run->counters_scaled))
			counter->count = count;
	}
}

/* Their last counts stay. */
void run_close_counters(struct run *run)
{
	run_read_counters(run);
	for (size_t i = 0; i < run->nr_counters; i++) {
		struct run_counter *counter = &run->counters[i];

		while (counter->nr)
			close(counter->fds[--counter->nr]);
		free(counter->fds);
		counter->fds = NULL;
	}
}
