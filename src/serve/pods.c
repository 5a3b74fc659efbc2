/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/pods.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include "base/scout.h"

static bool pods_is(const void *links, uint32_t number, const void *id)
{
	return !strcmp(((const struct pod_link *)links)[number].id, id);
}

static const struct pod_link *pods_get(const struct pods *pods, const char *id)
{
	uint32_t number =
		index__find(&pods->by_id, index__mix_text(0, id), pods_is, pods->links, id);

	return number == INDEX_NONE ? NULL : &pods->links[number];
}

/* What finds no room keeps its id as its name. */
static void pods_add(struct pods *pods, const char *name)
{
	struct pod_link link;

	if (pods->by_id.nr >= PODS_MOST || !pod_link__parse(&link, name) ||
	    index__reserve(&pods->by_id, &pods->links, sizeof(*pods->links)))
		return;
	pods->links[index__add(&pods->by_id, index__mix_text(0, link.id))] = link;
}

static void pods_empty(struct pods *pods)
{
	free(pods->links);
	pods->links = NULL;
	index__free(&pods->by_id);
}

static void pods_read_far(struct pods *pods)
{
	char *names = NULL;
	ssize_t bytes = scout__names(pods->scout, pods->directory, &names);

	if (bytes < 0)
		return;
	pods_empty(pods);
	for (const char *name = names; name < names + bytes; name += strlen(name) + 1)
		pods_add(pods, name);
	free(names);
}

/* Links of containers that are gone go, too: their series have their names. */
static void pods_read(struct pods *pods)
{
	const struct dirent *entry;
	DIR *directory;

	pods->is_fresh = true;
	if (pods->scout) {
		pods_read_far(pods);
		return;
	}
	directory = opendir(pods->directory);
	if (!directory)
		return;
	pods_empty(pods);
	while ((entry = readdir(directory)))
		pods_add(pods, entry->d_name);
	closedir(directory);
}

void pods__begin(struct pods *pods)
{
	pods->is_fresh = false;
}

const struct pod_link *pods__find(struct pods *pods, const char *id)
{
	const struct pod_link *link = pods_get(pods, id);

	if (link || pods->is_fresh)
		return link;
	pods_read(pods);
	return pods_get(pods, id);
}

void pods__free(struct pods *pods)
{
	pods_empty(pods);
}
