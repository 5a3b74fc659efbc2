/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE 1 /* asprintf */
#include "collect/cgroup.h"

#include <fts.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include "base/scout.h"

static const char cgroup_root[] = "/sys/fs/cgroup";

/* kernfs: on 64-bit machines a cgroup's inode number is its id. */
static int cgroup_walk(FTS *walk, uint64_t id, char *buf, size_t size)
{
	FTSENT *entry;

	while ((entry = fts_read(walk))) {
		if (entry->fts_info != FTS_D || entry->fts_statp->st_ino != id)
			continue;
		snprintf(buf, size, "%s",
			 entry->fts_level ? entry->fts_path + strlen(cgroup_root) : "/");
		return 1;
	}
	return 0;
}

char *cgroup__path(uint64_t id, char *buf, size_t size)
{
	char *roots[] = { (char *)cgroup_root, NULL };
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);

	if (!walk || !cgroup_walk(walk, id, buf, size))
		snprintf(buf, size, "cgroup-%" PRIu64, id);
	if (walk)
		fts_close(walk);
	return buf;
}

struct cgroup_question {
	uint64_t id;
	char path[PATH_MAX];
};

void cgroup__answer(void *shared)
{
	struct cgroup_question *q = shared;

	cgroup__path(q->id, q->path, sizeof(q->path));
}

char *cgroup__path_by(const struct scout *scout, uint64_t id, char *buf, size_t size)
{
	struct cgroup_question *q = scout->shared;

	q->id = id;
	if (scout__ask(scout, SCOUT_CGROUP))
		snprintf(buf, size, "cgroup-%" PRIu64, id);
	else
		snprintf(buf, size, "%s", q->path);
	return buf;
}

static bool cgroup_is_one(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC;
}

static uint32_t cgroup_level(char path[PATH_MAX])
{
	uint32_t level = 0;
	char *slash;

	while ((slash = strrchr(path, '/')) && slash > path) {
		*slash = 0;
		if (!cgroup_is_one(path))
			break;
		level++;
	}
	return level;
}

bool cgroup__find(const char *name, struct cgroup *cgroup)
{
	const char *root = strncmp(name, cgroup_root, strlen(cgroup_root)) ? cgroup_root : "";
	char path[PATH_MAX], *given = NULL;
	struct stat st;
	bool found;

	if (asprintf(&given, "%s/%s", root, name) < 0)
		return false;
	found = realpath(given, path) && !stat(path, &st) && S_ISDIR(st.st_mode) &&
		cgroup_is_one(path);
	free(given);
	if (found)
		*cgroup = (struct cgroup){ st.st_ino, cgroup_level(path) }; /* as above */
	return found;
}
