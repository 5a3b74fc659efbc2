/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recorder.h: what a live run stores: records in the order of arrival, with all that is needed to
 * show them elsewhere. Into one file, into parts of a given size, into a ring of files, or into
 * memory that is saved to a file, or copied, on request. A full disk ends the file, not the run,
 * and is said once.
 */
#ifndef IOSONAR_SESSION_RECORDER_H
#define IOSONAR_SESSION_RECORDER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/options.h"
#include "capture/about.h"
#include "capture/alias.h"
#include "capture/cache.h"
#include "capture/chunk.h"
#include "capture/maker.h"
#include "capture/memory.h"
#include "capture/waits.h"
#include "decode/ledger.h"
#include "device/device.h"
#include "wire/io_record.h"

/* The run to record. */
struct recorder_run {
	const struct file_options *options; /* write NULL: into memory, for last_ns */
	const struct device_list *devices;  /* may grow */
	int (*device_of)(void *arg, const struct io_record *record); /* in devices; -1: unknown */
	/* The text of an id in a record, or NULL. */
	const char *(*text)(void *arg, enum glossary_kind kind, struct glossary_id id);
	void *arg;
	char *const *op_names; /* of block operations */
	uint64_t start_ns;
	struct alias *alias;	   /* --anonymous; NULL: keeps names */
	const struct maker *maker; /* creates later files; NULL: they are created here */
	struct ring *ring;	   /* --ring, which has the files; or NULL */
	void (*ledger)(void *arg, struct ledger *ledger); /* so far: counters that grow; or NULL */
	bool counts_all; /* no filter hides commands that the ledger counts */
};

struct recorder;
struct ring;

/* Says why it failed. After a failure *recorder is what must be finished, or NULL. */
int recorder__new(const struct recorder_run *run, struct recorder **recorder);
void recorder__free(struct recorder *recorder);

/* All return 0 or -errno, said. A full disk is not an error: ask recorder__is_full. */
int recorder__record(struct recorder *recorder, const struct io_record *record);
int recorder__clock(struct recorder *recorder, const struct capture_clock *clock); /* each second */
void recorder__lost(struct recorder *recorder, const char *reason, uint64_t nr);
/* A device went at gone_ns. Does nothing that is kept name it by this number, of records or of
 * events? Then the number may be another device's: a file or memory describes it again. */
bool recorder__lets_go(struct recorder *recorder, uint32_t number, uint64_t gone_ns);
/* Of the page cache: a reading; events. recorder__info has what is known about it. */
int recorder__cache_rows(struct recorder *recorder, uint64_t time_ns,
			 const struct capture_cache_row *rows, size_t nr);
int recorder__cache_events(struct recorder *recorder, const struct cache_command *events,
			   size_t nr);
/* Calls that waited, and what for, or requests, in the order of arrival. */
int recorder__waits(struct recorder *recorder, const struct capture_wait *waits, size_t nr);
/* Of calls: a chunk as its writer made it, with nr calls. */
int recorder__part(struct recorder *recorder, const struct capture_chunk *chunk,
		   const uint8_t *payload, size_t nr);
int recorder__info(struct recorder *recorder, const char *key, const char *value);
int recorder__info_number(struct recorder *recorder, const char *key, uint64_t number);
/* --last: writes the memory to a file. */
int recorder__save(struct recorder *recorder, const char *why);
/* Of a memory: as the functions of capture_memory. */
int recorder__copy(struct recorder *recorder, uint64_t from_ns, const char *why,
		   struct byte_out *out);
int recorder__each(struct recorder *recorder, uint64_t from_ns, uint64_t to_ns, uint64_t most,
		   struct capture_visit visit);
int recorder__find(struct recorder *recorder, uint64_t number, struct capture_visit visit);
uint64_t recorder__kept_from(const struct recorder *recorder);
/* ledger NULL: the run recorded no commands. */
int recorder__finish(struct recorder *recorder, uint64_t end_ns, const struct ledger *ledger);

bool recorder__is_full(const struct recorder *recorder);
uint64_t recorder__nr_records(const struct recorder *recorder);	  /* kept */
uint64_t recorder__bytes(const struct recorder *recorder);	  /* that they take */
uint64_t recorder__nr_lost(const struct recorder *recorder);	  /* as reported */
uint64_t recorder__nr_unwritten(const struct recorder *recorder); /* no file could take them */
unsigned int recorder__nr_files(const struct recorder *recorder);

#endif
