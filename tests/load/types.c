/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * types.c: are the kernel types that src/bpf/kernel.h and tags.h declare those of the running
 * kernel? CO-RE moves a field to its offset but not to another width: a wrong one loads and reads a
 * neighbour. Declarations come from the BTF inside the BPF object, the truth from
 * /sys/kernel/btf/vmlinux.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include "wire/io_tables.h"
#include "wire/tag_walk.h"
#include "wire/async.h"
#include "wire/file_id.h"
#include "bpf/async.skel.h"
#include "bpf/inflight.skel.h"
#include "bpf/io.skel.h"
#define KERNEL_TYPES_PLAIN
#include "bpf/kernel.h"
#include "tap.h"

/* What some kernels lack, and where the programs ask before they read. */
static const struct {
	const char *type, *field, *why;
} optional[] = {
	{ "gendisk", "diskseq", "came in 5.15" },
	{ "request_queue", "disk", "came in 5.15" },
	{ "request", "rq_disk", "went in 5.17" },
	{ "request_queue", "kobj", "went in 6.2" },
	{ "cgroup", "ancestor_ids", "went in 6.1" },
	{ "cgroup", "ancestors", "came in 6.1" },
	{ "bio", "bi_disk", "went in 5.12" },
	{ "bio", "bi_bdev", "came in 5.12" },
	{ "bio", "bi_blkg", "needs BLK_CGROUP" },
	{ "dentry", "d_alias", "had a union before 7.1" },
	{ "dentry", "d_u", "went in 7.1" },
	{ "page", "compound_head", "went in 7.0" },
	{ "page", "compound_info", "came in 7.0" },
	{ "dio", "", "needs LEGACY_DIRECT_IO" },
	{ "iomap_dio", "", "needs FS_IOMAP" },
	{ "hd_struct", "", "went in 5.11" },
	{ "gendisk", "part0", "became a pointer in 5.11" },
	{ "mm_struct", "mm_rb", "went in 6.1" },
	{ "vm_area_struct", "vm_rb", "went in 6.1" },
	{ "mm_struct", "mm_mt", "came in 6.1" },
	{ "maple_tree", "", "came in 6.1" },
	{ "maple_range_64", "", "came in 6.1" },
	{ "maple_arange_64", "", "came in 6.1" },
	{ "inode", "i_ctime", "became __i_ctime in 6.6" },
	{ "inode", "__i_ctime", "came in 6.6, went in 6.11" },
	{ "inode", "i_ctime_sec", "came in 6.11" },
	{ "inode", "i_ctime_nsec", "came in 6.11" },
	{ "sbq_wait_state", "pad_", "stands for its fields: only their size is read" },
	{ "request.ref", "counter", "was inside a refcount_t until 5.16" },
	{ "io_kiocb", "cqe", "came in 5.19" },
	{ "io_kiocb", "user_data", "went in 5.19" },
	{ "io_cqe", "", "came in 5.19" },
};

/* Structs in the object that are not the kernel's own: the context, which is UAPI, and maps. */
static const char *const not_ours[] = {
	"bpf_raw_tracepoint_args", "ring", "queue_wait",
	"pt_regs", /* x86_64: that of ptrace, whose layout is fixed */
};
/* Of these only the lowest bits are read: a kernel may declare fewer or more. Since 6.9 cs is a
 * u16, and flags are a u64. */
static const char *const low_bits[] = { "pt_regs.cs", "io_kiocb.flags" };

/* ---- comparing ---- */

struct compare {
	const struct btf *declared, *actual;
	uint64_t nr_fields, nr_absent, nr_wrong;
};

__attribute__((format(printf, 2, 3))) static void wrong(struct compare *c, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	printf("# ");
	vprintf(fmt, args);
	putchar('\n');
	va_end(args);
	c->nr_wrong++;
}

static const struct btf_type *plain(const struct btf *btf, __u32 id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (t && (btf_is_mod(t) || btf_is_typedef(t)))
		t = btf__type_by_id(btf, t->type);
	return t;
}

/* "request___rq_disk" is a flavour of "request". */
static void base_name(const char *name, char *buf, size_t size)
{
	char *flavour;

	snprintf(buf, size, "%s", name);
	flavour = strstr(buf, "___");
	if (flavour)
		*flavour = 0;
}

/* bits: 0, or how wide a bit field is. */
struct field {
	const struct btf_type *type;
	__u32 id, bits;
};

/* Looks into anonymous members too. */
static bool field_find(const struct btf *btf, const struct btf_type *t, const char *name,
		       struct field *field)
{
	const struct btf_member *m = btf_members(t);

