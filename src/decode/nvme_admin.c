/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nvme_admin.c: the fields of admin commands, Base 2.0, chapter 5. The word lists include numbers
 * added by Base 2.1 and later: commands of newer drives have words too.
 */
#include "decode/nvme_field.h"

static const struct nvme_word csi_words[] = { { 0, "nvm" }, { 1, "kv" }, { 2, "zns" },
					      { 3, "slm" }, { 4, "cp" }, { 0, NULL } };

/* ---- Identify: Base 2.0, 5.17 ---- */

static const struct nvme_word cns_words[] = {
	{ 0x00, "namespace" },
	{ 0x01, "controller" },
	{ 0x02, "active-namespaces" },
	{ 0x03, "namespace-descriptors" },
	{ 0x04, "nvm-sets" },
	{ 0x05, "csi-namespace" },
	{ 0x06, "csi-controller" },
	{ 0x07, "csi-active-namespaces" },
	{ 0x08, "independent-namespace" },
	{ 0x09, "namespace-format" },
	{ 0x0a, "csi-namespace-format" },
	{ 0x10, "allocated-namespaces" },
	{ 0x11, "allocated-namespace" },
	{ 0x12, "namespace-controllers" },
	{ 0x13, "controllers" },
	{ 0x14, "primary-controller" },
	{ 0x15, "secondary-controllers" },
	{ 0x16, "namespace-granularity" },
	{ 0x17, "uuids" },
	{ 0x18, "domains" },
	{ 0x19, "endurance-groups" },
	{ 0x1a, "csi-allocated-namespaces" },
	{ 0x1b, "csi-allocated-namespace" },
	{ 0x1c, "command-sets" },
	{ 0x1d, "underlying-namespaces" },
	{ 0x1e, "ports" },
	{ 0x1f, "independent-allocated-namespace" },
	{ 0x20, "controller-state-formats" },
	{ 0, NULL },
};

/* The CNS decides what the CNS-specific identifier identifies. */
static const struct nvme_word cnssid_words[] = {
	{ 0x04, "nvmsetid" }, { 0x09, "format" }, { 0x0a, "format" },
	{ 0x18, "domain" },   { 0x19, "endgid" }, { 0, NULL },
};

static void identify_more(struct words *w, const struct io_record *r)
{
	const char *key = nvme_word__find(cnssid_words, r->cdw10[CDW10] & 0xff);
	uint16_t id = r->cdw10[CDW11] & 0xffff;

	if (!id)
		return;
	words__key(w, key ? key : "cnssid");
	words__u64(w, id);
}

/* ---- Get Log Page: Base 2.0, 5.16 ---- */

static const struct nvme_word lid_words[] = {
	{ 0x00, "supported-log-pages" },
	{ 0x01, "error" },
	{ 0x02, "smart" },
	{ 0x03, "firmware-slot" },
	{ 0x04, "changed-namespaces" },
	{ 0x05, "commands-supported" },
	{ 0x06, "self-test" },
	{ 0x07, "telemetry-host" },
	{ 0x08, "telemetry-controller" },
	{ 0x09, "endurance-group" },
	{ 0x0a, "predictable-latency-nvm-set" },
	{ 0x0b, "predictable-latency-events" },
	{ 0x0c, "ana" },
	{ 0x0d, "persistent-event" },
	{ 0x0e, "lba-status" },
	{ 0x0f, "endurance-group-events" },
	{ 0x10, "media-unit-status" },
	{ 0x11, "capacity-configurations" },
	{ 0x12, "features-supported" },
	{ 0x13, "mi-commands-supported" },
	{ 0x14, "lockdown" },
	{ 0x15, "boot-partition" },
	{ 0x16, "rotational-media" },
	{ 0x17, "dispersed-namespace" },
	{ 0x18, "management-addresses" },
	{ 0x19, "receiver-eye-opening" },
	{ 0x1a, "reachability-groups" },
	{ 0x1b, "reachability-associations" },
	{ 0x1c, "changed-allocated-namespaces" },
	{ 0x1d, "device-personalities" },
	{ 0x1e, "cross-controller-reset" },
	{ 0x1f, "lost-host-communication" },
	{ 0x20, "fdp-configurations" },
	{ 0x21, "reclaim-unit-handle-usage" },
	{ 0x22, "fdp-statistics" },
	{ 0x23, "fdp-events" },
	{ 0x25, "power-measurement" },
	{ 0x70, "discovery" },
	{ 0x71, "host-discovery" },
	{ 0x72, "ave-discovery" },
	{ 0x73, "pull-model-request" },
	{ 0x7f, "sanitize-namespaces" },
	{ 0x80, "reservation-notification" },
	{ 0x81, "sanitize" },
	{ 0xbf, "changed-zones" },
	{ 0, NULL },
};

