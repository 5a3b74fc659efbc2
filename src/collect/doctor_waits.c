/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * doctor_waits.c: which waits before the device has layers a name for, and why not for all? A
 * finding for each, judged from the facts alone. Where a kernel does not tell, the time stays in
 * the step before the request, Q2G.
 */
#include "collect/doctor.h"

static const struct named_wait {
	const char *item;
	enum queue_function built;   /* a sign that this kernel can do it */
	enum queue_function seen[2]; /* one of these is probed */
	const char *absent, *unseen; /* why there is nothing to name, or no name */
	bool is_before;		     /* the I/O is submitted after it: not in Q2G */
} named_waits[] = {
	{ "tag",
	  NO_QUEUE_FUNCTION,
	  { QUEUE_SLEEPS, NO_QUEUE_FUNCTION },
	  .unseen = "the function in which it sleeps is inlined" },
	{ "wbt",
	  QUEUE_HAS_WBT,
	  { QUEUE_SLEEPS, NO_QUEUE_FUNCTION },
	  "this kernel has no writeback throttling (CONFIG_BLK_WBT)",
	  "the function in which it sleeps is inlined" },
	{ "iocost",
	  QUEUE_IOCOST,
	  { QUEUE_IOCOST, NO_QUEUE_FUNCTION },
	  "this kernel has no io.cost (CONFIG_BLK_CGROUP_IOCOST)" },
	{ "iolatency",
	  QUEUE_HAS_IOLATENCY,
	  { QUEUE_SLEEPS, NO_QUEUE_FUNCTION },
	  "this kernel has no io.latency (CONFIG_BLK_CGROUP_IOLATENCY)",
	  "the function in which it sleeps is inlined" },
	{ "io.max",
	  QUEUE_HAS_IOMAX,
	  { QUEUE_HELD, QUEUE_HELD_ELSE },
	  "this kernel has no io.max (CONFIG_BLK_DEV_THROTTLING)",
	  "the function that holds an I/O back is inlined",
	  .is_before = true },
	{ "frozen",
	  NO_QUEUE_FUNCTION,
	  { QUEUE_FROZEN, NO_QUEUE_FUNCTION },
	  .unseen = "every I/O calls the function that waits for it" },
	{ "zone",
	  QUEUE_HAS_ZONES,
	  { NO_QUEUE_FUNCTION, NO_QUEUE_FUNCTION },
	  "this kernel has no write plugs of zones: the scheduler lets writes wait, in I2D",
	  "every write calls the function that holds it back" },
};

/* Of zones, since 6.17 (2e92ac61c901): its arguments are queue, zone, sector and length. */
static const char zone_event_why[] =
	"event disk_zone_wplug_add_bio does not say which I/O is held back";

static bool facts_have(const struct doctor_facts *facts, enum queue_function function)
{
	return function < NR_QUEUE_FUNCTIONS && facts->queue_functions[function];
}

static enum queue_function facts_seen(const struct doctor_facts *facts,
				      const struct named_wait *wait)
{
	return facts_have(facts, wait->seen[0])	  ? wait->seen[0]
	       : facts_have(facts, wait->seen[1]) ? wait->seen[1]
						  : NO_QUEUE_FUNCTION;
}

static const char *facts_unseen(const struct doctor_facts *facts, const struct named_wait *wait)
{
	return wait->built == QUEUE_HAS_ZONES && facts->has_zone_event ? zone_event_why
								       : wait->unseen;
}

static void say_unnamed(struct doctor_report *report, const char *state,
			const struct named_wait *wait, const char *why)
{
	finding__say(doctor_report__add(report, "wait", state), wait->item, "no name, %s: %s",
		     wait->is_before ? "before Q" : "in Q2G", why);
}

static void judge_wait(struct doctor_report *report, const struct doctor_facts *facts,
		       const struct named_wait *wait)
{
	const enum queue_function seen = facts_seen(facts, wait);

	if (facts->queue_err)
		finding__say(doctor_report__add(report, "wait", doctor_unknown), wait->item,
			     "cannot be told: requires CAP_SYSLOG");
	else if (wait->built != NO_QUEUE_FUNCTION && !facts_have(facts, wait->built))
		finding__say(doctor_report__add(report, "wait", doctor_info), wait->item, "%s",
			     wait->absent);
	else if (seen == NO_QUEUE_FUNCTION)
		say_unnamed(report, doctor_info, wait, facts_unseen(facts, wait));
	else if (facts->tried[TRIAL_KPROBE])
		say_unnamed(report, doctor_no, wait, "requires kprobes");
	else
		finding__say(doctor_report__add(report, "wait", doctor_ok), wait->item,
			     "function %s", queue_functions[seen]);
}

void doctor__judge_waits(struct doctor_report *report, const struct doctor_facts *facts)
{
	size_t i = 0;

	if (facts->has_tag_event) {
		finding__say(doctor_report__add(report, "wait", doctor_ok), named_waits[i].item,
			     "event block_rq_tag_wait");
		i++;
	}
	for (; i < sizeof(named_waits) / sizeof(named_waits[0]); i++)
		judge_wait(report, facts, &named_waits[i]);
}
