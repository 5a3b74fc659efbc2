/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * objects.c: does the running kernel's verifier take every program, whatever is asked of it? The
 * settings decide which code is there, so each is switched on alone, then all together. They are
 * listed by the object's BTF: one that this test does not know is a failure.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include "collect/cell_rings.h"
#include "collect/io_complete.h"
#include "collect/kernel.h"
#include "collect/types.h"
#include "wire/io_tables.h"
#include "wire/tag_walk.h"
#include "wire/io_stages.h"
#include "bpf/inflight.skel.h"
#include "bpf/io.skel.h"
#include "tap.h"

/* Sizes of the tables, as a small machine has them and a large one, half of whose CPUs are online.
 */
struct sizes {
	uint32_t nr_slots, nr_keys, nr_rows, nr_cpus, nr_online;
};
static const struct sizes small = { 4096, 1024, 256, 4, 4 };
static const struct sizes large = { 1 << 20, IO_MAX_KEYS, 7600, 128, 64 }; /* 160 MiB */

/* A feature is on when its setting has this value; `with` is on too. size: it is always set. */
static const struct feature {
	const char *name;
	uint64_t value;
	const char *with;
	bool size;
} features[] = {
	{ "slot_mask", .size = true },
	{ "row_of_at", .size = true },
	{ "row_of_mask", .size = true },
	{ "key_mask", .size = true },
	{ "nr_cpus", .size = true },
	{ "chunk_mask", .size = true },
	{ "far_of_at", .size = true },
	{ "far_of_mask", .size = true },
	{ "rows_end", .size = true },
	{ "more_at", .size = true },
	{ "cpu_at", .size = true },
	{ "cpu_mask", .size = true },
	{ "ladder_cpus", .size = true },
	{ "ladder_bytes", .size = true },
	{ "ladder_mask", .size = true },
	{ "late_ladders_at", .size = true },
	{ "late_ladder_bytes", .size = true },
	{ "late_ladder_mask", .size = true },
	{ "untimed_mask", .size = true },
	{ "records", 1, "not_rows_alone" },
	{ "rows_too", 1, "records" },
	{ "record_cells", 1, "records" },
	{ "drop_rows", 1, "records" },
	{ "split", 1, "records" },
	{ "task_pointer", 1, "records" },
	{ "integrity_flag", 1 << 16, "records" },
	{ "fua_flag", 1 << 17, "records" },
	{ "polled_flag", 1 << 24, "records" },
	{ "rare_flags", 0x10300e0, "records" },
	{ "noretry_flags", 0x700 },
	{ "stages", 1, "records" },
	{ "owners", 1 },
	{ "preflush_flag", 1 << 18, "stages" },
	{ "flush_flags", 3 << 17, "stages" },
	{ "details", 1, "stages" },
	{ "waits", 1, "stages" },
	{ "tag_event", 1, "waits" },
	{ "qos_wake", 0xffff800080010000, "waits" },
	{ "iolatency_asks", 0xffff800080020000, "waits" },
	{ "stages_at", .size = true },
	{ "bio_mask", .size = true },
	{ "bios", 1, "stages" },
	{ "kernel_stacks", 1, "stages" },
	{ "user_stacks", 1, "stages" },
	{ "unwind", 1, "user_stacks" },
	{ "task_registers", 1, "unwind" },
	{ "task_bytes", 16384, "unwind" },
	{ "page_bytes", 4096, "unwind" },
	{ "user_mask", 0xffffffffffff, "unwind" },
	{ "stack_seed", 4711, "unwind" },
	{ "depths", 1, "stages" },
	{ "troubles", 1, "records" },
	{ "only_troubled", 1, "records" },
	{ "slowest", 1, "records" },
	{ "slowest_nr", 10, "slowest" },
	{ "files_at_end", 1, "slowest" },
	{ "bio_queue_argument", 1, "stages" },
	{ "follow_all", 1 },
	{ "by_size", 1 },
	{ "by_queue", 1 },
	{ "by_cpu", 1 },
	{ "by_pid", 1, "owners" },
	{ "by_comm", 1, "owners" },
	{ "by_cgroup", 1, "owners" },
	{ "by_file", 1, "owners" },
	{ "senders", 0xffff800080010000, "owners" },
	{ "dm_end", 0xffff800080010000, "bios" },
	{ "dm_clone_at", 40, "bios" },
	{ "dm_io_at", 8, "bios" },
	{ "dm_bio_at", 64, "bios" },
	{ "swap_flag", 1 << 20, "owners" },
	{ "metadata_flag", 1 << 12, "owners" },
	{ "filter_op", 1 },
	{ "filter_nsid", 1 },
	{ "filter_qid", 1 },
	{ "filter_ctrl", 1 },
	{ "filter_sectors", 1 },
	{ "filter_pid", 4711 },
	{ "filter_cgroup", 1234 },
	{ "filter_cgroup_level", 3, "filter_cgroup" },
	{ "filter_comm", 0x6f6966 }, /* "fio" */
	{ "wanted_ops", 5, "filter_op" },
	{ "wanted_nsid", 1, "filter_nsid" },
	{ "wanted_qid", 3, "filter_qid" },
	{ "wanted_ctrl", 1, "filter_ctrl" },
	{ "min_ns", 100000, "not_rows_alone" },
	{ "not_rows_alone", 1 },
	{ "only_failed", 1, "not_rows_alone" },
	{ "measures", 1 },
	{ "sampled", 1, "measures" },
	{ "failures", 1 },
	{ "zoom", 1 },
	{ "zoom_min_us", 20, "zoom" },
	{ "zoom_shift", 2, "zoom" },
	{ "queue_argument", 1 },
	{ "cast_type", .size = true },
	{ "nvme_status_at", 276 },
	{ "nvme_result_at", 264, "records" },
	{ "nvme_flags_at", 274, "records" },
	{ "nvme_ctrl_at", 280 },
	{ "nvme_instance_at", 88, "nvme_ctrl_at" },
	{ "nvme_admin_q_at", 56, "nvme_ctrl_at" },
};
enum { NR_FEATURES = sizeof(features) / sizeof(features[0]), LOG_TAIL = 1000 };

