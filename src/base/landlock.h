/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * landlock.h: which files may this process still create, change or run? Only those it has open, and
 * those in directories that it names. Enforced by the kernel (Linux 5.13 and later, unless switched
 * off at boot); costs four system calls and one for each directory. It cannot be undone, children
 * inherit it, and only the last of these restricts reading.
 */
#ifndef IOSONAR_BASE_LANDLOCK_H
#define IOSONAR_BASE_LANDLOCK_H

#include <stddef.h>

/* The version of the kernel's interface; a negative errno: it has none, or it is switched off. */
int landlock__version(void);

/*
 * Allows creating and writing files only in these open directories and below them; nr 0: nowhere.
 * Requires no_new_privs. 0 or a negative errno; -EOPNOTSUPP: this kernel has no Landlock.
 */
int landlock__restrict(const int *directories, size_t nr);
/* The same, but files there may be renamed and removed, too. */
int landlock__restrict_to_keep(const int *directories, size_t nr);

/* Nothing is created or written, and files and directories are read only below these. */
int landlock__restrict_to_read(const int *directories, size_t nr);

#endif
