/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ring_list.h: the complete files of a ring, the oldest first, as its manifest lists them. The list
 * removes the oldest files to stay within its limits. A complete file is never written to or cut:
 * who has it open can read all of it. The manifest is replaced as a whole, so that a reader finds
 * the old one or the new one.
 */
#ifndef IOSONAR_CAPTURE_RING_LIST_H
#define IOSONAR_CAPTURE_RING_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ring_entry {
	char *name, *line; /* line: of the manifest */
	uint64_t bytes;
	bool gone; /* removed: only the newest, whose number is the last that was used */
};

struct ring_list {
	int directory; /* open for reading; stays the caller's */
	mode_t mode;   /* of the manifest */
	uint64_t size; /* limits: bytes of all files, */
	unsigned int files;
	struct ring_entry *entries;
	size_t nr, room;
	uint64_t manifest_bytes;
};

/*
 * The files that are there, in the order of the manifest. A file that the manifest lacks is added
 * to it; one that is not a complete capture is left alone, with a warning. Prints a message on
 * error.
 */
int ring_list__load(struct ring_list *list);
void ring_list__free(struct ring_list *list);
/* A file that is complete. Takes over the texts, even after an error: -ENOMEM. */
int ring_list__add(struct ring_list *list, char *name, char *line, uint64_t bytes);
/* Adds a file by what it says itself: as ring_file__line. */
int ring_list__add_file(struct ring_list *list, const char *name);
/* Gives a file that is complete and synced its final name, and adds it. 0 or a negative errno:
 * -EBADMSG: it is not a complete capture, and keeps its name. */
int ring_list__publish(struct ring_list *list, const char *from, const char *to);
/* The highest number of this stem; 0: none. */
uint32_t ring_list__last_number(const struct ring_list *list, const char *stem);
/* Wall clock of the newest record of this stem, as the manifest has it; 0: none. */
uint64_t ring_list__last_ns(const struct ring_list *list, const char *stem);
/* Removes the oldest file; false: there is none. */
bool ring_list__remove_oldest(struct ring_list *list);
/* Removes the oldest until nr_more files with more_bytes fit, too. */
void ring_list__make_room(struct ring_list *list, unsigned int nr_more, uint64_t more_bytes);
/* 0 or a negative errno, not logged. */
int ring_list__write_manifest(struct ring_list *list);

size_t ring_list__nr_files(const struct ring_list *list);
uint64_t ring_list__bytes(const struct ring_list *list); /* with the manifest */

/* These flags and no others: see PRIVILEGE_KEEPS. A descriptor or a negative errno. */
int ring_list__open(const struct ring_list *list, const char *name);
int ring_list__create(const struct ring_list *list, const char *name, mode_t mode);

#endif