/* One way to load the object. */
struct setting {
	const char *name;
	const struct feature *only; /* NULL: none, or all of them */
	bool all;
	const struct sizes *sizes;
	const char *program; /* NULL: every program */
};

static struct kernel kernel;
static bool talks; /* the verifier's words are wanted: of the first refusal, the rest are alike */

/* The end of what the verifier said is where it says why. */
static int print_tail(enum libbpf_print_level level, const char *format, va_list args)
{
	static char text[1 << 20];
	size_t len;

	if (!talks || level != LIBBPF_WARN)
		return 0;
	vsnprintf(text, sizeof(text), format, args);
	len = strlen(text);
	if (!strstr(text, "BEGIN PROG LOAD LOG"))
		return 0;
	printf("# ");
	for (const char *c = len > LOG_TAIL ? text + len - LOG_TAIL : text; *c; c++)
		fputs(*c == '\n' && c[1] ? "\n# " : (char[]){ *c, 0 }, stdout);
	return 0;
}

/* ---- settings, by name ---- */

static const struct btf_type *settings_type(const struct btf *btf)
{
	int id = btf__find_by_name_kind(btf, "io_settings", BTF_KIND_STRUCT);

	return id < 0 ? NULL : btf__type_by_id(btf, (__u32)id);
}

static const struct btf_member *setting_find(const struct btf *btf, const char *name)
{
	const struct btf_type *type = settings_type(btf);
	const struct btf_member *m = btf_members(type);

	for (int i = 0; i < btf_vlen(type); i++, m++)
		if (!strcmp(btf__name_by_offset(btf, m->name_off), name))
			return m;
	return NULL;
}

/* The value goes into the first eight bytes of what is longer. */
static int setting_set(struct io_bpf *skel, const char *name, uint64_t value)
{
	const struct btf *btf = bpf_object__btf(skel->obj);
	const struct btf_member *m = setting_find(btf, name);
	long long size = m ? btf__resolve_size(btf, m->type) : 0;
	char *settings = (char *)&skel->rodata->settings;

	if (!m)
		return -ENOENT;
	memcpy(settings + m->offset / 8, &value, size < 8 ? (size_t)size : 8);
	return 0;
}

/* ---- loading ---- */

