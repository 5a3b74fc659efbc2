/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/io.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "bpf/io.skel.h"
#include "collect/slots.h"
#include "decode/op.h"
#include "log.h"

enum {
	IO_MIN_SLOTS = 1024,
	IO_MAX_SLOTS = 1 << 20,	 /* 64 MiB */
	IO_ROW_BYTES = 64 << 20, /* bound of the pool of rows */
	IO_MIN_ROWS = 64,
	IO_OPS_PER_DEVICE = 8,
	IO_TASK_KEYS = 1024, /* rows per CPU when tasks are told apart */
	IO_MAX_CHOICES = 256,
};

#define IO_NO_PRIVILEGE "may not load BPF programs: run it as root, or with CAP_BPF and CAP_PERFMON"

struct io_table {
	int fd;
	void *cells;
	size_t bytes;
};

struct io {
	struct io_bpf *skel;
	struct kernel kernel;
	struct device_list devices;
	struct device_choice *choices; /* what -d said */
	size_t nr_choices;
	struct io_wants wants;
	struct slot_table slots;
	struct io_table slot_cells, key_cells, row_cells, device_cells, name_cells;
	uint32_t nr_cpus, nr_slots, nr_keys, nr_rows;
	int device_of[IO_MAX_DEVICES]; /* cell to index in devices, -1: not looked up yet */
	bool block_attached; /* block_rq_issue and block_rq_complete, for disks that are not NVMe */
	bool direct;	     /* typed pointers (tp_btf), else plain ones (raw_tp) */
	int uevent_fd;
	uint64_t skipped; /* recursion_misses, read before the programs went */
	struct slot_counts counts;
	struct hist *part; /* scratch of io__read */
};

/* Read-only once the programs are loaded. */
static struct io_settings *io_settings(const struct io *io)
{
	return (struct io_settings *)&io->skel->rodata->settings;
}

static uint64_t io_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* ---- which devices ---- */

static bool io_is_nvme(const struct device *device)
{
	return device->kind == DEVICE_NVME_NS || device->kind == DEVICE_NVME_CTRL;
}

/* Could this device's commands be seen at all? */
static bool io_is_measurable(const struct device *device)
{
	return !device->gone &&
	       (io_is_nvme(device) || (device->kind == DEVICE_REQUEST && device->size_bytes));
}

static const struct device_choice *io_choice_of(const struct io *io, const struct device *device)
{
	for (size_t i = 0; i < io->nr_choices; i++)
		if (device_choice__means(&io->choices[i], device))
			return &io->choices[i];
	return NULL;
}

static bool io_is_wanted(const struct io *io, const struct device *device)
{
	return io_is_measurable(device) && (!io->nr_choices || io_choice_of(io, device));
}

static bool io_wants_block(const struct io *io)
{
	for (size_t i = 0; i < io->devices.nr; i++)
		if (!io_is_nvme(&io->devices.devices[i]) &&
		    io_is_wanted(io, &io->devices.devices[i]))
			return true;
	return false;
}

static bool io_wants_nvme(const struct io *io)
{
	if (!io->nr_choices)
		return io->kernel.nvme_loaded;
	for (size_t i = 0; i < io->devices.nr; i++)
		if (io_is_nvme(&io->devices.devices[i]) &&
		    io_is_wanted(io, &io->devices.devices[i]))
			return true;
	return false;
}

static int io_choose_devices(struct io *io, const struct option_list *names)
{
	if (!names->nr)
		return 0;
	io->choices = calloc(names->nr, sizeof(*io->choices));
	if (!io->choices)
		return log_err(-ENOMEM, "out of memory");
	for (size_t i = 0; i < names->nr; i++) {
		int err = device_list__choose(&io->devices, names->words[i], &io->choices[i]);

		if (err)
			return err;
		io->nr_choices++;
	}
	return 0;
}

/* Tells the programs what -d means for a device's name, before its first command. */
static void io_publish_name(struct io *io, const struct device *device)
{
	const struct device_choice *choice = io_choice_of(io, device);
	struct io_name *names = io->name_cells.cells, *name;
	__u64 words[IO_NAME_LEN / 8] = { 0 };
	uint32_t home;

	if (device->kind == DEVICE_NVME_CTRL)
		io_ctrl_name(words, device->ctrl);
	else
		memcpy(words, device->name, strnlen(device->name, sizeof(words) - 1));
	home = io_name_hash(words);
	for (uint32_t i = 0; i < IO_PROBES; i++) {
		name = &names[(home + i) & (IO_MAX_NAMES - 1)];
		if (name->verdict && memcmp(name->name, words, sizeof(words)))
			continue;
		name->from_sector = choice ? choice->from_sector : 0;
		name->nr_sectors = choice ? choice->nr_sectors : 0;
		name->verdict = choice ? IO_WANTED : IO_UNWANTED;
		memcpy(name->name, words, sizeof(words));
		return;
	}
	log_warn("too many device names: the first commands of %s may count as an unknown device",
		 device->name);
}

