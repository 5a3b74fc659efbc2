/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd.h: what a command is. To add one: write src/cmd/NAME.c with a `const struct cmd cmd_NAME`
 * at its top, add its line to src/cmd/commands.c, its page man/iosonar-NAME.8 and its test.
 */
#ifndef IOSONAR_CMD_CMD_H
#define IOSONAR_CMD_CMD_H

#include "base/exit.h"
#include "base/options.h"
#include "collect/needs.h"

struct object;
struct session;
struct session_view;

/*
 * A view that others show beside theirs (report): begin makes the state ready once its options are
 * there, and says what is wrong with them; end frees what it holds, also of a state that never was.
 */
struct cmd_part {
	const struct session_view *view;
	int (*begin)(void *state); /* may be NULL */
	void (*end)(void *state);
};

/* Lists for a struct cmd; NULL ends them. */
#define CMD_GROUPS(...)                      \
	(const struct option_group *const[]) \
	{                                    \
		__VA_ARGS__, NULL            \
	}

#define CMD_OBJECTS(...)               \
	(const struct object *const[]) \
	{                              \
		__VA_ARGS__, NULL      \
	}

struct cmd {
	const char *name;
	const char *group;    /* "I/O", "files", …: the heading in `iosonar help` */
	const char *brief;    /* the question it answers */
	const char *synopsis; /* what follows the name in Usage: "[options] [-- COMMAND…]" */
	const struct option_group *const *groups; /* shared ones; CMD_GROUPS */
	const struct option_group *own;		  /* its own options; may be NULL */
	size_t view_size; /* bytes of the command's state; own options lie at its start, zeroed */
	const struct object *const *objects; /* all that -o json prints; CMD_OBJECTS */
	/*
	 * 0, a negative errno (said already), or a positive exit code. argv[0] is the COMMAND after
	 * "--" or NULL. The view is freed by the door.
	 */
	int (*run)(void *view, const struct options *options, char **argv);
	const struct cmd_part *part; /* NULL: it stands alone */
	unsigned int needs; /* enum need: what it takes from the kernel when it runs live */
};

#endif
