/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * merge_about.c: what several captures say about themselves, as if they were one: whose numbers of
 * devices, ids of texts and clocks are changed, and to what. Two files may use one number for
 * different things, and two numbers for one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/block.h"
#include "capture/chunk.h"
#include "capture/merge_inside.h"
#include "wire/file_id.h"

/* Keeps its own number if free, so that a single file stays unchanged. */
static int merge_free_number(const struct capture_merge *merge, uint16_t wanted)
{
	for (uint32_t i = 0; i < MERGE_NUMBERS; i++)
		if (!merge->used[(wanted + i) % MERGE_NUMBERS])
			return (int)((wanted + i) % MERGE_NUMBERS);
	return -EOVERFLOW;
}

/* The number of a file's machine, from 1; 0: all files are of one. */
static uint16_t merge_host(const struct merge_file *file)
{
	const struct capture_merge *merge = file->merge;

	return merge->hosts.nr > 1 ? (uint16_t)(merge->hosts.of[file - merge->files] + 1) : 0;
}

static int merge_find_device(const struct capture_merge *merge, const struct device *device,
			     uint16_t host)
{
	for (size_t i = 0; i < merge->about.nr_devices; i++) {
		const struct device *other = &merge->about.devices[i];

		if (other->host_number == host && other->diskseq == device->diskseq &&
		    other->ctrl == device->ctrl && other->nsid == device->nsid &&
		    !strcmp(other->name, device->name) && !strcmp(other->serial, device->serial) &&
		    !strcmp(other->model, device->model))
			return merge->about.numbers[i];
	}
	return -ENODEV;
}

static int merge_set_device(struct merge_file *file, uint16_t here, const struct device *device)
{
	struct device as = *device; /* with its partitions */

	as.host_number = merge_host(file);
	as.host = as.host_number ? file->merge->hosts.hosts[as.host_number - 1].label : NULL;
	return capture_about__set_device(&file->merge->about, here, &as);
}

/* The number of a file's device in the merge. */
static int merge_renumber(void *arg, uint16_t number)
{
	struct merge_file *file = arg;
	struct capture_merge *merge = file->merge;
	const struct device *device =
		capture_about__device(capture_reader__about(file->reader), number);
	int here, err = 0;

	if (file->renumber[number])
		return file->renumber[number] - 1;
	here = device ? merge_find_device(merge, device, merge_host(file)) : -ENODEV;
	if (here >= 0) {
		/* An older file may lack facts about a device that another file has. */
		if (device->knows_partitions &&
		    !capture_about__device(&merge->about, (uint16_t)here)->knows_partitions)
			err = merge_set_device(file, (uint16_t)here, device);
	} else {
		here = merge_free_number(merge, number);
		if (here < 0 || here == UINT16_MAX)
			return -EOVERFLOW;
		if (device)
			err = merge_set_device(file, (uint16_t)here, device);
	}
	if (err)
		return err;
	merge->used[here] = true;
	file->renumber[number] = (uint16_t)(here + 1);
	return here;
}

static const struct glossary_entry *merge_find_text(const struct glossary *glossary,
						    const struct glossary_entry *wanted,
						    enum glossary_kind kind)
{
	for (size_t i = 0; i < glossary->nr; i++) {
		const struct glossary_entry *entry = &glossary->entries[i];

		/* A record's process is part of the id of its stack. */
		if (kind == GLOSSARY_STACKS && entry->id.words[1] != wanted->id.words[1])
			continue;
		if (!strcmp(entry->text, wanted->text))
			return entry;
	}
	return NULL;
}

/* An id that no kernel assigns. */
static struct glossary_id merge_new_id(struct capture_merge *merge, enum glossary_kind kind,
				       struct glossary_id id)
{
	bool is_short = kind == GLOSSARY_STACKS || kind == GLOSSARY_DISKS;
	uint64_t last = is_short		 ? UINT32_MAX
			: kind == GLOSSARY_FILES ? FILE_SPECIAL - 1
						 : UINT64_MAX;

	return (struct glossary_id){ { last - merge->nr_new_ids[kind]++, id.words[1] } };
}

/*
 * The same text is the same thing, whatever its id; an id that has another text already, from
 * another boot or run, gets a new id.
 */
