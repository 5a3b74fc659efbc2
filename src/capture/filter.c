/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/compare.h"
#include "base/log.h"
#include "base/nearest.h"
#include "decode/nvme.h"
#include "decode/op.h"
#include "wire/io_stages.h"
#include "wire/io_tables.h"

#define FILTER_NO_SECTOR UINT64_MAX /* in no partition */

enum {
	FILTER_NAMES = 512,
	FILTER_NVME_DSM = 0x09, /* dataset management: the data holds its ranges */
};

/* ---- -d ---- */

static bool filter_is_number(const struct device *device, const char *text)
{
	char number[32];

	snprintf(number, sizeof(number), "%u:%u", device->major, device->minor);
	return device->kind != DEVICE_NVME_CTRL && !strcmp(text, number);
}

/* nvme0, where only its namespaces are known. */
static bool filter_is_controller(const struct device *device, const char *text)
{
	char name[32];

	snprintf(name, sizeof(name), "nvme%d", device->ctrl);
	return device->ctrl >= 0 && !strcmp(text, name);
}

static int filter_choose_partition(const struct device *disk, const char *text, const char *name,
				   struct device_choice *choice)
{
	for (uint32_t i = 0; i < disk->nr_partitions; i++) {
		const struct device_partition *partition = &disk->partitions[i];

		if (strcmp(partition->name, name))
			continue;
		if (!partition->nr_sectors) /* would mean the whole disk */
			return log_err(
				-ENODEV,
				"-d %.64s: the partition has no sectors; name the disk: -d %s",
				text, disk->name);
		choice->from_sector = partition->from_sector;
		choice->nr_sectors = partition->nr_sectors;
		return 0;
	}
	return -ENOENT;
}

/* Without "db7:", if the disk is of that machine, and without /dev/. */
static const char *filter_plain_name(const struct device *disk, const char *text)
{
	size_t len = disk->host ? strlen(disk->host) : 0;

	if (len && !strncmp(text, disk->host, len) && text[len] == ':')
		text += len + 1;
	return strncmp(text, "/dev/", 5) ? text : text + 5;
}

/* 0; -ENODEV, after a message; -ENOENT: not this disk. */
static int filter_choose_disk(const struct device_list *devices, const struct device *disk,
			      const char *text, struct device_choice *choice)
{
	const char *name = filter_plain_name(disk, text);
	char names[FILTER_NAMES];
	int err = 0;

	if (filter_is_controller(disk, name)) {
		choice->ctrl = disk->ctrl;
		return 0;
	}
	if (strcmp(disk->name, name) && !filter_is_number(disk, name))
		err = filter_choose_partition(disk, text, name, choice);
	if (err)
		return err;
	if (disk->kind == DEVICE_BIO)
		return log_err(-ENODEV,
			       "-d %.64s: it is bio-based and issues no requests; name a disk "
			       "below it: %s",
			       text, device_list__names(devices, names, sizeof(names)));
	memcpy(choice->disk, disk->name, sizeof(choice->disk));
	return 0;
}

/* Always prints a message. */
static int filter_refuse(const struct device_list *devices, const char *text)
{
	const char *name = strncmp(text, "/dev/", 5) ? text : text + 5;
	char names[FILTER_NAMES];

	for (size_t i = 0; i < devices->nr; i++) {
		const struct device *disk = &devices->devices[i];

		if (!disk->knows_partitions && device__may_have_partition(disk->name, name))
			return log_err(-ENODEV,
				       "-d %.64s: this capture has no partitions (its iosonar did "
				       "not record them); name the disk: -d %s",
				       text, disk->name);
	}
	return log_err(-ENODEV, "-d: unknown disk '%.128s'; the capture has: %s", text,
		       device_list__names(devices, names, sizeof(names)));
}

static uint16_t filter_last_host(const struct device_list *devices)
{
	uint16_t last = 0;

	for (size_t i = 0; i < devices->nr; i++)
		if (devices->devices[i].host_number > last)
			last = devices->devices[i].host_number;
	return last;
}

/* Of one machine: partitions of one name begin elsewhere on another. */
static int filter_choose_of(const struct device_list *devices, uint16_t host, const char *text,
			    struct device_choice *choice)
{
	int err = -ENOENT;

	*choice = (struct device_choice){ .ctrl = -1, .host_number = host };
	for (size_t i = 0; i < devices->nr && err == -ENOENT; i++)
		if (devices->devices[i].host_number == host)
			err = filter_choose_disk(devices, &devices->devices[i], text, choice);
	return err;
}

/* A name without a machine is that of each machine's disk. */
static int filter_choose(struct capture_filter *f, const struct device_list *devices,
			 const char *text)
{
	const uint16_t last = filter_last_host(devices);
	const size_t before = f->nr_choices;

	for (uint16_t host = 0; host <= last; host++) {
		int err = filter_choose_of(devices, host, text, &f->choices[f->nr_choices]);

		if (err && err != -ENOENT)
			return err;
		f->nr_choices += !err;
	}
	return f->nr_choices > before ? 0 : filter_refuse(devices, text);
}

