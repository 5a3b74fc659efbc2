/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "capture/block.h"
#include "capture/chunk.h"

enum { MERGE_NUMBERS = 65536 };

struct merge_file {
	struct capture_merge *merge;
	struct capture_reader *reader;
	uint64_t shift_ns;	      /* converts its times to the first file's clock */
	const struct io_record *next; /* its earliest record not returned yet, */
	uint64_t next_ns;	      /* and its time */
	uint16_t *renumber;	      /* device number here, plus 1; by its number in the file */
	struct glossary renamed[NR_GLOSSARIES]; /* ids with another id in the merge */
};

struct capture_merge {
	struct capture_about about;
	struct merge_file *files;
	size_t nr;
	struct merge_file **heap; /* the files with records left, the earliest first */
	size_t nr_heap;
	bool begun;  /* the heap exists, */
	bool handed; /* and its first file's record was returned */
	uint64_t nr_new_ids[NR_GLOSSARIES];
	bool used[MERGE_NUMBERS];
};

/* Keeps its own number if free, so that a single file stays unchanged. */
static int merge_free_number(const struct capture_merge *merge, uint16_t wanted)
{
	for (uint32_t i = 0; i < MERGE_NUMBERS; i++)
		if (!merge->used[(wanted + i) % MERGE_NUMBERS])
			return (int)((wanted + i) % MERGE_NUMBERS);
	return -EOVERFLOW;
}

