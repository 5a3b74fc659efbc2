/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "base/text.h"

static int path_append(struct path *path, const char *text)
{
	const size_t len = strlen(text);

	if (GROW(path->text, path->room, path->len + len + 1))
		return -ENOMEM;
	memcpy(path->text + path->len, text, len + 1);
	path->len += len;
	return 0;
}

int path__enter(struct path *path, uint32_t depth, const char *name)
{
	const uint32_t around = depth < PATH_MOST ? depth : PATH_MOST;
	size_t start;
	int err = 0;

	path->len = around ? path->ends[around - 1] : 0;
	if (around)
		err = path_append(path, depth > PATH_MOST ? ";...;" : ";");
	start = path->len;
	err = err ? err : path_append(path, name);
	if (!err)
		text__replace(path->text + start, ';', ':');
	if (depth < PATH_MOST)
		path->ends[depth] = path->len;
	path->cut += depth > PATH_MOST;
	return err;
}

void path__free(struct path *path)
{
	free(path->text);
	*path = (struct path){ 0 };
}
