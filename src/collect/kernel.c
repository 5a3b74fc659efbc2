/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/kernel.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include "base/log.h"

/* A file's BTF may contain anything, even a type that contains itself. */
enum { KERNEL_DEPTH = 32 };

/* The type behind a typedef, const or volatile; NULL: none. */
static const struct btf_type *kernel_plain(const struct btf *btf, __u32 id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	for (int i = 0; i < KERNEL_DEPTH && t; i++) {
		if (!btf_is_mod(t) && !btf_is_typedef(t))
			return t;
		t = btf__type_by_id(btf, t->type);
	}
	return NULL;
}

static const char *kernel_name(const struct btf *btf, __u32 offset)
{
	const char *name = btf__name_by_offset(btf, offset);

	return name ? name : "";
}

/* Byte offset of a field, looking into anonymous members too; -1: no such field. */
static int kernel_offset_in(const struct btf *btf, const struct btf_type *t, const char *field,
			    int depth)
{
	const struct btf_member *m = btf_members(t);

	for (int i = 0; i < btf_vlen(t); i++, m++) {
		const char *name = kernel_name(btf, m->name_off);
		const struct btf_type *inside = *name ? NULL : kernel_plain(btf, m->type);
		int at = (int)btf_member_bit_offset(t, (__u32)i) / 8, inner = -1;

		if (!strcmp(name, field))
			return at;
		if (inside && btf_is_composite(inside) && depth < KERNEL_DEPTH)
			inner = kernel_offset_in(btf, inside, field, depth + 1);
		if (inner >= 0)
			return at + inner;
	}
	return -1;
}

/* Finding a type means looking at most of a hundred thousand: once for all of its fields or values.
 */
static const struct btf_type *kernel_struct(const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);

	return id < 0 ? NULL : btf__type_by_id(btf, (__u32)id);
}

static int kernel_field(const struct btf *btf, const struct btf_type *type, const char *field)
{
	return type ? kernel_offset_in(btf, type, field, 0) : -1;
}

static int kernel_offset(const struct btf *btf, const char *type, const char *field)
{
	return kernel_field(btf, kernel_struct(btf, type), field);
}

int kernel__event_arguments(const struct btf *btf, const char *typedef_name)
{
	int id = btf__find_by_name_kind(btf, typedef_name, BTF_KIND_TYPEDEF);
	const struct btf_type *t;

	if (id < 0)
		return -1;
	t = kernel_plain(btf, (__u32)id); /* a pointer to the prototype */
	t = t ? kernel_plain(btf, t->type) : NULL;
	return t && btf_is_func_proto(t) ? btf_vlen(t) - 1 : -1;
}

static const struct btf_type *kernel_prototype(const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_FUNC);
	const struct btf_type *t = id < 0 ? NULL : btf__type_by_id(btf, (__u32)id);

	t = t ? kernel_plain(btf, t->type) : NULL;
	return t && btf_is_func_proto(t) ? t : NULL;
}

int kernel__function_parameters(const struct btf *btf, const char *name)
{
	const struct btf_type *t = kernel_prototype(btf, name);

	return t ? btf_vlen(t) : -1;
}

bool kernel__function_returns(const struct btf *btf, const char *name)
{
	const struct btf_type *t = kernel_prototype(btf, name);

	return t && t->type;
}

static const struct btf_type *kernel_enum(const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_ENUM);

	return id < 0 ? NULL : btf__type_by_id(btf, (__u32)id);
}

/* -1: this enum has no such value. */
static int kernel_value_of(const struct btf *btf, const struct btf_type *t, const char *value)
{
	for (int i = 0; t && i < btf_vlen(t); i++)
		if (!strcmp(kernel_name(btf, btf_enum(t)[i].name_off), value))
			return btf_enum(t)[i].val;
	return -1;
}

static int kernel_enum_value(const struct btf *btf, const char *name, const char *value)
{
	return kernel_value_of(btf, kernel_enum(btf, name), value);
}

static uint32_t kernel_flag(const struct btf *btf, const struct btf_type *bits, const char *bit)
{
	int nr = kernel_value_of(btf, bits, bit);

	return nr < 0 || nr > 31 ? 0 : 1u << nr;
}

uint32_t kernel__request_flag(const struct btf *btf, const char *bit)
{
	return kernel_flag(btf, kernel_enum(btf, "req_flag_bits"), bit);
}

