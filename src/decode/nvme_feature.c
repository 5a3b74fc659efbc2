/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nvme_feature.c: the fields of features, Base 2.0, 5.27.1. Set Features carries a value in CDW11
 * (some in CDW12); Get Features returns it in the completion's first dword, laid out the same, so
 * one table serves both. Values that travel as data are not in a record and not shown.
 */
#include "decode/nvme_field.h"

static const struct nvme_word off_on_words[] = { { 0, "off" }, { 1, "on" }, { 0, NULL } };

/* 7 means no limit; otherwise a power of two. */
static const struct nvme_word burst_words[] = {
	{ 0, "1" },  { 1, "2" },  { 2, "4" },	      { 3, "8" },  { 4, "16" },
	{ 5, "32" }, { 6, "64" }, { 7, "unlimited" }, { 0, NULL },
};

static const struct nvme_word sensor_words[] = {
	{ 0, "composite" }, { 1, "1" }, { 2, "2" }, { 3, "3" },	   { 4, "4" },	{ 5, "5" },
	{ 6, "6" },	    { 7, "7" }, { 8, "8" }, { 15, "all" }, { 0, NULL },
};

/* The bit disables. */
static const struct nvme_word on_off_words[] = { { 0, "on" }, { 1, "off" }, { 0, NULL } };

/* Critical warnings are bits 0 to 7, notices follow; discovery controllers use the top ones. */
static const struct nvme_word async_event_words[] = {
	{ 0, "spare" },
	{ 1, "temperature" },
	{ 2, "reliability" },
	{ 3, "read-only" },
	{ 4, "volatile-backup" },
	{ 5, "pmr" },
	{ 8, "namespace-attributes" },
	{ 9, "firmware-activation" },
	{ 10, "telemetry" },
	{ 11, "ana" },
	{ 12, "predictable-latency" },
	{ 13, "lba-status" },
	{ 14, "endurance-group" },
	{ 15, "shutdown" },
	{ 16, "temperature-hysteresis" },
	{ 17, "reachability-association" },
	{ 18, "reachability-group" },
	{ 19, "allocated-namespace-attributes" },
	{ 27, "zone-descriptor" },
	{ 28, "pull-model-request" },
	{ 29, "ave-discovery" },
	{ 30, "host-discovery" },
	{ 31, "discovery" },
	{ 0, NULL },
};

static const struct nvme_field metadata[] = {
	{ "action", FIELD_NAME, CDW11, 13, 2, FIELD_SET,
	  WORDS({ 0, "update" }, { 1, "delete" }, { 2, "add" }) },
	{ 0 },
};

/* A set bit masks the notification. */
static const struct nvme_word reservation_mask_words[] = {
	{ 1, "registration-preempted" },
	{ 2, "reservation-released" },
	{ 3, "reservation-preempted" },
	{ 0, NULL },
};

static const struct nvme_word protect_words[] = { { 0, "none" },
						  { 1, "protected" },
						  { 2, "until-power-cycle" },
						  { 3, "permanent" },
						  { 0, NULL } };

static const struct nvme_word boot_protect_words[] = {
	{ 0, "unchanged" },	    { 1, "unlocked" }, { 2, "locked" },
	{ 3, "until-power-cycle" }, { 4, "rpmb" },     { 0, NULL },
};

/* The value is transferred as data. */
static const struct nvme_field data_only[] = { { 0 } };