/* A device that the programs met before we could speak of its name. */
static void io_judge(struct io *io, struct io_device *cell, const struct device *device)
{
	const struct device_choice *choice = io_choice_of(io, device);

	if (cell->verdict != IO_UNJUDGED)
		return;
	cell->from_sector = choice ? choice->from_sector : 0;
	cell->nr_sectors = choice ? choice->nr_sectors : 0;
	__atomic_store_n(&cell->verdict, choice ? IO_WANTED : IO_UNWANTED, __ATOMIC_SEQ_CST);
}

/* The index in the device list of what a cell describes; the list is read again if need be. */
static int io_resolve(struct io *io, const struct io_device *cell)
{
	char name[IO_NAME_LEN + 1] = "";
	const struct device *device;
	uint64_t diskseq = cell->diskseq;

	if (cell->name[0])
		memcpy(name, cell->name, IO_NAME_LEN);
	else
		snprintf(name, sizeof(name), "nvme%d", cell->ctrl);
	for (size_t i = io->devices.nr; i-- > 0;) {
		device = &io->devices.devices[i];
		if (strcmp(device->name, name) || (diskseq && device->diskseq != diskseq))
			continue;
		if (device->gone && !diskseq)
			break; /* before 5.15: is there already another one of that name? */
		return (int)i;
	}
	return device_list__refresh(&io->devices, name);
}

static int io_device_index(struct io *io, uint32_t nr)
{
	struct io_device *cell = (struct io_device *)io->device_cells.cells + nr;

	if (io->device_of[nr] < 0) {
		io->device_of[nr] = io_resolve(io, cell);
		if (io->device_of[nr] >= 0)
			io_judge(io, cell, &io->devices.devices[io->device_of[nr]]);
	}
	return io->device_of[nr];
}

/* ---- sizes ---- */

static uint32_t io_power_of_two(uint64_t n, uint32_t min, uint32_t max)
{
	uint32_t p = min;

	while (p < n && p < max)
		p *= 2;
	return p;
}

/* Four times the requests there are: a scheduler gives a queue a second set, and probes stay short.
 */
static uint32_t io_nr_slots(const struct io *io)
{
	uint64_t requests = 0;

	for (size_t i = 0; i < io->devices.nr; i++) {
		const struct device *d = &io->devices.devices[i];

		requests += d->kind == DEVICE_NVME_CTRL ? 64 : (uint64_t)d->nr_queues * d->depth;
	}
	return io_power_of_two(4 * requests, IO_MIN_SLOTS, IO_MAX_SLOTS);
}

static void io_size_rows(struct io *io)
{
	const struct io_wants *w = &io->wants;
	uint64_t keys = 0, bound = IO_ROW_BYTES / sizeof(struct io_row), rows;

	for (size_t i = 0; i < io->devices.nr; i++)
		if (io_is_measurable(&io->devices.devices[i]))
			keys += IO_OPS_PER_DEVICE;
	if (w->by_size)
		keys *= 4;
	if (w->by_queue)
		keys *= 2; /* a CPU uses one queue, mostly */
	if (w->by_pid || w->by_comm || w->by_cgroup)
		keys += IO_TASK_KEYS;
	rows = io->nr_cpus + (keys < IO_MIN_ROWS ? IO_MIN_ROWS : keys) * io->nr_cpus;
	io->nr_rows = (uint32_t)(rows < bound ? rows : bound);
	if (io->nr_rows <= io->nr_cpus)
		io->nr_rows = io->nr_cpus + IO_MIN_ROWS;
	if (w->by_cpu || w->by_queue)
		keys *= io->nr_cpus;
	io->nr_keys = io_power_of_two(4 * keys, 256, IO_MAX_KEYS);
}

static uint32_t io_row_of_bytes(const struct io *io)
{
	return 4 * io_power_of_two((uint64_t)io->nr_keys * io->nr_cpus, 1, 1u << 28);
}

/* ---- tables ---- */

static int io_map(struct io_table *table, int fd, uint64_t bytes)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	table->fd = fd;
	table->bytes = (bytes + page - 1) / page * page;
	table->cells = mmap(NULL, table->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (table->cells != MAP_FAILED)
		return 0;
	table->cells = NULL;
	return -errno;
}

