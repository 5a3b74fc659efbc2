/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nvme_status.c: how did it end? Base 2.0, 3.3.3.2.1 "Status Field": code in bits 0 to 7, type in 8
 * to 10, retry delay in 11 and 12, more in 13, do not retry in 14; the phase bit is gone. Words are
 * there for Base 2.1's codes and later too; a number without any is still printed.
 */
#include "decode/nvme.h"

enum { SCT_SPECIFIC = 1, SCT_PATH = 3, SCT_VENDOR = 7, SC_VENDOR = 0xc0 };

static const char *const generic[256] = {
	[0x00] = "ok",
	[0x01] = "invalid opcode",
	[0x02] = "invalid field",
	[0x03] = "command id conflict",
	[0x04] = "data transfer error",
	[0x05] = "aborted: power loss",
	[0x06] = "internal error",
	[0x07] = "aborted by request",
	[0x08] = "aborted: queue deleted",
	[0x09] = "aborted: fused command failed",
	[0x0a] = "aborted: fused command missing",
	[0x0b] = "invalid namespace or format",
	[0x0c] = "command sequence error",
	[0x0d] = "invalid SGL segment descriptor",
	[0x0e] = "invalid number of SGL descriptors",
	[0x0f] = "invalid data SGL length",
	[0x10] = "invalid metadata SGL length",
	[0x11] = "invalid SGL descriptor type",
	[0x12] = "invalid use of controller memory buffer",
	[0x13] = "invalid PRP offset",
	[0x14] = "atomic write unit exceeded",
	[0x15] = "operation denied",
	[0x16] = "invalid SGL offset",
	[0x18] = "host identifier of inconsistent format",
	[0x19] = "keep alive timer expired",
	[0x1a] = "invalid keep alive timeout",
	[0x1b] = "aborted: preempted",
	[0x1c] = "sanitize failed",
	[0x1d] = "sanitize in progress",
	[0x1e] = "invalid SGL data block granularity",
	[0x1f] = "command not supported for a queue in controller memory",
	[0x20] = "namespace is write protected",
	[0x21] = "command interrupted",
	[0x22] = "transient transport error",
	[0x23] = "prohibited by lockdown",
	[0x24] = "media not ready for admin command",
	[0x25] = "invalid key tag",
	[0x26] = "host support of dispersed namespaces not enabled",
	[0x27] = "host identifier not initialized",
	[0x28] = "incorrect key",
	[0x29] = "flexible data placement disabled",
	[0x2a] = "invalid placement handle list",
	[0x2b] = "sanitize of namespace failed",
	[0x2c] = "sanitize of namespace in progress",
	[0x80] = "LBA out of range",
	[0x81] = "capacity exceeded",
	[0x82] = "namespace not ready",
	[0x83] = "reservation conflict",
	[0x84] = "format in progress",
	[0x85] = "invalid value size",
	[0x86] = "invalid key size",
	[0x87] = "key does not exist",
	[0x88] = "unrecovered error",
	[0x89] = "key exists",
};

/* Below 0x80 a code means the same for every command; from there on it depends on the set. */
static const char *const specific[256] = {
	[0x00] = "completion queue invalid",
	[0x01] = "invalid queue identifier",
	[0x02] = "invalid queue size",
	[0x03] = "abort command limit exceeded",
	[0x04] = "abort command missing",
	[0x05] = "async event request limit exceeded",
	[0x06] = "invalid firmware slot",
	[0x07] = "invalid firmware image",
	[0x08] = "invalid interrupt vector",
	[0x09] = "invalid log page",
	[0x0a] = "invalid format",
	[0x0b] = "firmware activation needs a conventional reset",
	[0x0c] = "invalid queue deletion",
	[0x0d] = "feature not saveable",
	[0x0e] = "feature not changeable",
	[0x0f] = "feature not namespace specific",
	[0x10] = "firmware activation needs a subsystem reset",
	[0x11] = "firmware activation needs a controller reset",
	[0x12] = "firmware activation would exceed the maximum time",
	[0x13] = "firmware activation prohibited",
	[0x14] = "overlapping range",
	[0x15] = "insufficient capacity for namespace",
	[0x16] = "namespace identifier unavailable",
	[0x18] = "namespace already attached",
	[0x19] = "namespace is private",
	[0x1a] = "namespace not attached",
	[0x1b] = "thin provisioning not supported",
	[0x1c] = "invalid controller list",
	[0x1d] = "self-test in progress",
	[0x1e] = "boot partition write prohibited",
	[0x1f] = "invalid controller identifier",
	[0x20] = "invalid secondary controller state",
	[0x21] = "invalid number of controller resources",
	[0x22] = "invalid resource identifier",
	[0x23] = "sanitize prohibited while persistent memory region is enabled",
	[0x24] = "invalid ANA group identifier",
	[0x25] = "ANA attach failed",
	[0x26] = "insufficient capacity",
	[0x27] = "namespace attachment limit exceeded",
	[0x28] = "prohibition of command not supported",
	[0x29] = "command set not supported",
	[0x2a] = "command set not enabled",
	[0x2b] = "command set combination rejected",
	[0x2c] = "invalid command set",
	[0x2d] = "identifier unavailable",
	[0x2e] = "namespace is dispersed",
	[0x2f] = "invalid discovery information",
	[0x30] = "zoning data structure locked",
	[0x31] = "zoning data structure not found",
	[0x32] = "insufficient discovery resources",
	[0x33] = "requested function disabled",
	[0x34] = "invalid zone group originator",
	[0x35] = "invalid host",
	[0x36] = "invalid subsystem",
	[0x37] = "invalid controller data queue",
	[0x38] = "not enough resources",
	[0x39] = "controller suspended",
	[0x3a] = "controller not suspended",
	[0x3b] = "controller data queue full",
	[0x3c] = "too many namespace sanitize operations",
	[0x3d] = "default personality required",
	[0x3e] = "invalid power limit",
	[0x3f] = "cross-controller reset in progress",
	[0x40] = "cross-controller reset log full",
	[0x41] = "cross-controller reset limit exceeded",
	[0x7f] = "stream resource allocation failed",
	[0x80] = "conflicting attributes",
	[0x81] = "invalid protection information",
	[0x82] = "write to read-only range",
	[0x83] = "command size limit exceeded",
	[0x84] = "invalid command id",
	[0x85] = "incompatible namespace or format",
	[0x86] = "fast copy not possible",
	[0x87] = "overlapping I/O range",
	[0x88] = "namespace not reachable",
	[0x89] = "insufficient resources",
	[0xb6] = "invalid zone operation",
	[0xb7] = "no ZRWA resources",
	[0xb8] = "zone boundary error",
	[0xb9] = "zone is full",
	[0xba] = "zone is read only",
	[0xbb] = "zone is offline",
	[0xbc] = "zone invalid write",
	[0xbd] = "too many active zones",
	[0xbe] = "too many open zones",
	[0xbf] = "invalid zone state transition",
};

