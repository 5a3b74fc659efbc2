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
 * A view that another command (report) includes: begin prepares the state once its options are set,
 * and reports invalid options; end frees it, also if begin was never called.
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
	 * Returns 0, a negative errno (said already), or a positive exit code. argv[0] is the
	 * COMMAND after "--" or NULL. main frees the view.
	 */
	int (*run)(void *view, const struct options *options, char **argv);
	const struct cmd_part *part; /* NULL: not part of another command */
	unsigned int needs;	     /* enum need: what a live run requires from the kernel */
};

#endif
