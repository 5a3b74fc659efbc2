/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "session/recorder_inside.h"
#include "wire/io_stages.h"

/* ---- what a file says about itself ---- */

int recorder_put_number(struct recorder *r, const char *key, uint64_t number)
{
	char text[24];
	struct capture_info info = { key, text };

	snprintf(text, sizeof(text), "%" PRIu64, number);
	return capture_writer__info(r->writer, &info, 1);
}

int recorder_put_device(struct recorder *r, uint16_t number, const struct device *device)
{
	struct device as = *device; /* with its partitions */

	if (r->run.alias)
		alias__device(r->run.alias, &as);
	return capture_writer__device(r->writer, number, &as);
}

/* Under a number that no record has. */
static int recorder_list_one(struct recorder *r, size_t index)
{
	if (index >= UINT16_MAX - RECORDER_NUMBERS)
		return 0;
	for (; r->nr_listed <= index; r->nr_listed++) {
		if (GROW_BY_ONE(r->listed, r->nr_listed))
			return -ENOMEM;
		r->listed[r->nr_listed] = false;
	}
	if (r->listed[index])
		return 0;
	r->listed[index] = true;
	return recorder_put_device(r, (uint16_t)(RECORDER_NUMBERS + index),
				   &r->run.devices->devices[index]);
}

int recorder_list(struct recorder *r, int index)
{
	return recorder_list_one(r, (size_t)device_list__head(r->run.devices, index))
		       ?: recorder_list_one(r, (size_t)index);
}

/* Every device of the machine, in the order of its list. Those that are gone only if records name
 * them: over months there may be more than a file has room for. */
int recorder_put_devices(struct recorder *r)
{
	const struct device_list *list = r->run.devices;
	int err = 0;

	for (size_t i = 0; i < list->nr && !err; i++)
		if (!list->devices[i].gone)
			err = recorder_list_one(r, i);
	return err;
}

static int recorder_put_text(struct recorder *r, enum glossary_kind kind, struct glossary_id id,
			     const char *text)
{
	char *as = r->run.alias ? alias__text(r->run.alias, kind, id, text) : NULL;
	int err = r->run.alias && !as ? -ENOMEM
				      : capture_writer__text(r->writer, kind, id, as ? as : text);

	free(as);
	return err;
}

/* An id means nothing elsewhere, nor here when it is gone: its text, once in every part. */
int recorder_meet_id(struct recorder *r, enum glossary_kind kind, uint64_t id, uint64_t and)
{
	const struct glossary_id whole = { { id, and} };
	struct glossary_entry *entry = glossary__find(&r->met[kind], whole);
	const char *text;

	if (entry && entry->told == r->part + 1)
		return 0;
	entry = entry ? entry : glossary__add(&r->met[kind], whole, NULL);
	if (!entry)
		return r->met[kind].nr < GLOSSARY_MOST ? -ENOMEM : 0;
	entry->told = r->part + 1;
	text = r->run.text(r->run.arg, kind, whole);
	return text ? recorder_put_text(r, kind, whole, text) : 0;
}

int recorder_meet_ids(struct recorder *r, const struct io_record *record)
{
	const struct io_stages *s = io_record__stages(record);
	int err = 0;

	if (s->cgroup)
		err = recorder_meet_id(r, GLOSSARY_CGROUPS, s->cgroup, 0);
	if (!err && s->inode)
		err = recorder_meet_id(r, GLOSSARY_FILES, s->inode,
				       io_file_place(s->file_dev, s->file_nth));
	if (!err && s->kernel_stack)
		err = recorder_meet_id(r, GLOSSARY_STACKS, s->kernel_stack, 0);
	if (!err && s->user_stack)
		err = recorder_meet_id(r, GLOSSARY_STACKS, s->user_stack, record->pid);
	return err;
}

int recorder_put_about(struct recorder *r)
{
	int err = origin__put(&r->origin, r->writer, r->run.alias);

	err = err ?: recorder_put_number(r, CAPTURE_INFO_START, r->run.start_ns);
	if (r->nr_listed)
		memset(r->listed, 0, r->nr_listed * sizeof(*r->listed));
	memset(r->known, 0, sizeof(r->known));
	if (!err && r->run.op_names)
		err = capture_writer__names(r->writer, CAPTURE_NAMES_BLOCK, r->run.op_names);
	if (!err && r->run.devices)
		err = recorder_put_devices(r);
	if (!err && r->has_clock)
		err = capture_writer__clock(r->writer, &r->clock);
	return err;
}

/* ---- the file ---- */

static int recorder_make(void *recorder)
{
	const struct recorder *r = recorder;

	return maker__open(r->run.maker, r->part);
}

/* The permission is missing for the file, not for tracing. */
int recorder_err(int err)
{
	return err == -EACCES || err == -EPERM ? -EIO : err;
}

/* The first file is opened here while there are privileges: it may be /dev/stdout. */
struct capture_options recorder_options(struct recorder *r, const char *path)
{
	return (struct capture_options){
		.path = path,
		.open = r->run.maker && (r->part || r->memory) ? recorder_make : NULL,
		.open_arg = r,
		.mode = options__mode(r->run.options),
		.zstd_level = r->run.options->zstd ? RECORDER_ZSTD : 0,
		.reserve_bytes = CAPTURE_RESERVE_BYTES,
	};
}

void recorder_close_file(struct recorder *r)
{
	r->nr_before += capture_writer__nr_records(r->writer);
	r->bytes_before += capture_writer__bytes(r->writer);
	r->nr_unwritten += capture_writer__nr_unwritten(r->writer);
	capture_writer__free(r->writer);
	r->writer = NULL;
	r->part++;
}

int recorder_end_file(struct recorder *r, uint64_t end_ns, const char *ended,
		      const struct ledger *ledger)
{
	struct ledger_term terms[LEDGER_TERMS];
	struct capture_count counts[LEDGER_TERMS];
	size_t nr = ledger ? ledger__terms(ledger, terms) : 0;
	/* Before the last block of records: the trailer must be last. */
	int err = recorder_put_number(r, CAPTURE_INFO_END, end_ns);

	for (size_t i = 0; i < nr; i++)
		counts[i] = (struct capture_count){ terms[i].name, terms[i].value };
	return capture_writer__finish(r->writer, ended, counts, nr) ?: err;
}

uint64_t recorder__nr_unwritten(const struct recorder *r)
{
	if (r->memory)
		return 0;
	return r->nr_unwritten + (r->writer ? capture_writer__nr_unwritten(r->writer) : 0);
}
