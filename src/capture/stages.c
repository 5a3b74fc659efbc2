/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/stages.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { STAGES_STRIDE = CAPTURE_BLOCK_RECORDS + 40 }; /* as in a block: not a power of two */

struct stages_block {
	uint32_t nr;
	uint64_t columns[STAGES_END_VALUES - STAGES_QUEUED][STAGES_STRIDE];
	uint64_t row[CAPTURE_BLOCK_RECORDS]; /* a column of rows, while it is encoded */
	struct rows owner_rows, file_rows;
	struct row owners[CAPTURE_BLOCK_RECORDS], files[CAPTURE_BLOCK_RECORDS];
};

static const struct row_field owner_fields[] = {
	{ OWNER_CGROUP, 0, 0, 64 }, { OWNER_TID, 1, 0, 32 }, { OWNER_CPU, 1, 32, 16 }, { 0 }
};

static const struct row_field file_fields[] = {
	{ FILE_INODE, 0, 0, 64 },	 { FILE_DEV, 1, 0, 32 },	 { FILE_NTH, 1, 32, 8 },
	{ FILE_KERNEL_STACK, 2, 0, 32 }, { FILE_USER_STACK, 2, 32, 32 }, { 0 }
};

/* ---- times ---- */

/*
 * A time of 0 was not seen, and stays 0. Any other becomes its distance from a neighbour plus one;
 * the time that would give 0 takes the number that the time 0 would have.
 */
static uint64_t stages_put_after(uint64_t ns, uint64_t from_ns)
{
	if (!ns)
		return 0;
	return ns == from_ns - 1 ? 1 - from_ns : ns - from_ns + 1;
}

static uint64_t stages_get_after(uint64_t number, uint64_t from_ns)
{
	if (!number)
		return 0;
	return number == 1 - from_ns ? from_ns - 1 : number + from_ns - 1;
}

/* There and back. */
static uint64_t stages_before(uint64_t ns, uint64_t until_ns)
{
	if (!ns)
		return 0;
	return ns == until_ns + 1 ? until_ns + 1 : until_ns - ns + 1;
}

/* ---- into columns ---- */

struct stages_block *stages_block__new(void)
{
	struct stages_block *block = calloc(1, sizeof(*block));

	if (!block)
		return NULL;
	block->owner_rows.rows = block->owners;
	block->file_rows.rows = block->files;
	block->owner_rows.stride = block->file_rows.stride = sizeof(struct row);
	return block;
}

void stages_block__free(struct stages_block *block)
{
	free(block);
}

static void stages_set(struct stages_block *block, enum stages_column_id id, uint64_t value)
{
	block->columns[id - STAGES_QUEUED][block->nr] = value;
}

static void stages_add_times(struct stages_block *block, const struct io_record *r,
			     const struct io_stages *s)
{
	uint64_t queued_ns = s->queued_ns ? s->queued_ns : r->first_ns;
	uint64_t got_ns = s->got_ns ? s->got_ns : queued_ns;

	stages_set(block, STAGES_QUEUED, stages_before(s->queued_ns, r->first_ns));
	stages_set(block, STAGES_GOT, stages_put_after(s->got_ns, queued_ns));
	stages_set(block, STAGES_INSERTED, stages_put_after(s->inserted_ns, got_ns));
	stages_set(block, STAGES_ISSUED, stages_put_after(s->issued_ns, r->last_ns));
	stages_set(block, STAGES_REAPED, stages_before(s->reaped_ns, r->end_ns));
	stages_set(block, STAGES_DONE, stages_put_after(s->done_ns, r->end_ns));
	stages_set(block, STAGES_FLUSHED, stages_before(s->flushed_ns, r->first_ns));
	stages_set(block, STAGES_WRITTEN, stages_put_after(s->written_ns, r->end_ns));
}

void stages_block__add(struct stages_block *block, const struct io_record *record,
		       struct stages_guess *guess)
{
	const struct io_stages *s = io_record__stages(record);
	const struct row owner = { { s->cgroup, s->tid | (uint64_t)s->cpu << 32 } };
	const struct row file = { { s->inode, io_file_place(s->file_dev, s->file_nth),
				    s->kernel_stack | (uint64_t)s->user_stack << 32 } };

