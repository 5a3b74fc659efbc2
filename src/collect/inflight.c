/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inflight.c: the walk through the kernel's tags. Opens a sysfs directory for each disk and each
 * NVMe controller, which does not access the device and so cannot hang with it; the program finds
 * the hardware queues behind it. Disks that share their tags are walked once.
 */
#include "collect/inflight.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include "base/grow.h"
#include "base/log.h"
#include "base/text.h"
#include "bpf/inflight.skel.h"
#include "collect/io_inside.h"
#include "collect/types.h"

enum {
	/* More is impossible: then the program read something else. */
	WALK_MOST_QUEUES = 1 << 16,
	WALK_MOST_TAGS = 1 << 16,
	WALK_ATTEMPTS = 3, /* a directory may vanish between opening and reading it */
};

struct inflight {
	struct inflight_bpf *skel;
	struct io *io;
	uint32_t hz;	/* learnt from the first disk */
	uint64_t *sets; /* tag sets that this look has seen */
	size_t nr_sets, room_sets;
	bool *told; /* by device in the list: reported as not readable */
	size_t nr_told;
	bool told_admin;
	struct inflight_list *list; /* of the current look */
	struct inflight_page *seen; /* result of the current run */
};

/* ---- one run of the program ---- */

static struct inflight_page *walk_page(const struct inflight *f)
{
	return &f->skel->bss->page;
}

static int walk_run(struct inflight *f, const struct inflight_ask *ask)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = ask, .ctx_size_in = sizeof(*ask));
	int err = bpf_prog_test_run_opts(bpf_program__fd(f->skel->progs.inflight_look), &run);

	if (!err)
		return 0;
	return log_err(err == -EPERM ? err : -EOPNOTSUPP, "cannot read the kernel's tags: %s%s",
		       strerror(-err),
		       err == -EPERM ? "; run it as root, or with CAP_BPF and CAP_PERFMON" : "");
}

/* ---- which commands are wanted ---- */

/* Without -d all are; with a partition, those that lie in it. */
static bool walk_chose(const struct io *io, const struct device *device, uint64_t sector)
{
	if (!io->nr_choices)
		return true;
	for (size_t i = 0; device && i < io->nr_choices; i++) {
		const struct device_choice *choice = &io->choices[i];

		if (device_choice__means(choice, device) &&
		    (!choice->nr_sectors || sector - choice->from_sector < choice->nr_sectors))
			return true;
	}
	return false;
}

/* Tasks are filtered at submission: the task of a command that we did not see sent is unknown. */
static bool walk_is_wanted(const struct io *io, const struct inflight_command *command,
			   const struct device *device)
{
	const struct filter_options *filter = io->wants.filter;
	const struct io_settings *set = io_settings(io);
	const struct io_record *r = &command->record;

	if ((filter->pid.given || filter->comm || filter->cgroup) && !command->is_ours)
		return false;
	if (filter->nsid.given && (r->kind == IO_BLOCK || r->nsid != filter->nsid.value))
		return false;
	if (filter->qid.given && r->qid != filter->qid.value)
		return false;
	if (filter->ctrl_id.given && (!device || device->ctrl != (int)filter->ctrl_id.value))
		return false;
	return !set->filter_op ||
	       (command->op_known && set->wanted_ops[r->kind & 3][r->op >> 6] >> (r->op & 63) & 1);
}

/* ---- results of a run ---- */

/* The entry's disk counts, as tags are shared. Entries without a disk are the controller's. */
static const struct device *walk_device(const struct inflight *f, const struct inflight_entry *e,
					int ctrl, char name[INFLIGHT_NAME_LEN])
{
	snprintf(name, INFLIGHT_NAME_LEN, "%.*s", INFLIGHT_NAME_LEN - 1, e->disk);
	if (!name[0])
		snprintf(name, INFLIGHT_NAME_LEN, "nvme%d", ctrl);
	return device_list__find(&f->io->devices, name);
}

/*
 * The slot, if we saw the command sent and noted its task. -EAGAIN: the slot holds another command,
 * or one that has ended; programs run while we read.
 */
static int walk_slot(const struct inflight *f, const struct inflight_entry *e, struct io_slot *slot,
		     struct io_slot_more *more)
{
	const char *mores = (const char *)f->io->slot_cells.cells + io_more_at(f->io);
	struct io_slot after;
	uint32_t nr;

