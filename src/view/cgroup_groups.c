/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/cgroup_groups.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "decode/cgroup_names.h"
#include "session/session.h"

enum { CONTAINER_SHOWN = 12 };

struct cgroup_member {
	uint64_t cgroup;
	struct cgroup_group group;
};

struct cgroup_group_name {
	enum { GROUP_UNIT, GROUP_CONTAINER } kind;
	char text[NAME_FILE];
	uint64_t first; /* cgroup of this name */
};

static bool member_is(const void *members, uint32_t number, const void *cgroup)
{
	return ((const struct cgroup_member *)members)[number].cgroup == *(const uint64_t *)cgroup;
}

static bool group_name_is(const void *names, uint32_t number, const void *wanted)
{
	const struct cgroup_group_name *name = &((const struct cgroup_group_name *)names)[number];
	const struct cgroup_group_name *other = wanted;

	return name->kind == other->kind && !strcmp(name->text, other->text);
}

static void cgroup_find_names(const struct session *s, uint64_t cgroup, struct cgroup_names *names)
{
	char path[PATH_MAX];

	cgroup_names__find(names, session__cgroup_path(s, cgroup, path, sizeof(path)));
}

/* The first cgroup with the name of this one, which may be itself. 0 or -ENOMEM. */
static int groups_find_first(struct cgroup_groups *groups, const struct cgroup_group_name *name,
			     uint64_t *first)
{
	uint64_t hash = index__mix_text(index__mix(0, (uint64_t)name->kind), name->text);
	uint32_t number;

	*first = 0;
	if (!*name->text)
		return 0;
	number = index__find(&groups->by_name, hash, group_name_is, groups->names, name);
	if (number == INDEX_NONE) {
		if (index__reserve(&groups->by_name, &groups->names, sizeof(*groups->names)))
			return -ENOMEM;
		number = index__add(&groups->by_name, hash);
		groups->names[number] = *name;
	}
	*first = groups->names[number].first;
	return 0;
}

static int groups_read(struct cgroup_groups *groups, const struct session *s,
		       struct cgroup_member *member)
{
	struct cgroup_group_name unit = { .kind = GROUP_UNIT, .first = member->cgroup };
	struct cgroup_group_name container = { .kind = GROUP_CONTAINER, .first = member->cgroup };
	struct cgroup_names names;

	cgroup_find_names(s, member->cgroup, &names);
	memcpy(unit.text, names.unit, sizeof(names.unit));
	memcpy(container.text, names.container, sizeof(names.container));
	return groups_find_first(groups, &unit, &member->group.unit)
		       ?: groups_find_first(groups, &container, &member->group.container);
}

int cgroup_groups__find(struct cgroup_groups *groups, const struct session *s, uint64_t cgroup,
			struct cgroup_group *group)
{
	struct cgroup_member member = { .cgroup = cgroup };
	uint64_t hash = index__mix(0, cgroup);
	uint32_t number =
		index__find(&groups->by_cgroup, hash, member_is, groups->members, &cgroup);

	*group = (struct cgroup_group){ 0 };
	if (number == INDEX_NONE) {
		if (groups_read(groups, s, &member) ||
		    index__reserve(&groups->by_cgroup, &groups->members, sizeof(member)))
			return -ENOMEM;
		number = index__add(&groups->by_cgroup, hash);
		groups->members[number] = member;
	}
	*group = groups->members[number].group;
	return 0;
}

void cgroup_groups__free(struct cgroup_groups *groups)
{
	free(groups->members);
	free(groups->names);
	index__free(&groups->by_cgroup);
	index__free(&groups->by_name);
}

/* ---- names ---- */

const char *cgroup_groups__unit(const struct session *s, uint64_t cgroup, char *buf, size_t size)
{
	struct cgroup_names names;

	if (!cgroup)
		return NULL;
	cgroup_find_names(s, cgroup, &names);
	snprintf(buf, size, "%s", names.unit);
	return buf;
}

const char *cgroup_groups__container(const struct session *s, uint64_t cgroup, char *buf,
				     size_t size)
{
	struct cgroup_names names;

	if (!cgroup)
		return NULL;
	cgroup_find_names(s, cgroup, &names);
	snprintf(buf, size, "%.*s", CONTAINER_SHOWN, names.container);
	return buf;
}
