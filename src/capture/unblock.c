/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct unblock_who {
	uint64_t comm[2];
	uint64_t address, latency; /* of its last record */
	uint32_t pid, nsid, cpu_row;
	uint16_t device, qid;
	uint8_t kind, op;
};

struct unblock_what {
	uint32_t bytes, cdw12, cdw13;
	uint16_t status;
	uint8_t cmd_flags, attempts, what, flags;
};

struct unblock_cpu {
	uint16_t cpu;
	uint32_t next_seq;
};

struct capture_unblock {
	struct capture_zip *zip;
	struct unblock_who *who;
	struct unblock_what *what;
	struct unblock_cpu *cpus;
	uint32_t nr_who, nr_what, nr_cpus;
	struct capture_column columns[NR_COLUMNS];
	uint64_t run[NR_RECORD_COLUMNS][CAPTURE_RUN]; /* a few values of every column */
	uint8_t generations[CAPTURE_GENERATIONS];
};

struct capture_unblock *capture_unblock__new(void)
{
	return calloc(1, sizeof(struct capture_unblock));
}

void capture_unblock__free(struct capture_unblock *unblock)
{
	if (!unblock)
		return;
	for (int id = 0; id < NR_COLUMNS; id++)
		capture_column__close(&unblock->columns[id]);
	capture_zip__free(unblock->zip);
	free(unblock->who);
	free(unblock->what);
	free(unblock->cpus);
	free(unblock);
}

static size_t unblock_nr_values(const struct capture_unblock *unblock, uint8_t id, uint32_t count)
{
	if (id < WHO_PID)
		return count;
	if (id < WHAT_BYTES)
		return unblock->nr_who;
	return id < CPU_NUMBER ? unblock->nr_what : unblock->nr_cpus;
}

static int unblock_open_columns(struct capture_unblock *unblock, struct byte_in *in, uint32_t count)
{
	for (int id = 0; id < NR_COLUMNS; id++)
		capture_column__close(&unblock->columns[id]);
	while (in->at < in->end) {
		uint8_t id = byte_in__u8(in), packing = byte_in__u8(in);
		struct byte_in part = byte_in__part(in);

		if (part.bad)
			return -EBADMSG;
		if (id >= NR_COLUMNS)
			continue;
		if (!capture_column__open(&unblock->columns[id], unblock->zip, packing, part,
					  unblock_nr_values(unblock, id, count)))
			return -EBADMSG;
	}
	return 0;
}

static int unblock_new_rows(struct capture_unblock *unblock)
{
	free(unblock->who);
	free(unblock->what);
	free(unblock->cpus);
	unblock->who = calloc(unblock->nr_who + 1, sizeof(*unblock->who));
	unblock->what = calloc(unblock->nr_what + 1, sizeof(*unblock->what));
	unblock->cpus = calloc(unblock->nr_cpus + 1, sizeof(*unblock->cpus));
	memset(unblock->generations, 0, sizeof(unblock->generations));
	return unblock->who && unblock->what && unblock->cpus ? 0 : -ENOMEM;
}

/* One field of a table of rows. */
#define UNBLOCK_GET_ROWS(unblock, id, rows, nr_rows, field)                                   \
	do {                                                                                  \
		uint64_t values_[CAPTURE_RUN];                                                \
                                                                                              \
		for (size_t row_ = 0; row_ < (nr_rows); row_++) {                             \
			size_t left_ = (nr_rows)-row_;                                        \
                                                                                              \
			if (row_ % CAPTURE_RUN == 0 &&                                        \
			    !capture_column__read(&(unblock)->columns[id], values_,           \
						  left_ < CAPTURE_RUN ? left_ : CAPTURE_RUN)) \
				return -EBADMSG;                                              \
			(rows)[row_].field =                                                  \
				(__typeof__((rows)[row_].field))values_[row_ % CAPTURE_RUN];  \
		}                                                                             \
	} while (0)

