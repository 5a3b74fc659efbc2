/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * groups.h: which sum does a command belong to? Machine, device and operation by name, numbered in
 * order of appearance: a drive that came back under its name is the same to readers of labels and
 * tags. When GROUPS_MOST are taken, the rest is one group.
 */
#ifndef IOSONAR_EXPORT_GROUPS_H
#define IOSONAR_EXPORT_GROUPS_H

#include "session/session.h"

enum { GROUPS_MOST = 1024, GROUPS_MEMO = 256 };

struct export_group {
	const char *host; /* NULL: not known */
	const char *dev, *op;
	char op_text[16];
};

struct export_groups {
	struct export_group *groups;
	size_t nr;
	struct groups_memo {
		const char *host;
		uint64_t key;
		size_t group; /* + 1 */
	} memo[GROUPS_MEMO];  /* the last results */
};

/* Returns its number. -ENOMEM, said. */
int export_groups__find(struct export_groups *groups, struct session *session,
			const struct io_record *record);
void export_groups__free(struct export_groups *groups);

#endif