/* An array of one value: the programs take its address, wire/io.h says how. */
static int io_make_table(struct io_table *table, const char *name, uint64_t bytes)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bytes > INT32_MAX
			 ? -E2BIG
			 : bpf_map_create(BPF_MAP_TYPE_ARRAY, name, 4, (__u32)bytes, 1, &opts);

	return fd < 0 ? fd : io_map(table, fd, bytes);
}

/* Kernels before 5.11 take values of up to 4 MiB (1 MiB pages: 32): fewer cells are better than
 * none. */
static int io_make_tables(struct io *io)
{
	int err;

	io->nr_slots = io_nr_slots(io);
	io_size_rows(io);
	while ((err = io_make_table(&io->slot_cells, "io_slots",
				    (uint64_t)io->nr_slots * sizeof(struct io_slot) +
					    io_row_of_bytes(io))) == -E2BIG &&
	       io->nr_slots > IO_MIN_SLOTS)
		io->nr_slots /= 2;
	while (!err &&
	       (err = io_make_table(&io->row_cells, "io_rows",
				    (uint64_t)io->nr_rows * sizeof(struct io_row))) == -E2BIG &&
	       io->nr_rows > 2 * io->nr_cpus) {
		io->nr_rows = io->nr_rows / 2 > io->nr_cpus ? io->nr_rows / 2 : io->nr_cpus + 1;
		err = 0;
	}
	if (err == -EPERM)
		return log_err(err, IO_NO_PRIVILEGE);
	return err ? log_err(err, "cannot make the BPF tables: %s", strerror(-err)) : 0;
}

/* ---- what the programs are told ---- */

static int io_set_ops(struct io *io, const struct option_list *ops)
{
	struct io_settings *ro = io_settings(io);
	const char *words[512], *near;
	size_t nr;

	for (size_t i = 0; i < ops->nr; i++) {
		if (op__mark(ops->words[i], io->kernel.op_names,
			     (uint64_t(*)[4])(void *)ro->wanted_ops))
			continue;
		nr = op__words(io->kernel.op_names, words, 512);
		near = option__nearest(ops->words[i], words, nr);
		return log_err(-EINVAL, "--op: no operation is called '%s'%s%s%s", ops->words[i],
			       near ? "; did you mean '"
				    : "; read, write, flush and discard are some",
			       near ? near : "", near ? "'?" : "");
	}
	ro->filter_op = ops->nr;
	return 0;
}

/* How many folders below the root: the same cgroup is found among a task's ancestors at this depth.
 */
static uint32_t io_cgroup_level(const char *path)
{
	uint32_t level = 0;

	for (const char *c = path + strlen("/sys/fs/cgroup"); *c; c++)
		level += *c == '/' && c[1] && c[1] != '/';
	return level;
}

static int io_set_task(struct io *io, const struct filter_options *f)
{
	struct io_settings *ro = io_settings(io);
	char path[4096];
	struct stat st;

	if (f->pid.given) {
		if (kill((pid_t)f->pid.value, 0) && errno == ESRCH)
			return log_err(-EINVAL, "-p: there is no process %llu",
				       (unsigned long long)f->pid.value);
		ro->filter_pid = (uint32_t)f->pid.value;
	}
	if (f->comm) {
		if (!*f->comm || strlen(f->comm) >= IO_COMM_LEN)
			return log_err(-EINVAL, "--comm '%s': a task's name has 1 to %d characters",
				       f->comm, IO_COMM_LEN - 1);
		memcpy((void *)ro->filter_comm, f->comm, strlen(f->comm));
	}
	if (f->cgroup) {
		snprintf(path, sizeof(path), "%s%s",
			 strncmp(f->cgroup, "/sys/fs/cgroup", 14) ? "/sys/fs/cgroup/" : "",
			 f->cgroup);
		if (stat(path, &st) || !S_ISDIR(st.st_mode))
			return log_err(-EINVAL, "--cgroup: there is no cgroup %s", path);
		ro->filter_cgroup = st.st_ino; /* kernfs: the inode number is the id */
		ro->filter_cgroup_level = io_cgroup_level(path);
	}
	return 0;
}

static int io_set_filters(struct io *io)
{
	const struct filter_options *f = io->wants.filter;
	struct io_settings *ro = io_settings(io);
	int err = io_set_ops(io, &f->ops);

	if (!err)
		err = io_set_task(io, f);
	ro->filter_nsid = f->nsid.given;
	ro->wanted_nsid = (uint32_t)f->nsid.value;
	ro->filter_qid = f->qid.given;
	ro->wanted_qid = (uint32_t)f->qid.value;
	ro->filter_ctrl = f->ctrl_id.given;
	ro->wanted_ctrl = (int32_t)f->ctrl_id.value;
	ro->min_ns = f->min_ns.given ? f->min_ns.value : 0;
	ro->only_failed = f->failed;
	ro->outcome = f->failed || f->min_ns.given;
	ro->follow_all = !io->nr_choices;
	for (size_t i = 0; i < io->nr_choices; i++)
		ro->filter_sectors |= io->choices[i].nr_sectors != 0;
	return err;
}

