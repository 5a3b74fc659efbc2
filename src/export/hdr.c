/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hdr.c: how were latencies distributed, interval by interval? A log of HdrHistograms, a tag
 * for each device and operation, with the machine before it if it is known. Three digits, finer
 * than our own histograms; values are ns, from the first issue to the end.
 */
#include <stdlib.h>
#include "base/log.h"
#include "export/exporter.h"
#include "export/groups.h"
#include "render/hdr.h"

struct export_hdr {
	struct export_groups groups;
	struct hdr *hdrs[GROUPS_MOST]; /* by group */
};

static int hdr_start(void **state, struct session *s)
{
	*state = calloc(1, sizeof(struct export_hdr));
	if (!*state)
		return log_no_memory();
	hdr_log__begin(s->out, "iosonar " VERSION, session__wall_ns(s, s->start_ns));
	return 0;
}

static int hdr_put(void *state, struct session *s, const struct io_record *r)
{
	struct export_hdr *e = state;
	int group = export_groups__find(&e->groups, s, r);

	if (group < 0)
		return group;
	if (!e->hdrs[group])
		e->hdrs[group] = hdr__new();
	if (!e->hdrs[group] || hdr__add(e->hdrs[group], r->end_ns - r->first_ns))
		return log_no_memory();
	return 0;
}

static int hdr_put_group(struct session *s, const struct export_group *group, struct hdr *hdr)
{
	char tag[256];
	struct hdr_interval interval = {
		.start_s = s->elapsed_s - s->interval_s,
		.length_s = s->interval_s,
		.tag = tag,
	};
	int err;

	if (!hdr__count(hdr))
		return 0;
	snprintf(tag, sizeof(tag), "%.128s%s%s:%s", group->host ? group->host : "",
		 group->host ? ":" : "", group->dev, group->op);
	err = hdr_log__put(s->out, &interval, hdr);
	hdr__clear(hdr);
	return err ? log_no_memory() : 0;
}

static int hdr_tick(void *state, struct session *s)
{
	struct export_hdr *e = state;
	int err = 0;

	for (size_t i = 0; !err && i < e->groups.nr; i++)
		err = hdr_put_group(s, &e->groups.groups[i], e->hdrs[i]);
	return err;
}

static void hdr_free(void *state)
{
	struct export_hdr *e = state;

	for (size_t i = 0; e && i < GROUPS_MOST; i++)
		hdr__free(e->hdrs[i]);
	if (e)
		export_groups__free(&e->groups);
	free(e);
}

const struct exporter export_hdr = {
	.start = hdr_start,
	.put = hdr_put,
	.tick = hdr_tick,
	.finish = hdr_tick, /* values since the last interval */
	.free = hdr_free,
};