static const struct nvme_field log_fields[] = {
	{ "lid", FIELD_NAME, CDW10, 0, 8, FIELD_VENDOR, lid_words },
	/* The number of dwords lies across two dwords: CDW10's upper half is its lower. */
	{ "len", FIELD_DWORDS, CDW10, 16, 32 },
	{ "lsp", FIELD_HEX, CDW10, 8, 7, FIELD_QUIET },
	{ "rae", FIELD_FLAG, CDW10, 15, 1 },
	{ "lsi", FIELD_NUMBER, CDW11, 16, 16, FIELD_QUIET },
	{ "offset", FIELD_NUMBER, CDW12, 0, 64, FIELD_QUIET },
	{ "by-index", FIELD_FLAG, CDW14, 23, 1 },
	{ "csi", FIELD_NAME, CDW14, 24, 8, FIELD_QUIET, csi_words },
	{ "uuid", FIELD_NUMBER, CDW14, 0, 7, FIELD_QUIET },
	{ 0 },
};

/* ---- queues, abort, events: Base 2.0, 5.1 to 5.7 ---- */

static const struct nvme_field delete_queue_fields[] = {
	{ "qid", FIELD_NUMBER, CDW10, 0, 16 },
	{ 0 },
};

/* Base 2.0, 5.2.1: the event's type, its information, and the log page with details. */
static const struct nvme_word event_words[] = {
	{ 0, "error" },		 { 1, "smart" },  { 2, "notice" }, { 3, "immediate" },
	{ 6, "io-command-set" }, { 7, "vendor" }, { 0, NULL },
};

static const struct nvme_field no_fields[] = { { 0 } };

/* ---- firmware, self-test: Base 2.0, 5.9, 5.12, 5.13 ---- */

static const struct nvme_word commit_words[] = {
	{ 0, "replace" },      { 1, "replace-activate-at-reset" }, { 2, "activate-at-reset" },
	{ 3, "activate-now" }, { 6, "replace-boot-partition" },	   { 7, "activate-boot-partition" },
	{ 0, NULL },
};

static const struct nvme_word self_test_words[] = {
	{ 1, "short" },	   { 2, "extended" }, { 3, "host-initiated-refresh" },
	{ 0xe, "vendor" }, { 0xf, "abort" },  { 0, NULL },
};

/* ---- namespaces and capacity: Base 2.0, 5.3, 5.22, 5.23 ---- */

static const struct nvme_word capacity_words[] = {
	{ 0, "select-configuration" },	 { 1, "create-endurance-group" },
	{ 2, "delete-endurance-group" }, { 3, "create-nvm-set" },
	{ 4, "delete-nvm-set" },	 { 0, NULL },
};

/* ---- directives: Base 2.0, 5.10, 5.11 and 8.7 ---- */

static const struct nvme_word directive_words[] = {
	{ 0, "identify" }, { 1, "streams" }, { 2, "data-placement" }, { 0, NULL }
};

