/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/latency_by.h"

#include <string.h>
#include "session/host_source.h"

/* In the order of enum breakdown_by; queue is another word for qid. */
const char *const latency_by_words[] = { "ctrl", "ns",	      "dev",  "op",	"size", "qid",
					 "cpu",	 "pid",	      "comm", "cgroup", "file", "path",
					 "unit", "container", "host", "queue",	NULL };

static size_t by_put(enum breakdown_by keys[NR_BY], size_t nr, enum breakdown_by key)
{
	for (size_t i = 0; i < nr; i++)
		if (keys[i] == key)
			return nr;
	keys[nr] = key;
	return nr + 1;
}

enum breakdown_by latency_by__above(enum breakdown_by key)
{
	if (key == BY_NS)
		return BY_CTRL;
	return key == BY_PATH ? BY_DEV : key;
}

static size_t by_put_word(enum breakdown_by keys[NR_BY], size_t nr, const char *word)
{
	int key = 0;

	while (key < NR_BY && strcmp(word, latency_by_words[key]))
		key++;
	if (key == NR_BY)
		key = BY_QUEUE;
	nr = by_put(keys, nr, latency_by__above((enum breakdown_by)key));
	return by_put(keys, nr, (enum breakdown_by)key);
}

size_t latency_by__keys(const struct option_list *by, enum breakdown_by keys[NR_BY])
{
	size_t nr = 0;

	for (size_t i = 0; i < by->nr; i++)
		nr = by_put_word(keys, nr, by->words[i]);
	if (!nr) {
		keys[nr++] = BY_DEV;
		keys[nr++] = BY_OP;
	}
	return nr;
}

uint32_t latency_by__mask(const struct option_list *by)
{
	enum breakdown_by keys[NR_BY];
	size_t nr = latency_by__keys(by, keys);
	uint32_t mask = 0;

	for (size_t i = 0; i < nr; i++)
		mask |= 1u << keys[i];
	return mask;
}

uint32_t latency_by__with_host(uint32_t mask, const struct session *s)
{
	const uint32_t of_all = 1u << BY_OP | 1u << BY_SIZE;

	if (!host_source__are_several(s) || mask >> BY_DEV & 1 || !(mask & ~of_all))
		return mask;
	return mask | 1u << BY_HOST;
}

struct io_wants latency_by__wants(uint32_t mask, const struct filter_options *filter)
{
	return (struct io_wants){
		.filter = filter,
		.by_size = mask >> BY_SIZE & 1,
		.by_queue = mask >> BY_QUEUE & 1,
		.by_cpu = mask >> BY_CPU & 1,
		.by_pid = mask >> BY_PID & 1,
		.by_comm = mask >> BY_COMM & 1,
		.by_cgroup = mask & (1u << BY_CGROUP | 1u << BY_UNIT | 1u << BY_CONTAINER),
		.by_file = mask >> BY_FILE & 1,
		.by_path = mask >> BY_PATH & 1,
	};
}

int latency_by__tag(uint32_t mask, struct cgroup_groups *groups, const struct session *s,
		    struct io_tags *tags)
{
	struct cgroup_group group = { 0 };
	int err = 0;

	if (mask & (1u << BY_UNIT | 1u << BY_CONTAINER) && !tags->other)
		err = cgroup_groups__find(groups, s, tags->cgroup, &group);
	tags->unit = group.unit;
	tags->container = group.container;
	return err;
}
