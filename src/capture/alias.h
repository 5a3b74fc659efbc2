/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * alias.h: other names for tasks, files, cgroups, machines and drives, so that a capture can be
 * passed on: equal names stay equal, and without the key a name cannot be recovered, not even by
 * trying likely ones. Numbers stay (pids, sectors, inodes, times), and so do generic names: kinds
 * of devices, functions of stacks, operations.
 */
#ifndef IOSONAR_CAPTURE_ALIAS_H
#define IOSONAR_CAPTURE_ALIAS_H

#include "capture/about.h"
#include "capture/siphash.h"

enum alias_kind { ALIAS_COMM, ALIAS_CGROUP, ALIAS_FILE, ALIAS_LIBRARY, ALIAS_SERIAL, ALIAS_HOST };
enum { ALIAS_NAME = 28, ALIAS_MEMO = 64, ALIAS_KEY_LEAST = 16 };

struct alias {
	struct siphash_key key;
	struct alias_memo {
		char comm[16], as[16];
	} memo[ALIAS_MEMO]; /* most recent tasks */
};

/* With a random key, or with the contents of this file, at least ALIAS_KEY_LEAST bytes. -errno,
 * after a message. */
int alias__init(struct alias *alias, const char *key_path);

/* "file-0123456789abcdef"; a task's name has 15 bytes. Returns buf. */
char *alias__name(const struct alias *alias, enum alias_kind kind, const char *text,
		  char buf[ALIAS_NAME]);
void alias__comm(struct alias *alias, char comm[16]);
/* The alias of an id's text, malloced; NULL: no memory. */
char *alias__text(const struct alias *alias, enum glossary_kind kind, struct glossary_id id,
		  const char *text);
void alias__device(const struct alias *alias, struct device *device);
/* Devices and glossaries, in place. -ENOMEM. */
int alias__about(const struct alias *alias, struct capture_about *about);

#endif