static void io_set_shape(struct io *io)
{
	struct io_settings *ro = io_settings(io);
	const struct kernel *k = &io->kernel;

	ro->nvme_status_at = k->nvme_status_at;
	ro->nvme_ctrl_at = k->nvme_ctrl_at;
	ro->nvme_instance_at = k->nvme_instance_at;
	ro->nvme_admin_q_at = k->nvme_admin_q_at;
	ro->queue_argument = k->queue_argument;
	ro->by_size = io->wants.by_size;
	ro->by_queue = io->wants.by_queue;
	ro->by_cpu = io->wants.by_cpu;
	ro->by_pid = io->wants.by_pid;
	ro->by_comm = io->wants.by_comm;
	ro->by_cgroup = io->wants.by_cgroup;
	ro->zoom = io->wants.zoom;
	ro->zoom_min_us = io->wants.zoom_min_us;
	ro->zoom_shift = io->wants.zoom_shift;
}

static void io_set_sizes(struct io *io)
{
	struct io_settings *ro = io_settings(io);

	ro->slot_mask = (io->nr_slots - 1) * (uint32_t)sizeof(struct io_slot);
	ro->row_of_at = io->nr_slots * (uint32_t)sizeof(struct io_slot);
	ro->row_of_mask = io_row_of_bytes(io) - 4;
	ro->key_mask = io->nr_keys - 1;
	ro->nr_cpus = io->nr_cpus;
	ro->nr_rows = io->nr_rows;
	ro->rows_end = (io->nr_rows - 1) * (uint32_t)sizeof(struct io_row);
}

/* ---- load and attach ---- */

static void io_autoload(const struct io *io)
{
	struct io_bpf *s = io->skel;
	bool nvme = io_wants_nvme(io), block = !io->nr_choices || io_wants_block(io);
	bool typed_block = io->direct && !io->kernel.queue_argument;
	bool cast = io->kernel.rdonly_cast_id && io->kernel.nvme_status_at;

	bpf_program__set_autoload(s->progs.io_nvme_setup, nvme && io->direct);
	bpf_program__set_autoload(s->progs.io_nvme_end, nvme && io->direct && !cast);
	bpf_program__set_autoload(s->progs.io_nvme_end_c, nvme && io->direct && cast);
	bpf_program__set_autoload(s->progs.io_nvme_setup_r, nvme && !io->direct);
	bpf_program__set_autoload(s->progs.io_nvme_end_r, nvme && !io->direct);
	bpf_program__set_autoload(s->progs.io_block_issue, block && typed_block);
	bpf_program__set_autoload(s->progs.io_block_end, block && typed_block);
	bpf_program__set_autoload(s->progs.io_block_issue_r, block && !typed_block);
	bpf_program__set_autoload(s->progs.io_block_end_r, block && !typed_block);
	bpf_program__set_autoload(s->progs.io_error, nvme && io->kernel.has_rq_error);
	bpf_program__set_autoload(s->progs.io_error_old, nvme && !io->kernel.has_rq_error);
}

/* Completes the marked instructions: request.h says why. */
static void io_complete_insn(const struct io *io, struct bpf_insn *insn)
{
	if (insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_KFUNC_CALL)
		insn->imm = (int)io->kernel.rdonly_cast_id;
	if (insn->code != (BPF_LD | BPF_DW | BPF_IMM) || insn->src_reg != BPF_PSEUDO_MAP_VALUE)
		return;
	if (insn->imm == IO_MARK_SLOTS[0] - '0')
		insn->imm = io->slot_cells.fd;
	else if (insn->imm == IO_MARK_ROWS[0] - '0')
		insn->imm = io->row_cells.fd;
}

static int io_complete_program(const struct io *io, struct bpf_program *program)
{
	size_t nr = bpf_program__insn_cnt(program);
	struct bpf_insn *insns = malloc(nr * sizeof(*insns));
	int err;

	if (!insns)
		return -ENOMEM;
	memcpy(insns, bpf_program__insns(program), nr * sizeof(*insns));
	for (size_t i = 0; i < nr; i++)
		io_complete_insn(io, &insns[i]);
	err = bpf_program__set_insns(program, insns, nr);
	free(insns);
	return err;
}

