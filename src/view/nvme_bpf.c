/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/nvme_bpf.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "base/log.h"

/* Opcodes without a name in nvme_bpf have none here. */
static const char *const io_names[] = {
	[0x00] = "Flush",
	[0x01] = "Write",
	[0x02] = "Read",
	[0x04] = "WriteUncorrectable",
	[0x05] = "Compare",
	[0x08] = "WriteZeros",
	[0x09] = "DatasetMgmt",
	[0x0c] = "Verify",
	[0x0d] = "ReservationRegister",
	[0x0e] = "ReservationReport",
	[0x11] = "ReservationAcquire",
	[0x15] = "ReservationRelease",
};

static const char *const admin_names[] = {
	[0x00] = "DeleteSubQueue",
	[0x01] = "CreateSubQueue",
	[0x02] = "GetLogPage",
	[0x04] = "DeleteCompQueue",
	[0x05] = "CreateCompQueue",
	[0x06] = "Identify",
	[0x08] = "Abort",
	[0x09] = "SetFeatures",
	[0x0a] = "GetFeatures",
	[0x0c] = "AsyncEventReq",
	[0x0d] = "NamespaceManagement",
	[0x10] = "FirmwareActivate",
	[0x11] = "FirmwareImgDownload",
	[0x14] = "DeviceSelfTest",
	[0x15] = "NamespaceAttachment",
	[0x18] = "KeepAlive",
	[0x19] = "DirectiveSend",
	[0x1a] = "DirectiveReceive",
	[0x1c] = "VirtualizationManagement",
	[0x1d] = "NVMeMISend",
	[0x1e] = "NVMeMIReceive",
	[0x7c] = "DoorbellMemory",
};

const char *nvme_bpf__op(bool admin, unsigned int opcode)
{
	const char *name = NULL;

	if (admin && opcode < sizeof(admin_names) / sizeof(admin_names[0]))
		name = admin_names[opcode];
	if (!admin && opcode < sizeof(io_names) / sizeof(io_names[0]))
		name = io_names[opcode];
	if (name)
		return name;
	return admin ? "UnknownAdminOp" : "UnknownIoOp";
}

int nvme_bpf__open_trace(void)
{
	int fd = open("/sys/kernel/tracing/trace_marker", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		fd = open("/sys/kernel/debug/tracing/trace_marker", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		log_warn("--bpf_trace: cannot write to the kernel's trace: %s; mount tracefs on "
			 "/sys/kernel/tracing",
			 strerror(errno));
	return fd;
}

void nvme_bpf__trace(int fd, const char *line)
{
	if (fd >= 0 && write(fd, line, strlen(line)) < 0)
		return; /* a full trace drops its oldest lines itself; there is no one to notify */
}
