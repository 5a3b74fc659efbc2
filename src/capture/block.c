/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/block.h"

#include <stdlib.h>
#include <string.h>

enum {
	BLOCK_CPUS = 65536,
	/* Not a power of two: else all columns meet in the same few cache lines. */
	BLOCK_STRIDE = CAPTURE_BLOCK_RECORDS + 40,
};

/* With the values of its last record, to predict the next. */
struct block_who {
	struct row row;
	uint64_t address, latency;
	uint32_t what;
	struct stages_guess stages;
};

struct block_cpu {
	uint16_t cpu;
	uint32_t first_seq, next_seq;
	uint32_t who; /* of its last record */
};

struct capture_block {
	/* Not of the columns' type: so the compiler knows that column writes leave these alone. */
	uint32_t nr, nr_cpus;
	uint64_t first_ns, last_ns, min_ns, max_ns; /* of records: in order, and min and max */
	bool rare[NR_RECORD_COLUMNS];		    /* has values other than 0, and is written */
	uint64_t columns[NR_RECORD_COLUMNS][BLOCK_STRIDE];
	uint64_t row[CAPTURE_BLOCK_RECORDS]; /* a column of rows, while it is encoded */
	struct rows who_rows, what_rows;
	struct stages_block *stages;
	struct block_who who[CAPTURE_BLOCK_RECORDS];
	struct row what[CAPTURE_BLOCK_RECORDS];
	struct block_cpu cpus[CAPTURE_BLOCK_RECORDS];
	uint16_t cpu_rows[BLOCK_CPUS]; /* row number + 1 */
	uint8_t generations[CAPTURE_GENERATIONS];
};

const struct row_field capture_who_fields[] = {
	{ WHO_PID, 2, 0, 32 },	 { WHO_COMM0, 0, 0, 64 },
	{ WHO_COMM1, 1, 0, 64 }, { WHO_DEVICE, 3, 0, 16 },
	{ WHO_QID, 3, 16, 16 },	 { WHO_CPU, 3, 32, 16 },
	{ WHO_NSID, 2, 32, 32 }, { WHO_KIND, 3, 48, 8 },
	{ WHO_OP, 3, 56, 8 },	 { 0 },
};

const struct row_field capture_what_fields[] = {
	{ WHAT_BYTES, 0, 0, 32 },   { WHAT_CDW12, 0, 32, 32 },	  { WHAT_CDW13, 2, 0, 32 },
	{ WHAT_STATUS, 2, 32, 16 }, { WHAT_CMD_FLAGS, 2, 48, 8 }, { WHAT_ATTEMPTS, 2, 56, 8 },
	{ WHAT_WHAT, 3, 0, 8 },	    { WHAT_FLAGS, 3, 8, 8 },	  { 0 },
};

struct capture_block *capture_block__new(void)
{
	struct capture_block *block = calloc(1, sizeof(*block));

	if (!block)
		return NULL;
	block->who_rows.rows = block->who;
	block->who_rows.stride = sizeof(block->who[0]);
	block->what_rows.rows = block->what;
	block->what_rows.stride = sizeof(block->what[0]);
	block->stages = stages_block__new();
	if (!block->stages) {
		capture_block__free(block);
		return NULL;
	}
	return block;
}

void capture_block__free(struct capture_block *block)
{
	if (block)
		stages_block__free(block->stages);
	free(block);
}

size_t capture_block__nr(const struct capture_block *block)
{
	return block->nr;
}

uint64_t capture_block__min_ns(const struct capture_block *block)
{
	return block->min_ns;
}

static struct block_cpu *block_find_cpu(struct capture_block *block, const struct io_record *record)
{
	uint16_t row = block->cpu_rows[record->cpu];

