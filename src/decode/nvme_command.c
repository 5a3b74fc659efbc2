/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nvme_command.c: what was this command? Tables of I/O and fabrics commands; admin commands are in
 * nvme_admin.c. A plain read or write, the most common case, returns before any table is searched.
 * Data that the command points to (ranges, keys, lists) is not in a record and not shown.
 */
#include "decode/number.h"
#include "decode/nvme.h"
#include "decode/nvme_field.h"

/* ---- NVM command set ---- */

/* NVM Command Set 1.0, "Protection Information Field (PRINFO)": the check bits, guard on top. */
static const struct nvme_word prchk_words[] = {
	{ 2, "guard" }, { 1, "app" }, { 0, "ref" }, { 0, NULL }
};

/* NVM Command Set 1.0, 3.2.4 "Read", Dataset Management field of CDW13. */
static const struct nvme_word freq_words[] = {
	{ 1, "typical" },     { 2, "rare" },	     { 3, "reads" },
	{ 4, "writes" },      { 5, "reads-writes" }, { 6, "once" },
	{ 7, "speculative" }, { 8, "overwritten" },  { 0, NULL },
};

/* Options of every command that touches blocks. */
static const struct nvme_field rw_fields[] = {
	{ "fua", FIELD_FLAG, CDW12, 30, 1 },
	{ "lr", FIELD_FLAG, CDW12, 31, 1 },
	{ "pract", FIELD_FLAG, CDW12, 29, 1 },
	{ "prchk", FIELD_BITS, CDW12, 26, 3, FIELD_QUIET, prchk_words },
	{ "stc", FIELD_FLAG, CDW12, 24, 1 },
	{ 0 },
};

static const struct nvme_field hint_fields[] = {
	{ "freq", FIELD_NAME, CDW13, 0, 4, FIELD_QUIET, freq_words },
	{ "latency", FIELD_NAME, CDW13, 4, 2, FIELD_QUIET,
	  WORDS({ 1, "idle" }, { 2, "normal" }, { 3, "low" }) },
	{ "seq", FIELD_FLAG, CDW13, 6, 1 },
	{ "incompressible", FIELD_FLAG, CDW13, 7, 1 },
	{ 0 },
};

static const struct nvme_field no_fields[] = { { 0 } };
static const struct nvme_field zeroes_fields[] = { { "deac", FIELD_FLAG, CDW12, 25, 1 }, { 0 } };
static const struct nvme_field append_fields[] = {
	{ "piremap", FIELD_FLAG, CDW12, 25, 1 },
	{ "lba", FIELD_NUMBER, RESULT, 0, 64 },
	{ 0 },
};

/* Tags are valid only if checked: otherwise CDW14 and CDW15 are 0 or stale. */
static void rw_tags(struct words *w, const struct io_record *r)
{
	uint32_t prchk = r->cdw10[CDW12] >> 26 & 7;

	if (prchk & 1) {
		words__key(w, "reftag");
		words__hex(w, r->cdw10[CDW14], 1);
	}
	if (prchk & 2) {
		words__key(w, "apptag");
		words__hex(w, r->cdw10[CDW15] & 0xffff, 4);
		words__char(w, '/');
		words__hex(w, r->cdw10[CDW15] >> 16, 4);
	}
}

/* Base 2.0, 8.7 "Directives": type in CDW12, its argument in CDW13. */
static void rw_directive(struct words *w, const struct io_record *r)
{
	static const char *const keys[16] = { [1] = "stream", [2] = "placement" };
	uint32_t type = r->cdw10[CDW12] >> 20 & 15;

	if (!type)
		return;
	if (!keys[type]) {
		words__key(w, "dtype");
		words__u64(w, type);
	}
	words__key(w, keys[type] ? keys[type] : "dspec");
	words__u64(w, r->cdw10[CDW13] >> 16);
}

static void read_more(struct words *w, const struct io_record *r)
{
	if (r->cdw10[CDW13] & 0xff)
		nvme_fields__print(w, hint_fields, r);
	rw_tags(w, r);
}