	for (__u32 i = 0; i < btf_vlen(t); i++, m++) {
		const char *its = btf__name_by_offset(btf, m->name_off);
		const struct btf_type *type = plain(btf, m->type);

		if (!*its && btf_is_composite(type) && field_find(btf, type, name, field))
			return true;
		if (strcmp(its, name))
			continue;
		*field = (struct field){ type, m->type, btf_member_bitfield_size(t, i) };
		return true;
	}
	return false;
}

/* Enums of 32 and 64 bits, signed or not, and integers may stand for each other; the rest
 * may not.
 */
static int shape(const struct btf_type *t)
{
	if (btf_is_any_enum(t) || btf_is_int(t))
		return BTF_KIND_INT;
	return btf_kind(t) == BTF_KIND_FWD ? BTF_KIND_STRUCT : btf_kind(t);
}

/* What a pointer points to, "" if that has no name. */
static const char *target_name(const struct btf *btf, const struct btf_type *pointer)
{
	const struct btf_type *t = plain(btf, pointer->type);

	return t && (btf_is_composite(t) || btf_is_fwd(t)) ? btf__name_by_offset(btf, t->name_off)
							   : "";
}

static bool is_optional(const char *type, const char *field)
{
	for (size_t i = 0; i < sizeof(optional) / sizeof(optional[0]); i++) {
		if (strcmp(optional[i].type, type) || strcmp(optional[i].field, field))
			continue;
		printf("# %s.%s is not in this kernel: it %s\n", type, field, optional[i].why);
		return true;
	}
	return false;
}

static bool has_low_bits(const char *name)
{
	for (size_t i = 0; i < sizeof(low_bits) / sizeof(low_bits[0]); i++)
		if (!strcmp(name, low_bits[i]))
			return true;
	return false;
}

static void compare_struct(struct compare *c, const struct btf_type *declared,
			   const struct btf_type *actual, const char *name);

static void compare_field(struct compare *c, const struct field *want, const struct field *got,
			  const char *name)
{
	long long want_size = btf__resolve_size(c->declared, want->id);
	long long got_size = btf__resolve_size(c->actual, got->id);
	char want_to[64];
	const char *got_to;

	if (got->bits != want->bits)
		wrong(c, "%s: %u bits here, declared %u", name, got->bits, want->bits);
	else if (shape(want->type) != shape(got->type))
		wrong(c, "%s: BTF kind %d here, declared %d", name, shape(got->type),
		      shape(want->type));
	else if (btf_is_composite(want->type))
		compare_struct(c, want->type, got->type, name); /* only a part of it is declared */
	else if (want_size != got_size && !has_low_bits(name))
		wrong(c, "%s: %lld bytes here, declared %lld", name, got_size, want_size);
	if (!btf_is_ptr(want->type) || !btf_is_ptr(got->type))
		return;
	base_name(target_name(c->declared, want->type), want_to, sizeof(want_to));
	got_to = target_name(c->actual, got->type);
	if (*want_to && strcmp(want_to, got_to))
		wrong(c, "%s: points to %s here, declared %s", name, got_to, want_to);
}

static void compare_struct(struct compare *c, const struct btf_type *declared,
			   const struct btf_type *actual, const char *name)
{
	const struct btf_member *m = btf_members(declared);

	for (__u32 i = 0; i < btf_vlen(declared); i++, m++) {
		const char *field = btf__name_by_offset(c->declared, m->name_off);
		struct field want = { plain(c->declared, m->type), m->type,
				      btf_member_bitfield_size(declared, i) };
		struct field got;
		char full[128];
		bool here;

		c->nr_fields++;
		snprintf(full, sizeof(full), "%s.%s", name, field);
		here = field_find(c->actual, actual, field, &got);
		if ((!here || shape(want.type) != shape(got.type)) && is_optional(name, field))
			c->nr_absent++;
		else if (here)
			compare_field(c, &want, &got, full);
		else
			wrong(c, "%s: no such field here", full);
	}
}

static bool enum_find(const struct btf *btf, const struct btf_type *t, const char *name,
		      __s32 *value)
{
	const struct btf_enum *e = btf_enum(t);

	for (__u32 i = 0; i < btf_vlen(t); i++, e++) {
		if (strcmp(btf__name_by_offset(btf, e->name_off), name))
			continue;
		*value = e->val;
		return true;
	}
	return false;
}

static void compare_enum(struct compare *c, const struct btf_type *declared,
			 const struct btf_type *actual)
{
	const struct btf_enum *e = btf_enum(declared);
	__s32 value;

	if (declared->size != actual->size)
		wrong(c, "enum: %u bytes here, declared %u", actual->size, declared->size);
	for (__u32 i = 0; i < btf_vlen(declared); i++, e++) {
		const char *name = btf__name_by_offset(c->declared, e->name_off);

		c->nr_fields++;
		if (!enum_find(c->actual, actual, name, &value))
			wrong(c, "%s: no such value here", name);
		else if (value != e->val)
			wrong(c, "%s: %d here, declared %d", name, value, e->val);
	}
}

