/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter.h: which records of a capture are selected? -d, --op, -p, --comm, --cgroup, --nsid, --qid,
 * --ctrl-id, --min, --failed with exactly the meaning they have in the kernel's programs.
 * Partitions and cgroups are those of the time of recording. Some records lack a value to filter
 * on: the start of a discard of an NVMe drive, the cgroup of a record without stages. They do not
 * pass, and are counted.
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
	bool narrows;	   /* not all commands pass: filters must be checked */
	bool submits;	   /* --split */
	bool bios;	   /* bios, which are not commands */
	bool troubles;	   /* failed attempts, time-outs, events of controllers */
	uint64_t *cgroups; /* --cgroup: ids that match */
	size_t nr_cgroups;
	bool all_cgroups;      /* the root: every cgroup is below it */
	uint64_t nr_stageless; /* records without a cgroup to match --cgroup */
	uint64_t nr_unplaced;  /* discards that may belong to a partition given by -d */
	char comm[16];	       /* --comm */
	uint64_t min_ns;       /* --min */
};

/* The meaning of option arguments in a capture. */
struct capture_filter_names {
	const struct device_list *devices;
	char *const *op_names;
	const struct glossary *cgroups;
};

/* kinds: bits of enum io_kind, 0: all. -EINVAL, -ENODEV, -ENOMEM: printed. Free it even then. */
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