static void write_more(struct words *w, const struct io_record *r)
{
	read_more(w, r);
	rw_directive(w, r);
}

static void zeroes_more(struct words *w, const struct io_record *r)
{
	nvme_fields__print(w, zeroes_fields, r);
	rw_tags(w, r);
	rw_directive(w, r);
}

static void append_more(struct words *w, const struct io_record *r)
{
	rw_tags(w, r);
	rw_directive(w, r);
	nvme_fields__print(w, append_fields, r);
}

static void copy_more(struct words *w, const struct io_record *r)
{
	nvme_fields__print(w, rw_fields, r);
	rw_tags(w, r);
	rw_directive(w, r);
}

/* ---- commands of every I/O command set: Base 2.0, chapter 7 ---- */

static const struct nvme_word resv_type_words[] = {
	{ 1, "write-exclusive" },
	{ 2, "exclusive-access" },
	{ 3, "write-exclusive-registrants" },
	{ 4, "exclusive-access-registrants" },
	{ 5, "write-exclusive-all-registrants" },
	{ 6, "exclusive-access-all-registrants" },
	{ 0, NULL },
};

/* ---- zones: Zoned Namespace Command Set 1.1, 3.4 ---- */

static const struct nvme_word zone_send_words[] = {
	{ 0x01, "close" },
	{ 0x02, "finish" },
	{ 0x03, "open" },
	{ 0x04, "reset" },
	{ 0x05, "offline" },
	{ 0x10, "set-descriptor-extension" },
	{ 0x11, "flush-explicit-zrwa" },
	{ 0, NULL },
};

static const struct nvme_word zone_state_words[] = {
	{ 0, "all" },	 { 1, "empty" }, { 2, "implicitly-opened" }, { 3, "explicitly-opened" },
	{ 4, "closed" }, { 5, "full" },	 { 6, "read-only" },	     { 7, "offline" },
	{ 0, NULL },
};

/*
 * Base 2.0, chapter 7, NVM Command Set 1.0, 3.2 and Zoned Namespace Command Set 1.1, 3.4; the
 * I/O Management pair (technical proposal 4146) and Cancel (4097) came with Base 2.1. The key
 * value and other command sets reuse these numbers and are not told apart.
 */