static void kernel_read_flags(struct kernel *kernel, const struct btf *btf)
{
	const struct btf_type *bits = kernel_enum(btf, "req_flag_bits");

	kernel->integrity_flag = kernel_flag(btf, bits, "__REQ_INTEGRITY");
	kernel->fua_flag = kernel_flag(btf, bits, "__REQ_FUA");
	/* 6ce913fe3eee gave it its new name. */
	kernel->polled_flag =
		kernel_flag(btf, bits, "__REQ_POLLED") ?: kernel_flag(btf, bits, "__REQ_HIPRI");
	kernel->preflush_flag = kernel_flag(btf, bits, "__REQ_PREFLUSH");
	kernel->swap_flag = kernel_flag(btf, bits, "__REQ_SWAP");
	kernel->metadata_flag = kernel_flag(btf, bits, "__REQ_META");
	kernel->noretry_flags = kernel_flag(btf, bits, "__REQ_FAILFAST_DEV") |
				kernel_flag(btf, bits, "__REQ_FAILFAST_TRANSPORT") |
				kernel_flag(btf, bits, "__REQ_FAILFAST_DRIVER");
}

static char *kernel_op_word(const char *name)
{
	char *word = strdup(name + strlen("REQ_OP_"));

	for (char *c = word; c && *c; c++)
		*c = *c == '_' ? '-' : (char)tolower(*c);
	return word;
}

/* enum req_opf became enum req_op in 6.0 (ff07a02e9e8e). */
void kernel__read_ops(char *op_names[KERNEL_OPS], const struct btf *btf)
{
	const struct btf_type *t = kernel_enum(btf, "req_op") ?: kernel_enum(btf, "req_opf");

	for (int i = 0; t && i < btf_vlen(t); i++) {
		const struct btf_enum *e = &btf_enum(t)[i];
		const char *name = kernel_name(btf, e->name_off);

		if (e->val >= 0 && e->val < KERNEL_OPS && !strncmp(name, "REQ_OP_", 7) &&
		    strcmp(name, "REQ_OP_LAST") && !op_names[e->val])
			op_names[e->val] = kernel_op_word(name);
	}
}

static void kernel_read_nvme(struct kernel *kernel, const struct btf *vmlinux,
			     const struct btf *nvme)
{
	const struct btf_type *request = kernel_struct(vmlinux, "request");
	const struct btf_type *nvme_request = kernel_struct(nvme, "nvme_request");
	const struct btf_type *nvme_ctrl = kernel_struct(nvme, "nvme_ctrl");
	int size = request ? (int)request->size : -1;
	int ctrl = kernel_field(nvme, nvme_request, "ctrl");
	int instance = kernel_field(nvme, nvme_ctrl, "instance");
	int admin_q = kernel_field(nvme, nvme_ctrl, "admin_q");
	const struct {
		uint32_t *at;
		const char *field;
	} fields[] = {
		{ &kernel->nvme_status_at, "status" }, { &kernel->nvme_result_at, "result" },
		{ &kernel->nvme_flags_at, "flags" },   { &kernel->nvme_retries_at, "retries" },
		{ &kernel->nvme_cmd_at, "cmd" },
	};

	kernel->nvme_btf = size > 0 && kernel_field(nvme, nvme_request, "status") >= 0;
	kernel->nvme_events = kernel__event_arguments(nvme, "btf_trace_nvme_setup_cmd") == 2;
	for (size_t i = 0; kernel->nvme_btf && i < sizeof(fields) / sizeof(fields[0]); i++) {
		int at = kernel_field(nvme, nvme_request, fields[i].field);

		*fields[i].at = at < 0 ? 0 : (uint32_t)(size + at);
	}
	/*
	 * Before 5.14 (f4b9e6c90c57) it had three parameters: the command was on its caller's
	 * stack, and nvme_request.cmd pointed to the user's command, if any.
	 */
	if (kernel__function_parameters(nvme, "nvme_setup_cmd") != 2)
		kernel->nvme_cmd_at = 0;
	if (size > 0 && ctrl >= 0 && instance >= 0 && admin_q >= 0) {
		kernel->nvme_ctrl_at = (uint32_t)(size + ctrl);
		kernel->nvme_instance_at = (uint32_t)instance;
		kernel->nvme_admin_q_at = (uint32_t)admin_q;
	}
}

/*
 * nvme_core of 5.10 is a module without BTF. Its two known layouts differ in nvme_request.genctr,
 * which came with 5.10.60's backport of e7006de6c238; status and ctrl are the same in both; flags
 * is taken from the newer layout: at worst a passthrough command is shown as the driver's. The
 * programs check nvme_ctrl.admin_q before they trust an instance.
 */
