/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * about.h: everything in a capture except its records: what made it and where, its devices, the
 * kernel's names of operations, its clocks, and how it ended. Texts are as hostile as the file:
 * escape them before they are shown.
 */
#ifndef IOSONAR_CAPTURE_ABOUT_H
#define IOSONAR_CAPTURE_ABOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "capture/bytes.h"
#include "capture/glossary.h"
#include "device/device.h"

/* Keys that `iosonar record` writes; others may be there. */
#define CAPTURE_INFO_VERSION  "iosonar"	   /* "0.3" */
#define CAPTURE_INFO_KERNEL   "kernel"	   /* release: "6.12.38-arm64" */
#define CAPTURE_INFO_MACHINE  "machine"	   /* "aarch64" */
#define CAPTURE_INFO_COMMAND  "command"	   /* the command line, arguments separated by spaces */
#define CAPTURE_INFO_BOOT_ID  "boot_id"	   /* files of one boot share one monotonic clock */
#define CAPTURE_INFO_ID	      "capture_id" /* random; parts of one recording share it */
#define CAPTURE_INFO_HOST     "host"	   /* its name: "db7" */
#define CAPTURE_INFO_TIMEZONE "timezone"   /* of the host: "+0200" */
#define CAPTURE_INFO_CLOCK    "clock"	   /* the host's clock source: "tsc" */
#define CAPTURE_INFO_START    "start_ns" /* of the run, CLOCK_MONOTONIC: nothing was seen before */
#define CAPTURE_INFO_END      "end_ns"	 /* end of the run; absent in a part that another follows */
#define CAPTURE_INFO_WAITING  "waits_calls"   /* a capture of waits: which calls: "read fsync" */
#define CAPTURE_INFO_WAITS    "waits_kept"    /* calls that were given to the recorder of waits */
#define CAPTURE_INFO_ASYNC    "requests_of"   /* a capture of requests: "io_uring libaio" */
#define CAPTURE_INFO_REQUESTS "requests_kept" /* requests that were given to the recorder */
#define CAPTURE_NAMES_BLOCK   "block_op"      /* set of names: REQ_OP_* by number */

enum { CAPTURE_NR_NAMES = 256 };

struct capture_info {
	const char *key, *value;
};

struct capture_count {
	const char *name;
	uint64_t value;
};

/* One moment on three clocks. */
struct capture_clock {
	uint64_t mono_ns, boot_ns, real_ns;
};

struct capture_counts {
	struct capture_count *counts;
	size_t nr;
};

struct capture_trailer {
	bool there;
	uint64_t file_bytes; /* of the whole file */
	uint64_t records;    /* that were written */
	char *ended;	     /* why: "done", "disk full", … */
	struct capture_counts lost, ledger;
};

struct capture_name_set {
	char *set;
	char *names[CAPTURE_NR_NAMES]; /* NULL: the number has no name */
};

struct capture_about {
	struct capture_info *info;
	size_t nr_info;
	struct device *devices;
	uint16_t *numbers; /* of each device, as in records */
	size_t nr_devices;
	uint16_t *device_index; /* by number: place in devices + 1 */
	struct capture_name_set *sets;
	size_t nr_sets;
	struct glossary glossaries[NR_GLOSSARIES];
	struct capture_clock *clocks; /* by mono_ns */
	size_t nr_clocks, room_clocks;
	struct capture_trailer trailer;
};

void capture_about__free(struct capture_about *about);

const char *capture_about__info(const struct capture_about *about, const char *key); /* or NULL */
uint64_t capture_about__info_number(const struct capture_about *about, const char *key,
				    uint64_t none);
const struct device *capture_about__device(const struct capture_about *about, uint16_t number);
/* CAPTURE_NR_NAMES names, NULL where a number has none; NULL: unknown set. */
char *const *capture_about__names(const struct capture_about *about, const char *set);
/* What an id of that kind stands for, or NULL. */
const char *capture_about__text(const struct capture_about *about, enum glossary_kind kind,
				struct glossary_id id);
/*
 * Wall clock of a monotonic time: that of the last triple at or before it (before all: the first),
 * plus the difference. A live view, which knows only past triples, gives the same. 0: no triple.
 */
uint64_t capture_about__wall_ns(const struct capture_about *about, uint64_t mono_ns);

/* Takes over the contents of a payload. 0; -EBADMSG: invalid; -ENOMEM. */
int capture_about__take(struct capture_about *about, uint8_t type, struct byte_in in);
int capture_about__set_info(struct capture_about *about, const char *key, const char *value);
/* Copies the device, with its partitions. */
int capture_about__set_device(struct capture_about *about, uint16_t number,
			      const struct device *device);
int capture_about__add_clock(struct capture_about *about, const struct capture_clock *clock);
void capture_about__sort_clocks(struct capture_about *about); /* if they came out of order */
/* Forgets all triples before the one that `mono_ns` needs. */
void capture_about__forget_clocks(struct capture_about *about, uint64_t mono_ns);

/* Payloads. */
void capture_about__put_info(struct byte_out *out, const struct capture_info *info, size_t nr);
void capture_about__put_device(struct byte_out *out, uint16_t number, const struct device *device);
uint32_t capture_about__put_names(struct byte_out *out, const char *set, char *const *names);
void capture_about__put_clock(struct byte_out *out, const struct capture_clock *clock);
void capture_about__put_text(struct byte_out *out, enum glossary_kind kind, struct glossary_id id,
			     const char *text);
/* As many counts as fit `most_bytes`; file_bytes comes first, as eight bytes. */
void capture_about__put_trailer(struct byte_out *out, const struct capture_trailer *trailer,
				size_t most_bytes);

#endif
