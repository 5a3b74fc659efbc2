/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ring_file.h: a file of a ring: its name, and what the manifest says about it. A name is
 * HOST.BOOT_ID.NUMBER.cap; numbers count from 1 in each boot, and a name is never used again. Until
 * a file is complete it has a temporary name, which begins with a dot. What the manifest says is
 * read from the file itself.
 *
 *	db7.6a1f9c1e-….000012.cap      .db7.6a1f9c1e-….000013.cap.part
 *
 *	{"file":"db7.6a1f9c1e-….000012.cap","host":"db7","boot_id":"6a1f9c1e-…","capture_id":"…",
 *	 "number":12,"begin_ns":…,"end_ns":…,"records":81920,"lost":0,"bytes":812345,
 *	 "ended":"continued","sha256":"…"}
 */
#ifndef IOSONAR_CAPTURE_RING_FILE_H
#define IOSONAR_CAPTURE_RING_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RING_NAME = 192, RING_HOST = 64 };
#define RING_MANIFEST "manifest.jsonl"

/* HOST.BOOT_ID; what does not fit a file's name becomes '_'. Returns buf. */
char *ring_name__stem(char buf[RING_NAME], const char *host, const char *boot_id);
char *ring_name__make(char buf[RING_NAME], const char *stem, uint32_t number);
char *ring_name__temporary(char buf[RING_NAME], const char *stem, uint32_t number);
/* Is this the name of a complete file? Its number; stem: RING_NAME bytes, or NULL. 0: it is not. */
uint32_t ring_name__number(const char *name, char *stem);
/* Likewise of a file with a temporary name. */
uint32_t ring_name__temporary_number(const char *name, char *stem);

/*
 * The line of the manifest, without its end, malloced; *bytes: the size of the file. Reads all of
 * it; takes over the descriptor. NULL and *err: -EBADMSG: not a complete capture; -EIO; -ENOMEM.
 */
char *ring_file__line(int fd, const char *name, uint64_t *bytes, int *err);

#endif
