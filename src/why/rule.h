/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rule.h: what is a cause of slow I/O? A rule tests the facts of one device, and if it finds its
 * cause there, says what it is, how much of the time it explains, and which numbers show it. A rule
 * is one file, rule_NAME.c, and one line in rules.c.
 */
#ifndef IOSONAR_WHY_RULE_H
#define IOSONAR_WHY_RULE_H

#include "why/culprits.h"
#include "why/facts.h"

enum why_sure { WHY_LOW, WHY_MEDIUM, WHY_HIGH };

struct why_rule;

struct why_finding {
	const struct why_rule *rule;
	int32_t device;
	double total, tail;	    /* shares, 0 to 1: of all time, of the time of the slowest */
	uint64_t cost_ns, affected; /* affected: commands */
	enum why_sure sure;
	char whose[64];	    /* time: of the device's commands, of a task's reads... */
	char what[200];	    /* a sentence */
	char evidence[500]; /* separated by ';' */
	const char *more;   /* the command that shows more, */
	char more_args[80]; /* and what it needs beside the source */
};

/* What a rule looks at. */
struct why_case {
	const struct facts *facts;
	const struct culprits *culprits;
	const struct fact_device *device;
	struct fact_sums all, tail; /* of the device */
	double least;		    /* the share that matters: --at-least */
};

struct why_rule {
	const char *name;
	bool needs_stages; /* the records have to have the times of the stages */
	bool is_fault;	   /* it matters whatever its share */
	bool (*test)(const struct why_case *c, struct why_finding *finding);
	/* Rules whose finding on the same device explains this one, if it weighs as much. */
	const char *yields[15];
};

/* ---- for rules ---- */

double why_share(uint64_t part, uint64_t all);
/* Sets the shares and the cost: parts of all commands, and of the slowest. */
void verdict__weigh(struct why_finding *finding, const struct why_case *c, uint64_t all_ns,
		    uint64_t tail_ns);
/* The larger share. */
double verdict__share(const struct why_finding *finding);
/* Sets `what`; adds a piece of evidence. */
__attribute__((format(printf, 2, 3))) void verdict__say(struct why_finding *finding,
							const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void verdict__prove(struct why_finding *finding,
							  const char *fmt, ...);
void verdict__more(struct why_finding *finding, const char *command, const char *option,
		   const char *value);
/* "1.20ms" */
struct why_text {
	char text[24];
};
struct why_text why_ns(double ns);
const char *fact_class__word(enum fact_class class);

/* A test of a part of the time, which all commands pass. */
bool why_test_part(const struct why_case *c, enum fact_part part, struct why_finding *finding);
/* Commands that waited before they had a request: a part up to PART_TAGS. */
uint64_t why_waited(const struct why_case *c, enum fact_part part);
/* A finding of such a wait that a part of the kernel imposes. */
bool why_test_held(const struct why_case *c, enum fact_part part, const char *what,
		   struct why_finding *finding);
/* Times that commands of these classes take longer, before and at the device, than with at most one
 * other in flight; infinite: that is not known. */
double why_stretch(const struct why_case *c, uint32_t classes);
/* How much longer commands with a flag take than those of their kind without it. */
struct why_extra {
	uint64_t nr, nr_without;
	double ns, tail_ns;	    /* in sum */
	double mean_ns, without_ns; /* each */
};
void why_extra__find(const struct why_case *c, uint8_t flag, struct why_extra *extra);
/* The reads of the device that filled the page cache; NULL: none are known. */
const struct pages_disk *why_pages(const struct why_case *c);
/* A finding of reads that brought these bytes without need: their part of the time of reads. */
bool why_test_wasted(const struct why_case *c, double bytes, struct why_finding *finding);
/* Fills a finding of a culprit; false: it matters too little. */
bool why_test_culprit(const struct why_case *c, culprit_is_fn is, struct why_finding *finding,
		      struct culprit_worst *worst);

#endif