/* Operations are numbered by type: type in the upper byte, operation in the lower. */
static const struct nvme_word directive_send_words[] = {
	{ 0x0001, "enable" }, { 0x0101, "release-id" }, { 0x0102, "release-resources" }, { 0, NULL }
};
static const struct nvme_word directive_recv_words[] = {
	{ 0x0001, "parameters" },
	{ 0x0101, "parameters" },
	{ 0x0102, "status" },
	{ 0x0103, "allocate-resources" },
	{ 0, NULL },
};

static const struct nvme_field directive_fields[] = {
	{ "dtype", FIELD_NAME, CDW11, 8, 8, 0, directive_words },
	{ "dspec", FIELD_NUMBER, CDW11, 16, 16, FIELD_QUIET },
	{ 0 },
};

static const struct nvme_field directive_len = { "len", FIELD_DWORDS, CDW10, 0, 32 };

static void directive_operation(struct words *w, const struct io_record *r,
				const struct nvme_word *operations)
{
	const char *word = nvme_word__find(operations, r->cdw10[CDW11] & 0xffff);

	words__key(w, "doper");
	if (word)
		words__str(w, word);
	else
		words__hex(w, r->cdw10[CDW11] & 0xff, 2);
}

enum { DIRECTIVE_ENABLE = 0x0001, DIRECTIVE_ALLOCATE = 0x0103 };

static const struct nvme_field directive_enable_fields[] = {
	{ "type", FIELD_NAME, CDW12, 8, 8, 0, directive_words },
	{ "enable", FIELD_NAME, CDW12, 0, 1, 0, WORDS({ 0, "off" }, { 1, "on" }) },
	{ 0 },
};

static void directive_send_more(struct words *w, const struct io_record *r)
{
	directive_operation(w, r, directive_send_words);
	if ((r->cdw10[CDW11] & 0xffff) == DIRECTIVE_ENABLE)
		nvme_fields__print(w, directive_enable_fields, r);
}

static const struct nvme_field directive_allocate_fields[] = {
	{ "streams", FIELD_NUMBER, CDW12, 0, 16 },
	{ "streams", FIELD_NUMBER, RESULT, 0, 16 },
	{ 0 },
};

static void directive_recv_more(struct words *w, const struct io_record *r)
{
	directive_operation(w, r, directive_recv_words);
	nvme_field__print(w, &directive_len, nvme_field__value(&directive_len, r));
	if ((r->cdw10[CDW11] & 0xffff) == DIRECTIVE_ALLOCATE)
		nvme_fields__print(w, directive_allocate_fields, r);
}

/* ---- virtualisation, management interface, lockdown: Base 2.0, 5.19 to 5.21, 5.28 ---- */

static const struct nvme_word virtual_words[] = {
	{ 1, "primary-flexible" },
	{ 7, "secondary-offline" },
	{ 8, "secondary-assign" },
	{ 9, "secondary-online" },
	{ 0, NULL },
};

/* NVMe-MI 1.2: CDW10 is the message header, CDW11 begins with the management opcode. */
static const struct nvme_word mi_type_words[] = {
	{ 0, "control" }, { 1, "mi" }, { 2, "admin" }, { 4, "pcie" }, { 0, NULL }
};
static const struct nvme_word mi_words[] = {
	{ 0x00, "read-data-structure" },
	{ 0x01, "subsystem-health-poll" },
	{ 0x02, "controller-health-poll" },
	{ 0x03, "configuration-set" },
	{ 0x04, "configuration-get" },
	{ 0x05, "vpd-read" },
	{ 0x06, "vpd-write" },
	{ 0x07, "reset" },
	{ 0x08, "ses-receive" },
	{ 0x09, "ses-send" },
	{ 0x0a, "endpoint-buffer-read" },
	{ 0x0b, "endpoint-buffer-write" },
	{ 0x0c, "shutdown" },
	{ 0, NULL },
};