	if (!block->nr || !row__is(&block->owners[guess->owner], &owner))
		guess->owner = rows__find(&block->owner_rows, owner);
	if (!block->nr || !row__is(&block->files[guess->file], &file))
		guess->file = rows__find(&block->file_rows, file);
	stages_add_times(block, record, s);
	for (int i = 0; i < IO_WAITS; i++)
		stages_set(block, STAGES_WAIT + i, s->waits[i]);
	stages_set(block, STAGES_DEPTH, s->depth);
	stages_set(block, STAGES_BIOS, s->nr_bios);
	stages_set(block, STAGES_OWNER, guess->owner);
	stages_set(block, STAGES_FILE, guess->file);
	block->nr++;
}

uint32_t stages_block__nr(const struct stages_block *block)
{
	return block->nr;
}

static void stages_put_nr(const struct rows *rows, enum stages_column_id id, struct byte_out *out)
{
	uint64_t less_one = rows->nr - 1;

	capture_column__encode(out, NULL, (uint8_t)id, &less_one, 1);
}

bool stages_block__encode(struct stages_block *block, struct capture_zip *zip, struct byte_out *out)
{
	bool zstd = false;

	if (!block->nr)
		return false;
	stages_put_nr(&block->owner_rows, STAGES_OWNERS, out);
	stages_put_nr(&block->file_rows, STAGES_FILES, out);
	for (int id = STAGES_QUEUED; id < STAGES_END_VALUES; id++)
		zstd |= capture_column__encode(out, zip, (uint8_t)id,
					       block->columns[id - STAGES_QUEUED], block->nr);
	rows__encode(&block->owner_rows, owner_fields, block->row, out);
	rows__encode(&block->file_rows, file_fields, block->row, out);
	rows__clear(&block->owner_rows);
	rows__clear(&block->file_rows);
	block->nr = 0;
	return zstd;
}

/* ---- and back ---- */

/*
 * The rows of a table, and the row of each record. There is at least one row, of zeros: an older
 * file may hold an odd record that only says that it has stages.
 */
static int stages_open_table(struct stages_unblock *unblock, enum stages_column_id nr_id,
			     const struct row_field *fields, struct row **rows, uint32_t *nr,
			     uint16_t *places)
{
	struct capture_columns *columns = unblock->columns;
	enum stages_column_id place_id = nr_id == STAGES_OWNERS ? STAGES_OWNER : STAGES_FILE;
	uint64_t less_one;

	if (!capture_columns__open(columns, nr_id, nr_id + 1, 1))
		return -EBADMSG;
	capture_column__read(&columns->columns[nr_id], &less_one, 1);
	if (less_one >= unblock->nr)
		return -EBADMSG;
	*nr = (uint32_t)less_one + 1;
	*rows = calloc(*nr, sizeof(**rows));
	if (!*rows)
		return -ENOMEM;
	return rows__decode(*rows, *nr, fields, columns) &&
			       rows__places(&columns->columns[place_id], unblock->nr, *nr, places)
		       ? 0
		       : -EBADMSG;
}

static struct glossary_id stages_here(const struct stages_unblock *unblock, enum glossary_kind kind,
				      uint64_t id, uint64_t and)
{
	return unblock->translation->id(unblock->translation->arg, kind,
					(struct glossary_id){ { id, and} });
}

/* Stacks are translated per record: they depend on its process. */
static void stages_translate_rows(struct stages_unblock *unblock)
{
	for (uint32_t i = 0; i < unblock->nr_owners; i++) {
		uint64_t *cgroup = &unblock->owners[i].words[0];

		*cgroup = stages_here(unblock, GLOSSARY_CGROUPS, *cgroup, 0).words[0];
	}
	for (uint32_t i = 0; i < unblock->nr_files; i++) {
		uint64_t *words = unblock->files[i].words;
		struct glossary_id file = stages_here(unblock, GLOSSARY_FILES, words[0], words[1]);

		words[0] = file.words[0];
		words[1] = file.words[1];
	}
}

int stages_unblock__open(struct stages_unblock *unblock, struct capture_columns *columns,
			 uint32_t nr, const struct capture_translation *translation)
{
	int err;

	stages_unblock__free(unblock);
	unblock->columns = columns;
	unblock->translation = translation;
	unblock->nr = nr;
	unblock->at = 0;
	if (!nr)
		return 0;
	if (!capture_columns__open(columns, STAGES_QUEUED, STAGES_END_VALUES, nr))
		return -EBADMSG;
	err = stages_open_table(unblock, STAGES_OWNERS, owner_fields, &unblock->owners,
				&unblock->nr_owners, unblock->owner_of);
	if (!err)
		err = stages_open_table(unblock, STAGES_FILES, file_fields, &unblock->files,
					&unblock->nr_files, unblock->file_of);
	if (!err && translation->id)
		stages_translate_rows(unblock);
	return err;
}

