/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* versionsort, O_PATH */
#include "base/scout.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/landlock.h"
#include "base/log.h"
#include "base/privilege.h"

enum { SCOUT_DIRECTORIES = 8 };

struct scout_names {
	char path[256];
	int err;
	uint32_t bytes;
	char names[SCOUT_BYTES - 264];
};
_Static_assert(sizeof(struct scout_names) == SCOUT_BYTES, "it fills the memory");

/* ---- in the scout ---- */

static int scout_is_name(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
}

static void scout_answer_names(void *shared)
{
	struct scout_names *all = shared;
	struct dirent **names;
	int nr = scandir(all->path, &names, scout_is_name, versionsort);

	all->bytes = 0;
	all->err = nr < 0 ? -errno : 0;
	for (int i = 0; i < nr; i++) {
		size_t len = strlen(names[i]->d_name) + 1;

		if (len > sizeof(all->names) - all->bytes)
			all->err = -E2BIG;
		else
			memcpy(all->names + all->bytes, names[i]->d_name, len);
		all->bytes += all->err ? 0 : (uint32_t)len;
		free(names[i]);
	}
	if (nr >= 0)
		free(names);
}

static void scout_obey(const void *arg, uint32_t order, struct deputy_answer *answer)
{
	const struct scout *scout = arg;

	if (order == SCOUT_NAMES)
		scout_answer_names(scout->shared);
	else if (order < NR_SCOUT_QUESTIONS && scout->answers[order])
		scout->answers[order](scout->shared);
	else
		answer->err = -ENOSYS;
}

/* A directory that is not there now is not read later. */
static void scout_confine(const void *arg)
{
	const struct scout *scout = arg;
	const struct privilege_needs needs = { .role = PRIVILEGE_LOOKS };
	int directories[SCOUT_DIRECTORIES] = { -1 };
	size_t nr = 0;

	for (const char *const *path = scout->directories; *path && nr < SCOUT_DIRECTORIES;
	     path++) {
		directories[nr] = open(*path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		nr += directories[nr] >= 0;
	}
	landlock__restrict_to_read(directories, nr);
	while (nr)
		close(directories[--nr]);
	privilege__filter_calls(&needs);
}

/* ---- in its parent ---- */

int scout__fork(struct scout *scout)
{
	const struct deputy_work work = {
		.name = "iosonar-scout",
		.has_no_rights = true,
		.confine = scout_confine,
		.obey = scout_obey,
		.arg = scout,
	};
	void *shared =
		mmap(NULL, SCOUT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int err;

	if (shared == MAP_FAILED)
		return log_no_memory();
	scout->shared = shared;
	err = deputy__fork(&scout->deputy, &work);
	if (!err)
		return 0;
	munmap(shared, SCOUT_BYTES);
	scout->shared = NULL;
	return log_err(err, "cannot start the process that reads /sys: %s", strerror(-err));
}

int scout__ask(const struct scout *scout, enum scout_question question)
{
	struct deputy_answer answer;

	return deputy__ask(&scout->deputy, question, &answer) ?: answer.err;
}

ssize_t scout__names(const struct scout *scout, const char *path, char **names)
{
	struct scout_names *all = scout->shared;
	int err;

	snprintf(all->path, sizeof(all->path), "%s", path);
	err = scout__ask(scout, SCOUT_NAMES) ?: all->err;
	if (err)
		return err;
	*names = malloc(all->bytes + 1);
	if (!*names)
		return -ENOMEM;
	memcpy(*names, all->names, all->bytes);
	return all->bytes;
}

void scout__end(struct scout *scout)
{
	deputy__end(&scout->deputy);
	if (scout->shared)
		munmap(scout->shared, SCOUT_BYTES);
	scout->shared = NULL;
}