	if (row)
		return &block->cpus[row - 1];
	block->cpus[block->nr_cpus++] = (struct block_cpu){
		.cpu = record->cpu,
		.first_seq = record->seq,
		.next_seq = record->seq,
	};
	block->cpu_rows[record->cpu] = (uint16_t)block->nr_cpus;
	return &block->cpus[block->nr_cpus - 1];
}

static void block_set(struct capture_block *block, enum capture_column_id id, uint64_t value)
{
	block->columns[id][block->nr] = value;
}

/* A column that is mostly all zeros is not written before its first other value. */
static void block_set_rare(struct capture_block *block, enum capture_column_id id, uint64_t value)
{
	if (!value && !block->rare[id])
		return;
	if (!block->rare[id])
		memset(block->columns[id], 0, block->nr * sizeof(block->columns[id][0]));
	block->rare[id] = true;
	block_set(block, id, value);
}

static void block_set_and_step(struct capture_block *block, enum capture_column_id id,
			       uint64_t value, uint64_t *last)
{
	block_set(block, id, value);
	block_set(block, id + 1, value - *last);
	*last = value;
}

static struct block_who *block_add_who(struct capture_block *block, const struct io_record *record)
{
	struct block_cpu *cpu = block_find_cpu(block, record);
	const struct row row = { {
		le__get64((const uint8_t *)record->comm),
		le__get64((const uint8_t *)record->comm + 8),
		record->pid | (uint64_t)record->nsid << 32,
		record->device | (uint64_t)record->qid << 16 | (uint64_t)(cpu - block->cpus) << 32 |
			(uint64_t)record->kind << 48 | (uint64_t)record->op << 56,
	} };

	if (!block->nr || !row__is(&block->who[cpu->who].row, &row))
		cpu->who = rows__find(&block->who_rows, row);
	block_set(block, COLUMN_WHO, cpu->who);
	block_set_rare(block, COLUMN_SEQ, (uint32_t)(record->seq - cpu->next_seq));
	cpu->next_seq = record->seq + 1;
	return &block->who[cpu->who];
}

static void block_add_what(struct capture_block *block, const struct io_record *record,
			   struct block_who *who)
{
	const struct row row = { {
		record->bytes | (uint64_t)record->cdw10[2] << 32,
		0,
		record->cdw10[3] | (uint64_t)record->status << 32 |
			(uint64_t)record->cmd_flags << 48 | (uint64_t)record->attempts << 56,
		record->what | (uint64_t)record->flags << 8,
	} };

	if (!block->nr || !row__is(&block->what[who->what], &row))
		who->what = rows__find(&block->what_rows, row);
	block_set_rare(block, COLUMN_WHAT, who->what);
}

static void block_add_times(struct capture_block *block, const struct io_record *record,
			    struct block_who *who)
{
	bool submit = record->what == RECORD_SUBMIT;
	uint64_t now_ns = io_record__time_ns(record);

	if (!block->nr)
		block->first_ns = block->last_ns = block->min_ns = block->max_ns = now_ns;
	if (now_ns < block->min_ns)
		block->min_ns = now_ns;
	if (now_ns > block->max_ns)
		block->max_ns = now_ns;
	block_set(block, COLUMN_TIME, now_ns - block->last_ns);
	block->last_ns = now_ns;
	block_set_and_step(block, COLUMN_LATENCY, now_ns - record->first_ns, &who->latency);
	block_set_rare(block, COLUMN_LAST,
		       submit ? record->end_ns : record->last_ns - record->first_ns);
}

static void block_add_cid(struct capture_block *block, const struct io_record *record)
{
	uint16_t tag = record->cid & 0xfff;
	uint8_t *last =
		&block->generations[capture_generation_place(record->device, record->qid, tag)];
	uint8_t generation = (uint8_t)(record->cid >> 12);

	block_set(block, COLUMN_TAG, tag);
	block_set(block, COLUMN_GENERATION, (uint64_t)((generation - *last - 1) & 15));
	*last = generation;
}