/* The tables that are put into the instructions, as the collector does. */
static int slots_fd = -1, rows_fd = -1, bios_fd = -1, ladders_fd = -1, sampled_fd = -1;

static int make_table(const char *name, uint64_t bytes)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, name, 4, (__u32)bytes, 1, &opts);

	return fd < 0 ? -errno : fd;
}

static void close_tables(void)
{
	if (slots_fd >= 0)
		close(slots_fd);
	if (rows_fd >= 0)
		close(rows_fd);
	if (bios_fd >= 0)
		close(bios_fd);
	if (ladders_fd >= 0)
		close(ladders_fd);
	if (sampled_fd >= 0)
		close(sampled_fd);
	slots_fd = rows_fd = bios_fd = ladders_fd = sampled_fd = -1;
}

/* Slots, row numbers, what records need, counters by CPU. */
static uint32_t far_of_at(const struct sizes *s)
{
	return s->nr_slots * (uint32_t)sizeof(struct io_slot) + 4 * s->nr_keys * s->nr_cpus;
}

static uint32_t more_at(const struct sizes *s)
{
	return far_of_at(s) + 4 * s->nr_keys;
}

static uint32_t stages_at(const struct sizes *s)
{
	return more_at(s) + s->nr_slots * (uint32_t)sizeof(struct io_slot_more);
}

static uint32_t cpu_at(const struct sizes *s)
{
	return stages_at(s) + s->nr_slots * (uint32_t)sizeof(struct io_slot_stages);
}

static struct cell_rings cell_rings_of(const struct sizes *s)
{
	return (struct cell_rings){ s->nr_cpus, s->nr_online, .nr_cells = 128, .late_cells = 64 };
}

/* Of one CPU. */
static const uint32_t untimed_mask = (IO_MAX_SAMPLED - 1) * sizeof(struct io_untimed);

/* What records need is there only where they are wanted: no program may reach for it elsewhere. */
static int make_tables(const struct sizes *s, bool records)
{
	const struct cell_rings rings = cell_rings_of(s);

	slots_fd = make_table("io_slots", records ? cpu_at(s) + s->nr_cpus * sizeof(struct io_cpu)
						  : more_at(s));
	rows_fd = make_table("io_rows", (uint64_t)s->nr_rows * sizeof(struct io_row));
	bios_fd = make_table("io_bios", s->nr_slots * sizeof(struct io_bio));
	ladders_fd = make_table("io_ladders", cell_rings__bytes(&rings));
	if (slots_fd < 0 || rows_fd < 0)
		return slots_fd < 0 ? slots_fd : rows_fd;
	if (bios_fd < 0)
		return bios_fd;
	sampled_fd = make_table("io_sampled", IO_SAMPLED * sizeof(struct io_sampled) +
						      untimed_mask + sizeof(struct io_untimed));
	if (ladders_fd < 0)
		return ladders_fd;
	return sampled_fd < 0 ? sampled_fd : 0;
}

static int complete_programs(struct io_bpf *skel)
{
	const struct io_completion c = {
		.settings = (const struct io_settings *)&skel->rodata->settings,
		.table_fds = { [IO_TABLE_SLOTS] = slots_fd,
			       [IO_TABLE_ROWS] = rows_fd,
			       [IO_TABLE_BIOS] = bios_fd,
			       [IO_TABLE_LADDERS] = ladders_fd,
			       [IO_TABLE_SAMPLED] = sampled_fd },
		.rdonly_cast_id = kernel.rdonly_cast_id,
	};

	return io_complete__programs(skel->obj, &c);
}

static int set_cells(struct io_bpf *skel, struct cell_rings rings)
{
	uint32_t first = rings.nr_cells, late = rings.late_cells;
	uint32_t late_at = (uint32_t)cell_rings__at(&rings, rings.nr_first);
	int err = setting_set(skel, "ladder_cpus", rings.nr_first);

	err = err ?: setting_set(skel, "ladder_bytes", cell_rings__stride(first));
	err = err ?: setting_set(skel, "ladder_mask", cell_rings__mask(first));
	err = err ?: setting_set(skel, "late_ladders_at", late_at);
	err = err ?: setting_set(skel, "late_ladder_bytes", cell_rings__stride(late));
	return err ?: setting_set(skel, "late_ladder_mask", cell_rings__mask(late));
}

