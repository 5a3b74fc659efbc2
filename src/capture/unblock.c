/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * The last bytes of a record, as they lie there. Some are of its `who`, some of its `what`; each
 * has zeros where the other's are, so that two ors join them.
 */
union unblock_tail {
	struct {
		uint16_t device, qid, cid, status, cpu;
		uint8_t kind, op, cmd_flags, attempts, what, flags;
	};
	uint64_t words[2];
};

enum { UNBLOCK_TAIL = offsetof(struct io_record, device) };
_Static_assert(UNBLOCK_TAIL + sizeof(union unblock_tail) == sizeof(struct io_record) &&
		       offsetof(union unblock_tail, flags) + UNBLOCK_TAIL ==
			       offsetof(struct io_record, flags),
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
	struct capture_zip *zip;
	struct unblock_who *who;
	struct unblock_what *what;
	struct unblock_cpu *cpus;
	uint32_t nr_who, nr_what, nr_cpus;
	uint32_t nr, at;    /* records, and those that were handed out */
	uint64_t now_ns;    /* of the last one */
	bool steps_latency; /* columns of steps are there */
	bool steps_address;
	struct capture_column columns[NR_COLUMNS];
	uint16_t who_of[CAPTURE_BLOCK_RECORDS], what_of[CAPTURE_BLOCK_RECORDS];
	uint64_t run[NR_RECORD_COLUMNS][CAPTURE_RUN]; /* a few values of every column */
	struct io_record records[CAPTURE_RUN];	      /* and what they make */
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

/* ---- what rows say ---- */

static size_t unblock_nr_values(const struct capture_unblock *unblock, uint8_t id)
{
	if (id < WHO_PID)
		return unblock->nr;
	if (id < WHAT_BYTES)
		return unblock->nr_who;
	return id < CPU_NUMBER ? unblock->nr_what : unblock->nr_cpus;
}

static int unblock_open_columns(struct capture_unblock *unblock, struct byte_in *in)
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
					  unblock_nr_values(unblock, id)))
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
#define UNBLOCK_GET_ROWS(unblock, id, rows, nr_rows, field)                                      \
	do {                                                                                     \
		uint64_t values_[CAPTURE_RUN];                                                   \
                                                                                                 \
		for (size_t row_ = 0; row_ < (nr_rows); row_++) {                                \
			size_t left_ = (nr_rows)-row_;                                           \
                                                                                                 \
			if (row_ % CAPTURE_RUN == 0)                                             \
				capture_column__read(&(unblock)->columns[id], values_,           \
						     left_ < CAPTURE_RUN ? left_ : CAPTURE_RUN); \
			(rows)[row_].field =                                                     \
				(__typeof__((rows)[row_].field))values_[row_ % CAPTURE_RUN];     \
		}                                                                                \
	} while (0)

static void unblock_get_cpus(struct capture_unblock *unblock)
{
	struct unblock_cpu *cpus = unblock->cpus;
	uint32_t nr = unblock->nr_cpus;

	UNBLOCK_GET_ROWS(unblock, CPU_NUMBER, cpus, nr, cpu);
	UNBLOCK_GET_ROWS(unblock, CPU_FIRST_SEQ, cpus, nr, next_seq);
}

static void unblock_get_what(struct capture_unblock *unblock)
{
	struct unblock_what *what = unblock->what;
	uint32_t nr = unblock->nr_what;

	UNBLOCK_GET_ROWS(unblock, WHAT_BYTES, what, nr, bytes);
	UNBLOCK_GET_ROWS(unblock, WHAT_CDW12, what, nr, cdw12);
	UNBLOCK_GET_ROWS(unblock, WHAT_CDW13, what, nr, cdw13);
	UNBLOCK_GET_ROWS(unblock, WHAT_STATUS, what, nr, tail.status);
	UNBLOCK_GET_ROWS(unblock, WHAT_CMD_FLAGS, what, nr, tail.cmd_flags);
	UNBLOCK_GET_ROWS(unblock, WHAT_ATTEMPTS, what, nr, tail.attempts);
	UNBLOCK_GET_ROWS(unblock, WHAT_WHAT, what, nr, tail.what);
	UNBLOCK_GET_ROWS(unblock, WHAT_FLAGS, what, nr, tail.flags);
}

static void unblock_get_who(struct capture_unblock *unblock)
{
	struct unblock_who *who = unblock->who;
	uint32_t nr = unblock->nr_who;

	UNBLOCK_GET_ROWS(unblock, WHO_PID, who, nr, pid);
	UNBLOCK_GET_ROWS(unblock, WHO_COMM0, who, nr, comm[0]);
	UNBLOCK_GET_ROWS(unblock, WHO_COMM1, who, nr, comm[1]);
	UNBLOCK_GET_ROWS(unblock, WHO_DEVICE, who, nr, tail.device);
	UNBLOCK_GET_ROWS(unblock, WHO_QID, who, nr, tail.qid);
	UNBLOCK_GET_ROWS(unblock, WHO_CPU, who, nr, cpu_row);
	UNBLOCK_GET_ROWS(unblock, WHO_NSID, who, nr, nsid);
	UNBLOCK_GET_ROWS(unblock, WHO_KIND, who, nr, tail.kind);
	UNBLOCK_GET_ROWS(unblock, WHO_OP, who, nr, tail.op);
}