static const struct feature {
	const char *name;
	const struct nvme_field *fields; /* NULL: only the name is known */
} features[256] = {
	[0x01] = { "arbitration", FIELDS({ "burst", FIELD_NAME, CDW11, 0, 3, 0, burst_words },
					 { "low", FIELD_PLUS_ONE, CDW11, 8, 8 },
					 { "medium", FIELD_PLUS_ONE, CDW11, 16, 8 },
					 { "high", FIELD_PLUS_ONE, CDW11, 24, 8 }) },
	[0x02] = { "power-management",
		   FIELDS({ "ps", FIELD_NUMBER, CDW11, 0, 5 },
			  { "workload", FIELD_NUMBER, CDW11, 5, 3, FIELD_QUIET }) },
	[0x03] = { "lba-range-type", FIELDS({ "ranges", FIELD_PLUS_ONE, CDW11, 0, 6 }) },
	[0x04] = { "temperature-threshold",
		   FIELDS({ "sensor", FIELD_NAME, CDW11, 16, 4, FIELD_SELECT, sensor_words },
			  { "type", FIELD_NAME, CDW11, 20, 2, FIELD_SELECT,
			    WORDS({ 0, "over" }, { 1, "under" }) },
			  { "temp", FIELD_KELVIN, CDW11, 0, 16 },
			  { "hysteresis", FIELD_NUMBER, CDW11, 22, 3, FIELD_QUIET }) },
	[0x05] = { "error-recovery", FIELDS({ "tler", FIELD_100MS, CDW11, 0, 16 },
					    { "dulbe", FIELD_FLAG, CDW11, 16, 1 }) },
	[0x06] = { "volatile-write-cache",
		   FIELDS({ "wce", FIELD_NAME, CDW11, 0, 1, 0, off_on_words }) },
	[0x07] = { "number-of-queues", FIELDS({ "nsq", FIELD_PLUS_ONE, CDW11, 0, 16 },
					      { "ncq", FIELD_PLUS_ONE, CDW11, 16, 16 }) },
	[0x08] = { "interrupt-coalescing", FIELDS({ "threshold", FIELD_PLUS_ONE, CDW11, 0, 8 },
						  { "time", FIELD_100US, CDW11, 8, 8 }) },
	[0x09] = { "interrupt-vector",
		   FIELDS({ "vector", FIELD_NUMBER, CDW11, 0, 16, FIELD_SELECT },
			  { "coalescing", FIELD_NAME, CDW11, 16, 1, 0, on_off_words }) },
	[0x0a] = { "write-atomicity", FIELDS({ "dn", FIELD_NAME, CDW11, 0, 1, 0, off_on_words }) },
	[0x0b] = { "async-event",
		   FIELDS({ "events", FIELD_BITS, CDW11, 0, 32, 0, async_event_words }) },
	[0x0c] = { "autonomous-power",
		   FIELDS({ "apst", FIELD_NAME, CDW11, 0, 1, 0, off_on_words }) },
	/* The size is in the controller's memory pages; a record does not have the page size. */
	[0x0d] = { "host-memory-buffer",
		   FIELDS({ "hmb", FIELD_NAME, CDW11, 0, 1, 0, off_on_words },
			  { "memory-return", FIELD_FLAG, CDW11, 1, 1 },
			  { "pages", FIELD_NUMBER, CDW12, 0, 32, FIELD_SET },
			  { "descriptors", FIELD_NUMBER, CDW15, 0, 32, FIELD_SET },
			  { "list", FIELD_HEX, CDW13, 0, 64, FIELD_SET }) },
	[0x0e] = { "timestamp", data_only },
	[0x0f] = { "keep-alive-timer", FIELDS({ "kato", FIELD_MS, CDW11, 0, 32 }) },
	[0x10] = { "thermal-management", FIELDS({ "tmt1", FIELD_KELVIN, CDW11, 16, 16 },
						{ "tmt2", FIELD_KELVIN, CDW11, 0, 16 }) },
	[0x11] = { "non-operational-power",
		   FIELDS({ "permissive", FIELD_NAME, CDW11, 0, 1, 0, off_on_words }) },
	[0x12] = { "read-recovery-level",
		   FIELDS({ "nvmsetid", FIELD_NUMBER, CDW11, 0, 16, FIELD_SELECT },
			  { "rrl", FIELD_NUMBER, CDW12, 0, 4 }) },
	[0x13] = { "predictable-latency",
		   FIELDS({ "nvmsetid", FIELD_NUMBER, CDW11, 0, 16, FIELD_SELECT },
			  { "plm", FIELD_NAME, CDW12, 0, 1, 0, off_on_words }) },
	[0x14] = { "predictable-latency-window",
		   FIELDS({ "nvmsetid", FIELD_NUMBER, CDW11, 0, 16, FIELD_SELECT },
			  { "window", FIELD_NAME, CDW12, 0, 3, 0,
			    WORDS({ 1, "deterministic" }, { 2, "non-deterministic" }) }) },
	[0x15] = { "lba-status-interval", FIELDS({ "report", FIELD_100MS, CDW11, 0, 16 },
						 { "poll", FIELD_100MS, CDW11, 16, 16 }) },
	[0x16] = { "host-behavior", data_only },
	[0x17] = { "sanitize-config",
		   FIELDS({ "nodrm", FIELD_NAME, CDW11, 0, 1, 0, off_on_words }) },
	[0x18] = { "endurance-group-event",
		   FIELDS({ "endgid", FIELD_NUMBER, CDW11, 0, 16, FIELD_SELECT },
			  { "events", FIELD_BITS, CDW11, 16, 8, 0,
			    WORDS({ 0, "spare" }, { 2, "reliability" }, { 3, "read-only" }) }) },
	[0x19] = { "command-set-profile", FIELDS({ "index", FIELD_NUMBER, CDW11, 0, 9 }) },
	[0x1a] = { "spinup-control",
		   FIELDS({ "spinup-control", FIELD_NAME, CDW11, 0, 1, 0, off_on_words }) },
	[0x1b] = { "power-loss-signaling",
		   FIELDS({ "mode", FIELD_NAME, CDW11, 0, 2, 0,
			    WORDS({ 0, "off" }, { 1, "emergency-power-fail" },
				  { 2, "forced-quiescence" }) }) },
	[0x1c] = { "performance", FIELDS({ "attribute", FIELD_HEX, CDW11, 0, 8, FIELD_SELECT },
					 { "revert", FIELD_FLAG, CDW11, 8, 1, FIELD_SET }) },
	[0x1d] = { "fdp", FIELDS({ "endgid", FIELD_NUMBER, CDW11, 0, 16, FIELD_SELECT },
				 { "fdp", FIELD_NAME, CDW12, 0, 1, 0, off_on_words },
				 { "index", FIELD_NUMBER, CDW12, 8, 8 }) },
	[0x1e] = { "fdp-events",
		   FIELDS({ "handle", FIELD_NUMBER, CDW11, 0, 16, FIELD_SELECT },
			  { "types", FIELD_NUMBER, CDW11, 16, 8, FIELD_SELECT },
			  { "enable", FIELD_NAME, CDW12, 0, 1, FIELD_SET, off_on_words }) },
	[0x1f] = { "namespace-admin-label", NULL },
	[0x20] = { "key-value", NULL },
	[0x21] = { "controller-data-queue", NULL },
	[0x22] = { "device-personality", NULL },
	[0x23] = { "power-limit", NULL },
	[0x24] = { "power-threshold", NULL },
	[0x25] = { "power-measurement", NULL },
	[0x78] = { "embedded-management-address", NULL },
	[0x79] = { "host-management-address", NULL },
	[0x7d] = { "enhanced-controller-metadata", metadata },
	[0x7e] = { "controller-metadata", metadata },
	[0x7f] = { "namespace-metadata", metadata },
	[0x80] = { "software-progress", FIELDS({ "loads", FIELD_NUMBER, CDW11, 0, 8 }) },
	/* Get Features has this bit too: it gives the length of the identifier. */
	[0x81] = { "host-identifier",
		   FIELDS({ "extended", FIELD_FLAG, CDW11, 0, 1, FIELD_SELECT }) },
	[0x82] = { "reservation-notification",
		   FIELDS({ "masked", FIELD_BITS, CDW11, 0, 32, 0, reservation_mask_words }) },
	[0x83] = { "reservation-persistence",
		   FIELDS({ "ptpl", FIELD_NAME, CDW11, 0, 1, 0, off_on_words }) },
	[0x84] = { "write-protection",
		   FIELDS({ "protect", FIELD_NAME, CDW11, 0, 3, 0, protect_words }) },
	[0x85] = { "boot-partition-protection",
		   FIELDS({ "bp0", FIELD_NAME, CDW11, 0, 3, 0, boot_protect_words },
			  { "bp1", FIELD_NAME, CDW11, 3, 3, 0, boot_protect_words }) },
};