static int set_sizes(struct io_bpf *skel, const struct sizes *s)
{
	uint32_t slot_bytes = s->nr_slots * (uint32_t)sizeof(struct io_slot);
	int err = 0;

	err = err ?: setting_set(skel, "cast_type", kernel.cast_type_id);
	err = err ?: setting_set(skel, "slot_mask", slot_bytes - sizeof(struct io_slot));
	err = err ?: setting_set(skel, "row_of_at", slot_bytes);
	err = err ?: setting_set(skel, "row_of_mask", 4 * s->nr_keys * s->nr_cpus - 4);
	err = err ?: setting_set(skel, "key_mask", s->nr_keys - 1);
	err = err ?: setting_set(skel, "nr_cpus", s->nr_cpus);
	err = err ?: setting_set(skel, "chunk_mask", 15);
	err = err ?: setting_set(skel, "far_of_at", far_of_at(s));
	err = err ?: setting_set(skel, "far_of_mask", 4 * (s->nr_keys - 1));
	err = err ?: setting_set(skel, "rows_end", (s->nr_rows - 1) * sizeof(struct io_row));
	err = err ?: setting_set(skel, "more_at", more_at(s));
	err = err ?: setting_set(skel, "stages_at", stages_at(s));
	err = err ?: setting_set(skel, "bio_mask", (s->nr_slots - 1) * sizeof(struct io_bio));
	err = err ?: setting_set(skel, "cpu_at", cpu_at(s));
	err = err ?: setting_set(skel, "cpu_mask", (s->nr_cpus - 1) * sizeof(struct io_cpu));
	err = err ?: set_cells(skel, cell_rings_of(s));
	err = err ?: setting_set(skel, "untimed_mask", untimed_mask);
	err = err ?: bpf_map__set_max_entries(skel->maps.io_keys, s->nr_keys);
	err = err ?: bpf_map__set_max_entries(skel->maps.io_rings, s->nr_cpus);
	return err;
}

static bool is_on(const struct setting *s, const struct feature *f)
{
	if (s->all || s->only == f)
		return true;
	return s->only && s->only->with && !strcmp(s->only->with, f->name);
}

/* What the collector sets only where the kernel has it. */
static bool is_here(const struct feature *f)
{
	if (!strcmp(f->name, "task_registers"))
		return kernel.has_task_registers;
	return strcmp(f->name, "task_pointer") || kernel.has_task_pointer;
}

static int set_features(struct io_bpf *skel, const struct setting *s)
{
	int err = 0;

	for (int i = 0; i < NR_FEATURES && !err; i++)
		if (!features[i].size && is_on(s, &features[i]) && is_here(&features[i]))
			err = setting_set(skel, features[i].name, features[i].value);
	return err;
}

/* Is one of these features on? */
static bool wants(const struct setting *s, const char *words)
{
	char name[32], with[32];

	if (s->all || !s->only)
		return s->all;
	snprintf(name, sizeof(name), " %s ", s->only->name);
	snprintf(with, sizeof(with), " %s ", s->only->with ? s->only->with : "-");
	return strstr(words, name) || strstr(words, with);
}

static bool wants_records(const struct setting *s)
{
	return wants(s, " records stages bios ");
}

static bool begins_with_one_of(const char *name, const char *const *prefixes)
{
	for (; *prefixes; prefixes++)
		if (!strncmp(name, *prefixes, strlen(*prefixes)))
			return true;
	return false;
}

/* Some are attached only for stages, some for these or for owners: without, they are not loaded. */
static bool is_loaded(const struct bpf_program *program, const struct setting *s)
{
	static const char *const of_owners[] = { "io_bio_queue",     "io_bio_split",
						 "io_bio_file",	     "io_bio_forget",
						 "io_bios_forget",   "io_nvme_setup_s",
						 "io_block_issue_s", NULL };
	static const char *const of_stages[] = {
		"io_bio",	"io_request",	     "io_ladder",     "io_insert", "io_nvme_issue",
		"io_nvme_reap", "io_nvme_cancelled", "io_nvme_async", "io_wait_",  NULL
	};
	const char *name = bpf_program__name(program);

	if (begins_with_one_of(name, of_owners))
		return wants(s, " stages bios owners ");
	return !begins_with_one_of(name, of_stages) || wants_records(s);
}