	if (!f->io->wants.records || !slot_table__find(&f->io->slots, e->request, slot, &nr) ||
	    slot->state == IO_IGNORED)
		return -ENOENT;
	memcpy(more, mores + nr * sizeof(*more), sizeof(*more));
	if (!slot_table__find(&f->io->slots, e->request, &after, &nr) ||
	    after.issued != slot->issued || !inflight__is_same(&after, e))
		return -EAGAIN;
	return 0;
}

/* 1: it is still in flight, so its start was missed; 0: it has ended since. */
static int walk_is_still_there(struct inflight *f, const struct inflight_ask *ask,
			       const struct inflight_entry *e)
{
	const struct inflight_page *page = walk_page(f);
	int err = walk_run(f, ask);

	for (uint32_t i = 0; !err && i < page->nr_entries && i < 2 * INFLIGHT_CHUNK; i++) {
		const struct inflight_entry *now = &page->entries[i];

		if (now->request == e->request && now->start_ns == e->start_ns &&
		    now->deadline == e->deadline)
			return 1;
	}
	return err;
}

static struct inflight_context walk_context(const struct inflight *f,
					    const struct inflight_ask *ask,
					    const struct device *device)
{
	return (struct inflight_context){
		.clock = { f->seen->now_ns, f->seen->jiffies, f->hz },
		.dir = (enum inflight_dir)ask->dir,
		.nsid = device ? device->nsid : 0,
		.op_names = f->io->kernel.op_names,
		.fua_flag = f->io->kernel.fua_flag,
	};
}

static int walk_take_entry(struct inflight *f, const struct inflight_ask *ask,
			   const struct inflight_entry *e, int ctrl)
{
	struct inflight_command *command;
	char name[INFLIGHT_NAME_LEN];
	const struct device *device = walk_device(f, e, ctrl, name);
	struct inflight_context context = walk_context(f, ask, device);
	struct io_slot_more more;
	struct io_slot slot;
	int err, there = 1;

	if (GROW(f->list->commands, f->list->room, f->list->nr + 1))
		return log_err(-ENOMEM, "out of memory");
	command = &f->list->commands[f->list->nr];
	if (!walk_chose(f->io, device, e->sector))
		return 0;
	err = walk_slot(f, e, &slot, &more);
	if (!err) {
		context.slot = &slot;
		context.more = &more;
	} else if (err == -EAGAIN) {
		there = walk_is_still_there(f, ask, e);
	}
	if (there <= 0 || inflight__was_never_sent(e, context.slot))
		return there < 0 ? there : 0;
	inflight_command__fill(command, e, &context);
	memcpy(command->dev, name, sizeof(command->dev));
	f->list->nr += walk_is_wanted(f->io, command, device);
	return 0;
}

/* Works on a copy: another run may be needed meanwhile. */
static int walk_take(struct inflight *f, const struct inflight_ask *ask, int ctrl)
{
	const struct inflight_page *page = walk_page(f);
	uint32_t nr = page->nr_entries < 2 * INFLIGHT_CHUNK ? page->nr_entries : 2 * INFLIGHT_CHUNK;
	int err = 0;

	memcpy(f->seen, page, offsetof(struct inflight_page, entries[nr]));
	for (uint32_t i = 0; i < nr && !err; i++)
		err = walk_take_entry(f, ask, &f->seen->entries[i], ctrl);
	return err;
}

/* ---- tags ---- */

static bool walk_is_sane(const struct inflight_page *page)
{
	return page->step == INFLIGHT_LOOKED && page->nr_tags <= WALK_MOST_TAGS &&
	       page->nr_queues <= WALK_MOST_QUEUES;
}

/* All tags of a queue, after a run that read its first part. */
static int walk_tags(struct inflight *f, struct inflight_ask ask, int ctrl)
{
	const struct inflight_page *page = walk_page(f);
	int err = walk_take(f, &ask, ctrl);

	while (!err && ask.first + INFLIGHT_CHUNK < page->nr_tags && walk_is_sane(page)) {
		ask.first += INFLIGHT_CHUNK;
		err = walk_run(f, &ask);
		err = err ?: walk_take(f, &ask, ctrl);
	}
	return err;
}

/* 1: this set is new, 0: this look has seen it. */
static int walk_remember(struct inflight *f, uint64_t set)
{
	for (size_t i = 0; i < f->nr_sets; i++)
		if (f->sets[i] == set)
			return 0;
	if (GROW(f->sets, f->room_sets, f->nr_sets + 1))
		return log_err(-ENOMEM, "out of memory");
	f->sets[f->nr_sets++] = set;
	return 1;
}

