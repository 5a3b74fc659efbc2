/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/block.h"

#include <stdlib.h>
#include <string.h>

enum {
	BLOCK_INDEX = 2 * CAPTURE_BLOCK_RECORDS, /* cells: half of them stay empty */
	BLOCK_CPUS = 65536,
	/* Not a power of two: else all columns meet in the same few cache lines. */
	BLOCK_STRIDE = CAPTURE_BLOCK_RECORDS + 40,
};

/* Keys are words, not fields: compared in registers, this is half of the cost of a record. */
struct block_who {
	uint64_t comm[2];
	uint64_t task;		   /* pid, nsid << 32 */
	uint64_t place;		   /* device, qid << 16, cpu << 32, kind << 48, op << 56 */
	uint64_t address, latency; /* of its last record */
	uint32_t what;		   /* of its last record */
};

struct block_what {
	uint64_t size;	  /* bytes, cdw12 << 32 */
	uint64_t outcome; /* cdw13, status << 32, cmd_flags << 48, attempts << 56 */
	uint64_t kind;	  /* what, flags << 8 */
};

struct block_cpu {
	uint16_t cpu;
	uint32_t first_seq, next_seq;
	uint32_t who; /* of its last record */
};

struct capture_block {
	/* Not of the columns' type: the compiler knows that writing those does not change these. */
	uint32_t nr, nr_who, nr_what, nr_cpus;
	uint64_t first_ns, last_ns, min_ns, max_ns; /* times of records: in order, and by size */
	bool rare[NR_RECORD_COLUMNS]; /* it has values that are not 0, and is written */
	uint64_t columns[NR_RECORD_COLUMNS][BLOCK_STRIDE];
	uint64_t row[CAPTURE_BLOCK_RECORDS]; /* a column of rows, while it is encoded */
	struct block_who who[CAPTURE_BLOCK_RECORDS];
	struct block_what what[CAPTURE_BLOCK_RECORDS];
	struct block_cpu cpus[CAPTURE_BLOCK_RECORDS];
	uint16_t who_index[BLOCK_INDEX], what_index[BLOCK_INDEX]; /* row number + 1 */
	uint16_t cpu_rows[BLOCK_CPUS];				  /* the same */
	uint8_t generations[CAPTURE_GENERATIONS];
};

struct capture_block *capture_block__new(void)
{
	return calloc(1, sizeof(struct capture_block));
}