static int filter_init_devices(struct capture_filter *f, const struct device_list *devices)
{
	const struct option_list *names = &f->options->devices;
	int err = 0;

	f->devices = devices;
	f->choices = calloc(names->nr * (filter_last_host(devices) + 1u) + 1, sizeof(*f->choices));
	if (!f->choices)
		return log_err(-ENOMEM, "out of memory");
	for (size_t i = 0; !err && i < names->nr; i++)
		err = filter_choose(f, devices, names->words[i]);
	return err;
}

/*
 * As the kernel had it when the command was built: flushes and passthrough commands have none
 * (rq->__sector is -1). A discard of an NVMe drive had one, which its record does not hold.
 */
static uint64_t filter_sector(const struct io_record *r, const struct device *device)
{
	uint64_t lba;

	if (r->kind == IO_BLOCK)
		return (uint64_t)r->cdw10[1] << 32 | r->cdw10[0];
	if (r->flags & RECORD_PASSTHROUGH || !nvme_command__lba(r, &lba))
		return FILTER_NO_SECTOR;
	return lba * (device->block_size > 512 ? device->block_size / 512 : 1);
}

static bool filter_is_unplaced(const struct io_record *r)
{
	return r->kind == IO_NVME && r->op == FILTER_NVME_DSM && !(r->flags & RECORD_PASSTHROUGH);
}

/* A whole disk, or one of its partitions: several -d of a disk add up. */
static bool filter_wants_device(struct capture_filter *f, const struct io_record *r,
				const struct device *device)
{
	uint64_t sector = 0;
	bool some = false;

	for (size_t i = 0; device && i < f->nr_choices; i++) {
		const struct device_choice *choice = &f->choices[i];

		if (!device_choice__means(choice, device))
			continue;
		if (!choice->nr_sectors)
			return true;
		sector = some ? sector : filter_sector(r, device);
		some = true;
		if (sector - choice->from_sector < choice->nr_sectors)
			return true;
	}
	f->nr_unplaced += some && filter_is_unplaced(r);
	return !f->nr_choices;
}

/* ---- --op, --admin, --io ---- */

static int filter_unknown_op(const char *word, char *const *op_names)
{
	const char *words[FILTER_NAMES];
	const char *near = nearest__word(word, words, op__words(op_names, words, FILTER_NAMES));

	return log_err(-EINVAL, "--op: unknown operation '%s'%s%s%s", word,
		       near ? "; did you mean '" : "; write e.g. read, write, flush or discard",
		       near ? near : "", near ? "'?" : "");
}

static int filter_init_ops(struct capture_filter *f, uint32_t kinds, char *const *op_names)
{
	const struct option_list *ops = &f->options->ops;

	for (size_t i = 0; i < ops->nr; i++)
		if (!op__mark(ops->words[i], op_names, f->wanted_ops))
			return filter_unknown_op(ops->words[i], op_names);
	f->by_op = ops->nr || kinds;
	for (int kind = 0; kinds && kind < 4; kind++) {
		if (!(kinds >> kind & 1))
			memset(f->wanted_ops[kind], 0, sizeof(f->wanted_ops[kind]));
		else if (!ops->nr)
			memset(f->wanted_ops[kind], 0xff, sizeof(f->wanted_ops[kind]));
	}
	return 0;
}

static bool filter_wants_op(const struct capture_filter *f, const struct io_record *r)
{
	return !f->by_op || (f->wanted_ops[r->kind & 3][r->op >> 6] >> (r->op & 63) & 1);
}

/* ---- --cgroup ---- */

/* The part after the root of the hierarchy, without leading and trailing slashes. */
static const char *filter_cgroup_name(const char *text, size_t *len)
{
	static const char root[] = "/sys/fs/cgroup";

	if (!strncmp(text, root, sizeof(root) - 1))
		text += sizeof(root) - 1;
	text += strspn(text, "/");
	*len = strlen(text);
	while (*len && text[*len - 1] == '/')
		--*len;
	return text;
}

bool capture_filter__is_in_cgroup(const char *path, const char *cgroup)
{
	size_t len;
	const char *name = filter_cgroup_name(cgroup, &len);

	path += strspn(path, "/");
	return !len || (!strncmp(path, name, len) && (!path[len] || path[len] == '/'));
}

static int filter_unknown_cgroup(const struct capture_filter_names *names, const char *text)
{
	if (!names->cgroups->nr)
		return log_err(-EINVAL, "--cgroup %.128s: the capture has no cgroup paths", text);
	return log_err(-EINVAL,
		       "--cgroup %.128s: no command of the capture is from this cgroup; it has "
		       "e.g. %.128s",
		       text, names->cgroups->entries[0].text);
}

