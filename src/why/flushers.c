/* SPDX-License-Identifier: BSD-2-Clause */
#include "why/flushers.h"

#include <string.h>

/* NULL: there are too many. */
static struct flusher *flushers_find(struct flushers *f, const char *comm)
{
	struct flusher *flusher;

	for (size_t i = 0; i < f->nr; i++)
		if (!strncmp(f->of[i].comm, comm, sizeof(f->of[i].comm) - 1))
			return &f->of[i];
	if (f->nr == FLUSHERS_MOST)
		return NULL;
	flusher = &f->of[f->nr++];
	memcpy(flusher->comm, comm, strnlen(comm, sizeof(flusher->comm) - 1));
	return flusher;
}

static void flusher_count(struct flusher *flusher, bool is_write)
{
	flusher->writes += is_write;
	flusher->flushes += !is_write;
}

void flushers__add(struct flushers *f, const char *comm, bool is_write)
{
	struct flusher *flusher = flushers_find(f, comm);

	flusher_count(&f->all, is_write);
	if (flusher)
		flusher_count(flusher, is_write);
}

/* Each of them asks for at most two: before it and after it. */
bool flushers__are_of_writes(const struct flushers *f)
{
	return f->all.writes && 4 * f->all.writes >= f->all.flushes;
}

const struct flusher *flushers__main(const struct flushers *f)
{
	const bool of_writes = flushers__are_of_writes(f);
	const struct flusher *most = NULL;

	for (size_t i = 0; i < f->nr; i++) {
		const struct flusher *one = &f->of[i];

		if (!most ||
		    (of_writes ? one->writes > most->writes : one->flushes > most->flushes))
			most = one;
	}
	return most;
}

/* A name that fills its 15 bytes may be cut: only what has its end is known. */
bool flusher__disk(const struct flusher *flusher, char *buf, size_t size)
{
	static const char journal[] = "jbd2/";
	const char *disk = flusher->comm + sizeof(journal) - 1;
	const char *end;

	if (strncmp(flusher->comm, journal, sizeof(journal) - 1) != 0)
		return false;
	end = strrchr(disk, '-');
	if (!end || end == disk || (size_t)(end - disk) >= size)
		return false;
	memcpy(buf, disk, (size_t)(end - disk));
	buf[end - disk] = 0;
	return true;
}
