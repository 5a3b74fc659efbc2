/* SPDX-License-Identifier: BSD-2-Clause */
#include "diff/side.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "base/log.h"
#include "capture/printout.h"
#include "capture/read.h"

static void *side_no_memory(void)
{
	log_no_memory();
	return NULL;
}

struct diff_device *diff_side__device(const struct diff_side *side, const char *label)
{
	for (size_t i = 0; i < side->nr_devices; i++)
		if (!strcmp(side->devices[i]->label, label))
			return side->devices[i];
	return NULL;
}

struct diff_device *diff_side__add_device(struct diff_side *side, const char *label)
{
	struct diff_device *device = calloc(1, sizeof(*device));

	if (!device || GROW_BY_ONE(side->devices, side->nr_devices)) {
		free(device);
		return side_no_memory();
	}
	snprintf(device->label, sizeof(device->label), "%s", label);
	side->devices[side->nr_devices++] = device;
	return device;
}

struct diff_group *diff_side__find(const struct diff_side *side, size_t device, const char *op)
{
	for (size_t i = 0; i < side->nr_groups; i++)
		if (side->groups[i]->device == device && !strcmp(side->groups[i]->op, op))
			return side->groups[i];
	return NULL;
}

static void group_free(struct diff_group *group)
{
	sample__free(&group->sample);
	sample__free(&group->turns);
	free(group);
}

static struct diff_group *group_new(size_t device, const char *op, unsigned int bits)
{
	struct diff_group *group = calloc(1, sizeof(*group));

	if (!group)
		return NULL;
	group->device = device;
	snprintf(group->op, sizeof(group->op), "%s", op);
	if (!sample__init(&group->sample, bits))
		return group;
	group_free(group);
	return NULL;
}

struct diff_group *diff_side__group(struct diff_side *side, size_t device, const char *op,
				    unsigned int bits)
{
	struct diff_group *group = diff_side__find(side, device, op);

	if (group)
		return group;
	if (side->nr_groups == DIFF_MOST_GROUPS) {
		log_err(-E2BIG,
			"%s has more than %d combinations of device and operation: select some "
			"with -d or --op",
			side->path, DIFF_MOST_GROUPS);
		return NULL;
	}
	group = group_new(device, op, bits);
	if (!group || GROW_BY_ONE(side->groups, side->nr_groups)) {
		if (group)
			group_free(group);
		return side_no_memory();
	}
	side->groups[side->nr_groups++] = group;
	return group;
}

static int kind_of_capture(const char *path, const struct capture_reader *reader,
			   enum diff_kind *kind)
{
	const bool has_commands = capture_reader__nr_records(reader);

	*kind = !has_commands && capture_reader__has_calls(reader) ? DIFF_CALLS : DIFF_COMMANDS;
	if (has_commands || *kind == DIFF_CALLS)
		return 0;
	if (capture_reader__has_requests(reader))
		return log_err(-EINVAL,
			       "%s is a capture of requests: diff compares commands or calls",
			       path);
	if (capture_reader__has_waits(reader))
		return log_err(-EINVAL, "%s is a capture of waits: diff compares commands or calls",
			       path);
	if (!capture_reader__has_cache(reader, false))
		return 0;
	return log_err(-EINVAL,
		       "%s is a capture of the page cache: diff compares commands or calls", path);
}

int diff_kind__of(const char *path, enum diff_kind *kind)
{
	struct capture_reader *reader;
	int err;

	if (printout__is_one(path)) {
		*kind = DIFF_SAVED;
		return 0;
	}
	err = capture_reader__open(path, &reader);
	if (err) /* the file is at fault, not the command line or privileges */
		return err == -ENOMEM || err == -EOPNOTSUPP ? err : -EIO;
	err = kind_of_capture(path, reader, kind);
	capture_reader__free(reader);
	return err;
}

void diff_side__free(struct diff_side *side)
{
	for (size_t i = 0; i < side->nr_groups; i++)
		group_free(side->groups[i]);
	for (size_t i = 0; i < side->nr_devices; i++)
		free(side->devices[i]);
	free(side->groups);
	free(side->devices);
	*side = (struct diff_side){ 0 };
}

int diff_side__ends(const struct diff_side *side, struct pair_ends *ends)
{
	ends->nr = side->nr_devices;
	ends->ends = calloc(side->nr_devices + 1, sizeof(*ends->ends));
	if (!ends->ends)
		return log_no_memory();
	for (size_t i = 0; i < side->nr_devices; i++)
		ends->ends[i] = (struct pair_end){ .name = side->devices[i]->label,
						   .serial = side->devices[i]->serial,
						   .nsid = side->devices[i]->nsid,
						   .is_ctrl = side->devices[i]->is_ctrl };
	return 0;
}
