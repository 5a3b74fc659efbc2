/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "decode/op.h"
#include "log.h"
#include "wire/io.h"

enum { FILTER_NAMES = 512 };

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

static int filter_choose(const struct device_list *devices, const char *text,
			 struct device_choice *choice)
{
	const char *name = strncmp(text, "/dev/", 5) ? text : text + 5;
	char names[FILTER_NAMES];

	*choice = (struct device_choice){ .ctrl = -1 };
	for (size_t i = 0; i < devices->nr; i++) {
		const struct device *device = &devices->devices[i];

		if (filter_is_controller(device, name)) {
			choice->ctrl = device->ctrl;
			return 0;
		}
		if (strcmp(device->name, name) && !filter_is_number(device, name))
			continue;
		if (device->kind == DEVICE_BIO)
			return log_err(-ENODEV,
				       "-d %s: it passes bios on; name a disk below it: %s", text,
				       device_list__names(devices, names, sizeof(names)));
		memcpy(choice->disk, device->name, sizeof(choice->disk));
		return 0;
	}
	return log_err(-ENODEV, "-d: there is no disk '%.128s' in the capture; there are: %s", text,
		       device_list__names(devices, names, sizeof(names)));
}

static int filter_init_devices(struct capture_filter *f, const struct device_list *devices)
{
	const struct option_list *names = &f->options->devices;
	int err = 0;

	f->choices = calloc(names->nr + 1, sizeof(*f->choices));
	if (!f->choices)
		return log_err(-ENOMEM, "out of memory");
	for (; !err && f->nr_choices < names->nr; f->nr_choices++)
		err = filter_choose(devices, names->words[f->nr_choices],
				    &f->choices[f->nr_choices]);
	return err;
}

static bool filter_wants_device(const struct capture_filter *f, const struct device *device)
{
	for (size_t i = 0; device && i < f->nr_choices; i++)
		if (device_choice__means(&f->choices[i], device))
			return true;
	return !f->nr_choices;
}

/* ---- --op, --admin, --io ---- */

static int filter_unknown_op(const char *word, char *const *op_names)
{
	const char *words[FILTER_NAMES];
	const char *near = option__nearest(word, words, op__words(op_names, words, FILTER_NAMES));

	return log_err(-EINVAL, "--op: no operation is called '%s'%s%s%s", word,
		       near ? "; did you mean '" : "; read, write, flush and discard are some",
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

/* ---- all of them ---- */

static bool filter_wants_sender(const struct capture_filter *f, const struct io_record *r)
{
	if (f->options->pid.given && r->pid != f->options->pid.value)
		return false;
	return !f->options->comm || !memcmp(r->comm, f->comm, sizeof(f->comm));
}

static bool filter_wants_place(const struct capture_filter *f, const struct io_record *r,
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
	return filter_wants_device(f, device);
}

static bool filter_wants_event(const struct capture_filter *f, const struct io_record *r)
{
	if (r->what == RECORD_SUBMIT)
		return f->submits;
	return r->what != RECORD_BIO || f->bios;
}

/* A submit has no outcome yet: the programs send it before they know. */
static bool filter_wants_outcome(const struct capture_filter *f, const struct io_record *r)
{
	if (r->what == RECORD_SUBMIT)
		return true;
	return r->end_ns - r->first_ns >= f->min_ns && (!f->options->failed || r->status);
}

bool capture_filter__passes(const struct capture_filter *f, const struct io_record *r,
			    const struct device *device)
{
	if (!f->narrows || !filter_wants_event(f, r))
		return filter_wants_event(f, r);
	return filter_wants_op(f, r) && filter_wants_outcome(f, r) && filter_wants_sender(f, r) &&
	       filter_wants_place(f, r, device);
}

static bool filter_narrows(const struct filter_options *o)
{
	return o->devices.nr || o->ops.nr || o->pid.given || o->comm || o->cgroup ||
	       o->nsid.given || o->qid.given || o->ctrl_id.given || o->min_ns.given || o->failed;
}

int capture_filter__init(struct capture_filter *f, const struct filter_options *options,
			 uint32_t kinds, const struct device_list *devices, char *const *op_names)
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
	err = filter_init_ops(f, kinds, op_names);
	return err ? err : filter_init_devices(f, devices);
}

void capture_filter__free(struct capture_filter *f)
{
	free(f->choices);
	f->choices = NULL;
}
