/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * row.h: one command as a row of columns: printed by `trace`, tested by --if and --when. Made from
 * a record and the meaning of its numbers where it was recorded; nothing here reads a clock or a
 * device.
 */
#ifndef IOSONAR_DECODE_ROW_H
#define IOSONAR_DECODE_ROW_H

#include <stdbool.h>
#include <stdint.h>
#include "decode/column.h"
#include "decode/number.h"
#include "wire/io_record.h"

/*
 *        time dev     qid   cid op       nsid command            status try latency  pid comm
 * 0.004112873 nvme0n1   1 16402 read        1 lba=41280 len=4Ki  ok       1   163us 2211 fio
 */
struct command_row {
	uint64_t time_ns;
	const char *wall, *event;
	uint64_t start_ns, last_ns, end_ns;
	const char *dev;
	uint64_t qid, cid;
	const char *op;
	uint64_t nsid, lba, sector, bytes;
	const char *command, *cdw;
	const char *status;
	uint64_t status_code, result, attempts, lat_ns, attempt_ns, pid;
	const char *comm;
	uint64_t cpu;
	size_t command_len, status_len, comm_len;
	/* Buffers for some texts of this row. */
	struct number_wall wall_text;
	char op_text[16], command_text[512], cdw_text[64];
	char status_text[160], comm_text[17];
};

enum { COMMAND_COLUMNS = 25 };
extern const struct column command_columns[COMMAND_COLUMNS + 1];
/* Those of `trace -o json` without options, a blank before and behind each. */
extern const char command_data_keys[];

/* What a record's numbers mean on its machine. */
struct command_context {
	const char *dev;     /* NULL: not known */
	uint32_t block_size; /* 0: not known */
	char *const *op_names;
	uint64_t start_ns;  /* of the run */
	uint64_t wall_ns;   /* of the event; 0: unknown, or not requested */
	bool cdw;	    /* fill the dwords: they cost more than the rest */
	bool without_place; /* nobody asks for the first block or sector */
};

void command_row__fill(struct command_row *row, const struct io_record *record,
		       const struct command_context *context);

#endif
