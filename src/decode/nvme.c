/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/nvme.h"

#include <stddef.h>

/*
 * Base 2.0, chapter 7, NVM Command Set 1.0, 3.2 and Zoned Namespace Command Set 1.1, 3.4; the
 * I/O Management pair (technical proposal 4146) and Cancel (4097) came with Base 2.1. The key
 * value and other command sets reuse these numbers and are not told apart.
 */
static const char *const io_opcodes[256] = {
	[0x00] = "flush",
	[0x01] = "write",
	[0x02] = "read",
	[0x04] = "write-uncorrectable",
	[0x05] = "compare",
	[0x08] = "write-zeroes",
	[0x09] = "dsm",
	[0x0c] = "verify",
	[0x0d] = "resv-register",
	[0x0e] = "resv-report",
	[0x11] = "resv-acquire",
	[0x12] = "io-mgmt-recv",
	[0x15] = "resv-release",
	[0x18] = "cancel",
	[0x19] = "copy",
	[0x1d] = "io-mgmt-send",
	[0x79] = "zone-mgmt-send",
	[0x7a] = "zone-mgmt-recv",
	[0x7d] = "zone-append",
};

/* Base 2.0, chapter 5; those from Base 2.1 and later have words too, but no fields. */
static const char *const admin_opcodes[256] = {
	[0x00] = "delete-sq",
	[0x01] = "create-sq",
	[0x02] = "get-log-page",
	[0x04] = "delete-cq",
	[0x05] = "create-cq",
	[0x06] = "identify",
	[0x08] = "abort",
	[0x09] = "set-features",
	[0x0a] = "get-features",
	[0x0c] = "async-event",
	[0x0d] = "ns-mgmt",
	[0x10] = "firmware-commit",
	[0x11] = "firmware-download",
	[0x14] = "self-test",
	[0x15] = "ns-attach",
	[0x18] = "keep-alive",
	[0x19] = "directive-send",
	[0x1a] = "directive-recv",
	[0x1c] = "virtual-mgmt",
	[0x1d] = "mi-send",
	[0x1e] = "mi-recv",
	[0x20] = "capacity-mgmt",
	[0x21] = "discovery-info-mgmt", /* 2.1, and so on to 0x45 but for lockdown */
	[0x22] = "zoning-recv",
	[0x24] = "lockdown",
	[0x25] = "zoning-lookup",
	[0x28] = "clear-exported",
	[0x29] = "zoning-send",
	[0x2a] = "create-exported-subsystem",
	[0x2d] = "manage-exported-subsystem",
	[0x31] = "manage-exported-ns",
	[0x35] = "manage-exported-port",
	[0x38] = "cross-controller-reset",
	[0x39] = "send-discovery-log",
	[0x3d] = "track-send",
	[0x3e] = "track-recv",
	[0x41] = "migration-send",
	[0x42] = "migration-recv",
	[0x45] = "controller-data-queue",
	[0x7c] = "doorbell-buffer",
	[0x80] = "format",
	[0x81] = "security-send",
	[0x82] = "security-recv",
	[0x84] = "sanitize",
	[0x85] = "load-program",
	[0x86] = "get-lba-status",
	[0x88] = "program-activation",
	[0x89] = "memory-range-set",
	[0x8c] = "sanitize-ns",
};

/* Fabrics command types: the fifth byte of a command whose opcode is 0x7f. */
static const char *const fabrics_types[256] = {
	[0x00] = "property-set", [0x01] = "connect",   [0x04] = "property-get",
	[0x05] = "auth-send",	 [0x06] = "auth-recv", [0x08] = "disconnect",
};

const char *nvme_io_opcode(uint8_t opcode)
{
	return io_opcodes[opcode];
}

const char *nvme_admin_opcode(uint8_t opcode)
{
	return admin_opcodes[opcode];
}

const char *nvme_fabrics_type(uint8_t fctype)
{
	return fabrics_types[fctype];
}
