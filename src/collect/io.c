/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE 1 /* vasprintf */
#include "collect/ctrl_watch.h"
#include "collect/io_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "base/clock.h"
#include "base/cpus.h"
#include "base/log.h"
#include "bpf/io.skel.h"

__attribute__((format(printf, 2, 0))) static int io_print(enum libbpf_print_level level,
							  const char *format, va_list args)
{
	char *lines = NULL;

	if (log_verbosity() < (level == LIBBPF_DEBUG ? 3 : 2))
		return 0;
	if (vasprintf(&lines, format, args) > 0)
		log_verbose_lines(lines, "%s", "");
	free(lines);
	return 0;
}

void io__hush_libbpf(void)
{
	libbpf_set_print(io_print);
}

/* A kernel thread may issue an I/O: where tasks matter, the task that submitted it counts. */
static bool io_tells_tasks(const struct io_wants *w)
{
	return w->by_pid || w->by_comm || w->by_cgroup || w->by_file || w->filter->pid.given ||
	       w->filter->comm || w->filter->cgroup;
}

static int io_prepare(struct io *io)
{
	int err = kernel__read(&io->kernel);

	if (err)
		return start__stop(&io->start, START_BTF, err, NULL);
	err = device_list__read(&io->devices, "");
	for (size_t i = 0; i < io->devices.nr; i++)
		io->devices.devices[i].said = DEVICE_SAID_THERE;
	io->devices.bios = io->wants.bios;
	err = err ?: io_choose_devices(io, &io->wants.filter->devices);
	err = err ?: io_make_tables(io);
	if (!err && io->wants.files)
		err = io_prepare_files(io);
	if (!err && io->wants.bios)
		io_prepare_volumes(io);
	if (!err && io->wants.waits)
		io_prepare_waits(io);
	err = err ?: io_load(io);
	err = err ?: io_map_tables(io);
	err = err ?: io_map_unwind(io);
	return err ?: io_make_rings(io);
}

static int io_start(struct io *io)
{
	int err = io_prepare(io);

	if (err)
		return err;
	io_publish_names(io);
	io->start_ns = clock__mono_ns();
	err = io_attach(io);
	err = err ?: io_watch_controllers(io);
	io->skips_err = io_open_skips(io);
	kernel__forget_btf(&io->kernel);
	return err;
}

static struct io *io_new(const struct io_wants *wants)
{
	struct io *io = calloc(1, sizeof(*io));

	if (!io)
		return NULL;
	io__hush_libbpf();
	io->part = malloc(sizeof(*io->part));
	io->wants = *wants;
	io->wants.owners |= io_tells_tasks(wants);
	/* Programs that know bios do not measure themselves: the ends alone would be too little. */
	io->wants.own_cost &= !io_knows_bios(io);
	io->wants.files |= wants->by_file;
	io->slot_cells.fd = io->row_cells.fd = io->bio_cells.fd = -1;
	io->ladder_cells.fd = io->sampled_cells.fd = io->uevent_fd = -1;
	io->nr_cpus = (uint32_t)libbpf_num_possible_cpus();
	io->is_online = calloc(io->nr_cpus, sizeof(*io->is_online));
	if (io->is_online)
		io->nr_online = cpus__online(io->is_online, io->nr_cpus);
	memset(io->device_of, 0xff, sizeof(io->device_of));
	return io;
}

static void io_tell_sizes(const struct io *io)
{
	const struct row_plan *rows = &io->row_plan;
	const double mib = 1 << 20;

	log_verbose("tables: %u slots, %u keys, %u rows (%.1f of at most %.0f MiB) for the %u of "
		    "%u CPUs that are online, %.1f MiB",
		    io->slots.nr, rows->nr_keys, rows->nr, (double)row_plan__bytes(rows) / mib,
		    (double)row_plan__most_bytes(io->nr_online) / mib, io->nr_online, io->nr_cpus,
		    (double)io->start.memory_bytes / mib);
	if (io_has_cells(io))
		log_verbose("cells: %u for each of the first %u CPUs, %u for each other, %.1f MiB",
			    io->cell_rings.nr_cells, io->cell_rings.nr_first,
			    io->cell_rings.late_cells,
			    (double)cell_rings__bytes(&io->cell_rings) / mib);
	if (io->rings)
		log_verbose("rings: %u KiB for each CPU that is online, %u KiB for each other, "
			    "%.1f MiB",
			    io->ring_bytes >> 10, io_idle_ring_bytes(io) >> 10,
			    (double)io_rings_bytes(io) / mib);
}

