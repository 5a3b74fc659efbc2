/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/cgroup_names.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* One name of a path, or a part of it. */
struct name_part {
	const char *text;
	size_t len;
};

static bool part_ends_with(struct name_part part, const char *end)
{
	size_t len = strlen(end);

	return part.len >= len && !memcmp(part.text + part.len - len, end, len);
}

static bool part_starts_with(struct name_part part, const char *start)
{
	return part.len >= strlen(start) && !memcmp(part.text, start, strlen(start));
}

static bool part_is_of(struct name_part part, const char *letters)
{
	for (size_t i = 0; i < part.len; i++)
		if (!part.text[i] || !strchr(letters, part.text[i]))
			return false;
	return part.len;
}

static void part_copy(struct name_part part, char *buf, size_t size)
{
	snprintf(buf, size, "%.*s", (int)part.len, part.text);
}

static const char name_hex[] = "0123456789abcdef";

/* ---- units ---- */

/* systemd.unit(5); a cgroup has these. */
static bool part_is_unit(struct name_part part)
{
	static const char *const ends[] = { ".service", ".scope", ".mount", ".socket", ".swap" };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (part_ends_with(part, ends[i]))
			return part.len > strlen(ends[i]);
	return false;
}

/* systemd puts "_" before a name that the kernel could use, and before one that begins with it. */
static struct name_part part_without_escape(struct name_part part)
{
	if (part.len && *part.text == '_')
		return (struct name_part){ part.text + 1, part.len - 1 };
	return part;
}

/* ---- containers ---- */

/* "docker-ID.scope", "cri-containerd-ID.scope", "crio-ID", "ID", "…pod1.slice:cri-containerd:ID" */
static bool part_find_container(struct name_part part, struct name_part *id)
{
	const size_t len = NAME_ID - 1;
	struct name_part before;

	if (part_ends_with(part, ".scope"))
		part.len -= strlen(".scope");
	if (part.len < len)
		return false;
	before = (struct name_part){ part.text, part.len - len };
	*id = (struct name_part){ part.text + before.len, len };
	return part_is_of(*id, name_hex) &&
	       (!before.len || part_ends_with(before, "-") || part_ends_with(before, ":"));
}

/* "libpod-conmon-ID.scope": of the program that watches a container, which is not in it. */
static bool part_is_watcher(struct name_part part, struct name_part id)
{
	return part_ends_with((struct name_part){ part.text, (size_t)(id.text - part.text) },
			      "-conmon-");
}

/* ---- pods ---- */

/* "kubepods", "kubepods.slice", "kubelet-kubepods.slice" */
static bool part_is_pods(struct name_part part)
{
	if (part_ends_with(part, ".slice"))
		part.len -= strlen(".slice");
	return part_ends_with(part, "kubepods");
}

/* "podUID", "kubepods-burstable-podUID.slice" with "_" for "-", the same before ":" */
static bool part_find_pod(struct name_part part, struct name_part *uid)
{
	static const size_t lens[] = { 36, 32 }; /* a static pod's has no dashes */
	const char *colon = memchr(part.text, ':', part.len);

	if (colon)
		part.len = (size_t)(colon - part.text);
	if (part_ends_with(part, ".slice"))
		part.len -= strlen(".slice");
	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		struct name_part before = { part.text,
					    part.len > lens[i] ? part.len - lens[i] : 0 };

		*uid = (struct name_part){ part.text + before.len, lens[i] };
		if (part_ends_with(before, "pod") && part_is_of(*uid, "0123456789abcdef-_"))
			return true;
	}
	return false;
}

/* ---- the path ---- */

/* What was seen on the way from the root. */
struct name_walk {
	struct cgroup_names *names;
	bool has_unit;	  /* other than a slice */
	bool is_users;	  /* below user.slice: its names are a user's choice */
	bool is_kubelets; /* below the cgroup of all pods */
};

static void walk_take_unit(struct name_walk *walk, struct name_part part)
{
	part = part_without_escape(part);
	walk->has_unit = part_is_unit(part);
	if (walk->has_unit || part_ends_with(part, ".slice"))
		part_copy(part, walk->names->unit, sizeof(walk->names->unit));
}

static void walk_take_pod(struct name_walk *walk, struct name_part part)
{
	struct name_part uid;

	walk->is_kubelets |= part_is_pods(part);
	if (!walk->is_kubelets || walk->is_users || !part_find_pod(part, &uid))
		return;
	part_copy(uid, walk->names->pod, sizeof(walk->names->pod));
	for (char *c = walk->names->pod; *c; c++)
		*c = *c == '_' ? '-' : *c;
}

static void walk_take(struct name_walk *walk, struct name_part part)
{
	struct name_part id;

	walk->is_users |= part.len == strlen("user.slice") && part_starts_with(part, "user.slice");
	if (!walk->has_unit)
		walk_take_unit(walk, part);
	if (*walk->names->container)
		return;
	if (!*walk->names->pod)
		walk_take_pod(walk, part);
	if (part_find_container(part, &id) && !part_is_watcher(part, id))
		part_copy(id, walk->names->container, sizeof(walk->names->container));
}

void cgroup_names__find(struct cgroup_names *names, const char *path)
{
	struct name_walk walk = { .names = names };

	*names = (struct cgroup_names){ .unit = "" };
	while (*path == '/') {
		size_t len = strcspn(++path, "/");

		walk_take(&walk, (struct name_part){ path, len });
		path += len;
	}
	if (!*names->container)
		*names->pod = 0;
}

/* ---- links ---- */

/* The next part up to the letter; false: it is too long, or has letters that such names lack. */
static bool link_take(const char **at, char end, char *buf, size_t size)
{
	const char *stop = strchr(*at, end);
	struct name_part part = { *at, stop ? (size_t)(stop - *at) : 0 };

	if (part.len >= size || !part_is_of(part, "abcdefghijklmnopqrstuvwxyz0123456789-."))
		return false;
	part_copy(part, buf, size);
	*at = stop + 1;
	return true;
}

/* "CONTAINER-ID". As in a cgroup, but nothing else may be around the id. */
static bool link_find_id(struct name_part part, struct name_part *id)
{
	const size_t len = NAME_ID - 1;

	if (part.len < len + 2)
		return false;
	*id = (struct name_part){ part.text + part.len - len, len };
	return part_is_of(*id, name_hex) && id->text[-1] == '-';
}

bool pod_link__parse(struct pod_link *link, const char *name)
{
	struct name_part rest = { name, strlen(name) }, id;

	if (!part_ends_with(rest, ".log") || !link_take(&name, '_', link->pod, sizeof(link->pod)) ||
	    !link_take(&name, '_', link->namespace, sizeof(link->namespace)))
		return false;
	rest = (struct name_part){ name, strlen(name) - strlen(".log") };
	if (!link_find_id(rest, &id))
		return false;
	part_copy(id, link->id, sizeof(link->id));
	rest.len -= id.len + 1;
	if (rest.len >= sizeof(link->container) ||
	    !part_is_of(rest, "abcdefghijklmnopqrstuvwxyz0123456789-"))
		return false;
	part_copy(rest, link->container, sizeof(link->container));
	return true;
}
