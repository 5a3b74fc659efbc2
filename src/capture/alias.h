/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * alias.h: other names for tasks, files, cgroups, machines and drives, so that a capture can be
 * handed on: equal names stay equal, and without the key nobody finds out what a name was, not even
 * by trying likely ones. Numbers stay: pids, sectors, inodes, times, and what is no name of
 * anybody's: kinds of devices, functions of stacks, operations.
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
	} memo[ALIAS_MEMO]; /* tasks that were met last */
};

/* With a key of chance; or with what this file holds, at least ALIAS_KEY_LEAST bytes. -errno, said.
 */
int alias__init(struct alias *alias, const char *key_path);

/* "file-0123456789abcdef"; what a task is called has 15 bytes. Returns buf. */
char *alias__name(const struct alias *alias, enum alias_kind kind, const char *text,
		  char buf[ALIAS_NAME]);
void alias__comm(struct alias *alias, char comm[16]);
/* What an id stands for, malloced; NULL: no memory. */
char *alias__text(const struct alias *alias, enum glossary_kind kind, struct glossary_id id,
		  const char *text);
void alias__device(const struct alias *alias, struct device *device);
/* Devices and glossaries, in place. -ENOMEM. */
int alias__about(const struct alias *alias, struct capture_about *about);

#endif