void stages_unblock__free(struct stages_unblock *unblock)
{
	free(unblock->owners);
	free(unblock->files);
	unblock->owners = unblock->files = NULL;
}

/* Records with stages have their own runs, among records without. Row numbers are read already. */
static void stages_read_run(struct stages_unblock *unblock)
{
	uint32_t left = unblock->nr - unblock->at;

	for (int id = STAGES_QUEUED; id < STAGES_END_VALUES; id++)
		if (id != STAGES_OWNER && id != STAGES_FILE)
			capture_column__read(&unblock->columns->columns[id],
					     unblock->run[id - STAGES_QUEUED],
					     left < CAPTURE_RUN ? left : CAPTURE_RUN);
}

static uint64_t stages_value(const struct stages_unblock *unblock, enum stages_column_id id)
{
	return unblock->run[id - STAGES_QUEUED][unblock->at % CAPTURE_RUN];
}

/* In the order of writing: each needs the one before. */
static void stages_get_times(const struct stages_unblock *u, const struct io_record *r,
			     struct io_stages *s)
{
	uint64_t shift_ns = u->translation->shift_ns;
	uint64_t first_ns = r->first_ns - shift_ns, last_ns = r->last_ns - shift_ns;
	uint64_t end_ns = r->what == RECORD_SUBMIT ? r->end_ns : r->end_ns - shift_ns;

	s->queued_ns = stages_before(stages_value(u, STAGES_QUEUED), first_ns);
	s->got_ns = stages_get_after(stages_value(u, STAGES_GOT),
				     s->queued_ns ? s->queued_ns : first_ns);
	s->inserted_ns =
		stages_get_after(stages_value(u, STAGES_INSERTED), s->got_ns	  ? s->got_ns
								   : s->queued_ns ? s->queued_ns
										  : first_ns);
	s->issued_ns = stages_get_after(stages_value(u, STAGES_ISSUED), last_ns);
	s->reaped_ns = stages_before(stages_value(u, STAGES_REAPED), end_ns);
	s->done_ns = stages_get_after(stages_value(u, STAGES_DONE), end_ns);
	s->flushed_ns = stages_before(stages_value(u, STAGES_FLUSHED), first_ns);
	s->written_ns = stages_get_after(stages_value(u, STAGES_WRITTEN), end_ns);
}

/* The times come first; a time that was not seen stays 0. */
static void stages_shift_times(struct io_stages *s, uint64_t shift_ns)
{
	__u64 *times = &s->queued_ns;

	_Static_assert(offsetof(struct io_stages, cgroup) == 8 * sizeof(*times), "eight times");
	for (int i = 0; i < 8; i++)
		times[i] += times[i] ? shift_ns : 0;
}

static void stages_translate_stacks(const struct stages_unblock *unblock, struct io_stages *s,
				    uint32_t pid)
{
	s->kernel_stack =
		(uint32_t)stages_here(unblock, GLOSSARY_STACKS, s->kernel_stack, 0).words[0];
	s->user_stack =
		(uint32_t)stages_here(unblock, GLOSSARY_STACKS, s->user_stack, pid).words[0];
}

void stages_unblock__next(struct stages_unblock *unblock, const struct io_record *record,
			  struct io_stages *stages)
{
	const uint64_t *owner, *file;

	if (unblock->at % CAPTURE_RUN == 0)
		stages_read_run(unblock);
	owner = unblock->owners[unblock->owner_of[unblock->at]].words;
	file = unblock->files[unblock->file_of[unblock->at]].words;
	stages_get_times(unblock, record, stages);
	if (unblock->translation->shift_ns)
		stages_shift_times(stages, unblock->translation->shift_ns);
	stages->cgroup = owner[0];
	stages->tid = (uint32_t)owner[1];
	stages->cpu = (uint16_t)(owner[1] >> 32);
	stages->inode = file[0];
	stages->file_dev = (uint32_t)file[1];
	stages->file_nth = (uint8_t)(file[1] >> 32);
	memset(stages->pad, 0, sizeof(stages->pad));
	stages->kernel_stack = (uint32_t)file[2];
	stages->user_stack = (uint32_t)(file[2] >> 32);
	for (int i = 0; i < IO_WAITS; i++)
		stages->waits[i] = stages_value(unblock, STAGES_WAIT + i);
	stages->depth = (uint32_t)stages_value(unblock, STAGES_DEPTH);
	stages->nr_bios = (uint16_t)stages_value(unblock, STAGES_BIOS);
	if (file[2] && unblock->translation->id)
		stages_translate_stacks(unblock, stages, record->pid);
	unblock->at++;
}
