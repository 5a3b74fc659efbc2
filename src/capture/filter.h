/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter.h: which records of a capture are meant? -d, --op, -p, --comm, --cgroup, --nsid, --qid,
 * --ctrl-id, --min, --failed with exactly the meaning that the programs in the kernel give them.
 * Partitions and cgroups are those of the time of recording. What a record does not hold cannot be
 * asked for: where a discard of an NVMe drive begins, the cgroup of a record without stages. Such
 * records do not pass, and are counted.
 */
#ifndef IOSONAR_CAPTURE_FILTER_H
#define IOSONAR_CAPTURE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/options.h"
#include "capture/about.h"
#include "device/device.h"
#include "wire/io_record.h"

struct capture_filter {
	const struct filter_options *options;
	const struct device_list *devices;
	struct device_choice *choices; /* -d */
	size_t nr_choices;
	uint64_t wanted_ops[4][4]; /* a bit per operation, by kind */
	bool by_op;
	bool narrows;	   /* not all commands pass: there is something to be asked */
	bool submits;	   /* --split */
	bool bios;	   /* bios, which are no commands */
	bool troubles;	   /* attempts that failed, time-outs, what happened to controllers */
	uint64_t *cgroups; /* --cgroup: those that are meant, by id */
	size_t nr_cgroups;
	bool all_cgroups;      /* the root: there is nothing that is not below it */
	uint64_t nr_stageless; /* records that --cgroup could not be asked about */
	uint64_t nr_unplaced;  /* discards that may have been of a partition that -d means */
	char comm[16];	       /* --comm */
	uint64_t min_ns;       /* --min */
};

/* What words of options mean in a capture. */
struct capture_filter_names {
	const struct device_list *devices;
	char *const *op_names;
	const struct glossary *cgroups;
};

/* kinds: bits of enum io_kind, 0: all. -EINVAL, -ENODEV, -ENOMEM: said. Free it even then. */
int capture_filter__init(struct capture_filter *filter, const struct filter_options *options,
			 uint32_t kinds, const struct capture_filter_names *names);
void capture_filter__free(struct capture_filter *filter);
/* device: the record's; NULL: not known. */
bool capture_filter__passes(struct capture_filter *filter, const struct io_record *record,
			    const struct device *device);

/* --cgroup: the cgroup itself or one below it, with or without /sys/fs/cgroup; all are below the
 * root.
 */
bool capture_filter__is_in_cgroup(const char *path, const char *cgroup);

#endif
