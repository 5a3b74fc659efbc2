/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_inside.h: what the files of the io collector share: io_devices.c (which devices), io_tables.c
 * (the mapped tables), io_settings.c (what the programs are told), io_programs.c (load, attach,
 * detach), io.c.
 */
#ifndef IOSONAR_COLLECT_IO_INSIDE_H
#define IOSONAR_COLLECT_IO_INSIDE_H

#include "collect/io.h"
#include "collect/obstacle.h"
#include "collect/slots.h"

struct io_bpf;

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
	struct io_table slot_cells, key_cells, row_cells, bio_cells, device_cells, name_cells;
	uint32_t nr_cpus, nr_slots, nr_keys, nr_rows, nr_bios;
	int device_of[IO_MAX_DEVICES]; /* cell to index in devices, -1: not looked up yet */
	bool nvme_attached;	       /* nvme_setup_cmd and nvme_complete_rq */
	bool block_attached; /* block_rq_issue and block_rq_complete, for disks that are not NVMe */
	bool direct;	     /* typed pointers (tp_btf), else plain ones (raw_tp) */
	int typed_err;	     /* why they could not be typed; 0: they are, or were not tried */
	bool rehearses;	     /* for doctor: what goes wrong is not said, nothing is attached */
	struct start start;  /* how far it came */
	struct ring_buffer *rings;
	uint32_t ring_bytes; /* of each CPU's */
	io_record_fn on_record;
	void *on_record_arg;
	struct io_stack **stacks; /* by number, IO_MAX_STACKS + 1 of them */
	struct io_told *told;	  /* parked commands whose record we made ourselves */
	size_t nr_told, room_told;
	uint64_t parked_seen, parked_until_ns; /* when to look for parked commands */
	int uevent_fd;
	uint64_t start_ns;
	uint64_t skipped; /* recursion_misses, read before the programs went */
	struct slot_counts counts;
	struct hist *part; /* scratch of io__read */
};

/* Read-only once the programs are loaded. */
struct io_settings *io_settings(const struct io *io);
uint64_t io_now_ns(void);
/* The run ends at this step: says why, unless it was a rehearsal, and returns the error. */
int io_stop(struct io *io, enum start_step step, int err, const char *what);

/* io_devices.c */
bool io_is_measurable(const struct device *device); /* could its commands be seen at all? */
bool io_wants_block(const struct io *io);	    /* a disk that is not NVMe */
bool io_wants_nvme(const struct io *io);
int io_choose_devices(struct io *io, const struct option_list *names);
void io_publish_names(struct io *io);		 /* what -d means, before the first command */
void io_resolve_all(struct io *io);		 /* every device cell in use */
int io_device_index(struct io *io, uint32_t nr); /* of a device cell, in the device list; -1 */

/* io_tables.c */
/* Their table is there. */
static inline bool io_knows_bios(const struct io *io)
{
	return io->wants.stages || io->wants.owners;
}
void io_size_tables(struct io *io); /* from devices, CPUs and wants */
uint64_t io_planned_bytes(const struct io *io);
int io_make_tables(struct io *io); /* before the programs are loaded: they hold its addresses */
int io_map_tables(struct io *io);  /* after */
uint32_t io_row_of_bytes(const struct io *io); /* behind the slots */
void io_unmap_tables(struct io *io);

uint32_t io_more_at(const struct io *io);
uint32_t io_stages_at(const struct io *io);
uint32_t io_cpu_at(const struct io *io);

/* io_records.c */
int io_make_rings(struct io *io); /* after the programs are loaded */
void io_free_rings(struct io *io);

/* io_settings.c */
int io_set(struct io *io);

/* io_programs.c */
int io_load(struct io *io);
int io_attach(struct io *io);
bool io_has_block(const struct io *io); /* programs for disks that are not NVMe are loaded */
int io_attach_block(struct io *io);	/* when the first such disk appears */

#endif