/* What a row stands for in this machine's memory, and to who reads the file. */
static int unblock_prepare_who(struct capture_unblock *unblock, struct unblock_who *who,
			       const struct capture_translation *translation)
{
	int device = who->tail.device;

	if (who->cpu_row >= unblock->nr_cpus)
		return -EBADMSG;
	le__put64((uint8_t *)&who->comm[0], who->comm[0]);
	le__put64((uint8_t *)&who->comm[1], who->comm[1]);
	who->tail.cpu = unblock->cpus[who->cpu_row].cpu;
	who->generation_base = capture_generation_place(who->tail.device, who->tail.qid, 0);
	if (translation->device)
		device = translation->device(translation->arg, who->tail.device);
	who->tail.device = (uint16_t)device;
	return device < 0 ? device : 0;
}

/* The row of each record; -EBADMSG: there is no such row. */
static int unblock_get_places(struct capture_unblock *unblock, enum capture_column_id id,
			      uint16_t *places, uint32_t nr_rows)
{
	uint64_t run[CAPTURE_RUN];

	for (uint32_t from = 0; from < unblock->nr; from += CAPTURE_RUN) {
		uint32_t left = unblock->nr - from, nr = left < CAPTURE_RUN ? left : CAPTURE_RUN;

		capture_column__read(&unblock->columns[id], run, nr);
		for (uint32_t i = 0; i < nr; i++) {
			if (run[i] >= nr_rows)
				return -EBADMSG;
			places[from + i] = (uint16_t)run[i];
		}
	}
	return 0;
}

static int unblock_get_rows(struct capture_unblock *unblock,
			    const struct capture_translation *translation)
{
	int err = 0;

	unblock_get_cpus(unblock);
	unblock_get_what(unblock);
	unblock_get_who(unblock);
	for (uint32_t i = 0; i < unblock->nr_who && !err; i++)
		err = unblock_prepare_who(unblock, &unblock->who[i], translation);
	if (!err)
		err = unblock_get_places(unblock, COLUMN_WHO, unblock->who_of, unblock->nr_who);
	if (!err)
		err = unblock_get_places(unblock, COLUMN_WHAT, unblock->what_of, unblock->nr_what);
	return err;
}

/* The number of rows of each table, all of which some record uses. */
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
	return unblock_new_rows(unblock);
}

int capture_unblock__open(struct capture_unblock *unblock, const struct capture_chunk *chunk,
			  const uint8_t *payload, const struct capture_translation *translation)
{
	struct byte_in in = { payload, payload + chunk->length, false };
	int err;

	unblock->nr = unblock->at = 0;
	if ((chunk->flags & CAPTURE_ZSTD) && !capture_zip__is_built_in())
		return -EOPNOTSUPP;
	if ((chunk->flags & CAPTURE_ZSTD) && !unblock->zip)
		unblock->zip = capture_zip__new_reader();
	err = unblock_begin(unblock, &in, chunk->count);
	if (!err)
		err = unblock_open_columns(unblock, &in);
	if (!err)
		err = unblock_get_rows(unblock, translation);
	if (err)
		unblock->nr = 0;
	unblock->now_ns = chunk->min_ns + translation->shift_ns;
	unblock->steps_latency = unblock->columns[COLUMN_LATENCY_STEP].packing;
	unblock->steps_address = unblock->columns[COLUMN_ADDRESS_STEP].packing;
	return err;
}

/* ---- records ---- */

static inline void unblock_set_times(struct io_record *record, uint64_t now_ns, uint64_t first_ns,
				     uint64_t last_ns)
{
	record->first_ns = first_ns;
	record->last_ns = first_ns + last_ns;
	record->end_ns = now_ns;
}

static inline void unblock_set_submit(struct io_record *record, uint64_t now_ns, uint64_t first_ns,
				      uint64_t end_ns)
{
	record->first_ns = first_ns;
	record->last_ns = now_ns;
	record->end_ns = end_ns;
}

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
	first_ns = unblock->now_ns -
		   unblock_value(unblock, unblock->steps_latency, COLUMN_LATENCY, i, &who->latency);
	if (what->tail.what == RECORD_SUBMIT)
		unblock_set_submit(record, unblock->now_ns, first_ns, unblock->run[COLUMN_LAST][i]);
	else
		unblock_set_times(record, unblock->now_ns, first_ns, unblock->run[COLUMN_LAST][i]);
}

/* Rows are known already; what is constant in the first run stays so. */
static void unblock_read_run(struct capture_unblock *unblock, size_t nr)
{
	for (int id = 1; id < COLUMN_WHO; id++)
		if (!unblock->at || unblock->columns[id].packing > PACKING_CONSTANT)
			capture_column__read(&unblock->columns[id], unblock->run[id], nr);
}

const struct io_record *capture_unblock__next(struct capture_unblock *unblock,
					      const struct io_record **end)
{
	uint32_t left = unblock->nr - unblock->at;
	uint32_t nr = left < CAPTURE_RUN ? left : CAPTURE_RUN;

	if (nr)
		unblock_read_run(unblock, nr);
	for (uint32_t i = 0; i < nr; i++)
		unblock_record(unblock, &unblock->records[i], i);
	unblock->at += nr;
	*end = unblock->records + nr;
	return unblock->records;
}
