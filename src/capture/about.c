/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/about.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/compare.h"
#include "base/grow.h"
#include "capture/chunk.h"

/* Above what any capture has; limits a hostile file. */
enum {
	ABOUT_INFO = 256,
	ABOUT_SETS = 16,
	ABOUT_COUNTS = 1024,
	ABOUT_NUMBERS = 65536,
	ABOUT_PARTITIONS = 4096, /* of a device; the kernel has 256 */
};

static void about_free_counts(struct capture_counts *counts)
{
	for (size_t i = 0; i < counts->nr; i++)
		free((char *)counts->counts[i].name);
	free(counts->counts);
	memset(counts, 0, sizeof(*counts));
}

static void about_free_trailer(struct capture_trailer *trailer)
{
	free(trailer->ended);
	about_free_counts(&trailer->lost);
	about_free_counts(&trailer->ledger);
	memset(trailer, 0, sizeof(*trailer));
}

void capture_about__free(struct capture_about *about)
{
	for (size_t i = 0; i < about->nr_info; i++) {
		free((char *)about->info[i].key);
		free((char *)about->info[i].value);
	}
	for (size_t i = 0; i < about->nr_sets; i++) {
		free(about->sets[i].set);
		for (size_t j = 0; j < CAPTURE_NR_NAMES; j++)
			free(about->sets[i].names[j]);
	}
	for (size_t i = 0; i < about->nr_devices; i++)
		device__free(&about->devices[i]);
	for (size_t i = 0; i < NR_GLOSSARIES; i++)
		glossary__free(&about->glossaries[i]);
	about_free_trailer(&about->trailer);
	free(about->info);
	free(about->devices);
	free(about->numbers);
	free(about->device_index);
	free(about->sets);
	free(about->clocks);
	memset(about, 0, sizeof(*about));
}

const char *capture_about__info(const struct capture_about *about, const char *key)
{
	for (size_t i = 0; i < about->nr_info; i++)
		if (!strcmp(about->info[i].key, key))
			return about->info[i].value;
	return NULL;
}

uint64_t capture_about__info_number(const struct capture_about *about, const char *key,
				    uint64_t none)
{
	const char *text = capture_about__info(about, key);

	return text && *text ? strtoull(text, NULL, 10) : none;
}

const struct device *capture_about__device(const struct capture_about *about, uint16_t number)
{
	uint16_t place = about->device_index ? about->device_index[number] : 0;

	return place ? &about->devices[place - 1] : NULL;
}

static struct capture_name_set *about_find_set(const struct capture_about *about, const char *set)
{
	for (size_t i = 0; i < about->nr_sets; i++)
		if (!strcmp(about->sets[i].set, set))
			return &about->sets[i];
	return NULL;
}

char *const *capture_about__names(const struct capture_about *about, const char *set)
{
	const struct capture_name_set *found = about_find_set(about, set);

	return found ? found->names : NULL;
}

