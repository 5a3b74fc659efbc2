/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nvme_bpf.h: what nvme_trace and nvme_latency of nvme_bpf print beside their own lines: the names
 * of opcodes, and the copy of each line in the kernel's trace. It goes with cmd/dropin.c and these
 * two commands: nobody else needs it.
 */
#ifndef IOSONAR_VIEW_NVME_BPF_H
#define IOSONAR_VIEW_NVME_BPF_H

#include <stdbool.h>

/* "Read", "GetLogPage": nvme_bpf's name of an opcode of the admin queue or of an I/O queue. */
const char *nvme_bpf__op(bool admin, unsigned int opcode);
/* --bpf_trace: lines also go to the kernel's trace. -1 after one line if they cannot. */
int nvme_bpf__open_trace(void);
void nvme_bpf__trace(int fd, const char *line);

#endif
