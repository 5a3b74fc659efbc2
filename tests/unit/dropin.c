/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dropin.c: has every opcode the name that nvme_bpf prints? Its two tables, written down again
 * here with the opcodes of the NVMe specification.
 */
#include "cmd/dropin.h"
#include "view/nvme_bpf.h"
#include <string.h>
#include "tap.h"

struct name {
	unsigned int opcode;
	const char *name;
};

static const struct name io[] = {
	{ 0x00, "Flush" },
	{ 0x01, "Write" },
	{ 0x02, "Read" },
	{ 0x04, "WriteUncorrectable" },
	{ 0x05, "Compare" },
	{ 0x08, "WriteZeros" },
	{ 0x09, "DatasetMgmt" },
	{ 0x0c, "Verify" },
	{ 0x0d, "ReservationRegister" },
	{ 0x0e, "ReservationReport" },
	{ 0x11, "ReservationAcquire" },
	{ 0x15, "ReservationRelease" },
	{ 0 },
};

static const struct name admin[] = {
	{ 0x00, "DeleteSubQueue" },
	{ 0x01, "CreateSubQueue" },
	{ 0x02, "GetLogPage" },
	{ 0x04, "DeleteCompQueue" },
	{ 0x05, "CreateCompQueue" },
	{ 0x06, "Identify" },
	{ 0x08, "Abort" },
	{ 0x09, "SetFeatures" },
	{ 0x0a, "GetFeatures" },
	{ 0x0c, "AsyncEventReq" },
	{ 0x0d, "NamespaceManagement" },
	{ 0x10, "FirmwareActivate" },
	{ 0x11, "FirmwareImgDownload" },
	{ 0x14, "DeviceSelfTest" },
	{ 0x15, "NamespaceAttachment" },
	{ 0x18, "KeepAlive" },
	{ 0x19, "DirectiveSend" },
	{ 0x1a, "DirectiveReceive" },
	{ 0x1c, "VirtualizationManagement" },
	{ 0x1d, "NVMeMISend" },
	{ 0x1e, "NVMeMIReceive" },
	{ 0x7c, "DoorbellMemory" },
	{ 0 },
};

/* The names in the table, and the same word for all other opcodes. */
static void check(bool is_admin, const struct name *names, const char *unknown)
{
	unsigned int nr_known = 0, nr = 0;

	for (const struct name *n = names; n->name; n++, nr++)
		is_str(nvme_bpf__op(is_admin, n->opcode), n->name, n->name);
	for (unsigned int opcode = 0; opcode < 256; opcode++)
		nr_known += strcmp(nvme_bpf__op(is_admin, opcode), unknown) != 0;
	is_u64(nr_known, nr, unknown);
	is_str(nvme_bpf__op(is_admin, 0x80), unknown, "one that has no name");
}

int main(void)
{
	check(false, io, "UnknownIoOp");
	check(true, admin, "UnknownAdminOp");
	return done_testing();
}
