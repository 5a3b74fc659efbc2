/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_tree.h: a machine made of plain files, for tests of the finder: what a spec finds below it,
 * and what is said.
 */
#ifndef IOSONAR_TESTS_PROBE_TREE_H
#define IOSONAR_TESTS_PROBE_TREE_H

#include <bpf/btf.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "probe/find/find.h"
#include "tap.h"

static char tree[] = "/tmp/iosonar-probe.XXXXXX";

static void tree_write(const char *path, const void *bytes, size_t size)
{
	char full[PATH_MAX], *slash;
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", tree, path);
	for (slash = full + strlen(tree); (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		mkdir(full, 0777);
		*slash = '/';
	}
	file = fopen(full, "w");
	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file))
		printf("Bail out! %s: %s\n", full, strerror(errno)), exit(1);
}

__attribute__((unused)) static void tree_put(const char *path, const char *text)
{
	tree_write(path, text, strlen(text));
}

__attribute__((unused)) static void tree_put_btf(const char *path, const struct btf *btf)
{
	__u32 size;
	const void *bytes = btf__raw_data(btf, &size);

	tree_write(path, bytes, size);
}

static int tree_unlink(const char *path, const struct stat *status, int flag, struct FTW *walk)
{
	(void)status, (void)flag, (void)walk;
	return remove(path);
}

__attribute__((unused)) static void tree_remove(const char *path)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s%s", tree, path);
	nftw(full, tree_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- what is found ---- */

static struct probe_list found;
static struct find_misses missed;
static char said[4096];

static void forget(void)
{
	probe_list__free(&found);
	find_misses__free(&missed);
}

typedef int (*finder_fn)(struct finder *finder, const char *spec, struct probe_list *list,
			 struct find_misses *misses);

/* Fills found, missed and said. */
static int look(finder_fn fn, struct finder *finder, const char *spec)
{
	FILE *file = tmpfile();
	int saved = dup(STDERR_FILENO), err;
	size_t len;

	forget();
	dup2(fileno(file), STDERR_FILENO);
	err = fn(finder, spec, &found, &missed);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(file);
	len = fread(said, 1, sizeof(said) - 1, file);
	said[len] = '\0';
	fclose(file);
	return err;
}

__attribute__((unused)) static int find(struct finder *finder, const char *spec)
{
	return look(finder__find, finder, spec);
}

__attribute__((unused)) static int list(struct finder *finder, const char *spec)
{
	return look(finder__list, finder, spec);
}

/* "a b c": their names. */
__attribute__((unused)) static const char *found_names(void)
{
	static char text[4096];

	text[0] = 0;
	for (size_t i = 0; i < found.nr; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
			 found.probes[i].name);
	return text;
}

/* "dev:u32 rwbs:char[10]": the values of the first. */
__attribute__((unused)) static const char *found_fields(void)
{
	static char text[4096];
	char type[256];

	text[0] = 0;
	for (size_t i = 0; found.nr && i < found.probes[0].nr_fields; i++) {
		const struct probe_field *f = &found.probes[0].fields[i];

		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s:%s", i ? " " : "",
			 f->name, type__print(&f->type, type, sizeof(type)));
	}
	return text;
}

/* Refused with this error and one line. */
__attribute__((unused)) static bool refused(struct finder *finder, const char *spec, int want,
					    const char *words)
{
	char line[sizeof(said) + 16];
	int err = find(finder, spec);
	bool good;

	snprintf(line, sizeof(line), "iosonar: %s\n", words);
	good = ok(err == want && !strcmp(said, line) && !found.nr, "%s is refused", spec);
	if (!good)
		printf("# err %d, said: %s", err, said);
	return good;
}

#endif