void capture_block__free(struct capture_block *block)
{
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

static uint32_t block_mix(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t hash = a * 0x9e3779b97f4a7c15ULL;

	hash = (hash ^ (hash >> 29) ^ b) * 0xbf58476d1ce4e5b9ULL;
	hash = (hash ^ (hash >> 32) ^ c) * 0x94d049bb133111ebULL;
	return (uint32_t)(hash >> 40) % BLOCK_INDEX;
}

static bool block_who_is(const struct block_who *who, const struct block_who *key)
{
	return !((who->comm[0] ^ key->comm[0]) | (who->comm[1] ^ key->comm[1]) |
		 (who->task ^ key->task) | (who->place ^ key->place));
}

static bool block_what_is(const struct block_what *what, const struct block_what *key)
{
	return !((what->size ^ key->size) | (what->outcome ^ key->outcome) |
		 (what->kind ^ key->kind));
}

static uint32_t block_find_who(struct capture_block *block, const struct block_who *key)
{
	uint32_t cell = block_mix(key->comm[0] + 3 * key->comm[1], key->task, key->place);
	uint16_t row;

	while ((row = block->who_index[cell])) {
		if (block_who_is(&block->who[row - 1], key))
			return row - 1u;
		cell = (cell + 1) % BLOCK_INDEX;
	}
	block->who[block->nr_who++] = *key;
	block->who_index[cell] = (uint16_t)block->nr_who;
	return block->nr_who - 1;
}

static uint32_t block_find_what(struct capture_block *block, const struct block_what *key)
{
	uint32_t cell = block_mix(key->size, key->outcome, key->kind);
	uint16_t row;

	while ((row = block->what_index[cell])) {
		if (block_what_is(&block->what[row - 1], key))
			return row - 1u;
		cell = (cell + 1) % BLOCK_INDEX;
	}
	block->what[block->nr_what++] = *key;
	block->what_index[cell] = (uint16_t)block->nr_what;
	return block->nr_what - 1;
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
	const struct block_who key = {
		.comm = { le__get64((const uint8_t *)record->comm),
			  le__get64((const uint8_t *)record->comm + 8) },
		.task = record->pid | (uint64_t)record->nsid << 32,
		.place = record->device | (uint64_t)record->qid << 16 |
			 (uint64_t)record->cpu << 32 | (uint64_t)record->kind << 48 |
			 (uint64_t)record->op << 56,
	};
	struct block_cpu *cpu = block_find_cpu(block, record);

	if (!block->nr_who || !block_who_is(&block->who[cpu->who], &key))
		cpu->who = block_find_who(block, &key);
	block_set(block, COLUMN_WHO, cpu->who);
	block_set_rare(block, COLUMN_SEQ, (uint32_t)(record->seq - cpu->next_seq));
	cpu->next_seq = record->seq + 1;
	return &block->who[cpu->who];
}

static void block_add_what(struct capture_block *block, const struct io_record *record,
			   struct block_who *who)
{
	const struct block_what key = {
		.size = record->bytes | (uint64_t)record->cdw10[2] << 32,
		.outcome = record->cdw10[3] | (uint64_t)record->status << 32 |
			   (uint64_t)record->cmd_flags << 48 | (uint64_t)record->attempts << 56,
		.kind = record->what | (uint64_t)record->flags << 8,
	};

	if (!block->nr_what || !block_what_is(&block->what[who->what], &key))
		who->what = block_find_what(block, &key);
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
	block->nr++;
}

/* Of a plain column and its steps, the one that takes fewer bits: one record in eight tells. */
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

/* One column of a table of rows, each of which is called `it`; without zstd: rows are few. */
#define BLOCK_PUT_ROWS(block, out, id, rows, value)                                      \
	do {                                                                             \
		for (size_t row_ = 0; row_ < (block)->nr_##rows; row_++) {               \
			const __typeof__((block)->rows[0]) *it = &(block)->rows[row_];   \
                                                                                         \
			(block)->row[row_] = (value);                                    \
		}                                                                        \
		capture_column__encode(out, NULL, id, (block)->row, (block)->nr_##rows); \
	} while (0)

static void block_put_who(struct capture_block *block, struct byte_out *out)
{
	BLOCK_PUT_ROWS(block, out, WHO_PID, who, (uint32_t)it->task);
	BLOCK_PUT_ROWS(block, out, WHO_COMM0, who, it->comm[0]);
	BLOCK_PUT_ROWS(block, out, WHO_COMM1, who, it->comm[1]);
	BLOCK_PUT_ROWS(block, out, WHO_DEVICE, who, (uint16_t)it->place);
	BLOCK_PUT_ROWS(block, out, WHO_QID, who, (uint16_t)(it->place >> 16));
	BLOCK_PUT_ROWS(block, out, WHO_CPU, who, block->cpu_rows[(uint16_t)(it->place >> 32)] - 1u);
	BLOCK_PUT_ROWS(block, out, WHO_NSID, who, it->task >> 32);
	BLOCK_PUT_ROWS(block, out, WHO_KIND, who, (uint8_t)(it->place >> 48));
	BLOCK_PUT_ROWS(block, out, WHO_OP, who, it->place >> 56);
}

static void block_put_what(struct capture_block *block, struct byte_out *out)
{
	BLOCK_PUT_ROWS(block, out, WHAT_BYTES, what, (uint32_t)it->size);
	BLOCK_PUT_ROWS(block, out, WHAT_CDW12, what, it->size >> 32);
	BLOCK_PUT_ROWS(block, out, WHAT_CDW13, what, (uint32_t)it->outcome);
	BLOCK_PUT_ROWS(block, out, WHAT_STATUS, what, (uint16_t)(it->outcome >> 32));
	BLOCK_PUT_ROWS(block, out, WHAT_CMD_FLAGS, what, (uint8_t)(it->outcome >> 48));
	BLOCK_PUT_ROWS(block, out, WHAT_ATTEMPTS, what, it->outcome >> 56);
	BLOCK_PUT_ROWS(block, out, WHAT_WHAT, what, (uint8_t)it->kind);
	BLOCK_PUT_ROWS(block, out, WHAT_FLAGS, what, it->kind >> 8);
}

static void block_put_cpus(struct capture_block *block, struct byte_out *out)
{
	BLOCK_PUT_ROWS(block, out, CPU_NUMBER, cpus, it->cpu);
	BLOCK_PUT_ROWS(block, out, CPU_FIRST_SEQ, cpus, it->first_seq);
}

static void block_clear(struct capture_block *block)
{
	for (size_t i = 0; i < block->nr_cpus; i++)
		block->cpu_rows[block->cpus[i].cpu] = 0;
	memset(block->who_index, 0, sizeof(block->who_index));
	memset(block->what_index, 0, sizeof(block->what_index));
	memset(block->generations, 0, sizeof(block->generations));
	memset(block->rare, 0, sizeof(block->rare));
	block->nr = block->nr_who = block->nr_what = block->nr_cpus = 0;
}

void capture_block__encode(struct capture_block *block, struct capture_zip *zip,
			   struct capture_chunk *chunk, struct byte_out *out)
{
	byte_out__varint(out, block->nr_who);
	byte_out__varint(out, block->nr_what);
	byte_out__varint(out, block->nr_cpus);
	chunk->count = block->nr;
	chunk->min_ns = block->min_ns;
	chunk->max_ns = block->max_ns;
	chunk->flags = block_put_records(block, zip, out) ? CAPTURE_ZSTD : 0;
	block_put_who(block, out);
	block_put_what(block, out);
	block_put_cpus(block, out);
	block_clear(block);
}
