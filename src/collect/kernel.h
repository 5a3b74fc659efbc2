/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel.h: what shape has this kernel? Read from its BTF: prototypes, fields, enum values; never
 * from its version number. Costs one read of vmlinux's BTF (about 6 MB).
 */
#ifndef IOSONAR_COLLECT_KERNEL_H
#define IOSONAR_COLLECT_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct btf;

enum { KERNEL_OPS = 256 };

/* Known of the running kernel; of a BTF file only whether it contains nvme_core. */
enum kernel_nvme { KERNEL_NVME_ABSENT, KERNEL_NVME_MODULE, KERNEL_NVME_BUILT_IN };

struct kernel {
	char release[65];
	enum kernel_nvme nvme;
	bool nvme_loaded;    /* nvme_core is here, as a module or built in */
	bool nvme_btf;	     /* and its types are known */
	bool nvme_events;    /* its tracepoints' prototypes are known: tp_btf may work */
	bool nvme_guessed;   /* one of the two known layouts, not read from BTF */
	bool queue_argument; /* block_rq_issue carries the queue first (before 5.11, 5.10.137) */
	bool has_rq_error;   /* block_rq_error exists (5.18) */
	bool has_diskseq;
	bool zone_resource; /* blk_status_t has ZONE_RESOURCE before those of zones (until 6.9) */
	bool has_task_pointer;		   /* bpf_get_current_task_btf (5.11), */
	bool has_task_registers;	   /* bpf_task_pt_regs (5.15) */
	uint32_t integrity_flag, fua_flag; /* REQ_INTEGRITY and REQ_FUA; 0: none */
	uint32_t polled_flag;		   /* REQ_POLLED, until 5.15 REQ_HIPRI */
	uint32_t preflush_flag;		   /* REQ_PREFLUSH */
	bool bio_queue_argument;	   /* also for events of bios */
	uint32_t noretry_flags;		   /* REQ_FAILFAST_*: the driver tries once */
	uint32_t swap_flag, metadata_flag; /* REQ_SWAP and REQ_META */
	bool has_ring;			   /* BPF ring buffers (5.8) */
	const char *missing;	 /* event or field that every run requires and this kernel lacks */
	uint32_t rdonly_cast_id; /* BTF id of the function bpf_rdonly_cast (6.2); 0: none */
	uint32_t cast_type_id;	 /* and of a struct that begins with an integer */
	/* From the request to nvme_request's fields, and in nvme_ctrl; 0: unknown. */
	uint32_t nvme_result_at, nvme_flags_at, nvme_status_at;
	uint32_t nvme_ctrl_at, nvme_instance_at, nvme_admin_q_at;
	uint32_t nvme_retries_at;
	uint32_t nvme_cmd_at;	    /* the pointer to the command as it was sent */
	char *op_names[KERNEL_OPS]; /* REQ_OP_ZONE_APPEND is "zone-append"; NULL: no such operation
				     */
	struct btf *btf;	    /* of the running kernel, until kernel__forget_btf, */
	struct btf *nvme_types; /* and of nvme_core on top of it; NULL: it has none of its own */
};

/*
 * BTF of the running kernel. NULL, without a message: *err is -EOPNOTSUPP if it has none, or the
 * shortage in this process: -EMFILE, -ENFILE, -ENOMEM.
 */
struct btf *kernel__load_btf(int *err);
/* Of the running kernel. 0, or -errno as above. */
int kernel__read(struct kernel *kernel);
/* For another kernel: its BTF, plain or in an ELF file. 0; -EINVAL or -EIO after one line. */
int kernel__read_file(struct kernel *kernel, const char *path);
void kernel__forget_btf(struct kernel *kernel); /* 5 MB that only the start needs */
void kernel__free(struct kernel *kernel);

/*
 * Where libbpf should look for the types of our programs (btf_custom_path). NULL: its default, in
 * the kernel and then in every module. That requires CAP_SYS_ADMIN, so without it a type that this
 * kernel lacks (struct dio) would end the load with EPERM instead of being absent.
 */
const char *kernel__types_path(void);

/* The function bpf_rdonly_cast and a type for it; 0, 0: this kernel has none. */
void kernel__find_cast(const struct btf *btf, uint32_t *function, uint32_t *type);
/* Number of an event's arguments, without the context that begins every prototype; -1: no event. */
int kernel__event_arguments(const struct btf *btf, const char *typedef_name);
/* The words of block operations, by number; NULL: no such operation. */
void kernel__read_ops(char *op_names[KERNEL_OPS], const struct btf *btf);
void kernel__free_ops(char *op_names[KERNEL_OPS]);
uint32_t kernel__request_flag(const struct btf *btf, const char *bit);	  /* "__REQ_FUA"; 0: none */
int kernel__function_parameters(const struct btf *btf, const char *name); /* -1: none such */
bool kernel__function_returns(const struct btf *btf, const char *name);	  /* a value */

/* A field of a struct that may be in a module, and its offset. */
struct kernel_field {
	const char *type, *name;
	uint32_t at;
};
/* From the module's BTF, or the kernel's own if it is built in. False: a field is in neither. */
bool kernel__find_fields(const char *module, struct kernel_field *fields, size_t nr);

/* Can every program of a run have typed pointers? They are all of one kind; NVMe's decide. */
bool kernel__may_type(const struct kernel *kernel, bool wants_nvme);
/* There is no program with typed pointers for an event that has the queue first. */
bool kernel__may_type_block(const struct kernel *kernel);

#endif
