/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_event.h: events for the tests of values, plans and programs, as find.c would find them: a
 * tracepoint, a raw one whose arguments have BTF, a function and its return, others.
 */
#ifndef IOSONAR_TESTS_PROBE_EVENT_H
#define IOSONAR_TESTS_PROBE_EVENT_H

#include <stddef.h>
#include <bpf/btf.h>
#include "probe/lang/plan.h"
#include "tap.h"

/* struct request { struct queue *q; int tag; u32 kind:3, :2, depth:5 (signed); enum op op;
 *		    union { u64 sector; struct { u32 low, high; }; }; char name[12]; char *label;
 *		    struct inner { u8 x; s64 y; } in; u32 table[4]; u128 wide; struct later *later;
 *}; struct queue { struct request *last; char disk[32]; }; */
static struct btf *event_btf;
static int event_request, event_struct_inner;

static void event_make_queue(const int disk)
{
	int queue = btf__add_struct(event_btf, "queue", 40);

	btf__add_field(event_btf, "last", queue + 1, 0, 0);
	btf__add_field(event_btf, "disk", disk, 64, 0);
}

static void event_make_btf(void)
{
	int u8, u32, s32, u64, s64, wide, chr, disk, name, label, table, op, pair, either, queue,
		later;

	event_btf = btf__new_empty();
	u8 = btf__add_int(event_btf, "u8", 1, 0);
	u32 = btf__add_int(event_btf, "u32", 4, 0);
	s32 = btf__add_int(event_btf, "int", 4, BTF_INT_SIGNED);
	u64 = btf__add_int(event_btf, "u64", 8, 0);
	s64 = btf__add_int(event_btf, "s64", 8, BTF_INT_SIGNED);
	wide = btf__add_int(event_btf, "u128", 16, 0);
	chr = btf__add_int(event_btf, "char", 1, 0);
	disk = btf__add_array(event_btf, u32, chr, 32);
	name = btf__add_array(event_btf, u32, chr, 12);
	table = btf__add_array(event_btf, u32, u32, 4);
	label = btf__add_ptr(event_btf, chr);
	op = btf__add_enum(event_btf, "op", 4);
	btf__add_enum_value(event_btf, "READ", 0);
	btf__add_enum_value(event_btf, "WRITE", 1);
	event_struct_inner = btf__add_struct(event_btf, "inner", 16);
	btf__add_field(event_btf, "x", u8, 0, 0);
	btf__add_field(event_btf, "y", s64, 64, 0);
	pair = btf__add_struct(event_btf, NULL, 8);
	btf__add_field(event_btf, "low", u32, 0, 0);
	btf__add_field(event_btf, "high", u32, 32, 0);
	either = btf__add_union(event_btf, NULL, 8);
	btf__add_field(event_btf, "sector", u64, 0, 0);
	btf__add_field(event_btf, NULL, pair, 0, 0);
	later = btf__add_ptr(event_btf, btf__add_fwd(event_btf, "later", BTF_FWD_STRUCT));
	event_make_queue(disk);
	/* behind the queue: pointer to request, pointer to queue, request */
	queue = (int)btf__type_cnt(event_btf) - 1;
	btf__add_ptr(event_btf, queue + 3);
	btf__add_ptr(event_btf, queue);
	event_request = btf__add_struct(event_btf, "request", 120);
	btf__add_field(event_btf, "q", queue + 2, 0, 0);
	btf__add_field(event_btf, "tag", s32, 64, 0);
	btf__add_field(event_btf, "kind", u32, 96, 3);
	btf__add_field(event_btf, "depth", s32, 101, 5);
	btf__add_field(event_btf, "op", op, 128, 0);
	btf__add_field(event_btf, NULL, either, 192, 0);
	btf__add_field(event_btf, "name", name, 256, 0);
	btf__add_field(event_btf, "label", label, 384, 0);
	btf__add_field(event_btf, "in", event_struct_inner, 448, 0);
	btf__add_field(event_btf, "table", table, 576, 0);
	btf__add_field(event_btf, "wide", wide, 704, 0);
	btf__add_field(event_btf, "later", later, 832, 0);
}

#define EVENT_NUMBER(bytes, sign)                                      \
	{                                                              \
		.kind = TYPE_INT, .size = (bytes), .is_signed = (sign) \
	}