static const struct nvme_shape io_shapes[256] = {
	[0x00] = { "flush", no_fields },
	[0x01] = { "write", rw_fields, write_more, NVME_LBA | NVME_PLAIN },
	[0x02] = { "read", rw_fields, read_more, NVME_LBA | NVME_PLAIN },
	[0x04] = { "write-uncorrectable", no_fields, rw_directive, NVME_LBA },
	[0x05] = { "compare", rw_fields, rw_tags, NVME_LBA },
	[0x08] = { "write-zeroes", rw_fields, zeroes_more, NVME_LBA },
	[0x09] = { "dsm", FIELDS({ "ranges", FIELD_PLUS_ONE, CDW10, 0, 8 },
				 { "integral-read", FIELD_FLAG, CDW11, 0, 1 },
				 { "integral-write", FIELD_FLAG, CDW11, 1, 1 },
				 { "deallocate", FIELD_FLAG, CDW11, 2, 1 }) },
	[0x0c] = { "verify", rw_fields, rw_tags, NVME_LBA },
	[0x0d] = { "resv-register",
		   FIELDS({ "action", FIELD_NAME, CDW10, 0, 3, 0,
			    WORDS({ 0, "register" }, { 1, "unregister" }, { 2, "replace" }) },
			  { "ignore-key", FIELD_FLAG, CDW10, 3, 1 },
			  { "ptpl", FIELD_NAME, CDW10, 30, 2, FIELD_QUIET,
			    WORDS({ 2, "clear" }, { 3, "set" }) }) },
	[0x0e] = { "resv-report", FIELDS({ "len", FIELD_DWORDS, CDW10, 0, 32 },
					 { "extended", FIELD_FLAG, CDW11, 0, 1 }) },
	[0x11] = { "resv-acquire",
		   FIELDS({ "action", FIELD_NAME, CDW10, 0, 3, 0,
			    WORDS({ 0, "acquire" }, { 1, "preempt" }, { 2, "preempt-and-abort" }) },
			  { "type", FIELD_NAME, CDW10, 8, 8, 0, resv_type_words },
			  { "ignore-key", FIELD_FLAG, CDW10, 3, 1 }) },
	[0x12] = { "io-mgmt-recv",
		   FIELDS({ "mo", FIELD_NAME, CDW10, 0, 8, 0,
			    WORDS({ 0, "none" }, { 1, "reclaim-unit-handle-status" }) },
			  { "mos", FIELD_NUMBER, CDW10, 16, 16, FIELD_QUIET },
			  { "len", FIELD_DWORDS, CDW11, 0, 32 }) },
	[0x15] = { "resv-release",
		   FIELDS({ "action", FIELD_NAME, CDW10, 0, 3, 0,
			    WORDS({ 0, "release" }, { 1, "clear" }) },
			  { "type", FIELD_NAME, CDW10, 8, 8, FIELD_QUIET, resv_type_words },
			  { "ignore-key", FIELD_FLAG, CDW10, 3, 1 }) },
	[0x18] = { "cancel", FIELDS({ "action", FIELD_NAME, CDW11, 0, 2, 0,
				      WORDS({ 0, "single" }, { 1, "multiple" }) },
				    { "sqid", FIELD_NUMBER, CDW10, 0, 16 },
				    { "cid", FIELD_NUMBER, CDW10, 16, 16 }) },
	/* Protection twice: for the data read and, in copy_more, for the data written. */
	[0x19] = { "copy",
		   FIELDS({ "ranges", FIELD_PLUS_ONE, CDW12, 0, 8 },
			  { "format", FIELD_NUMBER, CDW12, 8, 4 },
			  { "pract-read", FIELD_FLAG, CDW12, 15, 1 },
			  { "prchk-read", FIELD_BITS, CDW12, 12, 3, FIELD_QUIET, prchk_words },
			  { "stc-read", FIELD_FLAG, CDW12, 25, 1 }),
		   copy_more, NVME_LBA },
	/* The management operation's own field is the number of placement identifiers, from 0. */
	[0x1d] = { "io-mgmt-send",
		   FIELDS({ "mo", FIELD_NAME, CDW10, 0, 8, 0,
			    WORDS({ 0, "none" }, { 1, "reclaim-unit-handle-update" }) },
			  { "pids", FIELD_PLUS_ONE, CDW10, 16, 16 }) },
	[0x79] = { "zone-mgmt-send",
		   FIELDS({ "action", FIELD_NAME, CDW13, 0, 8, 0, zone_send_words },
			  { "all", FIELD_FLAG, CDW13, 8, 1 },
			  { "option", FIELD_FLAG, CDW13, 9, 1 }),
		   NULL, NVME_LBA },
	[0x7a] = { "zone-mgmt-recv",
		   FIELDS({ "action", FIELD_NAME, CDW13, 0, 8, 0,
			    WORDS({ 0, "report" }, { 1, "extended-report" }) },
			  { "state", FIELD_NAME, CDW13, 8, 8, 0, zone_state_words },
			  { "partial", FIELD_FLAG, CDW13, 16, 1 },
			  { "len", FIELD_DWORDS, CDW12, 0, 32 }),
		   NULL, NVME_LBA },
	[0x7d] = { "zone-append", rw_fields, append_more, NVME_LBA },
};

/* ---- fabrics: Base 2.0, chapter 6; the first dword after the pointer is CDW10 ---- */

/* Base 2.0, 3.1.3 "Controller Properties". */
static const struct nvme_word property_words[] = {
	{ 0x00, "CAP" },    { 0x08, "VS" },	{ 0x0c, "INTMS" },  { 0x10, "INTMC" },
	{ 0x14, "CC" },	    { 0x1c, "CSTS" },	{ 0x20, "NSSR" },   { 0x24, "AQA" },
	{ 0x28, "ASQ" },    { 0x30, "ACQ" },	{ 0x38, "CMBLOC" }, { 0x3c, "CMBSZ" },
	{ 0x40, "BPINFO" }, { 0x44, "BPRSEL" }, { 0x48, "BPMBL" },  { 0x50, "CMBMSC" },
	{ 0x58, "CMBSTS" }, { 0x64, "NSSD" },	{ 0x68, "CRTO" },   { 0, NULL },
};

