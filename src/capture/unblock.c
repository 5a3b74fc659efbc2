/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * The last bytes of a record, as in memory. Some come from its `who`, some from its `what`; each
 * has zeros in the other's place, so that two ORs join them.
 */
union unblock_tail {
	struct {
		uint16_t device, qid, cid, status, cpu;
		uint8_t kind, op, cmd_flags, flags, attempts, what;
	};
	uint64_t words[2];
};

enum { UNBLOCK_TAIL = offsetof(struct io_record, device) };
_Static_assert(UNBLOCK_TAIL + sizeof(union unblock_tail) == sizeof(struct io_record) &&
		       offsetof(union unblock_tail, flags) + UNBLOCK_TAIL ==
			       offsetof(struct io_record, flags) &&
		       offsetof(union unblock_tail, what) + UNBLOCK_TAIL ==
			       offsetof(struct io_record, what),
	       "the tail of a record");

struct unblock_who {
	uint64_t comm[2];
	uint64_t address, latency; /* of its last record */
	uint32_t pid, nsid, cpu_row;
	uint32_t generation_base;
	union unblock_tail tail;
};

struct unblock_what {
	union unblock_tail tail;
	uint32_t bytes, cdw12, cdw13;
};

struct unblock_cpu {
	uint16_t cpu;
	uint32_t next_seq;
};

struct capture_unblock {
	struct row *rows; /* in file order, table by table */
	struct unblock_who *who;
	struct unblock_what *what;
	struct unblock_cpu *cpus;
	uint32_t nr_who, nr_what, nr_cpus;
	uint32_t nr, at;	  /* records, and those returned */
	uint64_t now_ns;	  /* of the last record */
	uint64_t min_ns, span_ns; /* range of all times */
	uint64_t nr_astray;	  /* that are not */
	bool steps_latency;	  /* columns of steps are there */
	bool steps_address;
	struct capture_columns columns;
	struct stages_unblock stages;
	uint16_t who_of[CAPTURE_BLOCK_RECORDS], what_of[CAPTURE_BLOCK_RECORDS];
	uint64_t run[NR_RECORD_COLUMNS][CAPTURE_RUN];	/* a few values of every column */
	struct record_with_stages records[CAPTURE_RUN]; /* and the records made of them */
	uint8_t generations[CAPTURE_GENERATIONS];
};

struct capture_unblock *capture_unblock__new(void)
{
	return calloc(1, sizeof(struct capture_unblock));
}

static void unblock_free_rows(struct capture_unblock *unblock)
{
	free(unblock->rows);
	free(unblock->who);
	free(unblock->what);
	free(unblock->cpus);
}

void capture_unblock__free(struct capture_unblock *unblock)
{
	if (!unblock)
		return;
	capture_columns__close(&unblock->columns);
	capture_zip__free(unblock->columns.zip);
	stages_unblock__free(&unblock->stages);
	unblock_free_rows(unblock);
	free(unblock);
}

/* ---- rows ---- */

static int unblock_new_rows(struct capture_unblock *unblock)
{
	uint32_t most = unblock->nr_who > unblock->nr_what ? unblock->nr_who : unblock->nr_what;

	most = unblock->nr_cpus > most ? unblock->nr_cpus : most;
	unblock_free_rows(unblock);
	unblock->rows = calloc(most + 1, sizeof(*unblock->rows));
	unblock->who = calloc(unblock->nr_who + 1, sizeof(*unblock->who));
	unblock->what = calloc(unblock->nr_what + 1, sizeof(*unblock->what));
	unblock->cpus = calloc(unblock->nr_cpus + 1, sizeof(*unblock->cpus));
	memset(unblock->generations, 0, sizeof(unblock->generations));
	return unblock->rows && unblock->who && unblock->what && unblock->cpus ? 0 : -ENOMEM;
}

static bool unblock_get_cpus(struct capture_unblock *unblock)
{
	static const struct row_field fields[] = { { CPU_NUMBER, 0, 0, 16 },
						   { CPU_FIRST_SEQ, 1, 0, 32 },
						   { 0 } };

	if (!rows__decode(unblock->rows, unblock->nr_cpus, fields, &unblock->columns))
		return false;
	for (uint32_t i = 0; i < unblock->nr_cpus; i++)
		unblock->cpus[i] =
			(struct unblock_cpu){ .cpu = (uint16_t)unblock->rows[i].words[0],
					      .next_seq = (uint32_t)unblock->rows[i].words[1] };
	return true;
}

static bool unblock_get_what(struct capture_unblock *unblock)
{
	if (!rows__decode(unblock->rows, unblock->nr_what, capture_what_fields, &unblock->columns))
		return false;
	for (uint32_t i = 0; i < unblock->nr_what; i++) {
		const uint64_t *words = unblock->rows[i].words;

		unblock->what[i] = (struct unblock_what){
			.bytes = (uint32_t)words[0],
			.cdw12 = (uint32_t)(words[0] >> 32),
			.cdw13 = (uint32_t)words[2],
			.tail = { { .status = (uint16_t)(words[2] >> 32),
				    .cmd_flags = (uint8_t)(words[2] >> 48),
				    .attempts = (uint8_t)(words[2] >> 56),
				    .what = (uint8_t)words[3],
				    .flags = (uint8_t)(words[3] >> 8) } },
		};
	}
	return true;
}