static struct probe_field event_record_fields[] = {
	{ .name = "common_pid", .type = EVENT_NUMBER(4, true), .at = 4 },
	{ .name = "dev", .type = EVENT_NUMBER(4, false), .at = 8 },
	{ .name = "sector", .type = EVENT_NUMBER(8, false), .at = 16 },
	{ .name = "nr_sector", .type = EVENT_NUMBER(4, false), .at = 24 },
	{ .name = "bytes", .type = EVENT_NUMBER(4, false), .at = 28 },
	{ .name = "error", .type = EVENT_NUMBER(4, true), .at = 32 },
	{ .name = "rwbs", .type = { .kind = TYPE_TEXT, .size = 8 }, .at = 36 },
	{ .name = "comm", .type = { .kind = TYPE_TEXT, .size = 16 }, .at = 44 },
	{ .name = "cmd", .type = { .kind = TYPE_TEXT, .size = 4, .is_loc = true }, .at = 60 },
	{ .name = "filename",
	  .at = 64,
	  .type = { .kind = TYPE_POINTER, .size = 8, .is_user = true, .is_text = true } },
	{ .name = "pid", .type = EVENT_NUMBER(4, true), .at = 72 },
	{ .name = "map", .type = { .kind = TYPE_ARRAY, .size = 16, .nr = 16 }, .at = 80 },
};

static struct probe_field event_raw_fields[] = {
	{ .name = "rq", .place = PLACE_ARG },
	{ .name = "nr_bytes",
	  .type = EVENT_NUMBER(4, false),
	  .place = PLACE_ARG,
	  .at = 1,
	  .reg = 1,
	  .slot = 1 },
	{ .name = "in", .place = PLACE_ARG, .at = 2, .reg = 2, .slot = 2 },
	{ .name = "name",
	  .place = PLACE_ARG,
	  .at = 3,
	  .reg = 4,
	  .slot = 4,
	  .type = { .kind = TYPE_POINTER, .size = 8, .is_text = true } },
};

static struct probe_field event_ret_fields[] = {
	{ .name = "ret", .type = EVENT_NUMBER(4, true), .place = PLACE_RET },
};

static char event_names[][32] = { "block:rq_issue", "raw:rq_done",  "fn:submit",  "ret:submit",
				  "ret:put",	    "user:/x:main", "profile:99", "usdt:/x:p:go" };

#define EVENT_FIELDS(list) .fields = (list), .nr_fields = sizeof(list) / sizeof((list)[0])

enum {
	EVENT_RECORD,
	EVENT_RAW,
	EVENT_FN,
	EVENT_RET,
	EVENT_PUT,
	EVENT_USER,
	EVENT_PROFILE,
	EVENT_USDT
};
static struct probe event_probes[] = {
	[EVENT_RECORD] = { .kind = PROBE_TRACEPOINT,
			   .name = event_names[0],
			   .func = event_names[0] + 6,
			   EVENT_FIELDS(event_record_fields) },
	[EVENT_RAW] = { .kind = PROBE_RAW,
			.name = event_names[1],
			.func = event_names[1] + 4,
			EVENT_FIELDS(event_raw_fields) },
	[EVENT_FN] = { .kind = PROBE_FN,
		       .name = event_names[2],
		       .func = event_names[2] + 3,
		       EVENT_FIELDS(event_raw_fields) },
	[EVENT_RET] = { .kind = PROBE_RET,
			.name = event_names[3],
			.func = event_names[3] + 4,
			EVENT_FIELDS(event_ret_fields) },
	[EVENT_PUT] = { .kind = PROBE_RET,
			.name = event_names[4],
			.func = event_names[4] + 4,
			.returns_nothing = true },
	[EVENT_USER] = { .kind = PROBE_USER, .name = event_names[5], .func = event_names[5] + 8 },
	[EVENT_PROFILE] = { .kind = PROBE_PROFILE,
			    .name = event_names[6],
			    .func = event_names[6] + 8 },
	[EVENT_USDT] = { .kind = PROBE_USDT,
			 .name = event_names[7],
			 .func = event_names[7] + 10,
			 .args = { { USDT_CONST, 7, 0, 4, true },
				   { USDT_REG, 0, 16, 4, true },
				   { USDT_MEM, -8, 24, 2, false } },
			 .nr_args = 3 },
};

__attribute__((unused)) static void events_make(void)
{
	event_make_btf();
	event_raw_fields[0].type = (struct type){
		.kind = TYPE_POINTER, .size = 8, .btf = event_btf, .id = (uint32_t)event_request
	};
	event_raw_fields[2].type = type__of(event_btf, (uint32_t)event_struct_inner);
	event_probes[EVENT_RAW].btf = event_probes[EVENT_FN].btf = event_btf;
}

/* Where messages for people would go, so that they can be looked at. */
__attribute__((unused)) static char event_said[512];

#endif
