/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_tables.c: how large are the tables, and where? Sized by the present devices and CPUs, and
 * bounded. With rows alone (latency) 128 CPUs and 64 drives use 244 MiB.
 */
#include "collect/io_inside.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "base/log.h"
#include "bpf/io.skel.h"

enum {
	IO_MIN_SLOTS = 1024,
	IO_MAX_SLOTS = 1 << 20, /* 64 MiB */
	IO_MIN_BIOS = 4096,
	IO_MAX_BIOS = 1 << 17, /* 16 MiB */
};

static uint32_t io_power_of_two(uint64_t n, uint32_t min, uint32_t max)
{
	uint32_t p = min;

	while (p < n && p < max)
		p *= 2;
	return p;
}

/* Four times the number of requests: a scheduler gives a queue a second set, and probes stay
 * short. */
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
	struct row_needs needs = {
		.nr_cpus = io->nr_cpus,
		.nr_online = io->nr_online,
		.by_size = w->by_size,
		.by_queue = w->by_queue,
		.by_cpu = w->by_cpu,
		.by_task = w->by_pid || w->by_comm || w->by_cgroup || w->by_file,
	};

	for (size_t i = 0; i < io->devices.nr; i++)
		needs.nr_devices += io_is_measurable(&io->devices.devices[i]);
	row_plan__make(&io->row_plan, &needs);
}

uint32_t io_row_of_bytes(const struct io *io)
{
	return 4 * io_power_of_two((uint64_t)io->row_plan.nr_keys * io->nr_cpus, 1, 1u << 28);
}

uint32_t io_far_of_at(const struct io *io)
{
	return io->nr_slots * (uint32_t)sizeof(struct io_slot) + io_row_of_bytes(io);
}

static uint64_t io_whole_pages(uint64_t bytes)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) / page * page;
}

/* After the slots: row numbers, then data for records, if they are wanted. */
uint32_t io_more_at(const struct io *io)
{
	return io_far_of_at(io) + 4 * io->row_plan.nr_keys;
}

uint32_t io_stages_at(const struct io *io)
{
	return io_more_at(io) + io->nr_slots * (uint32_t)sizeof(struct io_slot_more);
}

uint32_t io_cpu_at(const struct io *io)
{
	uint32_t at = io_stages_at(io);

	return io->wants.stages ? at + io->nr_slots * (uint32_t)sizeof(struct io_slot_stages) : at;
}

static uint64_t io_slot_bytes(const struct io *io)
{
	if (!io->wants.records)
		return io_more_at(io);
	return io_cpu_at(io) + io_power_of_two(io->nr_cpus, 1, 1u << 16) * sizeof(struct io_cpu);
}

static uint64_t io_ladders_bytes(const struct io *io)
{
	return io_has_cells(io) ? cell_rings__bytes(&io->cell_rings) : 0;
}

uint32_t io_untimed_mask(const struct io *io)
{
	return (io_power_of_two(io->nr_cpus, 1, 1u << 16) * IO_MAX_SAMPLED - 1) *
	       (uint32_t)sizeof(struct io_untimed);
}

static uint64_t io_sampled_bytes(const struct io *io)
{
	return io->wants.budget > 0 ? IO_SAMPLED * sizeof(struct io_sampled) + io_untimed_mask(io) +
					      sizeof(struct io_untimed)
				    : 0;
}

static uint64_t io_bio_bytes(const struct io *io)
{
	return io_knows_bios(io) ? (uint64_t)io->nr_bios * sizeof(struct io_bio) : 0;
}

static uint64_t io_planned_bytes(const struct io *io)
{
	return io_whole_pages(io_slot_bytes(io)) + io_whole_pages(io_bio_bytes(io)) +
	       io_whole_pages(io_ladders_bytes(io)) + io_whole_pages(io_sampled_bytes(io)) +
	       io_whole_pages(row_plan__bytes(&io->row_plan)) +
	       io_whole_pages((uint64_t)io->row_plan.nr_keys * sizeof(struct io_key)) +
	       io_whole_pages(IO_MAX_DEVICES * sizeof(struct io_device)) +
	       io_whole_pages(IO_MAX_NAMES * sizeof(struct io_name)) +
	       (io->wants.files ? io_whole_pages(FILES_MOST * sizeof(struct io_file)) : 0);
}