static const struct nvme_word property_size_words[] = { { 0, "4" }, { 1, "8" }, { 0, NULL } };

static const struct nvme_field auth_fields[] = {
	{ "secp", FIELD_HEX, CDW10, 24, 8 },
	{ "spsp", FIELD_HEX, CDW10, 8, 16 },
	{ "len", FIELD_SIZE, CDW11, 0, 32 },
	{ 0 },
};

/* By type: the fifth byte of a command whose opcode is 0x7f. */
static const struct nvme_shape fabrics_shapes[256] = {
	/* Linux always sends the 8-byte value, so a wide one shows even under a size of 4. */
	[0x00] = { "property-set",
		   FIELDS({ "property", FIELD_NAME, CDW11, 0, 32, 0, property_words },
			  { "size", FIELD_NAME, CDW10, 0, 3, 0, property_size_words },
			  { "value", FIELD_HEX, CDW12, 0, 64 }) },
	[0x01] = { "connect",
		   FIELDS({ "qid", FIELD_NUMBER, CDW10, 16, 16 },
			  { "sqsize", FIELD_PLUS_ONE, CDW11, 0, 16 },
			  { "kato", FIELD_MS, CDW12, 0, 32 },
			  { "prio", FIELD_NAME, CDW11, 16, 2, FIELD_QUIET,
			    WORDS({ 0, "urgent" }, { 1, "high" }, { 2, "medium" }, { 3, "low" }) },
			  { "no-sq-flow-control", FIELD_FLAG, CDW11, 18, 1 },
			  { "queue-deletion", FIELD_FLAG, CDW11, 19, 1 },
			  { "recfmt", FIELD_NUMBER, CDW10, 0, 16, FIELD_QUIET },
			  { "cntlid", FIELD_NUMBER, RESULT, 0, 16 },
			  { "auth", FIELD_BITS, RESULT, 17, 2, FIELD_QUIET,
			    WORDS({ 0, "ascr" }, { 1, "atr" }) }) },
	[0x04] = { "property-get",
		   FIELDS({ "property", FIELD_NAME, CDW11, 0, 32, 0, property_words },
			  { "size", FIELD_NAME, CDW10, 0, 3, 0, property_size_words },
			  { "value", FIELD_HEX, RESULT, 0, 64 }) },
	[0x05] = { "auth-send", auth_fields },
	[0x06] = { "auth-recv", auth_fields },
	[0x08] = { "disconnect", FIELDS({ "recfmt", FIELD_NUMBER, CDW10, 0, 16, FIELD_QUIET }) },
};

/* ---- any command ---- */

/* By kind: the shapes of its commands, and the first vendor-specific opcode. */
static const struct {
	const struct nvme_shape *shapes;
	uint8_t vendor_from;
} kinds[] = {
	[IO_NVME] = { io_shapes, 0x80 },
	[IO_ADMIN] = { nvme_admin_shapes, 0xc0 },
	[IO_FABRICS] = { fabrics_shapes, 0xc0 },
};

static inline const struct nvme_shape *command_shape(const struct io_record *r)
{
	return r->kind <= IO_FABRICS ? &kinds[r->kind].shapes[r->op] : NULL;
}

const char *nvme_command__name(enum io_kind kind, uint8_t op)
{
	return kind <= IO_FABRICS ? kinds[kind].shapes[op].name : NULL;
}

