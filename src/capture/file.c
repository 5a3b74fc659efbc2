/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/log.h"
#include "base/place.h"
#include "capture/bytes.h"
#include "capture/chunk.h"
#include "capture/crc32c.h"

static int file_write_all(struct capture_file *file, const uint8_t *bytes, size_t nr, uint64_t at)
{
	if (file->into) {
		byte_out__put(file->into, bytes, nr);
		return file->into->failed ? -ENOMEM : 0;
	}
	while (nr) {
		ssize_t done = file->seekable ? pwrite(file->fd, bytes, nr, (off_t)at)
					      : write(file->fd, bytes, nr);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		bytes += done;
		at += (uint64_t)done;
		nr -= (size_t)done;
	}
	return 0;
}

int capture_file__append(struct capture_file *file, const uint8_t *bytes, size_t nr)
{
	int err = file_write_all(file, bytes, nr, file->bytes);

	if (!err) {
		file->bytes += nr;
		return 0;
	}
	/* Half a chunk is useless. If even this fails, the reader still recognizes a cut file. */
	if (file->seekable && ftruncate(file->fd, (off_t)file->bytes))
		err = err == -ENOSPC ? err : -EIO;
	if (err != -ENOSPC && err != -EDQUOT && err != -EFBIG)
		return err;
	file->full = true;
	file->full_err = err;
	return -ENOSPC;
}

int capture_file__take_back(struct capture_file *file, uint64_t bytes)
{
	if (!file->seekable)
		return -ESPIPE;
	if (ftruncate(file->fd, (off_t)bytes))
		return -errno;
	file->bytes = bytes;
	file->full = false;
	return 0;
}

int capture_file__fill_reserve(struct capture_file *file, const uint8_t *bytes)
{
	if (!file->reserve_bytes)
		return -ENOSPC;
	return file_write_all(file, bytes, file->reserve_bytes, file->reserve_at);
}

/* Real zeros, not a hole: on a full disk only allocated blocks can be overwritten. */
static int file_put_reserve(struct capture_file *file)
{
	struct capture_chunk chunk = { .type = CAPTURE_RESERVE };
	uint8_t *bytes = calloc(1, file->reserve_bytes);
	int err;

	if (!bytes)
		return -ENOMEM;
	chunk.length = file->reserve_bytes - CAPTURE_CHUNK_BYTES;
	chunk.crc = crc32c(bytes + CAPTURE_CHUNK_BYTES, chunk.length);
	capture_chunk__put(&chunk, bytes);
	file->reserve_at = file->bytes;
	err = capture_file__append(file, bytes, file->reserve_bytes);
	free(bytes);
	return err;
}

static int file_begin(struct capture_file *file, uint16_t version)
{
	uint8_t header[CAPTURE_FILE_BYTES];
	int err;

	capture_file__put_header(header, version ?: CAPTURE_VERSION);
	err = capture_file__append(file, header, sizeof(header));
	if (err || !file->reserve_bytes)
		return err;
	return file_put_reserve(file);
}

/* Only a regular file at offset 0, not opened to append, can be written at any place. */
static bool file_is_seekable(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && !(flags & O_APPEND) && !lseek(fd, 0, SEEK_CUR) && !ftruncate(fd, 0);
}

int capture_file__set_mode(int fd, mode_t mode)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (st.st_mode & 0777) == mode)
		return 0;
	return fchmod(fd, mode) ? -errno : 0;
}

void capture_file__tell_mode(const char *path, mode_t mode, int err)
{
	log_warn("cannot set the permissions of %s to %03o: %s", path, mode, strerror(-err));
}

/* Without O_TRUNC: a rejected file stays unchanged; file_is_seekable empties the others. */
static int file_open(const char *path, mode_t mode)
{
	struct place place;
	int err = place__find(&place, path), fd;

	if (err)
		return err;
	fd = place__open(&place, O_WRONLY | O_CREAT, mode);
	if (fd < 0)
		return log_err(fd, "cannot create '%s': %s", path, strerror(-fd));
	err = place.is_descriptor ? 0 : capture_file__set_mode(fd, mode);
	if (err)
		capture_file__tell_mode(path, mode, err);
	return fd;
}

static int file_start(struct capture_file *file, const struct capture_place *place,
		      uint32_t reserve_bytes)
{
	int err;

	file->seekable = file_is_seekable(file->fd);
	if (file->seekable && reserve_bytes > CAPTURE_CHUNK_BYTES)
		file->reserve_bytes = reserve_bytes;
	err = file_begin(file, place->version);
	if (!err)
		return 0;
	capture_file__close(file);
	return log_err(err, "cannot write '%s': %s", place->path ?: "capture",
		       strerror(file->full ? -file->full_err : -err));
}

int capture_file__open(struct capture_file *file, const struct capture_place *place,
		       uint32_t reserve_bytes)
{
	memset(file, 0, sizeof(*file));
	file->own = place->path;
	file->into = place->into;
	if (place->into) {
		file->fd = -1;
		return file_begin(file, place->version);
	}
	if (place->open)
		file->fd = place->open(place->open_arg);
	else
		file->fd = place->path ? file_open(place->path, place->mode ?: 0600) : place->fd;
	return file->fd < 0 ? file->fd : file_start(file, place, reserve_bytes);
}

void capture_file__close(struct capture_file *file)
{
	if (file->own && file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}
