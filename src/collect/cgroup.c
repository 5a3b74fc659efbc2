/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/cgroup.h"

#include <fts.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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