static void kernel_guess_nvme(struct kernel *kernel, const struct btf *vmlinux)
{
	int request = btf__find_by_name_kind(vmlinux, "request", BTF_KIND_STRUCT);
	uint32_t size;

	if (request < 0)
		return;
	size = btf__type_by_id(vmlinux, (__u32)request)->size;
	kernel->nvme_guessed = true;
	kernel->nvme_result_at = size + 8;
	kernel->nvme_retries_at = size + 17;
	kernel->nvme_flags_at = size + 18;
	kernel->nvme_status_at = size + 20;
	kernel->nvme_ctrl_at = size + 24;
	kernel->nvme_instance_at = 88;
	kernel->nvme_admin_q_at = 56;
}

/* A module's BTF is a file of its own. */
static void kernel_find_nvme(struct kernel *kernel, struct btf *vmlinux)
{
	struct btf *nvme;

	if (kernel->nvme == KERNEL_NVME_BUILT_IN || access("/sys/module/nvme_core", F_OK))
		return;
	kernel->nvme = KERNEL_NVME_MODULE;
	kernel->nvme_loaded = true;
	nvme = btf__parse_split("/sys/kernel/btf/nvme_core", vmlinux);
	if (nvme)
		kernel_read_nvme(kernel, vmlinux, nvme);
	else
		kernel_guess_nvme(kernel, vmlinux);
	kernel->nvme_types = nvme;
}

/* What the programs require: bpf/kernel.h. Fields of a struct stand together: it is found once. */
static const struct kernel_need {
	const char *name, *type, *field;
} kernel_needs[] = {
	{ "request.q", "request", "q" },
	{ "request.mq_hctx", "request", "mq_hctx" },
	{ "request.cmd_flags", "request", "cmd_flags" },
	{ "request.__data_len", "request", "__data_len" },
	{ "request.__sector", "request", "__sector" },
	{ "request.bio", "request", "bio" },
	{ "request.state", "request", "state" },
	{ "request.start_time_ns", "request", "start_time_ns" },
	{ "request_queue.queuedata", "request_queue", "queuedata" },
	{ "request_queue.limits", "request_queue", "limits" },
	{ "queue_limits.logical_block_size", "queue_limits", "logical_block_size" },
	{ "blk_mq_hw_ctx.queue_num", "blk_mq_hw_ctx", "queue_num" },
	{ "gendisk.disk_name", "gendisk", "disk_name" },
};
static const char *const kernel_events[] = { "btf_trace_block_rq_issue",
					     "btf_trace_block_rq_complete",
					     "btf_trace_block_rq_requeue" };

static const char *kernel_missing(const struct btf *btf)
{
	const struct btf_type *type = NULL;

	for (size_t i = 0; i < sizeof(kernel_events) / sizeof(kernel_events[0]); i++)
		if (kernel__event_arguments(btf, kernel_events[i]) < 0)
			return kernel_events[i] + strlen("btf_trace_");
	for (size_t i = 0; i < sizeof(kernel_needs) / sizeof(kernel_needs[0]); i++) {
		const struct kernel_need *need = &kernel_needs[i];

		if (!i || strcmp(need->type, need[-1].type))
			type = kernel_struct(btf, need->type);
		if (kernel_field(btf, type, need->field) < 0)
			return need->name;
	}
	if (kernel_offset(btf, "request_queue", "disk") < 0 &&
	    kernel_offset(btf, "request", "rq_disk") < 0)
		return "request_queue.disk";
	return NULL;
}

void kernel__find_cast(const struct btf *btf, uint32_t *function, uint32_t *type)
{
	int cast = btf__find_by_name_kind(btf, "bpf_rdonly_cast", BTF_KIND_FUNC);
	int cast_type = btf__find_by_name_kind(btf, "timespec64", BTF_KIND_STRUCT);

	*function = cast > 0 && cast_type > 0 ? (uint32_t)cast : 0;
	*type = *function ? (uint32_t)cast_type : 0;
}