static int merge_find_device(const struct capture_merge *merge, const struct device *device)
{
	for (size_t i = 0; i < merge->about.nr_devices; i++) {
		const struct device *other = &merge->about.devices[i];

		if (other->diskseq == device->diskseq && other->ctrl == device->ctrl &&
		    other->nsid == device->nsid && !strcmp(other->name, device->name) &&
		    !strcmp(other->serial, device->serial) && !strcmp(other->model, device->model))
			return merge->about.numbers[i];
	}
	return -ENODEV;
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
	here = device ? merge_find_device(merge, device) : -ENODEV;
	if (here >= 0) {
		/* An older file may lack facts about a device that another file has. */
		if (device->knows_partitions &&
		    !capture_about__device(&merge->about, (uint16_t)here)->knows_partitions)
			err = capture_about__set_device(&merge->about, (uint16_t)here, device);
	} else {
		here = merge_free_number(merge, number);
		if (here < 0 || here == UINT16_MAX)
			return -EOVERFLOW;
		if (device)
			err = capture_about__set_device(&merge->about, (uint16_t)here, device);
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
	uint64_t last = kind == GLOSSARY_STACKS ? UINT32_MAX : UINT64_MAX;

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
static struct glossary_id merge_rename(void *arg, enum glossary_kind kind, struct glossary_id id)
{
	const struct merge_file *file = arg;
	const struct glossary_entry *renamed = glossary__find(&file->renamed[kind], id);

	return renamed ? renamed->as : id;
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

static int merge_add_file(struct capture_merge *merge, struct merge_file *file)
{
	const struct capture_about *first = capture_reader__about(merge->files[0].reader);
	const struct capture_about *from = capture_reader__about(file->reader);
	int err;

	file->renumber = calloc(MERGE_NUMBERS, sizeof(*file->renumber));
	if (!file->renumber)
		return -ENOMEM;
	file->shift_ns = merge_shift(first, from);
	capture_reader__translate(file->reader, &(struct capture_translation){
							.shift_ns = file->shift_ns,
							.device = merge_renumber,
							.id = first == from ? NULL : merge_rename,
							.arg = file });
	err = merge_copy_clocks(merge, file);
	err = err ?: merge_copy_texts(file, from);
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

/* Takes over the readers, even if it fails. */
static int merge_new(struct capture_reader *const *readers, size_t nr, struct capture_merge **merge)
{
	struct capture_merge *new = calloc(1, sizeof(*new));
	int err = -ENOMEM;

	*merge = NULL;
	if (new) {
		new->files = calloc(nr + 1, sizeof(*new->files));
		new->heap = calloc(nr + 1, sizeof(struct merge_file *));
	}
	if (!new || !new->files || !new->heap) {
		for (size_t i = 0; i < nr; i++)
			capture_reader__free(readers[i]);
		goto out;
	}
	for (; new->nr < nr; new->nr++)
		new->files[new->nr] =
			(struct merge_file){ .merge = new, .reader = readers[new->nr] };
	err = 0;
	for (size_t i = 0; i < nr && !err; i++)
		err = merge_add_file(new, &new->files[i]);
	capture_about__sort_clocks(&new->about);
out:
	if (err)
		capture_merge__free(new);
	else
		*merge = new;
	return err;
}

int capture_merge__open(const char *const *paths, size_t nr, struct capture_merge **merge)
{
	struct capture_reader **readers = calloc(nr + 1, sizeof(*readers));
	size_t nr_open = 0;
	int err = 0;

	*merge = NULL;
	if (!readers)
		return log_err(-ENOMEM, "no memory to read captures");
	while (nr_open < nr && !err) {
		err = capture_reader__open(paths[nr_open], &readers[nr_open]);
		nr_open += !err;
	}
	if (!err) {
		err = merge_new(readers, nr, merge);
		if (err)
			log_err(err, "cannot merge %zu captures: %s", nr, strerror(-err));
	} else {
		while (nr_open)
			capture_reader__free(readers[--nr_open]);
	}
	free(readers);
	return err;
}

void capture_merge__free(struct capture_merge *merge)
{
	if (!merge)
		return;
	for (size_t i = 0; i < merge->nr; i++) {
		capture_reader__free(merge->files[i].reader);
		free(merge->files[i].renumber);
		for (int kind = 0; kind < NR_GLOSSARIES; kind++)
			glossary__free(&merge->files[i].renamed[kind]);
	}
	capture_about__free(&merge->about);
	free(merge->files);
	free(merge->heap);
	free(merge);
}

/* A bound on a shifted clock; an unlimited bound stays unlimited. */
static uint64_t merge_unshift(uint64_t bound_ns, uint64_t shift_ns)
{
	uint64_t there = bound_ns - shift_ns;

	if (!bound_ns || bound_ns == UINT64_MAX)
		return bound_ns;
	if ((int64_t)shift_ns > 0)
		return there > bound_ns ? 0 : there;
	return there < bound_ns ? UINT64_MAX : there;
}

void capture_merge__bound(struct capture_merge *merge, uint64_t from_ns, uint64_t to_ns)
{
	for (size_t i = 0; i < merge->nr; i++) {
		struct merge_file *file = &merge->files[i];

		capture_reader__bound(file->reader, merge_unshift(from_ns, file->shift_ns),
				      merge_unshift(to_ns, file->shift_ns));
	}
}

void capture_merge__rewind(struct capture_merge *merge)
{
	for (size_t i = 0; i < merge->nr; i++)
		capture_reader__rewind(merge->files[i].reader);
	merge->nr_heap = 0;
	merge->begun = merge->handed = false;
}

static bool merge_is_before(const struct merge_file *a, const struct merge_file *b)
{
	return a->next_ns < b->next_ns || (a->next_ns == b->next_ns && a < b);
}

static void merge_sift_down(struct capture_merge *merge, size_t at)
{
	struct merge_file **heap = merge->heap, *file = heap[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < merge->nr_heap && merge_is_before(heap[child + 1], heap[child]))
			child++;
		if (child >= merge->nr_heap || merge_is_before(file, heap[child]))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = file;
}

/* 1: the file has a next record; 0: the end. */
static int merge_look(struct merge_file *file)
{
	int err;

	file->next = capture_reader__next(file->reader, &err);
	if (!file->next)
		return err;
	file->next_ns = io_record__time_ns(file->next);
	return 1;
}

static int merge_begin(struct capture_merge *merge)
{
	for (size_t i = 0; i < merge->nr; i++) {
		int more = merge_look(&merge->files[i]);

		if (more < 0)
			return more;
		if (more)
			merge->heap[merge->nr_heap++] = &merge->files[i];
	}
	for (size_t i = merge->nr_heap; i-- > 0;)
		merge_sift_down(merge, i);
	merge->begun = true;
	return 0;
}

/* Done with the record returned last: moves its file to the place of its next record. */
static int merge_step(struct capture_merge *merge)
{
	int more = merge_look(merge->heap[0]);

	if (more < 0)
		return more;
	if (!more)
		merge->heap[0] = merge->heap[--merge->nr_heap];
	if (merge->nr_heap)
		merge_sift_down(merge, 0);
	merge->handed = false;
	return 0;
}

const struct io_record *capture_merge__next(struct capture_merge *merge, int *err)
{
	if (merge->nr == 1)
		return capture_reader__next(merge->files[0].reader, err);
	*err = merge->begun ? 0 : merge_begin(merge);
	if (!*err && merge->handed)
		*err = merge_step(merge);
	if (*err || !merge->nr_heap)
		return NULL;
	merge->handed = true;
	return merge->heap[0]->next;
}

size_t capture_merge__from(const struct capture_merge *merge)
{
	return merge->nr_heap ? (size_t)(merge->heap[0] - merge->files) : 0;
}

const struct capture_about *capture_merge__about(const struct capture_merge *merge)
{
	return &merge->about;
}

/* All devices were found when the files were opened: serials are not compared again. */
int capture_merge__alias(struct capture_merge *merge, const struct alias *alias)
{
	return alias__about(alias, &merge->about);
}

size_t capture_merge__nr(const struct capture_merge *merge)
{
	return merge->nr;
}

const struct capture_reader *capture_merge__reader(const struct capture_merge *merge, size_t nr)
{
	return merge->files[nr].reader;
}

struct capture_reader *capture_merge__only_reader(struct capture_merge *merge)
{
	return merge->nr == 1 ? merge->files[0].reader : NULL;
}

bool capture_merge__has_stages(const struct capture_merge *merge)
{
	for (size_t i = 0; i < merge->nr; i++)
		if (capture_reader__has_stages(merge->files[i].reader))
			return true;
	return false;
}

uint64_t capture_merge__shift_ns(const struct capture_merge *merge, size_t nr)
{
	return merge->files[nr].shift_ns;
}
