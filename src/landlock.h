/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * landlock.h: which files may this process still create, change or run? None but those it has open,
 * and new ones in a directory that it names. Asked of the kernel itself (Linux 5.13 and later, if
 * it was not switched off at boot); costs five system calls. It cannot be undone, children inherit
 * it, and reading is not restricted.
 */
#ifndef IOSONAR_LANDLOCK_H
#define IOSONAR_LANDLOCK_H

/* The version of the kernel's interface; a negative errno: it has none, or it is switched off. */
int landlock__version(void);

/*
 * beside: files may be created and written in its directory, and in the one that it links to; NULL:
 * nowhere. Takes no_new_privs. 0, or a negative errno: -EOPNOTSUPP: this kernel has no Landlock.
 */
int landlock__restrict(const char *beside);

#endif
