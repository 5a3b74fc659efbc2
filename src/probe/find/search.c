/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * search.c: what all searches for probes share: compare names with the pattern, name a probe, note
 * misses and report what does not exist.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/grow.h"
#include "base/log.h"
#include "base/nearest.h"
#include "probe/find/inside.h"

enum { FIND_READ_BYTES = 8192 }; /* room for the next part of a file, at least */

bool find__is_glob(const char *text)
{
	return strpbrk(text, "*?[");
}

bool find__matches(const char *glob, const char *text)
{
	return find__is_glob(glob) ? !fnmatch(glob, text, 0) : !strcmp(glob, text);
}

int find__name(const struct find_naming *naming, const char *name)
{
	char whole[512];

	if (naming->kind == PROBE_TRACEPOINT)
		snprintf(whole, sizeof(whole), "%s", name);
	else
		snprintf(whole, sizeof(whole), "%s:%s", probe_kind__word(naming->kind), name);
	return find__matches(naming->glob, whole) ? naming->fn(naming->arg, whole) : 0;
}

int find__set_name(struct probe *probe, const char *prefix, const char *name)
{
	if (asprintf(&probe->name, "%s%s%s", prefix ? prefix : "", prefix ? ":" : "", name) < 0) {
		probe->name = NULL;
		return -ENOMEM;
	}
	probe->func = strrchr(probe->name, ':');
	probe->func = probe->func ? probe->func + 1 : probe->name;
	return 0;
}

int find__miss(struct find_job *job, const char *name, const char *why)
{
	struct find_misses *all = job->misses;
	struct find_miss miss = { strdup(name), strdup(why) };

	if (!miss.name || !miss.why || GROW_BY_ONE(all->misses, all->nr)) {
		free(miss.name);
		free(miss.why);
		return -ENOMEM;
	}
	all->misses[all->nr++] = miss;
	return 0;
}

void find_misses__free(struct find_misses *misses)
{
	while (misses->nr--) {
		free(misses->misses[misses->nr].name);
		free(misses->misses[misses->nr].why);
	}
	free(misses->misses);
	*misses = (struct find_misses){ 0 };
}

int find__unknown(const struct find_job *job, const char *what, const char *reason,
		  const char *const *names, size_t nr)
{
	size_t prefix = (size_t)(job->rest - job->spec);
	const char *near;

	if (find__is_glob(job->rest))
		return log_err(-EINVAL, "no %s matches '%s'; 'iosonar events' lists the events",
			       what, job->spec);
	near = nearest__word(job->rest, names, nr);
	if (near)
		return log_err(-EINVAL, "unknown %s '%s'%s; did you mean %.*s%s?", what, job->rest,
			       reason, (int)prefix, job->spec, near);
	return log_err(-EINVAL, "unknown %s '%s'%s; 'iosonar events' lists the events", what,
		       job->rest, reason);
}

void find__nearer(const char *word, const char *candidate, char *near, size_t size)
{
	const char *both[] = { near, candidate };
	const char *nearer =
		*near ? nearest__word(word, both, 2) : nearest__word(word, both + 1, 1);

	if (nearer == candidate && strlen(candidate) < size)
		strcpy(near, candidate);
}

/* The kernel's files report no size and come in parts. */
static char *find_read_fd(int fd, size_t most_bytes)
{
	size_t room = 0, nr = 0;
	char *text = NULL;
	ssize_t got = 1;
	int err = 0;

	while (!err && got) {
		if (nr + 1 >= room)
			err = room > most_bytes ? -EFBIG : GROW(text, room, nr + FIND_READ_BYTES);
		if (err)
			break;
		got = read(fd, text + nr, room - nr - 1);
		if (got < 0)
			err = errno == EINTR ? 0 : -errno;
		else
			nr += (size_t)got;
	}
	if (err) {
		free(text);
		errno = -err;
		return NULL;
	}
	text[nr] = 0;
	return text;
}

char *find__read_file(size_t most_bytes, const char *path, ...)
{
	char *whole, *text;
	va_list args;
	int fd, err;

	va_start(args, path);
	if (vasprintf(&whole, path, args) < 0)
		whole = NULL;
	va_end(args);
	fd = whole ? open(whole, O_RDONLY | O_CLOEXEC) : -1;
	err = whole ? errno : ENOMEM;
	free(whole);
	errno = err;
	if (fd < 0)
		return NULL;
	text = find_read_fd(fd, most_bytes);
	err = errno;
	close(fd);
	errno = err;
	return text;
}
