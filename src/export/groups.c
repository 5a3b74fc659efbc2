/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/groups.h"

#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "export/exporter.h"
#include "session/io_source.h"

static bool groups_is_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static size_t groups_search(const struct export_groups *g, const struct export_group *wanted)
{
	size_t i = 0;

	while (i < g->nr && !(groups_is_same(g->groups[i].op, wanted->op) &&
			      groups_is_same(g->groups[i].dev, wanted->dev) &&
			      groups_is_same(g->groups[i].host, wanted->host)))
		i++;
	return i;
}

/* The last group takes all that is left. */
static int groups_add(struct export_groups *g, const struct export_group *new)
{
	static const struct export_group other = { .dev = "other", .op = "other" };
	struct export_group *group;

	if (!g->groups)
		g->groups = calloc(GROUPS_MOST, sizeof(*g->groups));
	if (!g->groups)
		return log_no_memory();
	if (g->nr == GROUPS_MOST)
		return GROUPS_MOST - 1;
	group = &g->groups[g->nr];
	*group = g->nr == GROUPS_MOST - 1 ? other : *new;
	if (new->op == new->op_text && group->op == new->op)
		group->op = group->op_text; /* of this copy */
	return (int)g->nr++;
}

int export_groups__find(struct export_groups *g, struct session *s, const struct io_record *r)
{
	uint64_t key = r->device | (uint64_t)r->kind << 16 | (uint64_t)r->op << 24;
	struct groups_memo *memo = &g->memo[key * 0x9e3779b97f4a7c15ULL >> 56];
	const char *host = io_source__host(s);
	const struct device *device;
	struct export_group wanted;
	int found;

	_Static_assert(GROUPS_MEMO == 256, "as many as the hash has values");
	if (memo->group && memo->key == key && memo->host == host)
		return (int)memo->group - 1;
	device = io_source__device(s, r);
	wanted = (struct export_group){ .host = host };
	wanted.dev = device ? device->name : "?";
	wanted.op = export__op(s, r, wanted.op_text);
	found = (int)groups_search(g, &wanted);
	if ((size_t)found == g->nr)
		found = groups_add(g, &wanted);
	if (found >= 0)
		*memo = (struct groups_memo){ host, key, (size_t)found + 1 };
	return found;
}

void export_groups__free(struct export_groups *g)
{
	free(g->groups);
	g->groups = NULL;
}
