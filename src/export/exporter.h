/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exporter.h: how does a capture get to other programs? One struct for each format, with a few
 * functions that `export` calls as records arrive. Memory stays bounded for any number of records:
 * data to be sorted goes through a spill. Encoders are in render/ and know nothing of captures.
 */
#ifndef IOSONAR_EXPORT_EXPORTER_H
#define IOSONAR_EXPORT_EXPORTER_H

#include "session/session.h"
#include "view/records.h"

struct exporter {
	bool is_binary; /* not for a terminal */
	/* All return 0 or -errno, said. The state belongs to the format; it starts as NULL. */
	int (*start)(void **state, struct session *session);
	int (*put)(void *state, struct session *session, const struct io_record *record);
	int (*tick)(void *state, struct session *session); /* each interval; NULL: not needed */
	int (*finish)(void *state, struct session *session);
	void (*flush)(void *state); /* the stream is about to be flushed; may be NULL */
	void (*free)(void *state);  /* NULL, too */
	/* -j, as struct session_sharing has them, for a format whose lines stand alone; or NULL. */
	int (*share_begin)(void *state);
	int (*give)(void *state, struct byte_out *out);
	int (*take)(void *state, struct byte_in *in);
};

extern const struct exporter export_blktrace, export_chrome, export_csv, export_dot, export_fio,
	export_folded, export_hdr, export_json, export_openmetrics, export_perfetto;

/* Every column of a row of json and csv, for --json-schema. */
extern const struct object export_rows_object;

/* What formats need from a record. */
const char *export__op(const struct session *session, const struct io_record *record, char buf[16]);
/* Start in units of 512 bytes; false: it has no blocks. */
bool export__sector(struct session *session, const struct io_record *record, uint64_t *sector);
/*
 * For a format that has no place for the machine: -EINVAL, said, if the device is of another one
 * than those before it. *host: 0 before the first.
 */
int export__is_of_host(const struct session *session, const struct device *device, uint16_t *host);

#endif