/* What a row stands for in memory, and for the reader of the file. */
static int unblock_set_who(struct capture_unblock *unblock, struct unblock_who *who,
			   const uint64_t words[4], const struct capture_translation *translation)
{
	uint16_t in_file = (uint16_t)words[3], qid = (uint16_t)(words[3] >> 16);
	int device = in_file;

	who->cpu_row = (uint16_t)(words[3] >> 32);
	if (who->cpu_row >= unblock->nr_cpus)
		return -EBADMSG;
	if (translation->device)
		device = translation->device(translation->arg, in_file);
	le__put64((uint8_t *)&who->comm[0], words[0]);
	le__put64((uint8_t *)&who->comm[1], words[1]);
	who->pid = (uint32_t)words[2];
	who->nsid = (uint32_t)(words[2] >> 32);
	who->generation_base = capture_generation_place(in_file, qid, 0);
	who->tail.device = (uint16_t)device;
	who->tail.qid = qid;
	who->tail.cpu = unblock->cpus[who->cpu_row].cpu;
	who->tail.kind = (uint8_t)(words[3] >> 48);
	who->tail.op = (uint8_t)(words[3] >> 56);
	return device < 0 ? device : 0;
}

static int unblock_get_who(struct capture_unblock *unblock,
			   const struct capture_translation *translation)
{
	int err = 0;

	if (!rows__decode(unblock->rows, unblock->nr_who, capture_who_fields, &unblock->columns))
		return -EBADMSG;
	for (uint32_t i = 0; i < unblock->nr_who && !err; i++)
		err = unblock_set_who(unblock, &unblock->who[i], unblock->rows[i].words,
				      translation);
	return err;
}

/* The number of rows of each table; every row is used by some record. */
static int unblock_begin(struct capture_unblock *unblock, struct byte_in *in, uint32_t count)
{
	uint64_t nr_who = byte_in__varint(in), nr_what = byte_in__varint(in);
	uint64_t nr_cpus = byte_in__varint(in);

	if (in->bad || !count || count > CAPTURE_BLOCK_RECORDS || nr_who > count ||
	    nr_what > count || nr_cpus > count)
		return -EBADMSG;
	unblock->nr = count;
	unblock->nr_who = (uint32_t)nr_who;
	unblock->nr_what = (uint32_t)nr_what;
	unblock->nr_cpus = (uint32_t)nr_cpus;
	return capture_columns__find(&unblock->columns, *in) ? unblock_new_rows(unblock) : -EBADMSG;
}

/* Everything but the records themselves. */
static int unblock_look(struct capture_unblock *unblock,
			const struct capture_translation *translation)
{
	struct capture_column *columns = unblock->columns.columns;
	uint32_t nr_stages = 0;
	int err;

	if (!capture_columns__open(&unblock->columns, COLUMN_TIME, NR_RECORD_COLUMNS, unblock->nr))
		return -EBADMSG;
	if (!unblock_get_cpus(unblock) || !unblock_get_what(unblock))
		return -EBADMSG;
	err = unblock_get_who(unblock, translation);
	if (err)
		return err;
	if (!rows__places(&columns[COLUMN_WHO], unblock->nr, unblock->nr_who, unblock->who_of) ||
	    !rows__places(&columns[COLUMN_WHAT], unblock->nr, unblock->nr_what, unblock->what_of))
		return -EBADMSG;
	for (uint32_t i = 0; i < unblock->nr; i++)
		nr_stages += !!(unblock->what[unblock->what_of[i]].tail.flags & RECORD_STAGES);
	return stages_unblock__open(&unblock->stages, &unblock->columns, nr_stages, translation);
}

int capture_unblock__open(struct capture_unblock *unblock, const struct capture_chunk *chunk,
			  const uint8_t *payload, const struct capture_translation *translation)
{
	struct byte_in in = { payload, payload + chunk->length, false };
	int err;

	unblock->nr = unblock->at = 0;
	if ((chunk->flags & CAPTURE_ZSTD) && !capture_zip__is_built_in())
		return -EOPNOTSUPP;
	if ((chunk->flags & CAPTURE_ZSTD) && !unblock->columns.zip)
		unblock->columns.zip = capture_zip__new(0);
	err = unblock_begin(unblock, &in, chunk->count);
	err = err ?: unblock_look(unblock, translation);
	if (err)
		unblock->nr = 0;
	unblock->now_ns = unblock->min_ns = chunk->min_ns + translation->shift_ns;
	unblock->span_ns = chunk->max_ns - chunk->min_ns;
	unblock->steps_latency = unblock->columns.columns[COLUMN_LATENCY_STEP].packing;
	unblock->steps_address = unblock->columns.columns[COLUMN_ADDRESS_STEP].packing;
	return err;
}

/* ---- records ---- */