static int unblock_get_who(struct capture_unblock *unblock)
{
	struct unblock_who *who = unblock->who;
	uint32_t nr = unblock->nr_who;

	UNBLOCK_GET_ROWS(unblock, WHO_PID, who, nr, pid);
	UNBLOCK_GET_ROWS(unblock, WHO_COMM0, who, nr, comm[0]);
	UNBLOCK_GET_ROWS(unblock, WHO_COMM1, who, nr, comm[1]);
	UNBLOCK_GET_ROWS(unblock, WHO_DEVICE, who, nr, device);
	UNBLOCK_GET_ROWS(unblock, WHO_QID, who, nr, qid);
	UNBLOCK_GET_ROWS(unblock, WHO_CPU, who, nr, cpu_row);
	UNBLOCK_GET_ROWS(unblock, WHO_NSID, who, nr, nsid);
	UNBLOCK_GET_ROWS(unblock, WHO_KIND, who, nr, kind);
	UNBLOCK_GET_ROWS(unblock, WHO_OP, who, nr, op);
	for (uint32_t i = 0; i < nr; i++) {
		if (who[i].cpu_row >= unblock->nr_cpus)
			return -EBADMSG;
		le__put64((uint8_t *)&who[i].comm[0], who[i].comm[0]);
		le__put64((uint8_t *)&who[i].comm[1], who[i].comm[1]);
	}
	return 0;
}

static int unblock_get_what(struct capture_unblock *unblock)
{
	struct unblock_what *what = unblock->what;
	struct unblock_cpu *cpus = unblock->cpus;
	uint32_t nr = unblock->nr_what;

	UNBLOCK_GET_ROWS(unblock, WHAT_BYTES, what, nr, bytes);
	UNBLOCK_GET_ROWS(unblock, WHAT_CDW12, what, nr, cdw12);
	UNBLOCK_GET_ROWS(unblock, WHAT_CDW13, what, nr, cdw13);
	UNBLOCK_GET_ROWS(unblock, WHAT_STATUS, what, nr, status);
	UNBLOCK_GET_ROWS(unblock, WHAT_CMD_FLAGS, what, nr, cmd_flags);
	UNBLOCK_GET_ROWS(unblock, WHAT_ATTEMPTS, what, nr, attempts);
	UNBLOCK_GET_ROWS(unblock, WHAT_WHAT, what, nr, what);
	UNBLOCK_GET_ROWS(unblock, WHAT_FLAGS, what, nr, flags);
	UNBLOCK_GET_ROWS(unblock, CPU_NUMBER, cpus, unblock->nr_cpus, cpu);
	UNBLOCK_GET_ROWS(unblock, CPU_FIRST_SEQ, cpus, unblock->nr_cpus, next_seq);
	return 0;
}

/* The number of rows of each table, all of which some record uses. */
static int unblock_begin(struct capture_unblock *unblock, struct byte_in *in, uint32_t count)
{
	uint64_t nr_who = byte_in__varint(in), nr_what = byte_in__varint(in);
	uint64_t nr_cpus = byte_in__varint(in);
	int err;

	if (in->bad || !count || count > CAPTURE_BLOCK_RECORDS || nr_who > count ||
	    nr_what > count || nr_cpus > count)
		return -EBADMSG;
	unblock->nr_who = (uint32_t)nr_who;
	unblock->nr_what = (uint32_t)nr_what;
	unblock->nr_cpus = (uint32_t)nr_cpus;
	err = unblock_new_rows(unblock);
	if (err)
		return err;
	return unblock_open_columns(unblock, in, count);
}

static void unblock_set_who(struct capture_unblock *unblock, struct io_record *record,
			    const struct unblock_who *who, uint64_t seq_error)
{
	struct unblock_cpu *cpu = &unblock->cpus[who->cpu_row];

	memcpy(record->comm, who->comm, sizeof(record->comm));
	record->pid = who->pid;
	record->nsid = who->nsid;
	record->device = who->device;
	record->qid = who->qid;
	record->kind = who->kind;
	record->op = who->op;
	record->cpu = cpu->cpu;
	record->seq = cpu->next_seq + (uint32_t)seq_error;
	cpu->next_seq = record->seq + 1;
}

static void unblock_set_what(struct io_record *record, const struct unblock_what *what)
{
	record->bytes = what->bytes;
	record->cdw10[2] = what->cdw12;
	record->cdw10[3] = what->cdw13;
	record->status = what->status;
	record->cmd_flags = what->cmd_flags;
	record->attempts = what->attempts;
	record->what = what->what;
	record->flags = what->flags;
}