static int io_complete_programs(const struct io *io)
{
	struct bpf_program *program;
	int err = 0;

	bpf_object__for_each_program(program, io->skel->obj) err =
		err ?: io_complete_program(io, program);
	return err;
}

/* Typed pointers first: they are cheaper. Plain ones work without module BTF and SYS_ADMIN. */
static int io_load(struct io *io)
{
	int err = -ENOTSUP;

	for (int direct = io->kernel.nvme_events || !io_wants_nvme(io); direct >= 0 && err;
	     direct--) {
		io_bpf__destroy(io->skel);
		io->direct = direct;
		io->skel = io_bpf__open();
		if (!io->skel)
			return log_err(-errno, "cannot open the BPF object: %s", strerror(errno));
		io_set_shape(io);
		err = io_set_filters(io);
		if (err)
			return err;
		io_set_sizes(io);
		io_autoload(io);
		err = bpf_map__set_max_entries(io->skel->maps.io_keys, io->nr_keys);
		err = err ?: io_complete_programs(io);
		err = err ?: io_bpf__load(io->skel);
		log_verbose("programs with %s pointers: %s", direct ? "typed" : "plain",
			    err ? strerror(-err) : "loaded");
		if (err == -EPERM && geteuid())
			break;
	}
	if (err == -EPERM || err == -EACCES)
		return log_err(-EPERM,
			       "may not load BPF programs: run it as root, or with CAP_BPF and "
			       "CAP_PERFMON");
	if (err)
		return log_err(-EOPNOTSUPP,
			       "this kernel refuses the BPF programs: %s (-vv shows why)",
			       strerror(-err));
	return 0;
}

static int io_attach_one(struct bpf_program *program, struct bpf_link **link)
{
	if (*link || !bpf_program__autoload(program))
		return 0;
	*link = bpf_program__attach(program);
	if (*link)
		return 0;
	return log_err(errno == ENOENT ? -EOPNOTSUPP : -errno, "cannot attach %s: %s",
		       bpf_program__section_name(program), strerror(errno));
}

/* Ends before starts: a command whose start is seen has its end seen too. */
static int io_attach_block(struct io *io)
{
	struct io_bpf *s = io->skel;
	int err = 0;

	err = err ?: io_attach_one(s->progs.io_requeue, &s->links.io_requeue);
	err = err ?: io_attach_one(s->progs.io_block_end, &s->links.io_block_end);
	err = err ?: io_attach_one(s->progs.io_block_end_r, &s->links.io_block_end_r);
	err = err ?: io_attach_one(s->progs.io_block_issue, &s->links.io_block_issue);
	err = err ?: io_attach_one(s->progs.io_block_issue_r, &s->links.io_block_issue_r);
	io->block_attached = !err;
	return err;
}

static int io_attach_nvme(struct io *io)
{
	struct io_bpf *s = io->skel;
	int err = 0;

	err = err ?: io_attach_one(s->progs.io_requeue, &s->links.io_requeue);
	err = err ?: io_attach_one(s->progs.io_error, &s->links.io_error);
	err = err ?: io_attach_one(s->progs.io_error_old, &s->links.io_error_old);
	err = err ?: io_attach_one(s->progs.io_nvme_end, &s->links.io_nvme_end);
	err = err ?: io_attach_one(s->progs.io_nvme_end_c, &s->links.io_nvme_end_c);
	err = err ?: io_attach_one(s->progs.io_nvme_end_r, &s->links.io_nvme_end_r);
	err = err ?: io_attach_one(s->progs.io_nvme_setup, &s->links.io_nvme_setup);
	err = err ?: io_attach_one(s->progs.io_nvme_setup_r, &s->links.io_nvme_setup_r);
	return err;
}

static int io_attach(struct io *io)
{
	int err = io_wants_nvme(io) ? io_attach_nvme(io) : 0;

	if (!err && io_wants_block(io))
		err = io_attach_block(io);
	__atomic_store_n(&io->skel->data->attached_ns, io_now_ns(), __ATOMIC_SEQ_CST);
	return err;
}

static int io_map_own(struct io_table *table, const struct bpf_map *map)
{
	int err = io_map(table, bpf_map__fd(map),
			 (uint64_t)bpf_map__value_size(map) * bpf_map__max_entries(map));

	return err ? log_err(err, "cannot map %s: %s", bpf_map__name(map), strerror(-err)) : 0;
}

static int io_map_tables(struct io *io)
{
	struct io_bpf *s = io->skel;
	int err = 0;

	err = err ?: io_map_own(&io->key_cells, s->maps.io_keys);
	err = err ?: io_map_own(&io->device_cells, s->maps.io_devices);
	err = err ?: io_map_own(&io->name_cells, s->maps.io_names);
	return err ?: slot_table__init(&io->slots, io->slot_cells.cells, io->nr_slots);
}

