/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * doctor.h: what can this kernel and these privileges show, through which hook, and why not the
 * rest? doctor_facts.c looks at the machine, doctor_judge.c derives findings from the facts alone,
 * so that tests can judge machines we do not have. A few hundred milliseconds.
 */
#ifndef IOSONAR_COLLECT_DOCTOR_H
#define IOSONAR_COLLECT_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "collect/io.h"
#include "collect/kernel.h"
#include "collect/needs.h"
#include "collect/obstacle.h"
#include "collect/queue_functions.h"
#include "collect/rights.h"
#include "collect/trial.h"
#include "device/device.h"

struct doctor_command {
	const char *name;
	unsigned int needs; /* enum need */
};

struct doctor_facts {
	const char *btf_path; /* another kernel's BTF is judged: nothing else is known; NULL: no */
	const char *parts;    /* optional parts of this build; NULL: unknown */
	bool has_btf;
	struct kernel kernel;
	struct rights rights;
	int tried[NR_TRIALS];
	struct rehearsal rehearsal;
	struct device_list devices;
	bool has_tag_event;			      /* block_rq_tag_wait */
	bool has_zone_event;			      /* disk_zone_wplug_add_bio */
	uint64_t queue_functions[NR_QUEUE_FUNCTIONS]; /* addresses; 0: not in this kernel */
	int queue_err;				      /* these are not known */
};

/* 0, or -errno after one line: FILE is not BTF, or /sys cannot be read. Free in both cases. */
int doctor_facts__read(struct doctor_facts *facts, const char *btf_path);
void doctor_facts__free(struct doctor_facts *facts);

/* Words of finding.state. */
extern const char doctor_ok[], doctor_partly[], doctor_no[], doctor_spare[], doctor_unknown[],
	doctor_info[];

/*
 *	 ok       nvme_setup_cmd     tp_btf: typed pointers; nvme_core's BTF has the prototype
 */
struct finding {
	const char *section; /* "hook" */
	char item[48];	     /* "nvme_setup_cmd", "CAP_BPF", "nvme0n1": from the kernel, hostile */
	const char *hook;    /* "tp_btf"; NULL */
	const char *state;   /* ok: chosen, or as it should be; partly: it can run, and loses
				something; no: it is not there; spare: would do, is not used;
				unknown: cannot be told from here; info */
	char why[320];
	const char *remedy;	       /* NULL: none, or none needed */
	uint64_t queues, depth, bytes; /* CELL_NO_NUMBER: none */
};

struct doctor_report {
	struct finding *findings;
	size_t nr;
	struct obstacle obstacle; /* of latency; kind OBSTACLE_NONE: it can run */
	bool incomplete;	  /* memory ran out */
};

/* Where the next finding goes; never NULL: out of memory, the last finding is overwritten. */
struct finding *doctor_report__add(struct doctor_report *report, const char *section,
				   const char *state);
__attribute__((format(printf, 3, 4))) void finding__say(struct finding *f, const char *item,
							const char *format, ...);
void doctor__judge_waits(struct doctor_report *report, const struct doctor_facts *facts);
void doctor__judge_privileges(struct doctor_report *report, const struct doctor_facts *facts);

/* Pure. 0 or -ENOMEM. commands end with a NULL name. */
int doctor__judge(struct doctor_report *report, const struct doctor_facts *facts,
		  const struct doctor_command *commands);
void doctor_report__free(struct doctor_report *report);

#endif
