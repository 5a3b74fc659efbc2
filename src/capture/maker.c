/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* asprintf */
#include "capture/maker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/landlock.h"
#include "base/log.h"
#include "base/place.h"
#include "base/privilege.h"
#include "capture/file.h"

/*
 * FILE may be a symbolic link: FILE itself is opened at the link's target, its parts are created
 * beside the link. Both directories are kept open, so that no path is looked up later.
 */
enum maker_where { MAKER_FILE, MAKER_PARTS, MAKER_DIRECTORIES };

struct maker_work {
	int directories[MAKER_DIRECTORIES];
	const char *names[MAKER_DIRECTORIES]; /* of FILE, there */
	unsigned int files;		      /* --files; 0: all are kept */
	mode_t mode;
};

/* ---- names ---- */

/* With --files the names are reused in turn, so that the newest part replaces the oldest. */
static unsigned int maker_number(unsigned int files, unsigned int part)
{
	return files ? part % files : part;
}

static char *maker_name(const char *first, unsigned int number)
{
	char *name = NULL;

	if (!number)
		return strdup(first);
	return asprintf(&name, "%s.%u", first, number) < 0 ? NULL : name;
}

static unsigned int maker_files(const struct file_options *options)
{
	return options->files.given ? (unsigned int)options->files.value : 0;
}

char *maker__path(const struct file_options *options, unsigned int part)
{
	return maker_name(options->write, maker_number(maker_files(options), part));
}

/* ---- in the deputy ---- */

static void maker_obey(const void *arg, uint32_t part, struct deputy_answer *answer)
{
	const struct maker_work *work = arg;
	unsigned int number = maker_number(work->files, part);
	enum maker_where where = number ? MAKER_PARTS : MAKER_FILE;
	char *name = maker_name(work->names[where], number);
	int fd = name ? place__create_in(work->directories[where], name, work->mode) : -ENOMEM;

	free(name);
	if (fd < 0) {
		answer->err = fd;
		return;
	}
	answer->fd = fd;
	answer->warning = capture_file__set_mode(fd, work->mode);
}

/* Without Landlock in the kernel, only the system call filter confines it. */
static void maker_confine(const void *arg)
{
	const struct maker_work *work = arg;
	const struct privilege_needs needs = { .role = PRIVILEGE_MAKES };

	landlock__restrict(work->directories, MAKER_DIRECTORIES);
	privilege__filter_calls(&needs);
}

/* ---- in its parent ---- */

static int maker_start(struct maker *maker, const struct maker_work *makes)
{
	struct deputy_work work = {
		.name = "iosonar-parts",
		.nr_files = MAKER_DIRECTORIES,
		.confine = maker_confine,
		.obey = maker_obey,
		.arg = makes,
	};
	int err;

	memcpy(work.files, makes->directories, sizeof(makes->directories));
	err = deputy__fork(&maker->deputy, &work);
	return err ? log_err(err, "cannot start the process that creates the files of -w: %s",
			     strerror(-err))
		   : 0;
}

/* `path`: FILE, or its link target. */
static int maker_open_directory(struct maker_work *work, enum maker_where where, const char *path)
{
	const char *slash = strrchr(path, '/');

	work->names[where] = slash ? slash + 1 : path;
	work->directories[where] = place__open_directory(path);
	return work->directories[where] < 0 ? work->directories[where] : 0;
}

int maker__fork(struct maker *maker, const struct file_options *options)
{
	struct maker_work work = {
		.directories = { -1, -1 },
		.files = maker_files(options),
		.mode = options__mode(options),
	};
	struct place place;
	int err = place__find(&place, options->write);

	maker->options = options;
	err = err ?: maker_open_directory(&work, MAKER_FILE, place.path);
	err = err ?: maker_open_directory(&work, MAKER_PARTS, options->write);
	err = err ?: maker_start(maker, &work);
	for (int i = 0; i < MAKER_DIRECTORIES; i++)
		if (work.directories[i] >= 0)
			close(work.directories[i]);
	return err;
}

static int maker_tell(const struct maker *maker, const char *path, int gone,
		      const struct deputy_answer *answer)
{
	if (gone)
		return log_err(
			-EIO,
			"cannot create '%s': the process that creates the files of -w has ended",
			path);
	if (answer->err)
		return log_err(answer->err, "cannot create '%s': %s", path, strerror(-answer->err));
	if (answer->warning)
		capture_file__tell_mode(path, options__mode(maker->options), answer->warning);
	return answer->fd;
}

int maker__open(const struct maker *maker, unsigned int part)
{
	char *path = maker__path(maker->options, part);
	struct deputy_answer answer;
	int gone, fd;

	if (!path)
		return log_err(-ENOMEM, "out of memory");
	gone = deputy__ask(&maker->deputy, part, &answer);
	fd = maker_tell(maker, path, gone, &answer);
	free(path);
	return fd;
}