void capture_block__add(struct capture_block *block, const struct io_record *record)
{
	struct block_who *who = block_add_who(block, record);

	block_add_what(block, record, who);
	block_add_times(block, record, who);
	block_set_and_step(block, COLUMN_ADDRESS,
			   record->cdw10[0] | (uint64_t)record->cdw10[1] << 32, &who->address);
	block_add_cid(block, record);
	block_set_rare(block, COLUMN_RESULT, record->result);
	block_set_rare(block, COLUMN_CDW14, record->cdw10[4]);
	block_set_rare(block, COLUMN_CDW15, record->cdw10[5]);
	if (record->flags & RECORD_STAGES)
		stages_block__add(block->stages, record, &who->stages);
	block->nr++;
}

/* The smaller of a plain column and its steps, judged by one record in eight. */
static enum capture_column_id block_choose(const struct capture_block *block,
					   enum capture_column_id id)
{
	uint64_t plain = 0, steps = 0;

	for (size_t i = 0; i < block->nr; i += 8) {
		plain += bits__width(block->columns[id][i]);
		steps += bits__width(zigzag__put((int64_t)block->columns[id + 1][i]));
	}
	return steps < plain ? id + 1 : id;
}

static bool block_put_records(struct capture_block *block, struct capture_zip *zip,
			      struct byte_out *out)
{
	const enum capture_column_id always[] = {
		COLUMN_TIME,
		block_choose(block, COLUMN_LATENCY),
		block_choose(block, COLUMN_ADDRESS),
		COLUMN_TAG,
		COLUMN_GENERATION,
		COLUMN_WHO,
	};
	bool zstd = false;

	/* The first step is counted from the earliest time, which is known only now. */
	block->columns[COLUMN_TIME][0] = block->first_ns - block->min_ns;
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		zstd |= capture_column__encode(out, zip, (uint8_t)always[i],
					       block->columns[always[i]], block->nr);
	for (int id = 1; id < NR_RECORD_COLUMNS; id++)
		if (block->rare[id])
			zstd |= capture_column__encode(out, zip, (uint8_t)id, block->columns[id],
						       block->nr);
	return zstd;
}

static void block_clear(struct capture_block *block)
{
	for (size_t i = 0; i < block->nr_cpus; i++)
		block->cpu_rows[block->cpus[i].cpu] = 0;
	rows__clear(&block->who_rows);
	rows__clear(&block->what_rows);
	memset(block->generations, 0, sizeof(block->generations));
	memset(block->rare, 0, sizeof(block->rare));
	block->nr = block->nr_cpus = 0;
}

void capture_block__encode(struct capture_block *block, struct capture_zip *zip,
			   struct capture_chunk *chunk, struct byte_out *out)
{
	byte_out__varint(out, block->who_rows.nr);
	byte_out__varint(out, block->what_rows.nr);
	byte_out__varint(out, block->nr_cpus);
	chunk->count = block->nr;
	chunk->min_ns = block->min_ns;
	chunk->max_ns = block->max_ns;
	chunk->flags = block_put_records(block, zip, out) ? CAPTURE_ZSTD : 0;
	rows__encode(&block->who_rows, capture_who_fields, block->row, out);
	rows__encode(&block->what_rows, capture_what_fields, block->row, out);
	for (uint32_t i = 0; i < block->nr_cpus; i++)
		block->row[i] = block->cpus[i].cpu;
	capture_column__encode(out, NULL, CPU_NUMBER, block->row, block->nr_cpus);
	for (uint32_t i = 0; i < block->nr_cpus; i++)
		block->row[i] = block->cpus[i].first_seq;
	capture_column__encode(out, NULL, CPU_FIRST_SEQ, block->row, block->nr_cpus);
	if (stages_block__nr(block->stages))
		chunk->flags |= CAPTURE_STAGES;
	if (stages_block__encode(block->stages, zip, out))
		chunk->flags |= CAPTURE_ZSTD;
	block_clear(block);
}