static int merge_add_text(struct merge_file *file, enum glossary_kind kind,
			  const struct glossary_entry *entry)
{
	struct glossary *here = &file->merge->about.glossaries[kind];
	const struct glossary_entry *same = glossary__find(here, entry->id);
	struct glossary_entry *renamed;
	struct glossary_id as = entry->id;

	if (!same || strcmp(same->text, entry->text)) {
		/* The first file keeps its ids: its records are not translated. */
		bool is_first = file == file->merge->files;
		const struct glossary_entry *other =
			is_first ? NULL : merge_find_text(here, entry, kind);

		if (other)
			as = other->id;
		else if (same)
			as = merge_new_id(file->merge, kind, entry->id);
		if (!other && !glossary__add(here, as, entry->text) && here->nr < GLOSSARY_MOST)
			return -ENOMEM;
	}
	if (!memcmp(&as, &entry->id, sizeof(as)))
		return 0;
	renamed = glossary__add(&file->renamed[kind], entry->id, NULL);
	if (!renamed)
		return -ENOMEM;
	renamed->as = as;
	return 0;
}

static int merge_copy_texts(struct merge_file *file, const struct capture_about *from)
{
	int err = 0;

	for (int kind = 0; kind < NR_GLOSSARIES; kind++)
		for (size_t i = 0; i < from->glossaries[kind].nr && !err; i++)
			err = merge_add_text(file, (enum glossary_kind)kind,
					     &from->glossaries[kind].entries[i]);
	return err;
}

/* The merged id of a file's id; an id without a text stays. */
struct glossary_id merge_rename(void *arg, enum glossary_kind kind, struct glossary_id id)
{
	const struct merge_file *file = arg;
	const struct glossary_entry *renamed = glossary__find(&file->renamed[kind], id);

	return renamed ? renamed->as : id;
}

static const struct glossary_entry *merge_find_placed(const struct glossary *files, uint32_t dev,
						      const char *text)
{
	for (size_t i = 0; i < files->nr; i++)
		if ((uint32_t)files->entries[i].id.words[1] == dev && files->entries[i].text &&
		    !strcmp(files->entries[i].text, text))
			return &files->entries[i];
	return NULL;
}

/* The same path on the same disk is the same file. */
static int merge_place_file(struct merge_file *file, const struct glossary_entry *entry)
{
	struct glossary *files = &file->merge->about.glossaries[GLOSSARY_FILES];
	struct glossary_id disk = { { (uint32_t)entry->id.words[1] } }, as = entry->id;
	const struct glossary_entry *here;
	struct glossary_entry *placed;

	disk = merge_rename(file, GLOSSARY_DISKS, disk);
	as.words[1] = io_file_place((uint32_t)disk.words[0], (uint32_t)(as.words[1] >> 32));
	here = merge_find_placed(files, (uint32_t)disk.words[0], entry->text);
	if (here)
		as = here->id;
	else if (glossary__find(files, as))
		as = merge_new_id(file->merge, GLOSSARY_FILES, as);
	if (!here && !glossary__add(files, as, entry->text) && files->nr < GLOSSARY_MOST)
		return -ENOMEM;
	placed = glossary__add(&file->placed, entry->id, NULL);
	if (!placed)
		return -ENOMEM;
	placed->as = as;
	return 0;
}

/* For views that show a file beside its disk: of waits and of the page cache. */
static int merge_place_files(struct merge_file *file, const struct capture_about *from)
{
	const struct glossary *files = &from->glossaries[GLOSSARY_FILES];
	int err = 0;

	if (file == file->merge->files || !(capture_reader__has_waits(file->reader) ||
					    capture_reader__has_requests(file->reader) ||
					    capture_reader__has_cache(file->reader, false)))
		return 0;
	for (size_t i = 0; i < files->nr && !err; i++)
		if (files->entries[i].text)
			err = merge_place_file(file, &files->entries[i]);
	return err;
}

static uint64_t merge_wall_offset(const struct capture_about *about)
{
	return about->clocks[0].real_ns - about->clocks[0].mono_ns;
}

