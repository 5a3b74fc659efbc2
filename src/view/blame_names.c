/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/blame_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "decode/op.h"
#include "session/io_source.h"
#include "view/cgroup_groups.h"
#include "view/records.h"

/* In the order of enum blame_by; queue is another word for qid, as in latency. */
const char *const blame_by_words[] = { "comm", "pid",  "cgroup", "unit",  "container", "op",
				       "size", "path", "qid",	 "queue", "host",      NULL };

uint32_t blame_by__mask(const struct option_list *by)
{
	const uint32_t queue = 1u << BLAME_BY_QUEUE;
	uint32_t mask = by->nr ? option_list__mask(by, blame_by_words) : 1u << BLAME_BY_COMM;

	return mask & queue ? (mask & ~queue) | 1u << BLAME_BY_QID : mask;
}

struct namer {
	uint32_t by_mask;
	const struct session *session;
};

static bool name_by(const struct namer *n, enum blame_by by)
{
	return n->by_mask >> by & 1;
}

/* They are culprits of their own, whoever sends them. */
static bool name_is_special(const char *op)
{
	static const char *const words[] = { "flush",	     "discard",	     "dsm",
					     "write-zeroes", "secure-erase", "zone-reset" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(op, words[i]))
			return true;
	return false;
}

static void name_join(struct blame_name *name, const char *word)
{
	size_t len = strlen(name->label_text);

	if (word && *word)
		snprintf(name->label_text + len, sizeof(name->label_text) - len, "%s%s",
			 len ? " " : "", word);
}

static void name_task(const struct namer *n, const struct blame_tags *tags, struct blame_name *name)
{
	char pid[24];

	if (name_by(n, BLAME_BY_COMM)) {
		memcpy(name->comm_text, tags->comm, sizeof(tags->comm));
		name->comm = name->comm_text;
	}
	name_join(name, name->comm);
	if (name_by(n, BLAME_BY_PID)) {
		name->pid = tags->pid;
		snprintf(pid, sizeof(pid), "%" PRIu32, tags->pid);
		name_join(name, pid);
	}
	if (name_by(n, BLAME_BY_CGROUP) && tags->cgroup)
		name->cgroup = session__cgroup_path(n->session, tags->cgroup, name->cgroup_text,
						    sizeof(name->cgroup_text));
	name_join(name, name->cgroup);
}

static void name_group(const struct namer *n, const struct blame_tags *tags,
		       struct blame_name *name)
{
	if (name_by(n, BLAME_BY_UNIT)) {
		name->unit = cgroup_groups__unit(n->session, tags->unit, name->unit_text,
						 sizeof(name->unit_text));
		name_join(name, name->unit ? name->unit : "no unit");
	}
	if (name_by(n, BLAME_BY_CONTAINER)) {
		name->container =
			cgroup_groups__container(n->session, tags->container, name->container_text,
						 sizeof(name->container_text));
		name_join(name, name->container ? name->container : "no container");
	}
}

static void name_io(const struct namer *n, const struct blame_tags *tags, struct blame_name *name)
{
	const char *op = op__word(tags->kind, tags->op, io_source__op_names(n->session),
				  name->op_text, sizeof(name->op_text));
	char size[32], bytes[16];

	if (name_by(n, BLAME_BY_OP) || name_is_special(op))
		name->op = op;
	name_join(name, name->op);
	if (!name_by(n, BLAME_BY_SIZE) || !tags->size_class)
		return;
	name->size_bytes = 1ULL << (tags->size_class - 1);
	text__bytes(bytes, sizeof(bytes), name->size_bytes);
	snprintf(size, sizeof(size), "<=%s", bytes);
	name_join(name, size);
}

/* Where it went: the path of a multipath disk, the queue of its controller. */
static void name_way(const struct namer *n, const struct blame_tags *tags, struct blame_name *name)
{
	if (name_by(n, BLAME_BY_PATH) && tags->path)
		name->path = records__device_name(n->session, tags->path - 1);
	name_join(name, name->path);
	if (!name_by(n, BLAME_BY_QID))
		return;
	name->qid = tags->qid;
	snprintf(name->queue_text, sizeof(name->queue_text), "queue %u", tags->qid);
	name_join(name, name->queue_text);
}

void blame_name__of(uint32_t by_mask, const struct session *s, const struct blame_tags *tags,
		    struct blame_name *name)
{
	const struct namer namer = { by_mask, s };

	memset(name, 0, sizeof(*name));
	name->pid = name->size_bytes = name->qid = CELL_NO_NUMBER;
	if (tags->device != BLAME_REST) {
		if (name_by(&namer, BLAME_BY_HOST))
			name->host = records__host(s, tags->device);
		name_join(name, name->host);
		name_task(&namer, tags, name);
		name_group(&namer, tags, name);
		name_io(&namer, tags, name);
		name_way(&namer, tags, name);
	} else {
		name_join(name, "other");
	}
	if (!name->label_text[0])
		name_join(name, "?");
	name->label = name->label_text;
}

/* X of --victim, --culprit and --without: the whole label or one of its words. */
bool blame_name__is(const struct blame_name *name, const char *word)
{
	char pid[24] = "";

	if (name->pid != CELL_NO_NUMBER)
		snprintf(pid, sizeof(pid), "%" PRIu64, name->pid);
	return !strcmp(name->label, word) || (name->host && !strcmp(name->host, word)) ||
	       (name->comm && !strcmp(name->comm, word)) ||
	       (name->cgroup && !strcmp(name->cgroup, word)) ||
	       (name->unit && !strcmp(name->unit, word)) ||
	       (name->container && !strcmp(name->container, word)) ||
	       (name->op && !strcmp(name->op, word)) || (name->path && !strcmp(name->path, word)) ||
	       !strcmp(name->queue_text, word) || (pid[0] && !strcmp(pid, word));
}