/* The declared type, of any flavour, with what the other side calls by its name. */
static void compare_type(struct compare *c, const struct btf_type *declared)
{
	char name[64];
	int id;

	base_name(btf__name_by_offset(c->declared, declared->name_off), name, sizeof(name));
	id = btf__find_by_name_kind(c->actual, name, btf_kind(declared));
	if (id < 0 && is_optional(name, ""))
		c->nr_fields = c->nr_absent = 1;
	else if (id < 0)
		wrong(c, "%s: no such type here", name);
	else if (btf_is_composite(declared))
		compare_struct(c, declared, btf__type_by_id(c->actual, (__u32)id), name);
	else
		compare_enum(c, declared, btf__type_by_id(c->actual, (__u32)id));
}

/* ---- the negative control: kernels that are wrong on purpose ---- */

/* A small request in a BTF of its own; each argument breaks one thing. */
struct variant {
	const char *what;
	int width; /* of cmd_flags, in bytes */
	const char *field, *target;
	bool number_for_pointer;
	int state;
	uint64_t nr_wrong;
};

static struct btf *variant_new(const struct variant *v)
{
	struct btf *btf = btf__new_empty();
	int narrow = btf__add_int(btf, "narrow", (size_t)v->width, 0);
	int wide = btf__add_int(btf, "wide", 8, 0);
	int target = btf__add_struct(btf, v->target, 8);
	int pointer, state, inner;

	btf__add_field(btf, "x", wide, 0, 0);
	pointer = btf__add_ptr(btf, target);
	state = btf__add_enum(btf, "mq_rq_state", 4);
	btf__add_enum_value(btf, "MQ_RQ_IDLE", 0);
	btf__add_enum_value(btf, "MQ_RQ_COMPLETE", v->state);
	inner = btf__add_struct(btf, "", 8);
	btf__add_field(btf, v->field, narrow, 0, 0);
	btf__add_struct(btf, "request", 32);
	btf__add_field(btf, "q", v->number_for_pointer ? wide : pointer, 0, 0);
	btf__add_field(btf, "", inner, 64, 0);
	btf__add_field(btf, "state", state, 128, 0);
	return btf;
}

static void compare_variant(const struct variant *v, const struct btf *declared)
{
	struct btf *actual = variant_new(v);
	struct compare c = { .declared = declared, .actual = actual };
	int request = btf__find_by_name_kind(declared, "request", BTF_KIND_STRUCT);
	int state = btf__find_by_name_kind(declared, "mq_rq_state", BTF_KIND_ENUM);

	compare_type(&c, btf__type_by_id(declared, (__u32)request));
	compare_type(&c, btf__type_by_id(declared, (__u32)state));
	is_u64(c.nr_wrong, v->nr_wrong, v->what);
	btf__free(actual);
}

static struct btf *declaration_new(void)
{
	struct btf *btf = btf__new_empty();
	int four = btf__add_int(btf, "unsigned int", 4, 0);
	int queue = btf__add_fwd(btf, "request_queue", BTF_FWD_STRUCT);
	int pointer = btf__add_ptr(btf, queue);
	int state = btf__add_enum(btf, "mq_rq_state", 4);

	btf__add_enum_value(btf, "MQ_RQ_COMPLETE", 2);
	btf__add_struct(btf, "request", 24);
	btf__add_field(btf, "q", pointer, 0, 0);
	btf__add_field(btf, "cmd_flags", four, 64, 0);
	btf__add_field(btf, "state", state, 96, 0);
	return btf;
}

static void check_control(void)
{
	static const struct variant variants[] = {
		{ "control: a right one is right", 4, "cmd_flags", "request_queue", false, 2, 0 },
		{ "control: a wrong width is seen", 8, "cmd_flags", "request_queue", false, 2, 1 },
		{ "control: a narrow one too", 2, "cmd_flags", "request_queue", false, 2, 1 },
		{ "control: a missing field", 4, "flags", "request_queue", false, 2, 1 },
		{ "control: a number for a pointer", 4, "cmd_flags", "request_queue", true, 2, 1 },
		{ "control: a pointer to another", 4, "cmd_flags", "blk_queue", false, 2, 1 },
		{ "control: another enum value", 4, "cmd_flags", "request_queue", false, 3, 1 },
		{ "control: all at once", 8, "cmd_flags", "blk_queue", true, 3, 3 },
	};
	struct btf *declared = declaration_new();

	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++)
		compare_variant(&variants[i], declared);
	btf__free(declared);
}

/* ---- this kernel ---- */