/* Typed programs are for kernels whose BTF has the event, with the arguments they expect. */
static const char *why_not(const struct bpf_program *program)
{
	const char *section = bpf_program__section_name(program);
	const char *name = bpf_program__name(program);

	if (!strncmp(section, "tp_btf/nvme_", 12) && !kernel.nvme_events)
		return "nvme_core is not here, or without BTF";
	if ((!strcmp(name + strlen(name) - 2, "_c") || !strncmp(name, "io_ladder_", 10)) &&
	    !kernel.rdonly_cast_id)
		return "this kernel has no bpf_rdonly_cast";
	if (!strncmp(section, "tp_btf/block_rq_issue", 21) && kernel.queue_argument)
		return "this kernel's event has the queue first";
	if (!strncmp(section, "tp_btf/block_bio_", 17) && kernel.bio_queue_argument)
		return "this kernel's event has the queue first";
	return NULL;
}

static void choose_programs(struct io_bpf *skel, const struct setting *s)
{
	struct bpf_program *p;

	bpf_object__for_each_program(p, skel->obj)
	{
		bool chosen = !s->program || !strcmp(bpf_program__name(p), s->program);

		bpf_program__set_autoload(p, chosen && !why_not(p) && is_loaded(p, s));
	}
}

static const char whole_types[] = "/sys/kernel/btf/vmlinux";
static bool wants_whole_types; /* not the part that the collector makes */

static int open_object(struct io_bpf **skel, struct types *types)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = types__open(types));

	if (wants_whole_types)
		opts.btf_custom_path = whole_types;
	*skel = io_bpf__open_opts(&opts);
	return *skel ? types__fill(types, kernel.btf, bpf_object__btf((*skel)->obj)) : -errno;
}

/* 0 and *skel loaded, or an error and NULL. */
static int load(const struct setting *s, struct io_bpf **skel)
{
	struct types types;
	int err = open_object(skel, &types);

	if (!*skel)
		return err;
	err = err ?: make_tables(s->sizes, wants_records(s));
	err = err ?: set_sizes(*skel, s->sizes);
	err = err ?: set_features(*skel, s);
	choose_programs(*skel, s);
	err = err ?: bpf_map__reuse_fd((*skel)->maps.io_slots, slots_fd);
	err = err ?: bpf_map__reuse_fd((*skel)->maps.io_bios, bios_fd);
	err = err ?: bpf_map__reuse_fd((*skel)->maps.io_rows, rows_fd);
	err = err ?: complete_programs(*skel);
	err = err ?: io_bpf__load(*skel);
	close_tables();
	types__close(&types);
	if (!err)
		return 0;
	io_bpf__destroy(*skel);
	*skel = NULL;
	return err;
}

static uint32_t verified_insns(const struct bpf_program *program)
{
	struct bpf_prog_info info = { 0 };
	__u32 len = sizeof(info);

	if (bpf_program__fd(program) < 0 ||
	    bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &len))
		return 0;
	return info.verified_insns;
}

/* Linux before 5.16 does not tell: 0. */
static void print_insns(const struct setting *s, const struct io_bpf *skel)
{
	bool each = !s->only;
	const char *most_name = "";
	struct bpf_program *p;
	uint32_t most = 0;

	bpf_object__for_each_program(p, skel->obj)
	{
		uint32_t nr = verified_insns(p);

		if (each && bpf_program__fd(p) >= 0)
			printf("# %s: %s %u instructions verified\n", s->name, bpf_program__name(p),
			       nr);
		if (nr >= most) {
			most = nr;
			most_name = bpf_program__name(p);
		}
	}
	if (!each)
		printf("# %s: at most %u instructions verified, in %s\n", s->name, most, most_name);
}

