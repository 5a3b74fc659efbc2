/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * records.h: what do views of I/O ask about a record? Its device, and whether it meets --if or
 * --when. Also the options shared by views that take records from rings.
 */
#ifndef IOSONAR_VIEW_RECORDS_H
#define IOSONAR_VIEW_RECORDS_H

#include "decode/row.h"
#include "session/session.h"

/* Index in the list of devices; -1: unknown. */
int32_t records__device(struct session *session, const struct io_record *record);
/* Name of the device at this index, or "?". */
const char *records__device_name(const struct session *session, int32_t device);
/* The number of its machine, as devices have it; 0: the run has one machine. */
uint16_t records__host_number(const struct session *session, int32_t device);
/* Its machine, of captures; NULL: not known. Hostile. */
const char *records__host(const struct session *session, int32_t device);
/* A condition about the columns of `trace`. As condition__parse. */
int records__parse_condition(const char *option, const char *text, struct condition **condition);

/* --if of a view of single commands; row is its buffer. */
struct record_filter {
	const char *only_if;
	struct condition *only;
	struct command_row row;
};
#define RECORD_IF_OPTION(at, ...)                                                               \
	{                                                                                       \
		"if", 0, OPTION_STRING, (at) + offsetof(struct record_filter, only_if), "EXPR", \
			"only commands for which this is true, as in trace, e.g. 'bytes >= "    \
			"64Ki'",                                                                \
			__VA_ARGS__                                                             \
	}
int record_filter__parse(struct record_filter *filter);
/* Without an --if every record is admitted. */
bool record_filter__admits(struct record_filter *filter, struct session *session,
			   const struct io_record *record);
void record_filter__free(struct record_filter *filter);

#define RECORDS_BUFFER_OPTION(at)                                                               \
	{                                                                                       \
		"buffer", 0, OPTION_SIZE, at, "SIZE",                                           \
			"size of each CPU's ring (default 4Mi); a full ring drops records and " \
			"counts them",                                                          \
			.min = 4096, .max = 1 << 30, .not_with = "read"                         \
	}

#endif