static int io_map(struct io_table *table, int fd, uint64_t bytes)
{
	table->fd = fd;
	table->bytes = io_whole_pages(bytes);
	table->cells = mmap(NULL, table->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (table->cells != MAP_FAILED)
		return 0;
	table->cells = NULL;
	return -errno;
}

/* An array of one value: the programs take its address, as wire/io_tables.h describes. */
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
int io_make_tables(struct io *io)
{
	int err;

	io->nr_slots = io_nr_slots(io);
	io->nr_bios = io_power_of_two(io->nr_slots, IO_MIN_BIOS, IO_MAX_BIOS);
	io_size_rows(io);
	cell_rings__make(&io->cell_rings, io->wants.buffer_bytes, io->is_online, io->nr_cpus);
	io->start.memory_bytes = io_planned_bytes(io);
	while ((err = io_make_table(&io->slot_cells, "io_slots", io_slot_bytes(io))) == -E2BIG &&
	       io->nr_slots > IO_MIN_SLOTS)
		io->nr_slots /= 2;
	while (!err &&
	       (err = io_make_table(&io->row_cells, "io_rows", row_plan__bytes(&io->row_plan))) ==
		       -E2BIG &&
	       row_plan__halve(&io->row_plan))
		err = 0;
	while (!err && io_knows_bios(io) &&
	       (err = io_make_table(&io->bio_cells, "io_bios", io_bio_bytes(io))) == -E2BIG &&
	       io->nr_bios > IO_MIN_BIOS) {
		io->nr_bios /= 2;
		err = 0;
	}
	if (!err && io_has_cells(io))
		err = io_make_table(&io->ladder_cells, "io_ladders", io_ladders_bytes(io));
	if (!err && io->wants.budget > 0)
		err = io_make_table(&io->sampled_cells, "io_sampled", io_sampled_bytes(io));
	io->start.memory_bytes = io_planned_bytes(io);
	return err ? start__stop(&io->start, START_TABLES, err, NULL) : 0;
}
int io_map_own(struct io_table *table, const struct bpf_map *map)
{
	int err = io_map(table, bpf_map__fd(map),
			 (uint64_t)bpf_map__value_size(map) * bpf_map__max_entries(map));

	return err ? log_err(err, "cannot map %s: %s", bpf_map__name(map), strerror(-err)) : 0;
}

/* The chunks of the pool; and key 0, whose rows are those that belong to no key. */
static int io_begin_rows(struct io *io)
{
	const struct row_plan *plan = &io->row_plan;
	char *numbers = io->slot_cells.cells;
	uint32_t *row_of = (uint32_t *)(numbers + io->nr_slots * sizeof(struct io_slot));
	uint32_t *far_of = (uint32_t *)(numbers + io_far_of_at(io));
	int fd = bpf_map__fd(io->skel->maps.io_chunks), err;

	for (uint32_t cpu = 0; cpu < io->nr_cpus; cpu++)
		row_of[(size_t)cpu * plan->nr_keys] = cpu + 1;
	far_of[0] = io->nr_cpus + 1;
	for (uint32_t nr = plan->first; nr < plan->nr; nr += plan->chunk) {
		err = bpf_map_update_elem(fd, NULL, &nr, BPF_ANY);
		if (err)
			return log_err(err, "cannot fill io_chunks: %s", strerror(-err));
	}
	err = row_table__init(&io->rows, io->row_cells.cells, plan, io->nr_cpus, io->wants.zoom);
	return err ?: io->wants.budget > 0 ? io_budget_open(io) : 0;
}

int io_map_tables(struct io *io)
{
	struct io_bpf *s = io->skel;
	int err = 0;

	err = err ?: io_map_own(&io->key_cells, s->maps.io_keys);
	err = err ?: io_map_own(&io->device_cells, s->maps.io_devices);
	err = err ?: io_map_own(&io->name_cells, s->maps.io_names);
	if (!err && io->wants.files)
		err = io_map_own(&io->file_cells, s->maps.io_files);
	err = err ?: slot_table__init(&io->slots, io->slot_cells.cells, io->nr_slots);
	return err ?: io_begin_rows(io);
}

void io_unmap(struct io_table *table)
{
	if (table->cells)
		munmap(table->cells, table->bytes);
}

void io_unmap_tables(struct io *io)
{
	io_unmap(&io->slot_cells);
	io_unmap(&io->key_cells);
	io_unmap(&io->row_cells);
	io_unmap(&io->bio_cells);
	io_unmap(&io->ladder_cells);
	io_unmap(&io->sampled_cells);
	io_unmap(&io->device_cells);
	io_unmap(&io->name_cells);
	io_unmap(&io->file_cells);
	close(io->slot_cells.fd);
	close(io->row_cells.fd);
	close(io->bio_cells.fd);
	close(io->ladder_cells.fd);
	close(io->sampled_cells.fd);
}