/* Which programs are to blame, each with the end of the verifier's words. */
static void print_culprits(const struct setting *s)
{
	static bool told;
	struct io_bpf *names = io_bpf__open(), *skel;
	struct setting one = *s;
	struct bpf_program *p;

	if (!names)
		return;
	talks = !told;
	told = true;
	bpf_object__for_each_program(p, names->obj)
	{
		one.program = bpf_program__name(p);
		if (!load(&one, &skel))
			io_bpf__destroy(skel);
		else
			printf("# refused: %s\n", one.program);
	}
	talks = false;
	io_bpf__destroy(names);
}

static void check(const struct setting *s)
{
	struct io_bpf *skel;
	int err = load(s, &skel);

	if ((err == -ENOMEM || err == -E2BIG) && s->sizes == &large) {
		ok(true, "%s # SKIP this machine or kernel has no tables so large", s->name);
		return;
	}
	ok(!err, "%s", s->name);
	if (err) {
		printf("# %s\n", strerror(-err));
		print_culprits(s);
		return;
	}
	print_insns(s, skel);
	io_bpf__destroy(skel);
}

/* ---- a part of the kernel's types ---- */

/* Maps have other descriptors. */
static bool is_map(const struct bpf_insn *insn)
{
	return insn->code == (BPF_LD | BPF_IMM | BPF_DW) && insn->src_reg;
}

static uint64_t different_insns(const struct bpf_program *a, const struct bpf_program *b)
{
	const struct bpf_insn *one = bpf_program__insns(a), *other = bpf_program__insns(b);
	size_t nr = bpf_program__insn_cnt(a);
	uint64_t different = nr != bpf_program__insn_cnt(b);

	for (size_t i = 0; i < nr && !different; i++)
		different += memcmp(&one[i], &other[i], sizeof(*one)) &&
			     !(is_map(&one[i]) && is_map(&other[i]));
	return different;
}

/* libbpf makes the same of every program, whether it has all types or those that the programs
 * name. */
static void check_types(const struct setting *s)
{
	struct io_bpf *part = NULL, *whole = NULL;
	struct bpf_program *p, *q;
	uint64_t nr = 0, different = 0;
	int err = load(s, &part);

	wants_whole_types = true;
	err = err ?: load(s, &whole);
	wants_whole_types = false;
	for (p = err ? NULL : bpf_object__next_program(part->obj, NULL); p;
	     p = bpf_object__next_program(part->obj, p)) {
		q = bpf_object__find_program_by_name(whole->obj, bpf_program__name(p));
		nr += bpf_program__fd(p) >= 0;
		different += bpf_program__fd(p) >= 0 && different_insns(p, q);
	}
	ok(!err && nr > 5 && !different,
	   "%s: the same instructions of %" PRIu64 " programs by a part of the types", s->name, nr);
	io_bpf__destroy(part);
	io_bpf__destroy(whole);
}

/* ---- what there is ---- */

static bool is_known(const char *name)
{
	for (int i = 0; i < NR_FEATURES; i++)
		if (!strcmp(features[i].name, name))
			return true;
	return false;
}

static void check_settings(const struct btf *btf)
{
	const struct btf_type *type = settings_type(btf);
	const struct btf_member *m = btf_members(type);
	uint64_t unknown = 0, gone = 0;

	for (int i = 0; i < btf_vlen(type); i++, m++) {
		const char *name = btf__name_by_offset(btf, m->name_off);

		if (is_known(name) || !strcmp(name, "pad"))
			continue;
		printf("# unknown: %s\n", name);
		unknown++;
	}
	for (int i = 0; i < NR_FEATURES; i++) {
		if (setting_find(btf, features[i].name))
			continue;
		printf("# gone: %s\n", features[i].name);
		gone++;
	}
	is_u64(unknown, 0, "every setting is tried");
	is_u64(gone, 0, "and every one that is tried is there");
}

/* A variable outside the struct would not be seen by this test. */
static void check_rodata(const struct btf *btf)
{
	int id = btf__find_by_name_kind(btf, ".rodata", BTF_KIND_DATASEC);

	is_u64(id < 0 ? 0 : btf_vlen(btf__type_by_id(btf, (__u32)id)), 1,
	       "read-only data is the settings alone");
}

static void check_programs(struct io_bpf *skel)
{
	struct bpf_program *p;
	uint64_t nr = 0;

	bpf_object__for_each_program(p, skel->obj)
	{
		nr += !why_not(p);
		if (why_not(p))
			ok(true, "%s (%s) # SKIP %s", bpf_program__name(p),
			   bpf_program__section_name(p), why_not(p));
	}
	ok(nr >= 9, "%" PRIu64 " programs can be tried here", nr);
}