/* An unknown command: every dword that is not 0, so that nothing is hidden. */
static void command_raw(struct words *w, const struct io_record *r)
{
	static const char *const keys[] = { "cdw10", "cdw11", "cdw12", "cdw13", "cdw14", "cdw15" };
	uint32_t any = 0;

	if (r->kind <= IO_FABRICS && r->op >= kinds[r->kind].vendor_from)
		words__item(w, "vendor");
	for (int i = 0; i < 6; i++) {
		any |= r->cdw10[i];
		if (!r->cdw10[i])
			continue;
		words__key(w, keys[i]);
		words__hex(w, r->cdw10[i], 1);
	}
	if (!any)
		words__item(w, "cdw10-15=0");
	if (!r->result || !nvme_result__is_there(r))
		return;
	nvme_result__arrow(w);
	words__key(w, "result");
	words__hex(w, r->result, 1);
}

/* Base 2.0, 3.3.3.1, CDW0: the two halves of a fused operation. */
static void command_fused(struct words *w, const struct io_record *r)
{
	static const char *const halves[] = { NULL, "fused=first", "fused=second", "fused=3" };

	if (r->cmd_flags & 3)
		words__item(w, halves[r->cmd_flags & 3]);
}

static bool command_is_plain(const struct nvme_shape *shape, const struct io_record *r)
{
	return (shape->has & NVME_PLAIN) && !(r->cdw10[CDW12] >> 16 | r->cdw10[CDW13]) &&
	       !(r->cmd_flags & 3);
}

static void command_options(struct words *w, const struct io_record *r,
			    const struct nvme_shape *shape)
{
	if (!shape || (!shape->fields && !shape->more)) {
		command_raw(w, r);
		return;
	}
	command_fused(w, r);
	if (shape->fields)
		nvme_fields__print(w, shape->fields, r);
	if (shape->more)
		shape->more(w, r);
}

static inline uint64_t command_lba(const struct io_record *r)
{
	return (uint64_t)r->cdw10[CDW11] << 32 | r->cdw10[CDW10];
}

static inline uint32_t command_blocks(const struct io_record *r)
{
	return (r->cdw10[CDW12] & 0xffff) + 1;
}

bool nvme_command__lba(const struct io_record *r, uint64_t *lba)
{
	const struct nvme_shape *shape = command_shape(r);

	if (!shape || !(shape->has & NVME_LBA))
		return false;
	*lba = command_lba(r);
	return true;
}

enum {
	COMMAND_WHERE = 128
}; /* more than "lba=", " nlb=", " len=", their numbers and a unit take */

static inline char *command_put(char *at, const char *text, size_t len)
{
	memcpy(at, text, len);
	return at + len;
}

/* As words__size. */
static inline char *command_put_size(char *at, uint64_t bytes)
{
	unsigned int unit = bytes ? (unsigned int)__builtin_ctzll(bytes) / 10 : 0;

	unit = unit < 4 ? unit : 4;
	at = number__count(at, 0, bytes >> (10 * unit));
	if (!unit)
		return at;
	return command_put(at, &"KiMiGiTi"[2 * (unit - 1)], 2);
}

static inline char *command_put_where(char *at, const struct io_record *r, uint32_t block_size)
{
	at = number__count(command_put(at, "lba=", 4), 0, command_lba(r));
	if (r->kind != IO_NVME || !nvme_is_sized(r->op))
		return at;
	at = number__count(command_put(at, " nlb=", 5), 0, command_blocks(r));
	if (!block_size)
		return at;
	return command_put_size(command_put(at, " len=", 5),
				(uint64_t)command_blocks(r) * block_size);
}

/* Written in place at once if there is room: this is half of a trace's text. */
static void command_where(struct words *w, const struct io_record *r, uint32_t block_size)
{
	char where[COMMAND_WHERE];

	words__space(w);
	if (w->end - w->at >= COMMAND_WHERE) {
		w->at = command_put_where(w->at, r, block_size);
		return;
	}
	words__bytes(w, where, (size_t)(command_put_where(where, r, block_size) - where));
}

void nvme_command__describe(struct words *w, const struct io_record *r, uint32_t block_size)
{
	const struct nvme_shape *shape = command_shape(r);

	if (shape && (shape->has & NVME_LBA))
		command_where(w, r, block_size);
	if (!shape || !command_is_plain(shape, r))
		command_options(w, r, shape);
}