/* The driver's tags, queue by queue. *step: how far the first run came. */
static int walk_set(struct inflight *f, struct inflight_ask ask, int ctrl, uint32_t *step)
{
	const struct inflight_page *page = walk_page(f);
	uint64_t first_tags;
	int err = walk_run(f, &ask);

	*step = walk_is_sane(page) ? page->step : INFLIGHT_NO_QUEUE;
	if (err || *step != INFLIGHT_LOOKED)
		return err;
	err = walk_remember(f, page->set);
	if (err <= 0)
		return err;
	first_tags = page->tags;
	err = walk_tags(f, ask, ctrl);
	for (ask.queue = 1; ask.queue < page->nr_queues && !err; ask.queue++) {
		err = walk_run(f, &ask);
		if (!err && walk_is_sane(page) && page->tags != first_tags)
			err = walk_tags(f, ask, ctrl);
	}
	return err;
}

/* ---- disks ---- */

static uint64_t walk_timeout_ms(const char *disk)
{
	char path[80], text[32];

	snprintf(path, sizeof(path), "/sys/block/%s/queue/io_timeout", disk);
	return text__read_line(path, text, sizeof(text)) ? strtoull(text, NULL, 10) : 0;
}

/* sysfs gives the time-out in ms, the kernel has it in ticks; needed before ages are computed. */
static int walk_learn_hz(struct inflight *f, struct inflight_ask ask, const char *disk)
{
	int err;

	if (f->hz)
		return 0;
	ask.queue = WALK_MOST_QUEUES; /* does not exist: no tags are read */
	err = walk_run(f, &ask);
	if (!err && walk_page(f)->step == INFLIGHT_NO_TAGS)
		f->hz = inflight__hz(walk_page(f)->timeout, walk_timeout_ms(disk));
	return err;
}

/* A scheduler's requests that were sent once and wait. 1: no scheduler. */
static int walk_scheduler(struct inflight *f, struct inflight_ask ask, int ctrl)
{
	int err;

	ask.tags = INFLIGHT_SCHEDULER;
	err = walk_run(f, &ask);
	if (err || walk_page(f)->step == INFLIGHT_NO_TAGS)
		return err ?: 1;
	return walk_is_sane(walk_page(f)) ? walk_tags(f, ask, ctrl) : 0;
}

/*
 * Queue by queue. A queue that no CPU uses has no directory; during a reset, no queue has one for a
 * moment.
 */
static int walk_schedulers(struct inflight *f, const struct device *device, struct inflight_ask ask,
			   int disk_fd)
{
	int fd = openat(disk_fd, "mq", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		close(fd);
		return 0;
	}
	while (!err && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		fd = openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			continue;
		ask.fd = (__u64)fd;
		err = walk_scheduler(f, ask, device->ctrl);
		close(fd);
	}
	closedir(dir);
	return err < 0 ? err : 0;
}

