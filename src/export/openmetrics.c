/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * openmetrics.c: the whole capture as metrics for Prometheus: latency and size per machine, device
 * and operation, failures, and the recording's ledger. One snapshot without times, as
 * node_exporter's textfile collector requires; only gauges and histograms, whose names read the
 * same in both of Prometheus' text formats.
 */
#include <stdlib.h>
#include "base/log.h"
#include "export/exporter.h"
#include "export/groups.h"
#include "render/openmetrics.h"

struct openmetrics_sum {
	struct openmetrics_histogram latency, size;
	uint64_t failed, retries;
};

struct export_openmetrics {
	struct export_groups groups;
	struct openmetrics_sum *sums[GROUPS_MOST]; /* by group */
};

enum { LABELS = 3 };

static int openmetrics_start(void **state, struct session *s)
{
	(void)s;
	*state = calloc(1, sizeof(struct export_openmetrics));
	return *state ? 0 : log_no_memory();
}

static int openmetrics_put(void *state, struct session *s, const struct io_record *r)
{
	struct export_openmetrics *e = state;
	uint64_t ns = r->end_ns - r->first_ns;
	int group = export_groups__find(&e->groups, s, r);
	struct openmetrics_sum *sum;

	if (group < 0)
		return group;
	if (!e->sums[group])
		e->sums[group] = calloc(1, sizeof(*sum));
	sum = e->sums[group];
	if (!sum)
		return log_no_memory();
	sum->latency.buckets[openmetrics_bounds__find(&openmetrics_seconds, ns)]++;
	sum->latency.sum += ns;
	sum->size.buckets[openmetrics_bounds__find(&openmetrics_bytes, r->bytes)]++;
	sum->size.sum += r->bytes;
	sum->failed += r->status != 0;
	sum->retries += r->attempts > 1 ? r->attempts - 1u : 0;
	return 0;
}

/* ---- the families, each with all its groups ---- */

static struct openmetrics_labels openmetrics_labels(const struct export_group *group,
						    struct openmetrics_label labels[LABELS])
{
	labels[0] = (struct openmetrics_label){ "host", group->host };
	labels[1] = (struct openmetrics_label){ "device", group->dev };
	labels[2] = (struct openmetrics_label){ "op", group->op };
	return (struct openmetrics_labels){ labels, LABELS };
}

static int openmetrics_put_latencies(const struct export_openmetrics *e, FILE *out)
{
	static const char name[] = "iosonar_latency_seconds";
	struct openmetrics_label labels[LABELS];
	int err = 0;

	openmetrics__family(out, name, "histogram", "seconds",
			    "Commands by time from first issue to end.");
	for (size_t i = 0; i < e->groups.nr && !err; i++)
		err = openmetrics__histogram(
			out, name, openmetrics_labels(&e->groups.groups[i], labels),
			&openmetrics_seconds, &e->sums[i]->latency, 1000000000);
	return err;
}

static int openmetrics_put_sizes(const struct export_openmetrics *e, FILE *out)
{
	static const char name[] = "iosonar_size_bytes";
	struct openmetrics_label labels[LABELS];
	int err = 0;

	openmetrics__family(out, name, "histogram", "bytes",
			    "Commands by number of bytes that they move or cover.");
	for (size_t i = 0; i < e->groups.nr && !err; i++)
		err = openmetrics__histogram(out, name,
					     openmetrics_labels(&e->groups.groups[i], labels),
					     &openmetrics_bytes, &e->sums[i]->size, 1);
	return err;
}

static void openmetrics_put_troubles(const struct export_openmetrics *e, FILE *out)
{
	struct openmetrics_label labels[LABELS];

	openmetrics__family(out, "iosonar_failed_commands", "gauge", NULL,
			    "Commands that ended with an error.");
	for (size_t i = 0; i < e->groups.nr; i++)
		openmetrics__gauge(out, "iosonar_failed_commands",
				   openmetrics_labels(&e->groups.groups[i], labels),
				   e->sums[i]->failed);
	openmetrics__family(out, "iosonar_retries", "gauge", NULL,
			    "Attempts after the first one of a command.");
	for (size_t i = 0; i < e->groups.nr; i++)
		openmetrics__gauge(out, "iosonar_retries",
				   openmetrics_labels(&e->groups.groups[i], labels),
				   e->sums[i]->retries);
}

/* Ledger of the recording, whatever filters are given now. */
static void openmetrics_put_ledger(struct session *s)
{
	const struct object ledger = { "ledger", { ledger_columns } };
	const struct column *columns[OBJECT_COLUMNS];
	size_t nr = object__columns(&ledger, columns);

	if (!s->ledger_known)
		return;
	openmetrics__family(s->out, "iosonar_ledger_commands", "gauge", NULL,
			    "Terms of the ledger at the end of the recording.");
	for (size_t i = 0; i < nr; i++) {
		struct openmetrics_label label = { "term", columns[i]->key };

		openmetrics__gauge(s->out, "iosonar_ledger_commands",
				   (struct openmetrics_labels){ &label, 1 },
				   column__cell(columns[i], &s->ledger).n);
	}
}

static int openmetrics_finish(void *state, struct session *s)
{
	struct export_openmetrics *e = state;

	if (e->groups.nr) {
		if (openmetrics_put_latencies(e, s->out) || openmetrics_put_sizes(e, s->out))
			return log_no_memory();
		openmetrics_put_troubles(e, s->out);
	}
	openmetrics_put_ledger(s);
	openmetrics__end(s->out);
	return 0;
}

static void openmetrics_free(void *state)
{
	struct export_openmetrics *e = state;

	for (size_t i = 0; e && i < GROUPS_MOST; i++)
		free(e->sums[i]);
	if (e)
		export_groups__free(&e->groups);
	free(e);
}

const struct exporter export_openmetrics = {
	.start = openmetrics_start,
	.put = openmetrics_put,
	.finish = openmetrics_finish,
	.free = openmetrics_free,
};
