/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exit.h: how can a run end? The program's exit codes, as its manual lists them.
 */
#ifndef IOSONAR_BASE_EXIT_H
#define IOSONAR_BASE_EXIT_H

/* How a run can end; if several apply, exit_code__of picks by the design's order: 2 1 4 5 6 3. */
enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_LOST = 3,
	EXIT_CANNOT = 4,
	EXIT_CAME_TRUE = 5,
	EXIT_FOUND = 6,
};

/*
 * Maps a negative errno to an exit code: EINVAL, ENODEV: usage; EPERM, EACCES, EOPNOTSUPP: cannot;
 * EPIPE (the reader is gone): done; others: failed. A value >= 0 is an exit code already.
 */
int exit_code__of(int err);

#endif