static int io_check_devices(const struct io *io)
{
	bool some = false;

	for (size_t i = 0; i < io->devices.nr; i++)
		some |= io_is_wanted(io, &io->devices.devices[i]);
	if (some)
		return 0;
	return log_err(-EOPNOTSUPP, "no NVMe controller and no disk with a request queue is here: "
				    "nothing to measure");
}

static int io_print(enum libbpf_print_level level, const char *format, va_list args)
{
	if (log_verbosity() < (level == LIBBPF_DEBUG ? 3 : 2))
		return 0;
	return vfprintf(stderr, format, args);
}

static int io_start(struct io *io)
{
	int err = kernel__read(&io->kernel);

	err = err ?: device_list__read(&io->devices, "");
	err = err ?: io_choose_devices(io, &io->wants.filter->devices);
	err = err ?: io_check_devices(io);
	err = err ?: io_make_tables(io);
	err = err ?: io_load(io);
	err = err ?: io_map_tables(io);
	if (err)
		return err;
	for (size_t i = 0; io->nr_choices && i < io->devices.nr; i++)
		io_publish_name(io, &io->devices.devices[i]);
	return io_attach(io);
}

int io__open(struct io **out, const struct io_wants *wants)
{
	struct io *io = calloc(1, sizeof(*io));
	int err;

	*out = io;
	if (!io || !(io->part = malloc(sizeof(*io->part))))
		return log_err(-ENOMEM, "out of memory");
	libbpf_set_print(io_print);
	io->wants = *wants;
	io->slot_cells.fd = io->row_cells.fd = -1;
	io->nr_cpus = (uint32_t)libbpf_num_possible_cpus();
	memset(io->device_of, 0xff, sizeof(io->device_of));
	io->uevent_fd =
		uevent__open(); /* before the list is read: nothing appears unseen in between */
	err = io_start(io);
	if (!err)
		log_verbose("tables: %u slots, %u keys, %u rows on %u CPUs, %.1f MiB", io->slots.nr,
			    io->nr_keys, io->nr_rows, io->nr_cpus,
			    (double)io__memory_bytes(io) / (1 << 20));
	return err;
}

/* ---- read ---- */

/* Key 0 is the row `other`: it has no tags. */
static void io_tags_of(struct io *io, uint32_t key_nr, struct io_tags *tags)
{
	const struct io_key *key = (struct io_key *)io->key_cells.cells + key_nr;
	int device;

	memset(tags, 0, sizeof(*tags));
	tags->other = !key_nr || !key->packed;
	if (tags->other)
		return;
	device = io_device_index(io, io_key_bits(key->packed, IO_KEY_DEVICE, 12));
	tags->device = device + 1;
	tags->ctrl = device >= 0 ? io->devices.devices[device].ctrl + 1 : 0;
	tags->nsid = device >= 0 ? io->devices.devices[device].nsid : 0;
	tags->op = (uint8_t)io_key_bits(key->packed, IO_KEY_OP, 8);
	tags->kind = (uint8_t)io_key_bits(key->packed, IO_KEY_KIND, 2);
	tags->size_class = (uint8_t)io_key_bits(key->packed, IO_KEY_SIZE, 6);
	tags->queue = (uint16_t)io_key_bits(key->packed, IO_KEY_QUEUE, 16);
	tags->cpu = (uint16_t)io_key_bits(key->packed, IO_KEY_CPU, 12);
	tags->pid = key->pid;
	tags->cgroup = key->cgroup;
	memcpy(tags->comm, key->comm, IO_COMM_LEN);
}

static uint64_t io_take_max(struct io_row *row)
{
	uint64_t max_ns = 0;

	for (int depth = 0; depth < IO_MAX_DEPTH; depth++) {
		uint64_t ns = __atomic_exchange_n(&row->max_ns[depth], 0, __ATOMIC_SEQ_CST);

		max_ns = ns > max_ns ? ns : max_ns;
	}
	return max_ns;
}

static void io_read_row(struct io *io, struct io_row *row, io_row_fn fn, void *arg)
{
	struct hist *part = io->part;
	struct io_tags tags;

	part->count = 0;
	for (uint32_t i = 0; i < HIST_CELLS; i++) {
		part->slots[i] = row->cells[i];
		part->count += part->slots[i];
	}
	if (!part->count)
		return;
	part->sum_ns = row->sum_ns;
	part->bytes = row->bytes;
	part->max_ns = io_take_max(row);
	io_tags_of(io, row->key_nr, &tags);
	fn(arg, &tags, part);
}

