/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_inside.h: what the files of the io collector share, bottom up: a file calls only those before
 * it in this list. io_want.c (what is wanted), io_tables.c (the mapped tables), io_settings.c
 * (settings of the programs), io_unwind.c (tables of user stacks), io_devices.c (which devices),
 * io_functions.c (addresses of functions), io_files.c (names of files), io_volumes.c (bios above
 * others), io_waits.c (waits before the request), io_programs.c (load, attach, detach), io_sink.c
 * (output of records), io_ladders.c (rings of times alone), io_events.c (of controllers and disks),
 * io_records.c (rings), io_budget.c (which commands are timed), io_gone.c (devices that are gone),
 * io_hotplug.c (devices that appear and vanish), io.c (the run).
 */
#ifndef IOSONAR_COLLECT_IO_INSIDE_H
#define IOSONAR_COLLECT_IO_INSIDE_H

#include "collect/cell_rings.h"
#include "collect/file_names.h"
#include "collect/io.h"
#include "collect/obstacle.h"
#include "collect/rows.h"
#include "collect/slots.h"

struct io_bpf;
struct bpf_map;

struct io_table {
	int fd;
	void *cells;
	size_t bytes;
};

/* Functions whose addresses programs compare with: enum file_sender, then */
enum io_function {
	IO_QOS_WAKE = NR_SENDERS,
	IO_LATENCY_ASKS,
	NR_IO_FUNCTIONS,
};

/* How a dm bio leads to the bio it was made of. */
struct io_volumes {
	uint64_t dm_end; /* 0: unknown, or not wanted */
	uint32_t clone_at, io_at, bio_at;
};

/* What names the waits before a request. */
struct io_waits {
	bool by_function;		   /* kprobes work */
	bool by_event;			   /* the kernel has block_rq_tag_wait */
	uint64_t qos_wake, iolatency_asks; /* addresses of functions; 0: unknown */
};

struct io {
	struct io_bpf *skel;
	struct kernel kernel;
	struct device_list devices;
	struct device_choice *choices; /* what -d said */
	size_t nr_choices;
	struct io_wants wants;
	struct slot_table slots;
	struct io_table slot_cells, key_cells, row_cells, bio_cells, ladder_cells, sampled_cells,
		device_cells, name_cells, file_cells;
	uint32_t nr_cpus, nr_online, nr_slots, nr_bios;
	bool *is_online; /* by CPU */
	struct row_plan row_plan;
	struct cell_rings cell_rings; /* if io_has_cells */
	struct row_table rows;
	uint64_t nr_other;	       /* commands in the row `other` at the last read */
	int device_of[IO_MAX_DEVICES]; /* cell to index in devices, -1: not looked up yet */
	uint64_t
		gone_ns[IO_MAX_DEVICES]; /* of a cell: since when io__reuse knows; 0: it is there */
	uint64_t unjudged;		 /* of devices whose cells were reused */
	bool nvme_attached;		 /* nvme_setup_cmd and nvme_complete_rq */
	bool block_attached; /* block_rq_issue and block_rq_complete, for disks that are not NVMe */
	bool direct;	     /* typed pointers (tp_btf); otherwise plain (raw_tp) */
	int typed_err;	     /* why pointers are not typed; 0: they are, or not tried */
	struct start start;  /* how far it got */
	struct ring_buffer *rings;
	uint32_t ring_bytes;		     /* of each CPU's that is online */
	struct mounts mounts;		     /* with files, */
	uint64_t senders[NR_SENDERS];	     /* with files: addresses of functions */
	uint64_t functions[NR_IO_FUNCTIONS]; /* by io_find_functions */
	bool functions_are_read;
	int functions_err;
	struct io_volumes volumes; /* with bios */
	struct io_waits waits;	   /* all zeros: not wanted */
	io_open_fn on_open;	   /* NULL: nothing wants the commands in flight */
	void *on_open_arg;
	io_record_fn on_record;
	void *on_record_arg;
	struct io_stack **stacks; /* by number, IO_STACK_NUMBERS entries */
	struct known *known;	  /* those of the kernel that need no walk; NULL: none yet */
	struct unwind_shared unwind_shared;
	struct unwinder *unwinder; /* NULL: user stacks are not unwound by tables */
	struct io_told *told;	   /* parked commands whose record was made here */
	size_t nr_told, room_told;
	uint64_t parked_seen, parked_until_ns; /* when to look for parked commands */
	struct ctrl_watch *ctrl_watch;	       /* NULL: not wanted */
	struct io_record *events;	       /* not passed on yet */
	size_t nr_events;
	uint64_t nr_events_lost; /* for lack of memory */
	int uevent_fd;
	uint64_t start_ns;
	uint64_t skipped; /* recursion_misses, read before detaching */
	int *skip_files;  /* where they are read, open from the start */
	size_t nr_skip_files;
	int skips_err; /* why they cannot be read; 0: they can */
	struct slot_counts counts;
	struct hist *part;	  /* scratch of io__read */
	struct io_budget *budget; /* NULL: every command is timed */
};

