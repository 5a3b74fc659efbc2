/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blame_names.h: what --by of `blame` means: the words that tell victims and culprits apart, and
 * the name of one in these words. Used only by that command; remove it with that command.
 */
#ifndef IOSONAR_VIEW_BLAME_NAMES_H
#define IOSONAR_VIEW_BLAME_NAMES_H

#include "analyse/blame.h"
#include "base/option.h"
#include "session/session.h"

enum blame_by {
	BLAME_BY_COMM,
	BLAME_BY_PID,
	BLAME_BY_CGROUP,
	BLAME_BY_UNIT,
	BLAME_BY_CONTAINER,
	BLAME_BY_OP,
	BLAME_BY_SIZE,
	BLAME_BY_PATH,
	BLAME_BY_QID,
	BLAME_BY_QUEUE, /* the same; in no mask */
	BLAME_BY_HOST,	/* a device has one */
};
extern const char *const blame_by_words[];	       /* by enum blame_by, NULL-terminated */
uint32_t blame_by__mask(const struct option_list *by); /* without words: comm */

/* A victim or culprit in words; NULL, or CELL_NO_NUMBER: --by does not tell. Hostile. */
struct blame_name {
	const char *label, *host, *comm, *cgroup, *unit, *container, *op, *path;
	uint64_t pid, size_bytes, qid;
	char label_text[400], comm_text[17], cgroup_text[256], op_text[16];
	char unit_text[256], container_text[16], queue_text[16];
};

/* Points into itself, and into the session. */
void blame_name__of(uint32_t by_mask, const struct session *session, const struct blame_tags *tags,
		    struct blame_name *name);
/* NAME of --victim, --culprit and --without: the whole label or one of its words. */
bool blame_name__is(const struct blame_name *name, const char *word);

#endif
