/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "device/mounts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"

/* \040 is a blank, \011 a tab, \134 a backslash. */
static void mount_unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text == '\\' && strspn(text + 1, "01234567") >= 3) {
			*to++ = (char)((text[1] - '0') * 64 + (text[2] - '0') * 8 + text[3] - '0');
			text += 3;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}

static void mount_free(struct mount *mount)
{
	free(mount->root);
	free(mount->at);
	free(mount->type);
	free(mount->source);
}

/* 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue */
static bool mount_parse(const char *line, struct mount *mount)
{
	const char *rest = strstr(line, " - ");
	unsigned int major, minor;

	*mount = (struct mount){ 0 };
	if (rest)
		sscanf(rest + 3, "%ms %ms", &mount->type, &mount->source);
	mount->type = mount->type ?: strdup("");
	mount->source = mount->source ?: strdup("");
	if (sscanf(line, "%*s %*s %9u:%9u %ms %ms", &major, &minor, &mount->root, &mount->at) !=
		    4 ||
	    !mount->type || !mount->source) {
		mount_free(mount);
		return false;
	}
	mount->dev = major << 20 | minor;
	mount_unescape(mount->root);
	mount_unescape(mount->at);
	mount_unescape(mount->source);
	return true;
}

int mounts__read(struct mounts *m, const char *path)
{
	FILE *file = fopen(path, "re");
	struct mount mount;
	char *line = NULL;
	size_t size = 0;
	int err = 0;

	while (file && !err && getline(&line, &size, file) > 0) {
		if (!mount_parse(line, &mount))
			continue;
		err = GROW_BY_ONE(m->mounts, m->nr) ? -ENOMEM : 0;
		if (err)
			mount_free(&mount);
		else
			m->mounts[m->nr++] = mount;
	}
	free(line);
	if (file)
		fclose(file);
	return err;
}

void mounts__free(struct mounts *m)
{
	for (size_t i = 0; i < m->nr; i++)
		mount_free(&m->mounts[i]);
	free(m->mounts);
	memset(m, 0, sizeof(*m));
}

const struct mount *mounts__find(const struct mounts *m, const char *path)
{
	const struct mount *best = NULL;

	for (size_t i = 0; i < m->nr; i++) {
		const char *at = m->mounts[i].at;
		size_t len = strlen(at);
		bool below = !strcmp(at, "/") ||
			     (!strncmp(path, at, len) && (!path[len] || path[len] == '/'));

		if (below && (!best || len >= strlen(best->at)))
			best = &m->mounts[i];
	}
	return best;
}

const struct mount *mounts__of_dev(const struct mounts *m, uint32_t dev)
{
	for (size_t i = 0; i < m->nr; i++)
		if (m->mounts[i].dev == dev)
			return &m->mounts[i];
	return NULL;
}

const struct mount *mounts__of_disk(const struct mounts *m, const char *name)
{
	for (size_t i = 0; i < m->nr; i++)
		if (!strncmp(m->mounts[i].source, "/dev/", 5) &&
		    !strcmp(m->mounts[i].source + 5, name))
			return &m->mounts[i];
	return NULL;
}