static void unblock_set_times(struct io_record *record, uint64_t now_ns, uint64_t latency_ns,
			      uint64_t last_ns)
{
	record->first_ns = now_ns - latency_ns;
	if (record->what == RECORD_SUBMIT) {
		record->last_ns = now_ns;
		record->end_ns = last_ns;
	} else {
		record->last_ns = record->first_ns + last_ns;
		record->end_ns = now_ns;
	}
}

static void unblock_set_cid(struct capture_unblock *unblock, struct io_record *record, uint64_t tag,
			    uint64_t generation_error)
{
	uint8_t *last;

	tag &= 0xfff;
	last = &unblock->generations[capture_generation_place(record->device, record->qid,
							      (uint32_t)tag)];
	*last = (uint8_t)((*last + 1 + generation_error) & 15);
	record->cid = (uint16_t)(tag | (uint64_t)*last << 12);
}

/* The value, or the last one and a step. */
static uint64_t unblock_value(struct capture_unblock *unblock, enum capture_column_id id, size_t i,
			      uint64_t *last)
{
	if (!unblock->columns[id + 1].packing)
		return unblock->run[id][i];
	*last += unblock->run[id + 1][i];
	return *last;
}

static int unblock_record(struct capture_unblock *unblock, struct io_record *record, size_t i,
			  uint64_t now_ns)
{
	uint64_t who_row = unblock->run[COLUMN_WHO][i], what_row = unblock->run[COLUMN_WHAT][i];
	struct unblock_who *who = &unblock->who[who_row];
	uint64_t address;

	if (who_row >= unblock->nr_who || what_row >= unblock->nr_what)
		return -EBADMSG;
	unblock_set_who(unblock, record, who, unblock->run[COLUMN_SEQ][i]);
	unblock_set_what(record, &unblock->what[what_row]);
	unblock_set_times(record, now_ns, unblock_value(unblock, COLUMN_LATENCY, i, &who->latency),
			  unblock->run[COLUMN_LAST][i]);
	unblock_set_cid(unblock, record, unblock->run[COLUMN_TAG][i],
			unblock->run[COLUMN_GENERATION][i]);
	address = unblock_value(unblock, COLUMN_ADDRESS, i, &who->address);
	record->cdw10[0] = (uint32_t)address;
	record->cdw10[1] = (uint32_t)(address >> 32);
	record->cdw10[4] = (uint32_t)unblock->run[COLUMN_CDW14][i];
	record->cdw10[5] = (uint32_t)unblock->run[COLUMN_CDW15][i];
	record->result = unblock->run[COLUMN_RESULT][i];
	return 0;
}

static int unblock_records(struct capture_unblock *unblock, const struct capture_chunk *chunk,
			   struct io_record *records)
{
	uint64_t now_ns = chunk->min_ns;
	int err = 0;

	/* What is constant in the first run stays so. */
	for (size_t from = 0; from < chunk->count && !err; from += CAPTURE_RUN) {
		size_t left = chunk->count - from;
		size_t nr = left < CAPTURE_RUN ? left : CAPTURE_RUN;

		for (int id = 1; id < NR_RECORD_COLUMNS; id++)
			if ((!from || unblock->columns[id].packing > PACKING_CONSTANT) &&
			    !capture_column__read(&unblock->columns[id], unblock->run[id], nr))
				return -EBADMSG;
		for (size_t i = 0; i < nr && !err; i++) {
			now_ns += unblock->run[COLUMN_TIME][i];
			err = unblock_record(unblock, &records[from + i], i, now_ns);
		}
	}
	return err;
}

int capture_unblock__decode(struct capture_unblock *unblock, const struct capture_chunk *chunk,
			    const uint8_t *payload, struct io_record *records)
{
	struct byte_in in = { payload, payload + chunk->length, false };
	int err;

	if ((chunk->flags & CAPTURE_ZSTD) && !capture_zip__is_built_in())
		return -EOPNOTSUPP;
	if ((chunk->flags & CAPTURE_ZSTD) && !unblock->zip)
		unblock->zip = capture_zip__new_reader();
	err = unblock_begin(unblock, &in, chunk->count);
	if (!err)
		err = unblock_get_what(unblock);
	if (!err)
		err = unblock_get_who(unblock);
	return err ? err : unblock_records(unblock, chunk, records);
}