static bool is_of_the_kernel(const struct btf *kernel, const struct btf_type *t, const char *name)
{
	if (!*name || !(btf_is_struct(t) || btf_is_enum(t)))
		return false;
	/* Our own tables, unless the kernel has that name too. */
	if ((!strncmp(name, "io_", 3) || !strncmp(name, "inflight_", 9) ||
	     !strncmp(name, "async_", 6) || !strncmp(name, "known_", 6) ||
	     !strncmp(name, "unw", 3)) &&
	    btf__find_by_name_kind(kernel, name, btf_kind(t)) < 0)
		return false;
	for (size_t i = 0; i < sizeof(not_ours) / sizeof(not_ours[0]); i++)
		if (!strcmp(name, not_ours[i]))
			return false;
	return true;
}

static uint64_t check_kernel(const struct btf *declared, const struct btf *actual)
{
	uint64_t nr_types = 0;

	for (__u32 id = 1; id < btf__type_cnt(declared); id++) {
		const struct btf_type *t = btf__type_by_id(declared, id);
		const char *name = btf__name_by_offset(declared, t->name_off);
		struct compare c = { .declared = declared, .actual = actual };

		if (!is_of_the_kernel(actual, t, name))
			continue;
		nr_types++;
		compare_type(&c, t);
		ok(!c.nr_wrong && c.nr_fields, "%s: %" PRIu64 " declared, %" PRIu64 " absent", name,
		   c.nr_fields, c.nr_absent);
	}
	return nr_types;
}

static void check_declared(const struct btf *declared)
{
	static const char *const must[] = { "gendisk",	     "queue_limits", "request_queue",
					    "blk_mq_hw_ctx", "request",	     "request___rq_disk",
					    "cgroup___ids" };

	for (size_t i = 0; i < sizeof(must) / sizeof(must[0]); i++)
		ok(btf__find_by_name_kind(declared, must[i], BTF_KIND_STRUCT) > 0,
		   "the object declares struct %s", must[i]);
	ok(btf__find_by_name_kind(declared, "mq_rq_state", BTF_KIND_ENUM) > 0,
	   "and enum mq_rq_state");
}

/* Hardware's, so no kernel's BTF is asked: NVMe Base Specification, "Common Command
 * Format". */
static void check_command(void)
{
	is_u64(sizeof(struct nvme_command), 64, "an NVMe command has 64 bytes");
	ok(offsetof(struct nvme_command, opcode) == 0 &&
		   offsetof(struct nvme_command, flags) == 1 &&
		   offsetof(struct nvme_command, command_id) == 2 &&
		   offsetof(struct nvme_command, nsid) == 4 &&
		   offsetof(struct nvme_command, cdw10) == 40,
	   "with opcode, flags, id, nsid and CDW10 in their places");
}

static void check_requests(const struct btf *declared)
{
	ok(btf__find_by_name_kind(declared, "io_kiocb", BTF_KIND_STRUCT) > 0,
	   "the requests of io_uring declare struct io_kiocb");
}

static void check_walk(const struct btf *declared)
{
	static const char *const must[] = { "files_struct", "kernfs_node___dir", "blk_mq_tags",
					    "blk_mq_tag_set", "request___tag" };

	for (size_t i = 0; i < sizeof(must) / sizeof(must[0]); i++)
		ok(btf__find_by_name_kind(declared, must[i], BTF_KIND_STRUCT) > 0,
		   "the walk through the tags declares struct %s", must[i]);
}

/* An object's declarations, by a look of their own and one by one. */
static bool check_object(const void *elf, size_t size, const struct btf *actual,
			 void (*look)(const struct btf *declared))
{
	struct bpf_object *object = bpf_object__open_mem(elf, size, NULL);

	if (!object) {
		printf("Bail out! cannot open the BPF object: %s\n", strerror(errno));
		return false;
	}
	look(bpf_object__btf(object));
	ok(check_kernel(bpf_object__btf(object), actual) >= 7, "every kernel type was compared");
	bpf_object__close(object);
	return true;
}

int main(void)
{
	struct btf *actual = btf__load_vmlinux_btf();
	const void *elf;
	size_t size;
	bool good;

	if (!actual) {
		printf("1..0 # SKIP this kernel has no BTF: %s\n", strerror(errno));
		return 0;
	}
	check_control();
	check_command();
	elf = io_bpf__elf_bytes(&size);
	good = check_object(elf, size, actual, check_declared);
	elf = inflight_bpf__elf_bytes(&size);
	good = good && check_object(elf, size, actual, check_walk);
	elf = async_bpf__elf_bytes(&size);
	good = good && check_object(elf, size, actual, check_requests);
	btf__free(actual);
	return good ? done_testing() : 1;
}