struct io_parked {
	struct io *io;
	io_row_fn fn;
	void *arg;
};

/* Ended with an error, and the kernel had no occasion yet to count it in a row: we do. */
static void io_read_parked(void *arg, const struct io_slot *slot)
{
	struct io_parked *p = arg;
	struct hist *part = p->io->part;
	uint64_t ns = slot->last_ns - slot->first_ns;
	struct io_tags tags;

	if (slot->last_ns < slot->first_ns || ns < io_settings(p->io)->min_ns)
		return;
	memset(part, 0, sizeof(*part));
	if (p->io->wants.zoom) {
		hist__add(part, ns, slot->bytes);
		memset(part->slots, 0, sizeof(part->slots));
		part->slots[zoom_slot(ns, p->io->wants.zoom_min_us, p->io->wants.zoom_shift)] = 1;
	} else {
		hist__add(part, ns, slot->bytes);
	}
	io_tags_of(p->io, slot->key_nr, &tags);
	p->fn(p->arg, &tags, part);
}

void io__read(struct io *io, io_row_fn fn, void *arg)
{
	struct io_parked parked = { io, fn, arg };
	struct io_row *rows = io->row_cells.cells;
	uint64_t now = io_now_ns();

	slot_table__scan(&io->slots, now, &io->counts, io_read_parked, &parked);
	for (uint32_t nr = 0; nr < io->nr_rows; nr++)
		if (nr < io->nr_cpus || rows[nr].claim)
			io_read_row(io, &rows[nr], fn, arg);
	if (!io->skel->links.io_requeue)
		return; /* detached: the end */
	slot_table__sweep(&io->slots, now, io->counts.used);
}

/* ---- devices that come and go ---- */

/* No slot and no cell may take the next device at this address for the old one. */
static void io_forget(struct io *io, int gone)
{
	struct io_device *cells = io->device_cells.cells;

	for (uint32_t nr = 0; nr < IO_MAX_DEVICES; nr++) {
		if (io->device_of[nr] != gone)
			continue;
		slot_table__forget_queue(&io->slots, cells[nr].key & ~1ULL);
		cells[nr].key |= 1; /* an address that may come back: never equal again */
	}
}

/* While a name still means what the programs met under it. */
static void io_resolve_all(struct io *io)
{
	struct io_device *cells = io->device_cells.cells;

	for (uint32_t nr = 0; nr < IO_MAX_DEVICES; nr++)
		if (cells[nr].key)
			io_device_index(io, nr);
}

static void io_say_gone(struct io *io, const bool *was_gone, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct device *device = &io->devices.devices[i];

		if (was_gone[i] || !device->gone)
			continue;
		io_forget(io, (int)i);
		device->gone = false; /* for a moment: was it one we measured? */
		if (io_is_wanted(io, device))
			log_note("%s is gone", device->name);
		device->gone = true;
	}
}

static void io_say_new(struct io *io, size_t from)
{
	for (size_t i = from; i < io->devices.nr; i++) {
		const struct device *device = &io->devices.devices[i];

		if (io->nr_choices)
			io_publish_name(io, device);
		if (io_is_wanted(io, device))
			log_note("%s appeared%s%s", device->name, device->model[0] ? ": " : "",
				 device->model);
	}
}

/* name NULL: the kernel dropped messages; look at everything. */
static int io_follow(struct io *io, const char *name)
{
	size_t nr = io->devices.nr;
	bool *was_gone = calloc(nr + 1, sizeof(*was_gone));
	struct device_list now = { 0 };

	if (!was_gone)
		return log_err(-ENOMEM, "out of memory");
	for (size_t i = 0; i < nr; i++)
		was_gone[i] = io->devices.devices[i].gone;
	io_resolve_all(io);
	if (name) {
		device_list__refresh(&io->devices, name);
	} else if (!device_list__read(&now, "")) {
		for (size_t i = 0; i < nr; i++)
			device_list__refresh(&io->devices, io->devices.devices[i].name);
		for (size_t i = 0; i < now.nr; i++)
			device_list__refresh(&io->devices, now.devices[i].name);
		device_list__free(&now);
	}
	io_say_gone(io, was_gone, nr);
	io_say_new(io, nr);
	free(was_gone);
	return !io->block_attached && io_wants_block(io) ? io_attach_block(io) : 0;
}

int io__on_uevent(void *arg)
{
	struct io *io = arg;
	struct uevent event;
	int got;

	while ((got = uevent__read(io->uevent_fd, &event)) > 0) {
		int err = io_follow(io, event.name);

		if (err)
			return err;
	}
	return got == -ENOBUFS ? io_follow(io, NULL) : 0;
}