/*
 * The meaning of these codes for fabrics commands. The last two also answer other commands (Get Log
 * Page of a discovery controller, anything before authentication), without conflict.
 */
static const char *const fabrics[256] = {
	[0x80] = "incompatible format",	       [0x81] = "controller busy",
	[0x82] = "invalid connect parameters", [0x83] = "restart discovery",
	[0x84] = "invalid connect host",       [0x85] = "invalid queue type",
	[0x90] = "discovery has changed",      [0x91] = "authentication required",
};

static const char *const media[256] = {
	[0x80] = "write fault",
	[0x81] = "unrecovered read error",
	[0x82] = "guard check error",
	[0x83] = "application tag check error",
	[0x84] = "reference tag check error",
	[0x85] = "compare failure",
	[0x86] = "access denied",
	[0x87] = "deallocated or unwritten block",
	[0x88] = "storage tag check error",
};

static const char *const path[256] = {
	[0x00] = "internal path error",	  [0x01] = "ANA persistent loss",
	[0x02] = "ANA inaccessible",	  [0x03] = "ANA transition",
	[0x60] = "controller path error", [0x70] = "host path error",
	[0x71] = "aborted by host",
};

static const char *const *const by_type[8] = { generic, specific, media, path };

const char *nvme_status__name(enum io_kind kind, uint16_t status)
{
	uint8_t sc = status & 0xff, sct = status >> 8 & 7;
	const char *name = by_type[sct] ? by_type[sct][sc] : NULL;

	if (sct == SCT_SPECIFIC && fabrics[sc] && (kind == IO_FABRICS || !name))
		return fabrics[sc];
	return name;
}

bool nvme_status__is_path(enum io_kind kind, uint16_t status)
{
	return kind == IO_NVME && (status >> 8 & 7) == SCT_PATH;
}

static void status_retry(struct words *w, uint16_t status)
{
	if (status >> 14 & 1)
		words__item(w, "DNR");
	if (status >> 13 & 1)
		words__item(w, "more");
	if (status >> 11 & 3) {
		words__key(w, "crd");
		words__u64(w, status >> 11 & 3);
	}
}

/* Base 2.0: codes 0xc0 and above of every type, and all of type 7, are the vendor's. */
static const char *status_nameless(uint8_t sct, uint8_t sc)
{
	return sct == SCT_VENDOR || (sct < 4 && sc >= SC_VENDOR) ? "vendor" : "unknown";
}

void nvme_status__describe(struct words *w, enum io_kind kind, uint16_t status)
{
	uint8_t sc = status & 0xff, sct = status >> 8 & 7;
	const char *name = nvme_status__name(kind, status);

	words__item(w, name ? name : status_nameless(sct, sc));
	if (status & 0x7ff) {
		words__str(w, " (");
		words__char(w, (char)('0' + sct));
		words__char(w, '/');
		words__char(w, "0123456789abcdef"[sc >> 4]);
		words__char(w, "0123456789abcdef"[sc & 15]);
		words__char(w, ')');
	}
	status_retry(w, status);
}
