/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blame_page.h: the page of `blame`: a matrix of victims and culprits for each disk, where a click
 * on a cell shows the commands: by operation and size, and the slowest ones. Keeps four commands of
 * each party while they pass. Used only by that command; remove it with that command.
 */
#ifndef IOSONAR_VIEW_BLAME_PAGE_H
#define IOSONAR_VIEW_BLAME_PAGE_H

#include "analyse/blame.h"
#include "session/session.h"
#include "wire/io_record.h"

enum { BLAME_SLOWEST = 4 };

struct blame_slow {
	uint64_t from_ns, wait_ns, lat_ns; /* wait: before its issue */
	uint64_t sector;		   /* of 512 bytes; CELL_NO_NUMBER: none */
	uint32_t bytes, pid;
	char comm[17];
};

struct blame_slow_party {
	struct blame_tags tags;
	struct blame_slow ios[BLAME_SLOWEST]; /* lat_ns 0: none */
};

/* All zeros is empty. */
struct blame_page {
	struct blame_slow_party *parties; /* those of later parties are not kept */
	struct index index;
};

struct blame_view;

/* A command of a party; -ENOMEM. */
int blame_page__note(struct blame_page *page, const struct session *session,
		     const struct blame_tags *tags, const struct blame_times *times,
		     const struct io_record *record);
/* The end. 0 or a negative errno, said. */
int blame_page__put(struct blame_view *view, struct session *session);
void blame_page__free(struct blame_page *page);

#endif
