/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf.c: what perf counts or times: profile:HZ, interval:T, soft:EVENT[:N], hw:EVENT[:N]. The
 * names are perf's own. Whether this machine has a counter is only known when the kernel opens it.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/log.h"
#include "base/option.h"
#include "base/units.h"
#include "probe/find/inside.h"

enum {
	PERF_TIMER_LEAST_NS =
		10000, /* the kernel raises shorter clock periods to this: perf_swevent_hrtimer */
	PERF_RATE_DEFAULT = 100000,
	PERF_FILE_MAX = 64,
	PERF_NAME_MAX = 64,
};

#define PERF_PERIOD_MOST ((uint64_t)INT64_MAX)

/* ---- names ---- */

struct perf_event_name {
	const char *name;
	uint64_t config;
	bool is_alias; /* accepted, not listed */
};

static const struct perf_event_name perf_soft_names[] = {
	{ "alignment-faults", PERF_COUNT_SW_ALIGNMENT_FAULTS },
	{ "context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-clock", PERF_COUNT_SW_CPU_CLOCK },
	{ "cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "emulation-faults", PERF_COUNT_SW_EMULATION_FAULTS },
	{ "major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "page-faults", PERF_COUNT_SW_PAGE_FAULTS },
	{ "task-clock", PERF_COUNT_SW_TASK_CLOCK },
	{ "cpu", PERF_COUNT_SW_CPU_CLOCK, true },
	{ "cs", PERF_COUNT_SW_CONTEXT_SWITCHES, true },
	{ "faults", PERF_COUNT_SW_PAGE_FAULTS, true },
	{ "major-fault", PERF_COUNT_SW_PAGE_FAULTS_MAJ, true },
	{ "migrations", PERF_COUNT_SW_CPU_MIGRATIONS, true },
	{ "minor-fault", PERF_COUNT_SW_PAGE_FAULTS_MIN, true },
	{ "page-fault", PERF_COUNT_SW_PAGE_FAULTS, true },
	{ NULL },
};

static const struct perf_event_name perf_hw_names[] = {
	{ "branch-misses", PERF_COUNT_HW_BRANCH_MISSES },
	{ "branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "bus-cycles", PERF_COUNT_HW_BUS_CYCLES },
	{ "cache-misses", PERF_COUNT_HW_CACHE_MISSES },
	{ "cache-references", PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cycles", PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_COUNT_HW_INSTRUCTIONS },
	{ "ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES },
	{ "stalled-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "stalled-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "backend-stalls", PERF_COUNT_HW_STALLED_CYCLES_BACKEND, true },
	{ "branch-instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, true },
	{ "cpu-cycles", PERF_COUNT_HW_CPU_CYCLES, true },
	{ "frontend-stalls", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, true },
	{ NULL },
};

#define CACHE(id, op, result)                                          \
	(PERF_COUNT_HW_CACHE_##id | PERF_COUNT_HW_CACHE_OP_##op << 8 | \
	 PERF_COUNT_HW_CACHE_RESULT_##result << 16)
#define CACHE_OP(name, id, word, words, op)               \
	{ name "-" word "-misses", CACHE(id, op, MISS) }, \
	{                                                 \
		name "-" words, CACHE(id, op, ACCESS)     \
	}
#define CACHE_LOADS(name, id)	   CACHE_OP(name, id, "load", "loads", READ)
#define CACHE_STORES(name, id)	   CACHE_OP(name, id, "store", "stores", WRITE)
#define CACHE_PREFETCHES(name, id) CACHE_OP(name, id, "prefetch", "prefetches", PREFETCH)
#define CACHE_ALL(name, id) \
	CACHE_LOADS(name, id), CACHE_PREFETCHES(name, id), CACHE_STORES(name, id)

static const struct perf_event_name perf_cache_names[] = {
	CACHE_ALL("L1-dcache", L1D),
	CACHE_LOADS("L1-icache", L1I),
	CACHE_PREFETCHES("L1-icache", L1I),
	CACHE_ALL("LLC", LL),
	CACHE_LOADS("branch", BPU),
	CACHE_ALL("dTLB", DTLB),
	CACHE_LOADS("iTLB", ITLB),
	CACHE_ALL("node", NODE),
	{ NULL },
};

static const struct perf_table {
	enum probe_kind kind;
	uint32_t type;
	const struct perf_event_name *events;
} perf_tables[] = {
	{ PROBE_SOFT, PERF_TYPE_SOFTWARE, perf_soft_names },
	{ PROBE_HW, PERF_TYPE_HARDWARE, perf_hw_names },
	{ PROBE_HW, PERF_TYPE_HW_CACHE, perf_cache_names },
};
enum {
	PERF_TABLES = sizeof(perf_tables) / sizeof(perf_tables[0]),
	PERF_NAMES = (sizeof(perf_soft_names) + sizeof(perf_hw_names) + sizeof(perf_cache_names)) /
		     sizeof(perf_soft_names[0]),
};

/* ---- numbers ---- */

/* "1000", "100k", "1e6". */
static bool perf_read_count(const char *text, uint64_t *value)
{
	const char *e = strncasecmp(text, "0x", 2) ? strpbrk(text, "eE") : NULL;
	uint64_t exponent;
	char digits[24];

	if (!e || !isdigit((unsigned char)*text))
		return !units__read_size(text, value) && *value && *value <= PERF_PERIOD_MOST;
	if ((size_t)(e - text) >= sizeof(digits))
		return false;
	snprintf(digits, sizeof(digits), "%.*s", (int)(e - text), text);
	if (units__read_number(digits, value) || units__read_number(e + 1, &exponent))
		return false;
	for (; *value && exponent; exponent--) {
		if (*value > PERF_PERIOD_MOST / 10)
			return false;
		*value *= 10;
	}
	return *value;
}

/* ---- timers ---- */

static int perf_add(struct find_job *job, struct probe *probe, const char *name)
{
	int err = find__set_name(probe, probe_kind__word(job->kind), name);

	return probe_list__add_made(job->list, probe, err) ? log_no_memory() : 0;
}

/* The kernel refuses more samples per second. */
static uint64_t perf_rate_most(const struct finder *finder)
{
	uint64_t rate = PERF_RATE_DEFAULT;
	char *text = find__read_file(PERF_FILE_MAX, "%s/proc/sys/kernel/perf_event_max_sample_rate",
				     finder->root);

	if (text && strtoull(text, NULL, 10))
		rate = strtoull(text, NULL, 10);
	free(text);
	return rate;
}

int find__profiles(struct find_job *job)
{
	struct probe probe = {
		.kind = PROBE_PROFILE,
		.perf_type = PERF_TYPE_SOFTWARE,
		.perf_config = PERF_COUNT_SW_CPU_CLOCK,
	};
	uint64_t most = perf_rate_most(job->finder);

	if (!strncmp(job->rest, "hz:", 3))
		return log_err(-EINVAL, "'%s' is the syntax of another tool; write profile:%s",
			       job->spec, job->rest + 3);
	if (units__read_number(job->rest, &probe.period) || !probe.period)
		return log_err(-EINVAL, "'%s': '%s' is not a rate in Hz; write e.g. profile:99",
			       job->spec, job->rest);
	if (probe.period > most)
		return log_err(-EINVAL,
			       "'%s' exceeds the limit of this kernel, %" PRIu64
			       " Hz; see kernel.perf_event_max_sample_rate",
			       job->spec, most);
	return perf_add(job, &probe, job->rest);
}

int find__intervals(struct find_job *job)
{
	struct probe probe = {
		.kind = PROBE_INTERVAL,
		.perf_type = PERF_TYPE_SOFTWARE,
		.perf_config = PERF_COUNT_SW_CPU_CLOCK,
	};
	const char *colon = strchr(job->rest, ':');

	if (colon)
		return log_err(-EINVAL, "'%s' is the syntax of another tool; write interval:%s%.*s",
			       job->spec, colon + 1, (int)(colon - job->rest), job->rest);
	if (*job->rest && !job->rest[strspn(job->rest, "0123456789")])
		return log_err(-EINVAL, "'%s' lacks a unit; write %ss or %sms", job->spec,
			       job->spec, job->spec);
	if (units__read_duration(job->rest, &probe.period) || probe.period > PERF_PERIOD_MOST)
		return log_err(-EINVAL, "'%s': '%s' is not a duration; write e.g. interval:1s",
			       job->spec, job->rest);
	if (probe.period < PERF_TIMER_LEAST_NS)
		return log_err(-EINVAL, "'%s': the shortest interval is 10us", job->spec);
	return perf_add(job, &probe, job->rest);
}

/* ---- counters ---- */

/* A search in one or two tables. */
struct perf_search {
	struct find_job *job;
	char name[PERF_NAME_MAX]; /* or a glob */
	uint64_t period;
};

static int perf_split(struct perf_search *search)
{
	const char *rest = search->job->rest, *colon = strchr(rest, ':');
	size_t len = strcspn(rest, ":");

	if (len >= sizeof(search->name))
		return log_err(-EINVAL, "'%s': the name of the event is too long",
			       search->job->spec);
	snprintf(search->name, sizeof(search->name), "%.*s", (int)len, rest);
	if (!len)
		strcpy(search->name, "*");
	if (colon && !perf_read_count(colon + 1, &search->period))
		return log_err(-EINVAL,
			       "'%s': '%s' is not a number of events per sample; write e.g. 1000, "
			       "100k or 1e6",
			       search->job->spec, colon + 1);
	return 0;
}

/* A clock counts nanoseconds. */
static int perf_check_clock(const struct perf_search *search, uint32_t type, uint64_t config)
{
	if (type != PERF_TYPE_SOFTWARE ||
	    (config != PERF_COUNT_SW_CPU_CLOCK && config != PERF_COUNT_SW_TASK_CLOCK) ||
	    !search->period || search->period >= PERF_TIMER_LEAST_NS)
		return 0;
	return log_err(-EINVAL, "'%s': a clock counts nanoseconds; the minimum is 10000",
		       search->job->spec);
}

static int perf_add_matching(const struct perf_search *search, const struct perf_table *table)
{
	const struct perf_event_name *events = table->events;
	int err = 0;

	for (; !err && events->name; events++) {
		struct probe probe = {
			.kind = search->job->kind,
			.perf_type = table->type,
			.perf_config = events->config,
			.period = search->period,
		};

		if (events->is_alias ? strcmp(search->name, events->name) != 0
				     : !find__matches(search->name, events->name))
			continue;
		err = perf_check_clock(search, table->type, events->config);
		err = err ? err : perf_add(search->job, &probe, events->name);
	}
	return err;
}

static int perf_refuse(const struct perf_search *search)
{
	const char *names[PERF_NAMES];
	char spec[PERF_NAME_MAX + 8];
	struct find_job job = *search->job;
	size_t nr = 0;

	snprintf(spec, sizeof(spec), "%s:%s", probe_kind__word(job.kind), search->name);
	job.spec = spec;
	job.rest = strchr(spec, ':') + 1;
	for (const struct perf_table *t = perf_tables; t < perf_tables + PERF_TABLES; t++)
		for (size_t i = 0; t->kind == job.kind && t->events[i].name; i++)
			names[nr++] = t->events[i].name;
	return find__unknown(&job, job.kind == PROBE_SOFT ? "software event" : "hardware event", "",
			     names, nr);
}

int find__counters(struct find_job *job)
{
	struct perf_search search = { .job = job };
	size_t before = job->list->nr;
	int err = perf_split(&search);

	for (size_t i = 0; !err && i < PERF_TABLES; i++)
		if (perf_tables[i].kind == job->kind)
			err = perf_add_matching(&search, &perf_tables[i]);
	if (err || job->list->nr > before)
		return err;
	return perf_refuse(&search);
}

int find__counter_names(const struct find_naming *naming)
{
	int err = 0;

	for (const struct perf_table *t = perf_tables; t < perf_tables + PERF_TABLES; t++)
		for (size_t i = 0; !err && t->kind == naming->kind && t->events[i].name; i++)
			err = t->events[i].is_alias ? 0 : find__name(naming, t->events[i].name);
	return err;
}
