/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recorder_inside.h: what the files of the recorder share: recorder.c (the run and its parts),
 * recorder_file.c (one file), recorder_cache.c (page cache and calls), recorder_waits.c (waits),
 * recorder_memory.c (--last), recorder_ring.c (--ring).
 */
#ifndef IOSONAR_SESSION_RECORDER_INSIDE_H
#define IOSONAR_SESSION_RECORDER_INSIDE_H

#include "capture/write.h"
#include "session/origin.h"
#include "session/recorder.h"
#include "wire/io_tables.h"

enum {
	RECORDER_ZSTD = 3,
	RECORDER_NUMBERS = IO_MAX_DEVICES, /* device numbers that a record may have */
	RECORDER_MEMORY = 512 << 20,	   /* bytes for --last, unless --size says more */
};

/* --ring: each file has a ledger of its own. */
struct recorder_ring {
	struct ledger told; /* in the files before */
	uint64_t ends;	    /* commands that ended in this file */
	uint64_t between;   /* records since there was no room for a file */
	uint64_t synced_ns;
	bool has_file; /* the last one that was asked for */
};

struct recorder {
	struct recorder_run run;
	struct origin origin;
	struct capture_writer *writer; /* of the current part, or of the memory */
	struct capture_memory *memory; /* --last */
	bool *listed;		       /* places in the list of devices that are in the file */
	size_t nr_listed;
	bool known[RECORDER_NUMBERS];	    /* device numbers that are in the file */
	struct glossary met[NR_GLOSSARIES]; /* ids in records; told: in which part, + 1 */
	unsigned int part, nr_files;
	uint64_t nr_before, bytes_before; /* in the parts before */
	uint64_t nr_lost;
	uint64_t
		nr_unwritten; /* records that no file could take, in the parts before and between */
	uint64_t last_ns;     /* time of the last record */
	struct capture_clock clock; /* the last one */
	bool has_clock, full;
	bool failed;			 /* said */
	uint64_t nr_readings, nr_events; /* of the page cache */
	uint64_t nr_calls;		 /* entries and returns */
	uint64_t nr_waits, nr_requests;	 /* calls that waited, asynchronous requests */
	struct recorder_ring ring;	 /* --ring */
};

/* ---- recorder_file.c: one file; it uses none of the others ---- */

/* The permission is missing for the file, not for tracing. */
int recorder_err(int err);
struct capture_options recorder_options(struct recorder *r, const char *path);
int recorder_put_number(struct recorder *r, const char *key, uint64_t number);
int recorder_put_device(struct recorder *r, uint16_t number, const struct device *device);
/* Those of the machine that the file lacks. */
int recorder_put_devices(struct recorder *r);
/* The device at this place of the list and its head, which may be gone. */
int recorder_list(struct recorder *r, int index);
int recorder_put_about(struct recorder *r);
/* An id means nothing elsewhere, nor here when it is gone: its text, once in every part. */
int recorder_meet_id(struct recorder *r, enum glossary_kind kind, uint64_t id, uint64_t and);
int recorder_meet_ids(struct recorder *r, const struct io_record *record);
/* Completes the file: -ENOSPC: its end is in the reserve. */
int recorder_end_file(struct recorder *r, uint64_t end_ns, const char *ended,
		      const struct ledger *ledger);
/* Counts what it has, and closes it. */
void recorder_close_file(struct recorder *r);

/* ---- recorder.c ---- */

/* Said once: a full disk ends the file, any other error ends the run. */
int recorder_verdict(struct recorder *r, int err);

/* ---- recorder_cache.c ---- */

/* A file of the page cache, or of a call, and its disk. */
int recorder_meet_file(struct recorder *r, uint64_t inode, uint32_t dev, uint32_t nth);

/* ---- recorder_memory.c ---- */

int recorder_open_memory(struct recorder *r);

/* ---- recorder_ring.c ---- */

/* 0, without a file if there is no room for one; or a negative errno, said. */
int recorder_ring_open(struct recorder *r);
/* The file is complete, and the next one begins. 0 or a negative errno, said or not. */
int recorder_ring_next(struct recorder *r);
/* Each second. */
int recorder_ring_clock(struct recorder *r, uint64_t now_ns);
/* What of the run's ledger is left for the last file. */
void recorder_ring_last(const struct recorder *r, const struct ledger *whole, struct ledger *last);

#endif