/* What a BTF alone gives, without the running kernel. */
static void kernel_read_btf(struct kernel *kernel, const struct btf *vmlinux)
{
	const struct btf_type *gendisk = kernel_struct(vmlinux, "gendisk");
	const struct btf_type *bpf_func_id = kernel_enum(vmlinux, "bpf_func_id");

	kernel->queue_argument = kernel__event_arguments(vmlinux, "btf_trace_block_rq_issue") == 2;
	kernel->bio_queue_argument =
		kernel__event_arguments(vmlinux, "btf_trace_block_bio_queue") == 2;
	kernel->has_rq_error = kernel__event_arguments(vmlinux, "btf_trace_block_rq_error") >= 0;
	kernel->has_diskseq = kernel_field(vmlinux, gendisk, "diskseq") >= 0;
	kernel->zone_resource = kernel_field(vmlinux, gendisk, "zone_wplugs_hash") < 0;
	kernel->has_ring = kernel_enum_value(vmlinux, "bpf_map_type", "BPF_MAP_TYPE_RINGBUF") >= 0;
	kernel->has_task_pointer =
		kernel_value_of(vmlinux, bpf_func_id, "BPF_FUNC_get_current_task_btf") >= 0;
	kernel->has_task_registers =
		kernel->has_task_pointer &&
		kernel_value_of(vmlinux, bpf_func_id, "BPF_FUNC_task_pt_regs") >= 0;
	kernel_read_flags(kernel, vmlinux);
	kernel__find_cast(vmlinux, &kernel->rdonly_cast_id, &kernel->cast_type_id);
	kernel->missing = kernel_missing(vmlinux);
	kernel__read_ops(kernel->op_names, vmlinux);
	if (btf__find_by_name_kind(vmlinux, "nvme_request", BTF_KIND_STRUCT) < 0)
		return;
	kernel->nvme = KERNEL_NVME_BUILT_IN;
	kernel->nvme_loaded = true;
	kernel_read_nvme(kernel, vmlinux, vmlinux);
}

/* libbpf looks in many places, and does not keep the reason why the first one failed. */
struct btf *kernel__load_btf(int *err)
{
	struct btf *btf = btf__load_vmlinux_btf();

	*err = 0;
	if (btf)
		return btf;
	btf = btf__parse("/sys/kernel/btf/vmlinux", NULL);
	if (!btf)
		*err = errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno : -EOPNOTSUPP;
	return btf;
}

int kernel__read(struct kernel *kernel)
{
	struct utsname uts;
	int err;
	struct btf *vmlinux = kernel__load_btf(&err);

	memset(kernel, 0, sizeof(*kernel));
	if (!uname(&uts))
		memcpy(kernel->release, uts.release, sizeof(kernel->release));
	if (!vmlinux)
		return err;
	kernel_read_btf(kernel, vmlinux);
	kernel_find_nvme(kernel, vmlinux);
	kernel->btf = vmlinux;
	return 0;
}

int kernel__read_file(struct kernel *kernel, const char *path)
{
	struct btf *vmlinux;

	memset(kernel, 0, sizeof(*kernel));
	if (access(path, F_OK))
		return log_err(-EINVAL, "--btf %s: %s", path, strerror(errno));
	if (access(path, R_OK))
		return log_err(-EIO, "--btf %s: %s", path, strerror(errno));
	vmlinux = btf__parse(path, NULL);
	if (!vmlinux || btf__type_cnt(vmlinux) < 2) {
		btf__free(vmlinux);
		return log_err(-EINVAL,
			       "--btf %s: not a BTF file; give a kernel's /sys/kernel/btf/vmlinux, "
			       "or its vmlinux",
			       path);
	}
	kernel_read_btf(kernel, vmlinux);
	btf__free(vmlinux);
	return 0;
}

bool kernel__find_fields(const char *module, struct kernel_field *fields, size_t nr)
{
	struct btf *vmlinux = btf__load_vmlinux_btf(), *split = NULL;
	bool found = vmlinux;
	char path[128];

	snprintf(path, sizeof(path), "/sys/kernel/btf/%s", module);
	if (vmlinux && !access(path, R_OK))
		split = btf__parse_split(path, vmlinux);
	for (size_t i = 0; i < nr && found; i++) {
		int at = kernel_offset(split ? split : vmlinux, fields[i].type, fields[i].name);

		found = at >= 0;
		fields[i].at = found ? (uint32_t)at : fields[i].at;
	}
	btf__free(split);
	btf__free(vmlinux);
	return found;
}

const char *kernel__types_path(void)
{
	static const char vmlinux[] = "/sys/kernel/btf/vmlinux";
	__u32 id;

	if (bpf_btf_get_next_id(0, &id) != -EPERM || access(vmlinux, R_OK))
		return NULL;
	return vmlinux;
}

bool kernel__may_type(const struct kernel *kernel, bool wants_nvme)
{
	return kernel->nvme_events || !wants_nvme;
}

bool kernel__may_type_block(const struct kernel *kernel)
{
	return !kernel->queue_argument;
}

void kernel__forget_btf(struct kernel *kernel)
{
	btf__free(kernel->nvme_types);
	btf__free(kernel->btf);
	kernel->nvme_types = kernel->btf = NULL;
}

void kernel__free_ops(char *op_names[KERNEL_OPS])
{
	for (int i = 0; i < KERNEL_OPS; i++) {
		free(op_names[i]);
		op_names[i] = NULL;
	}
}

void kernel__free(struct kernel *kernel)
{
	kernel__forget_btf(kernel);
	kernel__free_ops(kernel->op_names);
}
