/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file.h: the file under a writer: complete chunks or nothing. A partial write is cut off again,
 * and on a full disk the trailer goes into the space reserved at the start.
 */
#ifndef IOSONAR_CAPTURE_FILE_H
#define IOSONAR_CAPTURE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct byte_out;

struct capture_file {
	int fd;
	struct byte_out *into; /* instead of fd: memory; or NULL */
	bool own, seekable, full;
	int full_err;	/* why: -ENOSPC, -EDQUOT or -EFBIG */
	uint64_t bytes; /* complete chunks and the file header */
	uint64_t reserve_at;
	uint32_t reserve_bytes;
};

/* path NULL: takes over fd. */
struct capture_place {
	const char *path;
	int fd;
	mode_t mode; /* of a file with a path; 0: 0600 */
	/* Opens the file at `path`: as capture_options has it. */
	int (*open)(void *arg);
	void *open_arg;
	struct byte_out *into; /* memory instead of a file: it gets no reserve */
	uint16_t version;      /* of the format; 0: CAPTURE_VERSION */
};

/* Opens or takes over, writes the header and the reserve. Prints a message on error. */
int capture_file__open(struct capture_file *file, const struct capture_place *place,
		       uint32_t reserve_bytes);
/* Sets the permissions of an opened regular file; others keep theirs. 0 or -errno, no message. */
int capture_file__set_mode(int fd, mode_t mode);
/* Warns that they could not be set. */
void capture_file__tell_mode(const char *path, mode_t mode, int err);
void capture_file__close(struct capture_file *file);
/* -ENOSPC for a full disk, a quota and a size limit alike: `full` is set. */
int capture_file__append(struct capture_file *file, const uint8_t *bytes, size_t nr);
/* Removes what was appended beyond this total, which frees space. */
int capture_file__take_back(struct capture_file *file, uint64_t bytes);
/* reserve_bytes bytes, into the reserve. */
int capture_file__fill_reserve(struct capture_file *file, const uint8_t *bytes);

#endif