/* Number of triples at or before that time. */
static size_t about_clocks_until(const struct capture_about *about, uint64_t mono_ns)
{
	size_t low = 0, high = about->nr_clocks;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (about->clocks[middle].mono_ns <= mono_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t capture_about__wall_ns(const struct capture_about *about, uint64_t mono_ns)
{
	size_t until = about_clocks_until(about, mono_ns);
	const struct capture_clock *clock;

	if (!about->nr_clocks)
		return 0;
	clock = &about->clocks[until ? until - 1 : 0];
	return clock->real_ns + (mono_ns - clock->mono_ns);
}

int capture_about__add_clock(struct capture_about *about, const struct capture_clock *clock)
{
	if (GROW(about->clocks, about->room_clocks, about->nr_clocks + 1))
		return -ENOMEM;
	about->clocks[about->nr_clocks++] = *clock;
	return 0;
}

void capture_about__sort_clocks(struct capture_about *about)
{
	if (about->nr_clocks)
		qsort(about->clocks, about->nr_clocks, sizeof(*about->clocks), compare__u64);
}

void capture_about__forget_clocks(struct capture_about *about, uint64_t mono_ns)
{
	size_t until = about_clocks_until(about, mono_ns);
	size_t gone = until ? until - 1 : 0;

	if (!gone)
		return;
	about->nr_clocks -= gone;
	memmove(about->clocks, about->clocks + gone, about->nr_clocks * sizeof(*about->clocks));
}

int capture_about__set_info(struct capture_about *about, const char *key, const char *value)
{
	struct capture_info *info;

	if (capture_about__info(about, key))
		return 0;
	if (about->nr_info == ABOUT_INFO)
		return -EBADMSG;
	if (GROW_BY_ONE(about->info, about->nr_info))
		return -ENOMEM;
	info = &about->info[about->nr_info];
	info->key = strdup(key);
	info->value = strdup(value);
	if (!info->key || !info->value) {
		free((char *)info->key);
		free((char *)info->value);
		return -ENOMEM;
	}
	about->nr_info++;
	return 0;
}

void capture_about__put_info(struct byte_out *out, const struct capture_info *info, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		byte_out__text(out, info[i].key);
		byte_out__text(out, info[i].value);
	}
}

static int about_take_info(struct capture_about *about, struct byte_in *in)
{
	int err = 0;

	while (in->at < in->end && !err) {
		char *key = byte_in__text_new(in), *value = byte_in__text_new(in);

		err = key && value ? capture_about__set_info(about, key, value) : -EBADMSG;
		free(key);
		free(value);
	}
	return err;
}

static int about_grow_devices(struct capture_about *about)
{
	const size_t nr = about->nr_devices;

	if (!about->device_index)
		about->device_index = calloc(ABOUT_NUMBERS, sizeof(*about->device_index));
	if (!about->device_index)
		return -ENOMEM;
	if (nr == UINT16_MAX)
		return -EBADMSG;
	return GROW_BY_ONE(about->devices, nr) ?: GROW_BY_ONE(about->numbers, nr);
}

int capture_about__set_device(struct capture_about *about, uint16_t number,
			      const struct device *device)
{
	const struct device *known = capture_about__device(about, number);
	struct device copy;
	int err = device__copy(&copy, device);

	if (err)
		return err;
	if (known) {
		device__free(&about->devices[known - about->devices]);
		about->devices[known - about->devices] = copy;
		return 0;
	}
	err = about_grow_devices(about);
	if (err) {
		device__free(&copy);
		return err;
	}
	about->devices[about->nr_devices] = copy;
	about->numbers[about->nr_devices++] = number;
	about->device_index[number] = (uint16_t)about->nr_devices;
	return 0;
}

/* At the end of the entry: older files end before it. */
static void about_put_partitions(struct byte_out *out, const struct device *device)
{
	if (!device->knows_partitions)
		return;
	byte_out__varint(out, device->nr_partitions);
	for (uint32_t i = 0; i < device->nr_partitions; i++) {
		byte_out__text(out, device->partitions[i].name);
		byte_out__varint(out, device->partitions[i].from_sector);
		byte_out__varint(out, device->partitions[i].nr_sectors);
	}
}

static int about_take_partitions(struct byte_in *in, struct device *device)
{
	uint64_t nr;

	if (in->at == in->end)
		return 0;
	nr = byte_in__varint(in);
	if (in->bad || nr > ABOUT_PARTITIONS || nr > byte_in__left(in))
		return -EBADMSG;
	device->partitions = calloc(nr + 1, sizeof(*device->partitions));
	if (!device->partitions)
		return -ENOMEM;
	device->nr_partitions = (uint32_t)nr;
	device->knows_partitions = true;
	for (uint64_t i = 0; i < nr; i++) {
		struct device_partition *partition = &device->partitions[i];

		byte_in__text(in, partition->name, sizeof(partition->name));
		partition->from_sector = byte_in__varint(in);
		partition->nr_sectors = byte_in__varint(in);
	}
	return in->bad ? -EBADMSG : 0;
}

/* An entry counts its own bytes: later fields come at its end, and older readers skip them. */
void capture_about__put_device(struct byte_out *out, uint16_t number, const struct device *device)
{
	struct byte_out entry = { 0 };

	byte_out__varint(&entry, number);
	byte_out__text(&entry, device->name);
	byte_out__varint(&entry, device->kind);
	byte_out__varint(&entry, device->diskseq);
	byte_out__varint(&entry, device->size_bytes);
	byte_out__varint(&entry, device->block_size);
	byte_out__varint(&entry, device->major);
	byte_out__varint(&entry, device->minor);
	byte_out__varint(&entry, zigzag__put(device->ctrl));
	byte_out__varint(&entry, device->nsid);
	byte_out__varint(&entry, device->nr_queues);
	byte_out__varint(&entry, device->depth);
	byte_out__text(&entry, device->model);
	byte_out__text(&entry, device->serial);
	byte_out__text(&entry, device->firmware);
	byte_out__u8(&entry, device->gone);
	about_put_partitions(&entry, device);
	/* After the partitions: an entry without that field has none. */
	if (device->knows_partitions && (device->unit_bytes || device->has_poll_queues))
		byte_out__varint(&entry, device->unit_bytes);
	if (device->knows_partitions && device->has_poll_queues)
		byte_out__varint(&entry, 1);
	byte_out__varint(out, entry.len);
	byte_out__put(out, entry.bytes, entry.len);
	out->failed |= entry.failed;
	byte_out__free(&entry);
}

static int about_take_device(struct capture_about *about, struct byte_in *entry)
{
	struct device device = { 0 };
	uint64_t number = byte_in__varint(entry);
	int err;

	byte_in__text(entry, device.name, sizeof(device.name));
	device.kind = (enum device_kind)byte_in__varint(entry);
	device.diskseq = byte_in__varint(entry);
	device.size_bytes = byte_in__varint(entry);
	device.block_size = (uint32_t)byte_in__varint(entry);
	device.major = (uint32_t)byte_in__varint(entry);
	device.minor = (uint32_t)byte_in__varint(entry);
	device.ctrl = (int)zigzag__get(byte_in__varint(entry));
	device.nsid = (uint32_t)byte_in__varint(entry);
	device.nr_queues = (uint32_t)byte_in__varint(entry);
	device.depth = (uint32_t)byte_in__varint(entry);
	byte_in__text(entry, device.model, sizeof(device.model));
	byte_in__text(entry, device.serial, sizeof(device.serial));
	byte_in__text(entry, device.firmware, sizeof(device.firmware));
	device.gone = byte_in__u8(entry);
	if (entry->bad || number >= ABOUT_NUMBERS)
		return -EBADMSG;
	if (device.kind > DEVICE_BIO) /* a later kind: it had records, so it has a queue */
		device.kind = DEVICE_REQUEST;
	err = about_take_partitions(entry, &device);
	if (!err && entry->at != entry->end) {
		device.unit_bytes = (uint32_t)byte_in__varint(entry);
		if (entry->at != entry->end)
			device.has_poll_queues = byte_in__varint(entry) & 1;
		err = entry->bad ? -EBADMSG : 0;
	}
	err = err ?: capture_about__set_device(about, (uint16_t)number, &device);
	device__free(&device);
	return err;
}

static int about_take_devices(struct capture_about *about, struct byte_in *in)
{
	int err = 0;

	while (in->at < in->end && !err) {
		struct byte_in entry = byte_in__part(in);

		err = entry.bad ? -EBADMSG : about_take_device(about, &entry);
	}
	return err;
}

uint32_t capture_about__put_names(struct byte_out *out, const char *set, char *const *names)
{
	uint32_t nr = 0;

	byte_out__text(out, set);
	for (size_t i = 0; i < CAPTURE_NR_NAMES; i++) {
		if (!names[i])
			continue;
		byte_out__varint(out, i);
		byte_out__text(out, names[i]);
		nr++;
	}
	return nr;
}

static int about_add_set(struct capture_about *about, char *name, struct capture_name_set **set)
{
	int err;

	*set = about_find_set(about, name);
	if (*set) {
		free(name);
		return 0;
	}
	err = about->nr_sets < ABOUT_SETS ? GROW_BY_ONE(about->sets, about->nr_sets) : -EBADMSG;
	if (err) {
		free(name);
		return err;
	}
	*set = &about->sets[about->nr_sets++];
	memset(*set, 0, sizeof(**set));
	(*set)->set = name;
	return 0;
}

static int about_take_names(struct capture_about *about, struct byte_in *in)
{
	char *name = byte_in__text_new(in);
	struct capture_name_set *set;
	int err;

	if (!name)
		return -EBADMSG;
	err = about_add_set(about, name, &set);
	while (in->at < in->end && !err) {
		uint64_t number = byte_in__varint(in);

		name = byte_in__text_new(in);
		if (!name)
			return -EBADMSG;
		if (number >= CAPTURE_NR_NAMES) {
			free(name);
			continue;
		}
		free(set->names[number]);
		set->names[number] = name;
	}
	return err;
}

void capture_about__put_clock(struct byte_out *out, const struct capture_clock *clock)
{
	byte_out__u64(out, clock->mono_ns);
	byte_out__u64(out, clock->boot_ns);
	byte_out__u64(out, clock->real_ns);
}

static int about_take_clocks(struct capture_about *about, struct byte_in *in)
{
	int err = 0;

	while (in->at < in->end && !err) {
		struct capture_clock clock = {
			.mono_ns = byte_in__u64(in),
			.boot_ns = byte_in__u64(in),
			.real_ns = byte_in__u64(in),
		};

		err = in->bad ? -EBADMSG : capture_about__add_clock(about, &clock);
	}
	return err;
}

const char *capture_about__text(const struct capture_about *about, enum glossary_kind kind,
				struct glossary_id id)
{
	return glossary__text(&about->glossaries[kind], id);
}

/* The id of a cgroup or a disk is one word. */
static size_t about_id_words(enum glossary_kind kind)
{
	return kind == GLOSSARY_CGROUPS || kind == GLOSSARY_DISKS ? 1 : 2;
}

void capture_about__put_text(struct byte_out *out, enum glossary_kind kind, struct glossary_id id,
			     const char *text)
{
	for (size_t i = 0; i < about_id_words(kind); i++)
		byte_out__varint(out, id.words[i]);
	byte_out__text(out, text);
}

static int about_take_texts(struct capture_about *about, enum glossary_kind kind,
			    struct byte_in *in)
{
	struct glossary *glossary = &about->glossaries[kind];
	int err = 0;

	while (in->at < in->end && !err) {
		struct glossary_id id = { { 0 } };
		char *text;

		for (size_t i = 0; i < about_id_words(kind); i++)
			id.words[i] = byte_in__varint(in);
		text = byte_in__text_new(in);
		if (!text || in->bad)
			err = -EBADMSG;
		else if (!glossary__add(glossary, id, text) && glossary->nr < GLOSSARY_MOST)
			err = -ENOMEM;
		free(text);
	}
	return err;
}

/* Names are not empty: an empty name ends the list, as do the zeros after a trailer. */
static void about_put_counts(struct byte_out *out, const struct capture_counts *counts,
			     size_t most_bytes)
{
	for (size_t i = 0; i < counts->nr; i++) {
		size_t len = strlen(counts->counts[i].name);

		if (!len || out->len + len + 16 > most_bytes)
			continue;
		byte_out__text(out, counts->counts[i].name);
		byte_out__varint(out, counts->counts[i].value);
	}
	byte_out__u8(out, 0);
}

void capture_about__put_trailer(struct byte_out *out, const struct capture_trailer *trailer,
				size_t most_bytes)
{
	byte_out__u64(out, trailer->file_bytes);
	byte_out__varint(out, trailer->records);
	byte_out__text(out, trailer->ended);
	about_put_counts(out, &trailer->lost, most_bytes);
	about_put_counts(out, &trailer->ledger, most_bytes);
}

static int about_take_counts(struct capture_counts *counts, struct byte_in *in)
{
	while (in->at < in->end && *in->at) {
		struct capture_count count = { .name = byte_in__text_new(in) };

		count.value = byte_in__varint(in);
		if (counts->nr >= ABOUT_COUNTS || in->bad || !count.name ||
		    GROW_BY_ONE(counts->counts, counts->nr)) {
			free((char *)count.name);
			return -EBADMSG;
		}
		counts->counts[counts->nr++] = count;
	}
	byte_in__u8(in);
	return in->bad ? -EBADMSG : 0;
}

static int about_take_trailer(struct capture_about *about, struct byte_in *in)
{
	struct capture_trailer *trailer = &about->trailer;
	int err;

	about_free_trailer(trailer);
	trailer->file_bytes = byte_in__u64(in);
	trailer->records = byte_in__varint(in);
	trailer->ended = byte_in__text_new(in);
	err = trailer->ended ? about_take_counts(&trailer->lost, in) : -EBADMSG;
	err = err ?: about_take_counts(&trailer->ledger, in);
	trailer->there = !err;
	return err;
}

int capture_about__take(struct capture_about *about, uint8_t type, struct byte_in in)
{
	switch (type) {
	case CAPTURE_INFO: return about_take_info(about, &in);
	case CAPTURE_DEVICES: return about_take_devices(about, &in);
	case CAPTURE_NAMES: return about_take_names(about, &in);
	case CAPTURE_CLOCK: return about_take_clocks(about, &in);
	case CAPTURE_TRAILER: return about_take_trailer(about, &in);
	case CAPTURE_CGROUPS:
	case CAPTURE_STACKS:
	case CAPTURE_FILES:
	case CAPTURE_DISKS: return about_take_texts(about, type - CAPTURE_CGROUPS, &in);
	}
	return 0;
}
