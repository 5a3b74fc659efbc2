/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "base/landlock.h"

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

/*
 * The kernel's interface; <linux/landlock.h> of older systems lacks part or all of it. The system
 * call numbers are the same on every machine.
 */
enum {
	LANDLOCK_CREATE_RULESET = 444,
	LANDLOCK_ADD_RULE = 445,
	LANDLOCK_RESTRICT_SELF = 446,
	LANDLOCK_ASK_VERSION = 1 << 0,
	LANDLOCK_BENEATH = 1, /* kind of rule: what is below a directory */
};

enum landlock_right {
	LANDLOCK_EXECUTE = 1 << 0,
	LANDLOCK_WRITE_FILE = 1 << 1,
	LANDLOCK_READ_FILE = 1 << 2,
	LANDLOCK_READ_DIR = 1 << 3,
	LANDLOCK_REMOVE_DIR = 1 << 4,
	LANDLOCK_REMOVE_FILE = 1 << 5,
	LANDLOCK_MAKE_CHAR = 1 << 6,
	LANDLOCK_MAKE_DIR = 1 << 7,
	LANDLOCK_MAKE_REG = 1 << 8,
	LANDLOCK_MAKE_SOCK = 1 << 9,
	LANDLOCK_MAKE_FIFO = 1 << 10,
	LANDLOCK_MAKE_BLOCK = 1 << 11,
	LANDLOCK_MAKE_SYM = 1 << 12,
	LANDLOCK_REFER = 1 << 13,    /* since version 2 */
	LANDLOCK_TRUNCATE = 1 << 14, /* since version 3 */
};

struct landlock_rules {
	uint64_t handled;
};

struct landlock_rule {
	uint64_t allowed;
	int32_t directory;
} __attribute__((packed));

static const uint64_t landlock_to_create =
	LANDLOCK_WRITE_FILE | LANDLOCK_MAKE_REG | LANDLOCK_TRUNCATE;

static uint64_t landlock_handled(int version)
{
	uint64_t rights = LANDLOCK_EXECUTE | LANDLOCK_WRITE_FILE | LANDLOCK_REMOVE_DIR |
			  LANDLOCK_REMOVE_FILE | LANDLOCK_MAKE_CHAR | LANDLOCK_MAKE_DIR |
			  LANDLOCK_MAKE_REG | LANDLOCK_MAKE_SOCK | LANDLOCK_MAKE_FIFO |
			  LANDLOCK_MAKE_BLOCK | LANDLOCK_MAKE_SYM;

	rights |= version >= 2 ? LANDLOCK_REFER : 0;
	return rights | (version >= 3 ? LANDLOCK_TRUNCATE : 0);
}

int landlock__version(void)
{
	long version = syscall(LANDLOCK_CREATE_RULESET, NULL, 0, LANDLOCK_ASK_VERSION);

	return version < 0 ? -errno : (int)version;
}

/* What is handled is forbidden; `also` is so beside all that changes files. */
static int landlock_restrict(const int *directories, size_t nr, uint64_t allowed, uint64_t also)
{
	int version = landlock__version(), rules, err = 0;
	struct landlock_rules ask = { .handled =
					      version > 0 ? landlock_handled(version) | also : 0 };

	if (version <= 0)
		return -EOPNOTSUPP;
	rules = (int)syscall(LANDLOCK_CREATE_RULESET, &ask, sizeof(ask), 0);
	if (rules < 0)
		return -errno;
	for (size_t i = 0; i < nr && !err; i++) {
		const struct landlock_rule rule = { .allowed = allowed & ask.handled,
						    .directory = directories[i] };

		if (syscall(LANDLOCK_ADD_RULE, rules, LANDLOCK_BENEATH, &rule, 0))
			err = -errno;
	}
	if (!err && syscall(LANDLOCK_RESTRICT_SELF, rules, 0))
		err = -errno;
	close(rules);
	return err;
}

int landlock__restrict(const int *directories, size_t nr)
{
	return landlock_restrict(directories, nr, landlock_to_create, 0);
}

int landlock__restrict_to_keep(const int *directories, size_t nr)
{
	return landlock_restrict(directories, nr, landlock_to_create | LANDLOCK_REMOVE_FILE, 0);
}

int landlock__restrict_to_read(const int *directories, size_t nr)
{
	const uint64_t reads = LANDLOCK_READ_FILE | LANDLOCK_READ_DIR;

	return landlock_restrict(directories, nr, reads, reads);
}