/* A feature without known fields: its raw dword. */
static const struct nvme_field unknown_feature[] = {
	{ "value", FIELD_HEX, CDW11, 0, 32 },
	{ 0 },
};

static const struct nvme_field uuid_field = { "uuid", FIELD_NUMBER, CDW14, 0, 7, FIELD_QUIET };

enum { FEATURE_QUEUES = 0x07, FEATURE_HOST_MEMORY = 0x0d, FEATURE_VENDOR = 0xc0 };

/* Says its name; returns its fields. */
static const struct nvme_field *feature_name(struct words *w, uint8_t fid)
{
	const struct feature *feature = &features[fid];

	words__key(w, "fid");
	if (feature->name)
		words__str(w, feature->name);
	else if (fid >= FEATURE_VENDOR)
		words__str(w, "vendor-");
	if (!feature->name)
		words__hex(w, fid, 2);
	return feature->fields ? feature->fields : unknown_feature;
}

/* The controller answers in the layout of the feature's value dword. */
static void feature_result(struct words *w, const struct nvme_field *field,
			   const struct io_record *r)
{
	bool arrow = false;

	for (; field->how; field++) {
		struct nvme_field answer = *field;

		if (field->note & (FIELD_SELECT | FIELD_SET))
			continue;
		if (!arrow)
			nvme_result__arrow(w);
		arrow = true;
		answer.dword = RESULT;
		nvme_field__print(w, &answer, nvme_field__value(&answer, r));
	}
}