static bool may_load(void)
{
	const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "nothing", "GPL", nothing, 2, NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* A verifier that takes everything would prove nothing: with this mask a program leaves its table.
 */
static void check_control(void)
{
	struct io_bpf *skel = io_bpf__open();
	int err;

	if (!skel)
		return;
	err = make_tables(&small, true);
	err = err ?: set_sizes(skel, &small);
	err = err ?: setting_set(skel, "slot_mask", (1 << 30) - sizeof(struct io_slot));
	choose_programs(skel, &(struct setting){ .program = "io_block_issue_r" });
	err = err ?: complete_programs(skel);
	ok(!err && io_bpf__load(skel), "control: a mask larger than its table is refused");
	close_tables();
	io_bpf__destroy(skel);
}

static void check_all(void)
{
	check(&(struct setting){ "nothing", NULL, false, &small, NULL });
	for (int i = 0; i < NR_FEATURES; i++)
		if (!features[i].size)
			check(&(struct setting){ features[i].name, &features[i], false, &small });
	check(&(struct setting){ "everything", NULL, true, &small, NULL });
	check(&(struct setting){ "nothing, on a large machine", NULL, false, &large, NULL });
	check(&(struct setting){ "everything, on a large machine", NULL, true, &large, NULL });
	check_types(&(struct setting){ "nothing", NULL, false, &small, NULL });
	check_types(&(struct setting){ "everything", NULL, true, &small, NULL });
}

/* ---- the walk through the tags: a program that is run, not attached ---- */

static int inflight_load(const struct inflight_settings *known, struct inflight_bpf **skel)
{
	int err;

	*skel = inflight_bpf__open();
	if (!*skel)
		return -errno;
	memcpy((void *)&(*skel)->rodata->known, known, sizeof(*known));
	err = inflight_bpf__load(*skel);
	if (err) {
		inflight_bpf__destroy(*skel);
		*skel = NULL;
	}
	return err;
}

static void check_inflight(const char *name, struct inflight_settings known)
{
	const struct inflight_ask nothing = { .fd = (__u64)-1 };
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = &nothing, .ctx_size_in = sizeof(nothing));
	struct inflight_bpf *skel;
	int err;

	talks = true;
	err = inflight_load(&known, &skel);
	talks = false;
	ok(!err, "inflight: %s", name);
	if (err)
		return;
	printf("# inflight: %s: %u instructions verified\n", name,
	       verified_insns(skel->progs.inflight_look));
	err = bpf_prog_test_run_opts(bpf_program__fd(skel->progs.inflight_look), &run);
	is_u64((uint64_t)-err, 0, "inflight: this kernel runs it");
	is_u64(skel->bss->page.step, INFLIGHT_NO_QUEUE, "inflight: no directory, no queue");
	inflight_bpf__destroy(skel);
}

static void check_walk(void)
{
	check_inflight("nothing known of nvme_core", (struct inflight_settings){ 0 });
	check_inflight("its commands are known", (struct inflight_settings){ .nvme_cmd_at = 248 });
	check_inflight("all is known", (struct inflight_settings){ 248, 266, 265, 56, 88 });
}

int main(void)
{
	struct io_bpf *skel;

	libbpf_set_print(print_tail);
	if (kernel__read(&kernel)) {
		printf("1..0 # SKIP this kernel has no BTF\n");
		return 0;
	}
	if (!may_load()) {
		printf("1..0 # SKIP may not load BPF programs: needs root, or CAP_BPF and "
		       "CAP_PERFMON\n");
		kernel__free(&kernel);
		return 0;
	}
	skel = io_bpf__open();
	if (!skel) {
		printf("Bail out! cannot open the BPF object: %s\n", strerror(errno));
		return 1;
	}
	check_settings(bpf_object__btf(skel->obj));
	check_rodata(bpf_object__btf(skel->obj));
	check_programs(skel);
	io_bpf__destroy(skel);
	check_control();
	check_all();
	check_walk();
	kernel__free(&kernel);
	return done_testing();
}