static int filter_init_cgroups(struct capture_filter *f, const struct capture_filter_names *names)
{
	const char *text = f->options->cgroup;
	size_t len = 0;

	if (text)
		filter_cgroup_name(text, &len);
	f->all_cgroups = text && !len;
	if (!text || f->all_cgroups)
		return 0;
	f->cgroups = calloc(names->cgroups->nr + 1, sizeof(*f->cgroups));
	if (!f->cgroups)
		return log_err(-ENOMEM, "out of memory");
	for (size_t i = 0; i < names->cgroups->nr; i++)
		if (capture_filter__is_in_cgroup(names->cgroups->entries[i].text, text))
			f->cgroups[f->nr_cgroups++] = names->cgroups->entries[i].id.words[0];
	qsort(f->cgroups, f->nr_cgroups, sizeof(*f->cgroups), compare__u64);
	return f->nr_cgroups ? 0 : filter_unknown_cgroup(names, text);
}

static bool filter_wants_cgroup(struct capture_filter *f, const struct io_record *r)
{
	const struct io_stages *stages = io_record__stages(r);

	if (!f->options->cgroup || f->all_cgroups)
		return true;
	if (!stages || !stages->cgroup) {
		f->nr_stageless++;
		return false;
	}
	return bsearch(&stages->cgroup, f->cgroups, f->nr_cgroups, sizeof(*f->cgroups),
		       compare__u64);
}

/* ---- all filters ---- */

static bool filter_wants_sender(const struct capture_filter *f, const struct io_record *r)
{
	if (f->options->pid.given && r->pid != f->options->pid.value)
		return false;
	return !f->options->comm || !memcmp(r->comm, f->comm, sizeof(f->comm));
}

static bool filter_wants_place(struct capture_filter *f, const struct io_record *r,
			       const struct device *device)
{
	const struct filter_options *o = f->options;

	if (o->nsid.given && (r->kind == IO_BLOCK || r->nsid != o->nsid.value))
		return false;
	if (o->qid.given && r->qid != o->qid.value)
		return false;
	if (o->ctrl_id.given &&
	    (!device || device->ctrl < 0 || (uint64_t)device->ctrl != o->ctrl_id.value))
		return false;
	return filter_wants_device(f, r, device);
}

static bool filter_wants_event(const struct capture_filter *f, const struct io_record *r)
{
	switch (r->what) {
	case RECORD_END: return true;
	case RECORD_SUBMIT: return f->submits;
	case RECORD_BIO: return f->bios;
	default: return f->troubles && r->what <= RECORD_EVENT;
	}
}

/* Only ended I/O has an outcome. */
static bool filter_wants_outcome(const struct capture_filter *f, const struct io_record *r)
{
	if (r->what != RECORD_END && r->what != RECORD_BIO)
		return true;
	return r->end_ns - r->first_ns >= f->min_ns && (!f->options->failed || r->status);
}

/* A controller's events pass if -d names the controller or one of its disks. */
static bool filter_wants_controller(const struct capture_filter *f, const struct device *device)
{
	const struct filter_options *o = f->options;

	if (o->ctrl_id.given &&
	    (!device || device->ctrl < 0 || (uint64_t)device->ctrl != o->ctrl_id.value))
		return false;
	return device ? device_list__concerns(f->devices, f->choices, f->nr_choices, device)
		      : !f->nr_choices;
}

bool capture_filter__passes(struct capture_filter *f, const struct io_record *r,
			    const struct device *device)
{
	if (!f->narrows || !filter_wants_event(f, r))
		return filter_wants_event(f, r);
	if (r->what == RECORD_EVENT)
		return filter_wants_controller(f, device);
	return filter_wants_op(f, r) && filter_wants_outcome(f, r) && filter_wants_sender(f, r) &&
	       filter_wants_place(f, r, device) && filter_wants_cgroup(f, r);
}

static bool filter_narrows(const struct filter_options *o)
{
	return o->devices.nr || o->ops.nr || o->pid.given || o->comm || o->cgroup ||
	       o->nsid.given || o->qid.given || o->ctrl_id.given || o->min_ns.given || o->failed;
}

int capture_filter__init(struct capture_filter *f, const struct filter_options *options,
			 uint32_t kinds, const struct capture_filter_names *names)
{
	int err;

	*f = (struct capture_filter){ .options = options,
				      .narrows = kinds || filter_narrows(options),
				      .min_ns = options->min_ns.given ? options->min_ns.value : 0 };
	if (options->comm && (!*options->comm || strlen(options->comm) >= sizeof(f->comm)))
		return log_err(-EINVAL, "--comm '%s': a task's name has 1 to %zu characters",
			       options->comm, sizeof(f->comm) - 1);
	if (options->comm)
		memcpy(f->comm, options->comm, strlen(options->comm));
	err = filter_init_ops(f, kinds, names->op_names);
	err = err ?: filter_init_devices(f, names->devices);
	return err ?: filter_init_cgroups(f, names);
}

void capture_filter__free(struct capture_filter *f)
{
	free(f->choices);
	free(f->cgroups);
	f->choices = NULL;
	f->cgroups = NULL;
}