int io__open(struct io **out, const struct io_wants *wants)
{
	struct io *io = io_new(wants);
	int err;

	*out = io;
	if (!io || !io->part || !io->is_online)
		return log_err(-ENOMEM, "out of memory");
	io->uevent_fd =
		uevent__open(); /* before the list is read, so that no device appears unnoticed */
	err = io_start(io);
	if (err)
		return err;
	io_tell_sizes(io);
	return 0;
}

/* ---- rehearse ---- */

static const char *const io_nvme_events[] = { "nvme_setup_cmd", "nvme_complete_rq",
					      "block_rq_requeue", NULL };
static const char *const io_block_events[] = { "block_rq_issue", "block_rq_complete",
					       "block_rq_requeue", NULL };

static int io_rehearse_events(struct io *io, const char *const *events)
{
	int err = 0;

	for (; *events && !err; events++) {
		err = trial__attach(*events);
		if (err)
			start__stop(&io->start, START_ATTACH, err, *events);
	}
	return err;
}

void io__rehearse(struct rehearsal *rehearsal)
{
	static const struct filter_options everything;
	struct io *io = io_new(&(struct io_wants){ .filter = &everything });
	int err;

	memset(rehearsal, 0, sizeof(*rehearsal));
	rehearsal->start = (struct start){ START_TABLES, -ENOMEM };
	if (!io || !io->is_online) {
		io__free(io);
		return;
	}
	io->start.rehearses = true;
	err = io_prepare(io);
	if (!err && io__sees_nvme(io))
		err = io_rehearse_events(io, io_nvme_events);
	if (!err && io_wants_block(io))
		err = io_rehearse_events(io, io_block_events);
	if (!err)
		io->start.step = START_DONE;
	else if (!io->start.err)
		io->start =
			(struct start){ START_TABLES, err, .memory_bytes = io->start.memory_bytes };
	rehearsal->start = io->start;
	rehearsal->direct = io->direct;
	rehearsal->typed_err = io->typed_err;
	io__free(io);
}

/* ---- read ---- */

/* Key 0 is the row `other`: it has no tags. */
void io_tags_of(struct io *io, uint32_t key_nr, struct io_tags *tags)
{
	const struct io_key *key = (struct io_key *)io->key_cells.cells + key_nr;
	int device;

	memset(tags, 0, sizeof(*tags));
	tags->other = !key_nr || !key->packed;
	if (tags->other)
		return;
	device = io_device_index(io, io_key_bits(key->packed, IO_KEY_DEVICE, 12));
	tags->path = device + 1;
	tags->device = device < 0 ? 0 : device_list__head(&io->devices, device) + 1;
	tags->ctrl = device >= 0 ? io->devices.devices[device].ctrl + 1 : 0;
	tags->nsid = device >= 0 ? io->devices.devices[device].nsid : 0;
	tags->op = (uint8_t)io_key_bits(key->packed, IO_KEY_OP, 8);
	tags->kind = (uint8_t)io_key_bits(key->packed, IO_KEY_KIND, 2);
	tags->size_class = (uint8_t)io_key_bits(key->packed, IO_KEY_SIZE, 6);
	tags->queue = (uint16_t)io_key_bits(key->packed, IO_KEY_QUEUE, 16);
	tags->cpu = (uint16_t)io_key_bits(key->packed, IO_KEY_CPU, 12);
	tags->pid = key->pid;
	tags->cgroup = key->cgroup;
	tags->inode = key->inode;
	tags->file_dev = key->file_dev;
	tags->file_nth = (uint8_t)io_key_bits(key->packed, IO_KEY_FILE, 7);
	memcpy(tags->comm, key->comm, IO_COMM_LEN);
}

struct io_reading {
	struct io *io;
	io_row_fn fn;
	void *arg;
};

static void io_read_part(void *arg, uint32_t key_nr, const struct hist *part)
{
	struct io_reading *r = arg;
	struct io_tags tags;

	io_tags_of(r->io, key_nr, &tags);
	/* Without rows of their own, commands without a record are counted there, and are whole. */
	if (tags.other && (!io_settings(r->io)->records || io_settings(r->io)->rows_too ||
			   io_settings(r->io)->drop_rows))
		r->io->nr_other += part->count;
	r->fn(r->arg, &tags, part);
}

/* Ended with an error, and no program has counted it in a row yet: count it here. */
static void io_read_parked(void *arg, uint32_t nr, const struct io_slot *slot)
{
	struct io_reading *r = arg;
	struct hist *part = r->io->part;
	uint64_t ns = slot->last_ns - slot->first_ns;

	if (slot->last_ns < slot->first_ns || ns < io_settings(r->io)->min_ns)
		return;
	memset(part, 0, sizeof(*part));
	hist__add(part, ns, slot->bytes);
	if (r->io->wants.zoom) {
		memset(part->slots, 0, sizeof(part->slots));
		part->slots[zoom_slot(ns, r->io->wants.zoom_min_us, r->io->wants.zoom_shift)] = 1;
	}
	io_read_part(r, slot->key_nr, part);
	(void)nr;
}