/* io_want.c */
bool io_is_nvme(const struct device *device);
bool io_is_measurable(const struct device *device); /* could its commands be seen at all? */
bool io_is_wanted(const struct io *io, const struct device *device); /* and does -d select it? */
/* The argument of -d that selects it; NULL: none. */
const struct device_choice *io_choice_of(const struct io *io, const struct device *device);
bool io_wants_bios_of(const struct io *io, const struct device *device); /* it has no commands */
bool io_wants_block(const struct io *io); /* a disk that is not NVMe */
bool io_may_cast(const struct io *io);	  /* the status is read the cheapest way */
/* Only times of NVMe commands are wanted, and the kernel allows that method. */
bool io_has_ladders(const struct io *io);
bool io_has_record_cells(const struct io *io); /* records of NVMe commands, without stages */
bool io_has_cells(const struct io *io);	       /* one of these: a mapped ring per CPU */
bool io_finds_files_at_end(const struct io *io);
bool io_unwinds(const struct io *io);		      /* user stacks, by tables */
static inline bool io_knows_bios(const struct io *io) /* their table exists */
{
	return io->wants.stages || io->wants.owners;
}

/* io_tables.c */
int io_make_tables(struct io *io); /* before loading: the programs hold its addresses */
int io_map_tables(struct io *io);  /* after */
int io_map_own(struct io_table *table, const struct bpf_map *map); /* an error is said */
void io_unmap(struct io_table *table);
void io_unmap_tables(struct io *io);
uint32_t io_row_of_bytes(const struct io *io); /* behind the slots */
uint32_t io_far_of_at(const struct io *io);
uint32_t io_more_at(const struct io *io);
uint32_t io_stages_at(const struct io *io);
uint32_t io_cpu_at(const struct io *io);
uint32_t io_untimed_mask(const struct io *io); /* of byte offsets of struct io_untimed */

/* io_settings.c */
struct io_settings *io_settings(const struct io *io); /* read-only once the programs are loaded */
int io_set(struct io *io);

/* io_unwind.c */
int io_size_unwind(const struct io *io); /* before the programs are loaded */
int io_map_unwind(struct io *io);	 /* after */
void io_unmap_unwind(struct io *io);

/* io_devices.c */
int io_choose_devices(struct io *io, const struct option_list *names);
void io_publish_names(struct io *io); /* the choice of -d, before the first command */
void io_publish_name(struct io *io, const struct device *device);
void io_resolve_all(struct io *io);		 /* every device cell in use */
int io_device_index(struct io *io, uint32_t nr); /* of a device cell, in the device list; -1 */

/* io_functions.c: 0, or why addresses are unknown; no message. */
int io_find_functions(struct io *io);

/* io_files.c, io_volumes.c and io_waits.c, before the programs are loaded */
int io_prepare_files(struct io *io);
void io_prepare_volumes(struct io *io);
void io_prepare_waits(struct io *io);

/* io_waits.c */
bool io_names_waits(const struct io *io);
void io_autoload_waits(const struct io *io);
void io_attach_waits(struct io *io);

/* io_programs.c */
int io_load(struct io *io);
int io_attach(struct io *io);
int io_open_skips(struct io *io); /* recursion_misses, for io__recount_skipped */
void io_close_skips(struct io *io);
bool io_has_block(const struct io *io); /* programs for disks that are not NVMe are loaded */
int io_attach_block(struct io *io);	/* when the first such disk appears */

/* io_sink.c */
uint16_t io_status_of(const struct io *io, uint8_t kind, uint16_t status);
/* The command in a slot, as if it ended at the time of its last error. */
void io_record_of_slot(const struct io *io, uint32_t nr, const struct io_slot *slot,
		       struct io_record *record);
void io_hand_on_record(const struct io *io, struct io_record *record, enum io_record_from from);

/* io_ladders.c */
/* New records: cells with stages to io_hand_on_record, the others as a ring's. */
typedef int (*io_ring_fn)(void *io, void *data, size_t size);
void io_read_ladders(struct io *io, io_ring_fn on_record);
uint64_t io_ladders_sent(const struct io *io);

/* io_events.c */
int io_watch_controllers(struct io *io); /* after the programs are attached */
/* Completes a program's event of a controller or a timed-out command; false: not wanted. */
bool io_finish_event(struct io *io, struct io_record *record);
void io_note_event(struct io *io, enum record_event event, int index);
void io_hand_on_events(struct io *io);

/* io_records.c */
int io_make_rings(struct io *io);		  /* after the programs are loaded */
uint32_t io_idle_ring_bytes(const struct io *io); /* of each CPU's that is not online */
uint64_t io_rings_bytes(const struct io *io);	  /* of all */
void io_free_rings(struct io *io);

/* io_budget.c; all but the last two only with a budget */
int io_budget_open(struct io *io);
/* As row_table__read: what all commands would have been, had they been timed; once per key. */
void io_budget_read(struct io *io, row_table_fn fn, void *arg);
uint64_t io_budget_untimed(const struct io *io);	    /* as of the last io_budget_read */
void io_budget_forget_queue(struct io *io, uint64_t queue); /* its device is gone */
void io_budget_free(struct io_budget *budget);

/* io_gone.c: no slot and no cell may take the next device at this address for that of this cell. */
void io_forget(struct io *io, uint32_t nr);

/* What a row key stands for. */
void io_tags_of(struct io *io, uint32_t key_nr, struct io_tags *tags);

#endif