static const struct nvme_field mi_fields[] = {
	{ "type", FIELD_NAME, CDW10, 11, 4, 0, mi_type_words },
	{ "opc", FIELD_NAME, CDW11, 0, 8, FIELD_VENDOR, mi_words },
	{ "nmd0", FIELD_HEX, CDW12, 0, 32, FIELD_QUIET },
	{ "nmd1", FIELD_HEX, CDW13, 0, 32, FIELD_QUIET },
	{ 0 },
};

static const struct nvme_word scope_words[] = {
	{ 0, "admin-opcode" }, { 2, "feature" }, { 3, "mi-opcode" },
	{ 4, "pcie-opcode" },  { 0, NULL },
};

/* ---- format, sanitize, security, LBA status: Base 2.0, 5.14, 5.24 to 5.26; NVM 1.0, 4.2 ---- */

static const struct nvme_field format_fields[] = {
	{ "mset", FIELD_NUMBER, CDW10, 4, 1, FIELD_QUIET },
	{ "pi", FIELD_NUMBER, CDW10, 5, 3, FIELD_QUIET },
	{ "pil", FIELD_NUMBER, CDW10, 8, 1, FIELD_QUIET },
	{ "ses", FIELD_NAME, CDW10, 9, 3, FIELD_QUIET, WORDS({ 1, "user-data" }, { 2, "crypto" }) },
	{ 0 },
};

/* The LBA format index is in two pieces since Base 2.0, which allows 64 formats. */
static void format_all(struct words *w, const struct io_record *r)
{
	words__key(w, "lbaf");
	words__u64(w, (r->cdw10[CDW10] & 0xf) | (r->cdw10[CDW10] >> 12 & 3) << 4);
	nvme_fields__print(w, format_fields, r);
}

static const struct nvme_word sanitize_words[] = {
	{ 1, "exit-failure" }, { 2, "block-erase" },	   { 3, "overwrite" },
	{ 4, "crypto-erase" }, { 5, "exit-verification" }, { 0, NULL },
};

enum { SANITIZE_OVERWRITE = 3 };

/* Passes and pattern apply only to Overwrite; 0 passes mean 16. */
static void sanitize_more(struct words *w, const struct io_record *r)
{
	uint32_t passes = r->cdw10[CDW10] >> 4 & 15;

	if ((r->cdw10[CDW10] & 7) != SANITIZE_OVERWRITE)
		return;
	words__key(w, "owpass");
	words__u64(w, passes ? passes : 16);
	words__key(w, "pattern");
	words__hex(w, r->cdw10[CDW11], 8);
}

/* Numbered by SPC: 1 to 6 belong to the Trusted Computing Group. */
static const struct nvme_word secp_words[] = {
	{ 0x00, "information" }, { 0x01, "tcg-1" },	{ 0x02, "tcg-2" }, { 0x03, "tcg-3" },
	{ 0x04, "tcg-4" },	 { 0x05, "tcg-5" },	{ 0x06, "tcg-6" }, { 0xe9, "dmtf" },
	{ 0xea, "nvme" },	 { 0xee, "ieee-1667" }, { 0xef, "ata" },   { 0, NULL },
};

static const struct nvme_field security_fields[] = {
	{ "secp", FIELD_NAME, CDW10, 24, 8, 0, secp_words },
	{ "spsp", FIELD_HEX, CDW10, 8, 16 },
	{ "nssf", FIELD_HEX, CDW10, 0, 8, FIELD_QUIET },
	{ "len", FIELD_SIZE, CDW11, 0, 32 },
	{ 0 },
};