static inline uint16_t unblock_cid(struct capture_unblock *unblock, const struct unblock_who *who,
				   uint64_t tag, uint64_t generation_error)
{
	uint32_t place = (who->generation_base + (uint32_t)(tag & 0xfff)) % CAPTURE_GENERATIONS;
	uint8_t generation = (uint8_t)((unblock->generations[place] + 1 + generation_error) & 15);

	unblock->generations[place] = generation;
	return (uint16_t)((tag & 0xfff) | (uint64_t)generation << 12);
}

static inline uint32_t unblock_seq(struct unblock_cpu *cpu, uint64_t error)
{
	uint32_t seq = cpu->next_seq + (uint32_t)error;

	cpu->next_seq = seq + 1;
	return seq;
}

/* The value, or the last one and a step. */
static inline uint64_t unblock_value(const struct capture_unblock *unblock, bool steps,
				     enum capture_column_id id, size_t i, uint64_t *last)
{
	if (!steps)
		return unblock->run[id][i];
	*last += unblock->run[id + 1][i];
	return *last;
}

static inline void unblock_record(struct capture_unblock *unblock, struct io_record *record,
				  size_t i)
{
	struct unblock_who *who = &unblock->who[unblock->who_of[unblock->at + i]];
	const struct unblock_what *what = &unblock->what[unblock->what_of[unblock->at + i]];
	const uint64_t tail[2] = { who->tail.words[0] | what->tail.words[0],
				   who->tail.words[1] | what->tail.words[1] };
	uint64_t first_ns, address;

	memcpy((char *)record + UNBLOCK_TAIL, tail, sizeof(tail));
	record->cid = unblock_cid(unblock, who, unblock->run[COLUMN_TAG][i],
				  unblock->run[COLUMN_GENERATION][i]);
	memcpy(record->comm, who->comm, sizeof(record->comm));
	record->seq = unblock_seq(&unblock->cpus[who->cpu_row], unblock->run[COLUMN_SEQ][i]);
	record->pid = who->pid;
	record->bytes = what->bytes;
	record->nsid = who->nsid;
	address = unblock_value(unblock, unblock->steps_address, COLUMN_ADDRESS, i, &who->address);
	record->cdw10[0] = (uint32_t)address;
	record->cdw10[1] = (uint32_t)(address >> 32);
	record->cdw10[2] = what->cdw12;
	record->cdw10[3] = what->cdw13;
	record->cdw10[4] = (uint32_t)unblock->run[COLUMN_CDW14][i];
	record->cdw10[5] = (uint32_t)unblock->run[COLUMN_CDW15][i];
	record->result = unblock->run[COLUMN_RESULT][i];
	unblock->now_ns += unblock->run[COLUMN_TIME][i];
	unblock->nr_astray += unblock->now_ns - unblock->min_ns > unblock->span_ns;
	first_ns = unblock->now_ns -
		   unblock_value(unblock, unblock->steps_latency, COLUMN_LATENCY, i, &who->latency);
	record->first_ns = first_ns;
	if (what->tail.what == RECORD_SUBMIT) {
		record->last_ns = unblock->now_ns;
		record->end_ns = unblock->run[COLUMN_LAST][i];
	} else {
		record->last_ns = first_ns + unblock->run[COLUMN_LAST][i];
		record->end_ns = unblock->now_ns;
	}
}

/* One after the other, some followed by stages; returns where they end. */
static const struct io_record *unblock_records_with_stages(struct capture_unblock *unblock,
							   uint32_t nr)
{
	struct io_record *record = (void *)unblock->records;

	for (uint32_t i = 0; i < nr; i++) {
		unblock_record(unblock, record, i);
		if (record->flags & RECORD_STAGES)
			stages_unblock__next(&unblock->stages, record,
					     (struct io_stages *)(record + 1));
		record = (struct io_record *)stages__next_record(record);
	}
	return record;
}

static const struct io_record *unblock_plain_records(struct capture_unblock *unblock, uint32_t nr)
{
	struct io_record *records = (void *)unblock->records;

	for (uint32_t i = 0; i < nr; i++)
		unblock_record(unblock, &records[i], i);
	return records + nr;
}

const struct io_record *capture_unblock__next(struct capture_unblock *unblock,
					      const struct io_record **end)
{
	struct capture_column *columns = unblock->columns.columns;
	uint32_t left = unblock->nr - unblock->at;
	uint32_t nr = left < CAPTURE_RUN ? left : CAPTURE_RUN;

	/* Rows are known already; constants of the first run stay. */
	for (int id = 1; nr && id < COLUMN_WHO; id++)
		if (!unblock->at || columns[id].packing > PACKING_CONSTANT)
			capture_column__read(&columns[id], unblock->run[id], nr);
	*end = unblock->stages.nr ? unblock_records_with_stages(unblock, nr)
				  : unblock_plain_records(unblock, nr);
	unblock->at += nr;
	return (void *)unblock->records;
}

uint64_t capture_unblock__take_astray(struct capture_unblock *unblock)
{
	uint64_t nr = unblock->nr_astray;

	unblock->nr_astray = 0;
	return nr;
}
