/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * opener.h: opens what a process runs from, for a process that may not. It keeps the right to look
 * into processes and only opens: /proc/PID/maps; regular files that PID has mapped, as they are in
 * PID's container; for a PID that has ended those that the kernel noted, by their path here;
 * /proc/PID/status and PID's own /tmp/perf-N.map; and debug files below /usr/lib/debug/.build-id.
 * It reads none of them.
 */
#ifndef IOSONAR_SYMBOL_OPENER_H
#define IOSONAR_SYMBOL_OPENER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum opener_what {
	OPENER_MAPS,
	OPENER_FILE,  /* of the mapping from start to end */
	OPENER_DEBUG, /* the debug file of a build-id, on this machine itself */
	OPENER_NOTED, /* mappings of a process that has ended, as lines of /proc/PID/maps */
	OPENER_STATUS,
	OPENER_PERF_MAP, /* /tmp/perf-N.map in the process's root, if it is the process's own */
};

enum { OPENER_BUILD_ID_MAX = 64 };

struct opener_request {
	enum opener_what what;
	uint32_t pid;
	uint32_t inner_pid; /* N of perf-N.map: its number in its own namespace */
	uint64_t start, end;
	uint64_t inode;	     /* that the path must lead to */
	char path[PATH_MAX]; /* in the process's own root */
	uint32_t build_id_len;
	unsigned char build_id[OPENER_BUILD_ID_MAX];
};

struct mapping_notes;

struct symbol_opener {
	const char *root;
	struct mapping_notes *notes; /* NULL: processes that have ended are unknown */
	char *noted_text;	     /* of the last question, */
	int noted_fd;		     /* in this file */
	/*
	 * Opens mappings themselves, even of deleted or replaced files. Requires
	 * CAP_CHECKPOINT_RESTORE, since Linux 5.9 (12886f8ab10c). Else by path.
	 */
	bool by_link;
};

/* Gives up every capability that it does not need. */
void symbol_opener__init(struct symbol_opener *opener, const char *root);
/* A descriptor, or a negative errno. -ENOENT, -ESRCH: no such process (any more). */
int symbol_opener__open(const struct symbol_opener *opener, const struct opener_request *request);
/* Allows only the system calls that it needs; cannot be undone. */
void symbol_opener__confine(const struct symbol_opener *opener);
void symbol_opener__serve(const struct symbol_opener *opener, int socket); /* until its end */
/* The other end of the socket: the same answer. -EPIPE: the opener is gone. */
int symbol_opener__ask(int socket, const struct opener_request *request);

#endif
