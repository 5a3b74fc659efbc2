/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nvme_bpf.h: what nvme_trace and nvme_latency of nvme_bpf print besides their own lines: the names
 * of opcodes, and the copy of each line in the kernel's trace. Used only by cmd/dropin.c and these
 * two commands; remove it with them.
 */
#ifndef IOSONAR_VIEW_NVME_BPF_H
#define IOSONAR_VIEW_NVME_BPF_H

#include <stdbool.h>

/* "Read", "GetLogPage": nvme_bpf's name of an opcode of the admin queue or of an I/O queue. */
const char *nvme_bpf__op(bool admin, unsigned int opcode);
/* --bpf_trace: lines also go to the kernel's trace. -1, said, if that is not possible. */
int nvme_bpf__open_trace(void);
void nvme_bpf__trace(int fd, const char *line);

#endif
