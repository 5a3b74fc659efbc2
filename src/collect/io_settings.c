/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_settings.c: which settings do the programs get? Filters, the breakdown, the kernel's shape and
 * the sizes of the tables go into read-only data, so that unused features cost nothing.
 */
#include "base/nearest.h"
#include "collect/io_inside.h"
#include "collect/task_filter.h"

#include <errno.h>
#include <string.h>
#include "base/log.h"
#include "bpf/io.skel.h"
#include "decode/op.h"

struct io_settings *io_settings(const struct io *io)
{
	return (struct io_settings *)&io->skel->rodata->settings;
}

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
		near = nearest__word(ops->words[i], words, nr);
		return log_err(-EINVAL, "--op: unknown operation '%s'%s%s%s", ops->words[i],
			       near ? "; did you mean '"
				    : "; write e.g. read, write, flush or discard",
			       near ? near : "", near ? "'?" : "");
	}
	ro->filter_op = ops->nr || io->wants.kinds;
	for (int kind = 0; io->wants.kinds && kind < 4; kind++) {
		if (!(io->wants.kinds >> kind & 1))
			memset((void *)ro->wanted_ops[kind], 0, sizeof(ro->wanted_ops[kind]));
		else if (!ops->nr)
			memset((void *)ro->wanted_ops[kind], 0xff, sizeof(ro->wanted_ops[kind]));
	}
	return 0;
}

static int io_set_task(struct io *io, const struct filter_options *f)
{
	struct io_settings *ro = io_settings(io);
	struct task_filter task;
	int err = task_filter__read(&task, f);

	if (err)
		return err;
	ro->filter_pid = task.pid;
	memcpy((void *)ro->filter_comm, task.comm, sizeof(task.comm));
	ro->filter_cgroup = task.cgroup.id;
	ro->filter_cgroup_level = task.cgroup.level;
	return 0;
}

static int io_set_filters(struct io *io)
{
	const struct filter_options *f = io->wants.filter;
	struct io_settings *ro = io_settings(io);
	int err = io_set_ops(io, &f->ops);

	err = err ?: io_set_task(io, f);
	ro->filter_nsid = f->nsid.given;
	ro->wanted_nsid = (uint32_t)f->nsid.value;
	ro->filter_qid = f->qid.given;
	ro->wanted_qid = (uint32_t)f->qid.value;
	ro->filter_ctrl = f->ctrl_id.given;
	ro->wanted_ctrl = (int32_t)f->ctrl_id.value;
	ro->min_ns = f->min_ns.given ? f->min_ns.value : 0;
	ro->only_failed = f->failed;
	ro->not_rows_alone = f->failed || f->min_ns.given || io->wants.records;
	ro->follow_all = !io->nr_choices;
	for (size_t i = 0; i < io->nr_choices; i++)
		ro->filter_sectors |= io->choices[i].nr_sectors != 0;
	return err;
}

/* What the kernel has, and where. */
static void io_set_kernel(struct io *io)
{
	struct io_settings *ro = io_settings(io);
	const struct kernel *k = &io->kernel;

	ro->cast_type = k->cast_type_id;
	ro->nvme_status_at = k->nvme_status_at;
	ro->nvme_ctrl_at = k->nvme_ctrl_at;
	ro->nvme_instance_at = k->nvme_instance_at;
	ro->nvme_admin_q_at = k->nvme_admin_q_at;
	ro->nvme_result_at = k->nvme_result_at;
	ro->nvme_flags_at = k->nvme_flags_at;
	ro->task_pointer = k->has_task_pointer;
	ro->integrity_flag = k->integrity_flag;
	ro->fua_flag = k->fua_flag;
	ro->preflush_flag = k->preflush_flag;
	ro->flush_flags = k->preflush_flag | k->fua_flag;
	ro->noretry_flags = k->noretry_flags;
	ro->polled_flag = k->polled_flag;
	/* REQ_OP_DRV_* are above 32. */
	ro->rare_flags = k->integrity_flag | k->fua_flag | k->polled_flag | 0xe0;
	ro->queue_argument = k->queue_argument;
	ro->bio_queue_argument = k->bio_queue_argument;
	ro->swap_flag = k->swap_flag;
	ro->metadata_flag = k->metadata_flag;
}