static uint64_t merge_shift(const struct capture_about *first, const struct capture_about *other)
{
	const char *boot = capture_about__info(first, CAPTURE_INFO_BOOT_ID);
	const char *other_boot = capture_about__info(other, CAPTURE_INFO_BOOT_ID);

	/* Files of one boot share their clocks. */
	if (first == other || (boot && other_boot && !strcmp(boot, other_boot)))
		return 0;
	if (!first->nr_clocks || !other->nr_clocks)
		return 0;
	return merge_wall_offset(other) - merge_wall_offset(first);
}

/* All times are numbers of 64 bits: a file may be of long before the first file's boot. */
void merge_shift_all(struct capture_merge *merge)
{
	const struct capture_about *first = capture_reader__about(merge->files[0].reader);
	int64_t earliest_ns = 0;

	for (size_t i = 0; i < merge->nr; i++) {
		struct merge_file *file = &merge->files[i];
		const struct capture_about *about = capture_reader__about(file->reader);
		uint64_t start_ns, end_ns;

		file->shift_ns = merge_shift(first, about);
		if (!capture_reader__run(file->reader, &start_ns, &end_ns) || start_ns >> 62)
			continue;
		if ((int64_t)(start_ns + file->shift_ns) < earliest_ns)
			earliest_ns = (int64_t)(start_ns + file->shift_ns);
	}
	for (size_t i = 0; i < merge->nr && earliest_ns < 0; i++)
		merge->files[i].shift_ns += (uint64_t)-earliest_ns;
}

static int merge_copy_clocks(struct capture_merge *merge, const struct merge_file *file)
{
	const struct capture_about *from = capture_reader__about(file->reader);
	int err = 0;

	for (size_t i = 0; i < from->nr_clocks && !err; i++) {
		struct capture_clock clock = from->clocks[i];

		clock.mono_ns += file->shift_ns;
		err = capture_about__add_clock(&merge->about, &clock);
	}
	return err;
}

/* Copies names that earlier files lack. */
static int merge_copy_names(struct capture_merge *merge, const struct capture_about *from)
{
	int err = 0;

	for (size_t i = 0; i < from->nr_sets && !err; i++) {
		const char *set = from->sets[i].set;
		struct byte_out out = { 0 };

		if (capture_about__names(&merge->about, set))
			continue;
		capture_about__put_names(&out, set, from->sets[i].names);
		err = out.failed
			      ? -ENOMEM
			      : capture_about__take(
					&merge->about, CAPTURE_NAMES,
					(struct byte_in){ out.bytes, out.bytes + out.len, false });
		byte_out__free(&out);
	}
	return err;
}

int merge_add_file(struct capture_merge *merge, struct merge_file *file)
{
	const struct capture_about *first = capture_reader__about(merge->files[0].reader);
	const struct capture_about *from = capture_reader__about(file->reader);
	int err;

	file->renumber = calloc(MERGE_NUMBERS, sizeof(*file->renumber));
	if (!file->renumber)
		return -ENOMEM;
	capture_reader__translate(file->reader, &(struct capture_translation){
							.shift_ns = file->shift_ns,
							.device = merge_renumber,
							.id = first == from ? NULL : merge_rename,
							.arg = file });
	err = merge_copy_clocks(merge, file);
	err = err ?: merge_copy_texts(file, from);
	err = err ?: merge_place_files(file, from);
	err = err ?: merge_copy_names(merge, from);
	for (size_t i = 0; i < from->nr_info && !err; i++)
		err = capture_about__set_info(&merge->about, from->info[i].key,
					      from->info[i].value);
	for (size_t i = 0; i < from->nr_devices && !err; i++) {
		int here = merge_renumber(file, from->numbers[i]);

		err = here < 0 ? here : 0;
	}
	return err;
}

/* Of several machines, each device says whose it is. */
int merge_name_devices(struct capture_merge *merge)
{
	for (size_t i = 0; i < merge->about.nr_devices; i++) {
		struct device *device = &merge->about.devices[i];

		free(device->shown);
		device->shown = NULL;
		if (device->host &&
		    asprintf(&device->shown, "%s:%s", device->host, device->name) < 0) {
			device->shown = NULL;
			return -ENOMEM;
		}
	}
	return 0;
}