static int walk_open(const char *folder, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* 1: done, or the disk is gone; 0: it could not be read. */
static int walk_disk(struct inflight *f, const struct device *device)
{
	struct inflight_ask ask = {
		.dir = device->kind == DEVICE_NVME_NS ? INFLIGHT_NVME : INFLIGHT_DISK,
	};
	uint32_t step = INFLIGHT_NOT_RUN;
	int fd = walk_open("/sys/block", device->name), err;

	if (fd < 0)
		return errno == ENOENT;
	ask.fd = (__u64)fd;
	err = walk_learn_hz(f, ask, device->name);
	err = err ?: walk_set(f, ask, device->ctrl, &step);
	err = err ?: walk_schedulers(f, device, ask, fd);
	close(fd);
	return err ?: step == INFLIGHT_LOOKED;
}

static int walk_ctrl(struct inflight *f, const struct device *device)
{
	struct inflight_ask ask = { .dir = INFLIGHT_CTRL, .instance = (__u64)device->ctrl };
	uint32_t step;
	int fd = walk_open("/sys/class/nvme", device->name), err;

	if (fd < 0)
		return errno == ENOENT;
	ask.fd = (__u64)fd;
	err = walk_set(f, ask, device->ctrl, &step);
	close(fd);
	return err ?: step == INFLIGHT_LOOKED;
}

/* ---- all of it ---- */

/* Once for each device. An admin queue that cannot be found is a column less, not a loss. */
static int walk_tell(struct inflight *f, size_t index)
{
	const struct device *device = &f->io->devices.devices[index];
	const size_t before = f->nr_told;

	if (device->kind == DEVICE_NVME_CTRL) {
		if (!f->told_admin)
			log_warn("%s: cannot find its admin queue on this kernel: admin commands "
				 "are not listed",
				 device->name);
		f->told_admin = true;
		return 0;
	}
	f->list->incomplete = true;
	if (GROW(f->told, f->nr_told, index + 1))
		return log_err(-ENOMEM, "out of memory");
	memset(f->told + before, 0, f->nr_told - before);
	if (!f->told[index])
		log_warn("%s: cannot read its tags: its commands are not listed", device->name);
	f->told[index] = true;
	return 0;
}

static int walk_device_of(struct inflight *f, size_t index)
{
	const struct device *device = &f->io->devices.devices[index];
	size_t nr = f->list->nr;
	int done = 0;

	for (int i = 0; i < WALK_ATTEMPTS && !done; i++) {
		f->list->nr = nr;
		done = device->kind == DEVICE_NVME_CTRL ? walk_ctrl(f, device)
							: walk_disk(f, device);
	}
	if (done)
		return done < 0 ? done : 0;
	return walk_tell(f, index);
}

static int walk_kind(struct inflight *f, bool ctrls)
{
	const struct device_list *devices = &f->io->devices;
	int err = 0;

	for (size_t i = 0; i < devices->nr && !err; i++)
		if ((devices->devices[i].kind == DEVICE_NVME_CTRL) == ctrls &&
		    io_is_wanted(f->io, &devices->devices[i]))
			err = walk_device_of(f, i);
	return err;
}

/* Disks first: they give the length of a tick. */
int inflight__look(struct inflight *f, struct inflight_list *list)
{
	int err;

	list->nr = 0;
	list->incomplete = false;
	f->list = list;
	f->nr_sets = 0;
	err = walk_kind(f, false);
	err = err ?: walk_kind(f, true);
	inflight_list__sort(list);
	return err;
}

void inflight_list__free(struct inflight_list *list)
{
	free(list->commands);
	memset(list, 0, sizeof(*list));
}

static int walk_open_object(struct inflight *f, const char *types_path)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = types_path);

	f->skel = inflight_bpf__open_opts(&opts);
	return f->skel ? 0 : log_err(-errno, "cannot open the BPF object: %s", strerror(errno));
}

static void walk_tell_kernel(const struct inflight *f)
{
	const struct kernel *k = &f->io->kernel;

	f->skel->rodata->known.nvme_cmd_at = k->nvme_cmd_at;
	f->skel->rodata->known.nvme_flags_at = k->nvme_flags_at;
	f->skel->rodata->known.nvme_retries_at = k->nvme_retries_at;
	f->skel->rodata->known.nvme_admin_q_at = k->nvme_admin_q_at;
	f->skel->rodata->known.nvme_instance_at = k->nvme_instance_at;
}

static int walk_load(struct inflight *f)
{
	struct btf *kernel;
	struct types types;
	int err = walk_open_object(f, types__open(&types));

	if (err) {
		types__close(&types);
		return err;
	}
	walk_tell_kernel(f);
	kernel = kernel__load_btf(&err);
	if (kernel)
		err = types__fill(&types, kernel, bpf_object__btf(f->skel->obj));
	btf__free(kernel);
	err = err ?: inflight_bpf__load(f->skel);
	types__close(&types);
	if (!err)
		return 0;
	return log_err(err == -EPERM ? err : -EOPNOTSUPP,
		       "this kernel rejects the program that reads its tags: %s; -vv shows why",
		       strerror(-err));
}

/* Runs it once without use: a kernel that cannot run it should fail before the run begins. */
int inflight__open(struct inflight **inflight, struct io *io)
{
	const struct inflight_ask nothing = { .fd = (__u64)-1 };
	struct inflight *f = calloc(1, sizeof(*f));
	int err;

	*inflight = f;
	if (!f)
		return log_err(-ENOMEM, "out of memory");
	f->io = io;
	f->seen = malloc(sizeof(*f->seen));
	if (!f->seen)
		return log_err(-ENOMEM, "out of memory");
	err = walk_load(f);
	return err ?: walk_run(f, &nothing);
}

void inflight__free(struct inflight *f)
{
	if (!f)
		return;
	inflight_bpf__destroy(f->skel);
	free(f->sets);
	free(f->told);
	free(f->seen);
	free(f);
}