/* ---- the end ---- */

static uint64_t io_skipped(const struct bpf_program *program)
{
	struct bpf_prog_info info = { 0 };
	__u32 len = sizeof(info);

	if (bpf_program__fd(program) < 0 ||
	    bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &len))
		return 0;
	return info.recursion_misses;
}

/* Programs that run at this moment on some CPU have ended when this returns. */
static void io_wait_for_programs(void)
{
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	usleep(1000);
}

static void io_unlink(struct bpf_link **link)
{
	bpf_link__destroy(*link);
	*link = NULL;
}

/* Starts first: what was begun is still seen to end. */
void io__detach(struct io *io)
{
	struct io_bpf *s = io->skel;
	struct bpf_program *program;

	if (!s || !s->links.io_requeue)
		return;
	__atomic_store_n(&s->bss->closing, 1, __ATOMIC_SEQ_CST);
	io_wait_for_programs();
	io_unlink(&s->links.io_nvme_setup);
	io_unlink(&s->links.io_nvme_setup_r);
	io_unlink(&s->links.io_block_issue);
	io_unlink(&s->links.io_block_issue_r);
	io_wait_for_programs();
	io_unlink(&s->links.io_nvme_end);
	io_unlink(&s->links.io_nvme_end_c);
	io_unlink(&s->links.io_nvme_end_r);
	io_unlink(&s->links.io_block_end);
	io_unlink(&s->links.io_block_end_r);
	io_unlink(&s->links.io_error);
	io_unlink(&s->links.io_error_old);
	io_unlink(&s->links.io_requeue);
	io_wait_for_programs();
	bpf_object__for_each_program(program, s->obj) io->skipped += io_skipped(program);
}

static uint64_t io_unjudged(const struct io *io)
{
	const struct io_device *cells = io->device_cells.cells;
	uint64_t nr = 0;

	for (uint32_t i = 0; i < IO_MAX_DEVICES; i++)
		if (cells[i].verdict != IO_UNWANTED)
			nr += cells[i].unjudged;
	return nr;
}

void io__ledger(struct io *io, struct ledger *l)
{
	const struct io_counters *c = &io->skel->bss->counters;

	memset(l, 0, sizeof(*l));
	l->issued = io->slots.issued;
	l->completed = io->slots.completed + io->counts.parked;
	l->in_flight = io->counts.in_flight;
	l->oldest_ns = io->counts.oldest_ns ? io_now_ns() - io->counts.oldest_ns : 0;
	l->never_sent = c->never_sent;
	l->mid_flight = c->mid_flight;
	l->refused = c->refused;
	l->retries = c->retries;
	l->requeues = c->requeues;
	l->failed = c->failed + io->counts.parked;
	l->lost[LOST_NO_SLOT] = c->no_slot;
	l->lost[LOST_COMPLETION] = c->overwritten;
	l->lost[LOST_START] = c->no_start;
	l->lost[LOST_CLOCK] = c->clock_backward;
	l->lost[LOST_DEVICE] = c->unknown_device + io_unjudged(io);
	l->lost[LOST_SKIPPED] = io->skipped;
	l->lost[LOST_ROW] = c->row_other;
}

static void io_unmap(struct io_table *table)
{
	if (table->cells)
		munmap(table->cells, table->bytes);
}

void io__free(struct io *io)
{
	if (!io)
		return;
	io_unmap(&io->slot_cells);
	io_unmap(&io->key_cells);
	io_unmap(&io->row_cells);
	io_unmap(&io->device_cells);
	io_unmap(&io->name_cells);
	close(io->slot_cells.fd);
	close(io->row_cells.fd);
	io_bpf__destroy(io->skel);
	slot_table__free(&io->slots);
	device_list__free(&io->devices);
	kernel__free(&io->kernel);
	if (io->uevent_fd >= 0)
		close(io->uevent_fd);
	free(io->choices);
	free(io->part);
	free(io);
}

int io__uevent_fd(const struct io *io)
{
	return io->uevent_fd < 0 ? -1 : io->uevent_fd;
}

const struct device_list *io__devices(const struct io *io)
{
	return &io->devices;
}

const struct kernel *io__kernel(const struct io *io)
{
	return &io->kernel;
}

bool io__sees_nvme(const struct io *io)
{
	return io_wants_nvme(io);
}

bool io__sees_block(const struct io *io)
{
	return io->block_attached;
}

uint64_t io__memory_bytes(const struct io *io)
{
	return io->slot_cells.bytes + io->key_cells.bytes + io->row_cells.bytes +
	       io->device_cells.bytes + io->name_cells.bytes;
}
