/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel.h: what shape has this kernel? Asked of its BTF: prototypes, fields, enum values; never
 * of its version number. Costs one read of vmlinux's BTF (about 6 MB).
 */
#ifndef IOSONAR_COLLECT_KERNEL_H
#define IOSONAR_COLLECT_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

enum { KERNEL_OPS = 256 };

struct kernel {
	char release[65];
	bool nvme_loaded;    /* nvme_core is here, as a module or built in */
	bool nvme_btf;	     /* and its types are known */
	bool nvme_events;    /* its tracepoints' prototypes are known: tp_btf may work */
	bool nvme_guessed;   /* its layout is one of the two we know, not read from BTF */
	bool queue_argument; /* block_rq_issue carries the queue first (before 5.11, 5.10.137) */
	bool has_rq_error;   /* block_rq_error exists (5.18) */
	bool has_diskseq;
	bool zone_resource; /* blk_status_t has ZONE_RESOURCE before those of zones (until 6.9) */
	bool has_task_pointer;		   /* bpf_get_current_task_btf (5.11) */
	uint32_t integrity_flag, fua_flag; /* REQ_INTEGRITY and REQ_FUA; 0: none */
	uint32_t rdonly_cast_id; /* BTF id of the function bpf_rdonly_cast (6.2); 0: none */
	/* From the request to nvme_request's fields, and in nvme_ctrl; 0: unknown. */
	uint32_t nvme_result_at, nvme_flags_at, nvme_status_at;
	uint32_t nvme_ctrl_at, nvme_instance_at, nvme_admin_q_at;
	char *op_names[KERNEL_OPS]; /* REQ_OP_ZONE_APPEND is "zone-append"; NULL: no such operation
				     */
};

/* 0; -EOPNOTSUPP after one line when the kernel has no BTF. */
int kernel__read(struct kernel *kernel);
void kernel__free(struct kernel *kernel);

#endif