static void io_read_open(void *arg, uint32_t nr, const struct io_slot *slot)
{
	const struct io_reading *r = arg;
	struct io_tags tags;

	io_tags_of(r->io, slot->key_nr, &tags);
	r->io->on_open(r->io->on_open_arg, &tags);
	(void)nr;
}

void io__tell_open(struct io *io, io_open_fn fn, void *arg)
{
	io->on_open = fn;
	io->on_open_arg = arg;
}

void io__read(struct io *io, io_row_fn fn, void *arg)
{
	struct io_reading reading = { io, fn, arg };
	const struct slot_tells tells = { io_read_parked, io->on_open ? io_read_open : NULL,
					  &reading };
	uint64_t now = clock__mono_ns();

	io->nr_other = 0;
	slot_table__scan(&io->slots, now, &io->counts, &tells);
	if (io->budget)
		io_budget_read(io, io_read_part, &reading);
	else
		row_table__read(&io->rows, io_read_part, &reading);
	if (!io->skel->links.io_requeue)
		return; /* detached: the end */
	slot_table__sweep(&io->slots, now, io->counts.used);
}

void io__keep_counts(struct io *io)
{
	struct slot_counts counts;

	uint64_t now = clock__mono_ns();

	slot_table__scan(&io->slots, now, &counts, NULL);
	slot_table__sweep(&io->slots, now, counts.used);
	row_table__spill(&io->rows);
}

/* ---- the end ---- */

static uint64_t io_unjudged(const struct io *io)
{
	const struct io_device *cells = io->device_cells.cells;
	uint64_t nr = io->unjudged;

	for (uint32_t i = 0; i < IO_MAX_DEVICES; i++)
		if (cells[i].verdict != IO_UNWANTED)
			nr += cells[i].unjudged;
	return nr;
}

void io__ledger(struct io *io, struct ledger *l)
{
	const struct io_counters *c = &io->skel->bss->counters;

	memset(l, 0, sizeof(*l));
	io_resolve_all(io); /* and judge them: were the commands before the verdict ours? */
	l->issued = io->slots.issued;
	l->completed = io->slots.completed + io->counts.parked;
	l->in_flight = io->counts.in_flight;
	l->oldest_ns = io->counts.oldest_ns ? clock__mono_ns() - io->counts.oldest_ns : 0;
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
	l->lost[LOST_ROW] = io->nr_other;
	l->lost[LOST_RING] = io__records_dropped(io);
	if (!io->budget)
		return;
	l->is_sampled = true;
	l->timed = l->completed;
	l->issued += io_budget_untimed(io);
	l->completed += io_budget_untimed(io);
}

struct io_own_cost io__own_cost(const struct io *io)
{
	const struct io_cost *c = &io->skel->bss->cost;
	struct io_own_cost own = { .is_known = io->wants.own_cost };

	for (int i = 0; i < NR_COSTS; i++) {
		own.measured += c->runs[i];
		own.ns += (c->ns[i] - (c->clock_ns[i] < c->ns[i] ? c->clock_ns[i] : c->ns[i])) *
			  IO_COST_EVERY;
	}
	return own;
}

void io__free(struct io *io)
{
	if (!io)
		return;
	ctrl_watch__free(io->ctrl_watch);
	io_free_rings(io);
	io_unmap_unwind(io);
	io_unmap_tables(io);
	io_close_skips(io);
	io_bpf__destroy(io->skel);
	slot_table__free(&io->slots);
	row_table__free(&io->rows);
	io_budget_free(io->budget);
	device_list__free(&io->devices);
	kernel__free(&io->kernel);
	mounts__free(&io->mounts);
	if (io->uevent_fd >= 0)
		close(io->uevent_fd);
	free(io->choices);
	free(io->part);
	free(io->is_online);
	free(io);
}

uint64_t io__start_ns(const struct io *io)
{
	return io->start_ns;
}

int io__uevent_fd(const struct io *io)
{
	return io->uevent_fd;
}

void io__read_by(struct io *io, const struct scout *scout)
{
	io->devices.scout = scout;
}

const struct device_list *io__devices(const struct io *io)
{
	return &io->devices;
}

const struct kernel *io__kernel(const struct io *io)
{
	return &io->kernel;
}

bool io__sees_block(const struct io *io)
{
	return io->block_attached;
}

bool io__attaches_later(const struct io *io)
{
	return io_has_block(io) && !io->block_attached;
}