/* Base 2.0, 5.27: the answer to Number of Queues is the allocated number, not the requested one. */
void nvme_feature__set(struct words *w, const struct io_record *r)
{
	uint8_t fid = r->cdw10[CDW10] & 0xff;
	const struct nvme_field *fields = feature_name(w, fid);

	nvme_fields__print(w, fields, r);
	if (r->cdw10[CDW10] >> 31)
		words__item(w, "save");
	if (fid != FEATURE_HOST_MEMORY) /* the list address is in CDW14 */
		nvme_field__print(w, &uuid_field, nvme_field__value(&uuid_field, r));
	if (fid == FEATURE_QUEUES && nvme_result__is_there(r))
		feature_result(w, fields, r);
}

static const struct nvme_word select_words[] = {
	{ 1, "default" }, { 2, "saved" }, { 3, "supported" }, { 0, NULL }
};
static const struct nvme_field select_field = { "sel", FIELD_NAME,  CDW10,	 8,
						3,     FIELD_QUIET, select_words };
enum { SELECT_SUPPORTED = 3 };

/* Base 2.0, 5.15: "supported capabilities" instead of a value. */
static const struct nvme_word capability_words[] = {
	{ 0, "saveable" }, { 1, "namespace-specific" }, { 2, "changeable" }, { 0, NULL }
};
static const struct nvme_field capability_fields[] = {
	{ "capabilities", FIELD_BITS, CDW11, 0, 32, 0, capability_words },
	{ 0 },
};

void nvme_feature__get(struct words *w, const struct io_record *r)
{
	const struct nvme_field *fields = feature_name(w, r->cdw10[CDW10] & 0xff);
	uint64_t select = nvme_field__value(&select_field, r);

	for (const struct nvme_field *field = fields; field->how; field++)
		if (field->note & FIELD_SELECT)
			nvme_field__print(w, field, nvme_field__value(field, r));
	nvme_field__print(w, &select_field, select);
	nvme_field__print(w, &uuid_field, nvme_field__value(&uuid_field, r));
	if (nvme_result__is_there(r))
		feature_result(w, select == SELECT_SUPPORTED ? capability_fields : fields, r);
}