/* What the view wants. */
static void io_set_shape(struct io *io)
{
	struct io_settings *ro = io_settings(io);

	ro->records = io->wants.records;
	ro->record_cells = io_has_record_cells(io);
	ro->rows_too = io->wants.rows;
	ro->drop_rows = io->wants.drop_rows;
	ro->split = io->wants.split;
	ro->stages = io->wants.stages;
	ro->owners = io->wants.owners;
	ro->details = io->wants.details || io->wants.owners;
	ro->bios = io->wants.bios;
	ro->troubles = io->wants.troubles;
	ro->measures = io->wants.own_cost;
	ro->sampled = io->wants.budget > 0;
	ro->only_troubled = io->wants.only_troubled;
	ro->failures = io->wants.failures;
	ro->kernel_stacks = io->wants.kernel_stacks;
	ro->user_stacks = io->wants.user_stacks;
	ro->depths = io->wants.depths;
	ro->slowest = io->wants.slowest != 0;
	ro->slowest_nr = io->wants.slowest;
	ro->files_at_end = io_finds_files_at_end(io);
	ro->by_size = io->wants.by_size;
	ro->by_queue = io->wants.by_queue;
	ro->by_cpu = io->wants.by_cpu;
	ro->by_pid = io->wants.by_pid;
	ro->by_comm = io->wants.by_comm;
	ro->by_cgroup = io->wants.by_cgroup;
	ro->by_file = io->wants.by_file;
	memcpy((void *)ro->senders, io->senders, sizeof(io->senders));
	ro->waits = io_names_waits(io);
	ro->tag_event = io->waits.by_event;
	ro->qos_wake = io->waits.qos_wake;
	ro->iolatency_asks = io->waits.iolatency_asks;
	ro->dm_end = io->volumes.dm_end;
	ro->dm_clone_at = io->volumes.clone_at;
	ro->dm_io_at = io->volumes.io_at;
	ro->dm_bio_at = io->volumes.bio_at;
	ro->zoom = io->wants.zoom;
	ro->zoom_min_us = io->wants.zoom_min_us;
	ro->zoom_shift = io->wants.zoom_shift;
}

static void io_set_cells(const struct cell_rings *rings, struct io_settings *ro)
{
	ro->ladder_cpus = rings->nr_first;
	ro->ladder_bytes = cell_rings__stride(rings->nr_cells);
	ro->ladder_mask = cell_rings__mask(rings->nr_cells);
	ro->late_ladders_at = (uint32_t)cell_rings__at(rings, rings->nr_first);
	ro->late_ladder_bytes = cell_rings__stride(rings->late_cells);
	ro->late_ladder_mask = cell_rings__mask(rings->late_cells);
}

static void io_set_sizes(struct io *io)
{
	struct io_settings *ro = io_settings(io);

	ro->slot_mask = (io->nr_slots - 1) * (uint32_t)sizeof(struct io_slot);
	ro->row_of_at = io->nr_slots * (uint32_t)sizeof(struct io_slot);
	ro->row_of_mask = io_row_of_bytes(io) - 4;
	ro->far_of_at = io_far_of_at(io);
	ro->far_of_mask = 4 * (io->row_plan.nr_keys - 1);
	ro->more_at = io_more_at(io);
	ro->stages_at = io_stages_at(io);
	ro->bio_mask = (io->nr_bios - 1) * (uint32_t)sizeof(struct io_bio);
	ro->cpu_at = io_cpu_at(io);
	ro->cpu_mask = 0;
	while (ro->cpu_mask + sizeof(struct io_cpu) < io->nr_cpus * sizeof(struct io_cpu))
		ro->cpu_mask = 2 * ro->cpu_mask + sizeof(struct io_cpu);
	io_set_cells(&io->cell_rings, ro);
	ro->untimed_mask = io_untimed_mask(io);
	ro->key_mask = io->row_plan.nr_keys - 1;
	ro->nr_cpus = io->nr_cpus;
	ro->chunk_mask = io->row_plan.chunk - 1;
	ro->rows_end = (io->row_plan.nr - 1) * (uint32_t)sizeof(struct io_row);
}

int io_set(struct io *io)
{
	int err = io_set_filters(io);

	io_set_kernel(io);
	io_set_shape(io);
	io_set_sizes(io);
	if (io_unwinds(io))
		unwind_shared__set(io_settings(io), &io->kernel);
	return err;
}