/* Base 2.0, chapter 5; those from Base 2.1 and later have words too, but no fields. */
const struct nvme_shape nvme_admin_shapes[256] = {
	[0x00] = { "delete-sq", delete_queue_fields },
	[0x01] = { "create-sq",
		   FIELDS({ "qid", FIELD_NUMBER, CDW10, 0, 16 },
			  { "size", FIELD_PLUS_ONE, CDW10, 16, 16 },
			  { "cqid", FIELD_NUMBER, CDW11, 16, 16 },
			  { "prio", FIELD_NAME, CDW11, 1, 2, 0,
			    WORDS({ 0, "urgent" }, { 1, "high" }, { 2, "medium" }, { 3, "low" }) },
			  { "contiguous", FIELD_FLAG, CDW11, 0, 1 },
			  { "nvmsetid", FIELD_NUMBER, CDW12, 0, 16, FIELD_QUIET }) },
	[0x02] = { "get-log-page", log_fields },
	[0x04] = { "delete-cq", delete_queue_fields },
	[0x05] = { "create-cq", FIELDS({ "qid", FIELD_NUMBER, CDW10, 0, 16 },
				       { "size", FIELD_PLUS_ONE, CDW10, 16, 16 },
				       { "contiguous", FIELD_FLAG, CDW11, 0, 1 },
				       { "irq", FIELD_FLAG, CDW11, 1, 1 },
				       { "vector", FIELD_NUMBER, CDW11, 16, 16 }) },
	[0x06] = { "identify",
		   FIELDS({ "cns", FIELD_NAME, CDW10, 0, 8, 0, cns_words },
			  { "cntid", FIELD_NUMBER, CDW10, 16, 16, FIELD_QUIET },
			  { "csi", FIELD_NAME, CDW11, 24, 8, FIELD_QUIET, csi_words },
			  { "uuid", FIELD_NUMBER, CDW14, 0, 7, FIELD_QUIET }),
		   identify_more },
	[0x08] = { "abort", FIELDS({ "sqid", FIELD_NUMBER, CDW10, 0, 16 },
				   { "cid", FIELD_NUMBER, CDW10, 16, 16 },
				   { "not-aborted", FIELD_FLAG, RESULT, 0, 1 }) },
	[0x09] = { "set-features", NULL, nvme_feature__set },
	[0x0a] = { "get-features", NULL, nvme_feature__get },
	[0x0c] = { "async-event",
		   FIELDS({ "event", FIELD_NAME, RESULT, 0, 3, 0, event_words },
			  { "info", FIELD_HEX, RESULT, 8, 8 },
			  { "lid", FIELD_NAME, RESULT, 16, 8, FIELD_VENDOR, lid_words }) },
	[0x0d] = { "ns-mgmt", FIELDS({ "sel", FIELD_NAME, CDW10, 0, 4, 0,
				       WORDS({ 0, "create" }, { 1, "delete" }) },
				     { "csi", FIELD_NAME, CDW11, 24, 8, FIELD_QUIET, csi_words },
				     { "nsid", FIELD_NUMBER, RESULT, 0, 32, FIELD_QUIET }) },
	[0x10] = { "firmware-commit", FIELDS({ "action", FIELD_NAME, CDW10, 3, 3, 0, commit_words },
					     { "slot", FIELD_NUMBER, CDW10, 0, 3 },
					     { "bpid", FIELD_NUMBER, CDW10, 31, 1, FIELD_QUIET }) },
	[0x11] = { "firmware-download", FIELDS({ "len", FIELD_DWORDS, CDW10, 0, 32 },
					       { "offset", FIELD_DWORDS_AT, CDW11, 0, 32 }) },
	[0x14] = { "self-test", FIELDS({ "stc", FIELD_NAME, CDW10, 0, 4, 0, self_test_words }) },
	[0x15] = { "ns-attach", FIELDS({ "sel", FIELD_NAME, CDW10, 0, 4, 0,
					 WORDS({ 0, "attach" }, { 1, "detach" }) }) },
	[0x18] = { "keep-alive", no_fields },
	[0x19] = { "directive-send", directive_fields, directive_send_more },
	[0x1a] = { "directive-recv", directive_fields, directive_recv_more },
	[0x1c] = { "virtual-mgmt", FIELDS({ "action", FIELD_NAME, CDW10, 0, 4, 0, virtual_words },
					  { "cntlid", FIELD_NUMBER, CDW10, 16, 16 },
					  { "resource", FIELD_NAME, CDW10, 8, 3, 0,
					    WORDS({ 0, "vq" }, { 1, "vi" }) },
					  { "nr", FIELD_NUMBER, CDW11, 0, 16 },
					  { "nr", FIELD_NUMBER, RESULT, 0, 16, FIELD_QUIET }) },
	[0x1d] = { "mi-send", mi_fields },
	[0x1e] = { "mi-recv", mi_fields },
	[0x20] = { "capacity-mgmt", FIELDS({ "oper", FIELD_NAME, CDW10, 0, 4, 0, capacity_words },
					   { "elid", FIELD_NUMBER, CDW10, 16, 16 },
					   { "capacity", FIELD_SIZE, CDW11, 0, 64, FIELD_QUIET },
					   { "elid", FIELD_NUMBER, RESULT, 0, 16, FIELD_QUIET }) },
	[0x21] = { "discovery-info-mgmt" }, /* Base 2.1, also the rest up to 0x45 except lockdown */
	[0x22] = { "zoning-recv" },
	[0x24] = { "lockdown", FIELDS({ "scope", FIELD_NAME, CDW10, 0, 4, 0, scope_words },
				      { "ofi", FIELD_HEX, CDW10, 8, 8 },
				      { "prohibit", FIELD_FLAG, CDW10, 4, 1 },
				      { "interface", FIELD_NAME, CDW10, 5, 2, 0,
					WORDS({ 0, "admin" }, { 1, "admin-and-out-of-band" },
					      { 2, "out-of-band" }) },
				      { "uuid", FIELD_NUMBER, CDW14, 0, 7, FIELD_QUIET }) },
	[0x25] = { "zoning-lookup" },
	[0x28] = { "clear-exported" },
	[0x29] = { "zoning-send" },
	[0x2a] = { "create-exported-subsystem" },
	[0x2d] = { "manage-exported-subsystem" },
	[0x31] = { "manage-exported-ns" },
	[0x35] = { "manage-exported-port" },
	[0x38] = { "cross-controller-reset" },
	[0x39] = { "send-discovery-log" },
	[0x3d] = { "track-send" },
	[0x3e] = { "track-recv" },
	[0x41] = { "migration-send" },
	[0x42] = { "migration-recv" },
	[0x45] = { "controller-data-queue" },
	[0x7c] = { "doorbell-buffer", no_fields },
	[0x80] = { "format", NULL, format_all },
	[0x81] = { "security-send", security_fields },
	[0x82] = { "security-recv", security_fields },
	[0x84] = { "sanitize",
		   FIELDS({ "action", FIELD_NAME, CDW10, 0, 3, 0, sanitize_words },
			  { "ause", FIELD_FLAG, CDW10, 3, 1 }, { "oipbp", FIELD_FLAG, CDW10, 8, 1 },
			  { "nodas", FIELD_FLAG, CDW10, 9, 1 },
			  { "emvs", FIELD_FLAG, CDW10, 10, 1 }),
		   sanitize_more },
	[0x85] = { "load-program" },
	[0x86] = { "get-lba-status",
		   FIELDS({ "action", FIELD_NAME, CDW13, 24, 8, 0,
			    WORDS({ 0x02, "allocated" }, { 0x10, "scan" }, { 0x11, "tracked" }) },
			  { "range", FIELD_NUMBER, CDW13, 0, 16 },
			  { "len", FIELD_DWORDS, CDW12, 0, 32 }),
		   NULL, NVME_LBA },
	[0x88] = { "program-activation" },
	[0x89] = { "memory-range-set" },
	[0x8c] = { "sanitize-ns" },
};
