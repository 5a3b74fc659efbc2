/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/metrics.h"

#include <string.h>

enum { METRICS_NS = 1000000000 };

static const struct openmetrics_labels metrics_no_labels = { NULL, 0, NULL };

/* ---- per series ---- */

static struct openmetrics_labels metrics_labels(const struct series *series)
{
	return (struct openmetrics_labels){ NULL, 0, series->pairs };
}

/* The first one is `other`: it appears when something is in it. */
static bool metrics_has(const struct metrics *m, size_t at)
{
	const struct series *series = m->set->all[at];

	return at ? !series->has_ended : series__count(series, m->set->edges);
}

/* Those whose records are kept. */
static void metrics_fill_exemplars(const struct metrics *m, const struct series *series,
				   struct openmetrics_exemplar *exemplars)
{
	for (size_t i = 0; i <= m->set->edges->bounds.nr; i++) {
		const struct exemplar *slowest = &series->slowest[i];

		exemplars[i] = (struct openmetrics_exemplar){
			slowest->number >= m->kept_from ? slowest->number : 0,
			slowest->lat_ns,
			m->wall_ns + slowest->end_ns,
		};
	}
}

static int metrics_write_latency(const struct metrics *m, const struct series *series,
				 const char *name, FILE *out)
{
	struct openmetrics_exemplar exemplars[OPENMETRICS_BOUNDS + 1];
	struct openmetrics_histogram latency = series->shown.latency;

	if (series->slowest && m->format == OPENMETRICS_1_0) {
		metrics_fill_exemplars(m, series, exemplars);
		latency.exemplars = exemplars;
	}
	return openmetrics__histogram(out, name, metrics_labels(series), &m->set->edges->bounds,
				      &latency, METRICS_NS);
}

static int metrics_write_latencies(const struct metrics *m, FILE *out)
{
	static const char name[] = "iosonar_command_latency_seconds";
	int err = 0;

	openmetrics__family(out, name, "histogram", "seconds",
			    "Commands by time from their first issue to their end.");
	for (size_t i = 0; i < m->set->nr && !err; i++)
		if (metrics_has(m, i))
			err = metrics_write_latency(m, m->set->all[i], name, out);
	return err;
}

static uint64_t metrics_commands(const struct metrics *m, const struct series *series)
{
	return series__count(series, m->set->edges);
}

static uint64_t metrics_bytes(const struct metrics *m, const struct series *series)
{
	(void)m;
	return series->shown.bytes;
}

static uint64_t metrics_timed(const struct metrics *m, const struct series *series)
{
	(void)m;
	return series->shown.timed;
}

static void metrics_write_counters(const struct metrics *m, FILE *out)
{
	static const struct {
		const char *name, *unit, *help;
		uint64_t (*value)(const struct metrics *m, const struct series *series);
		bool of_sampled;
	} counters[] = {
		{ "iosonar_commands", NULL, "Commands that ended.", metrics_commands },
		{ "iosonar_bytes", "bytes", "Bytes that these commands moved or covered.",
		  metrics_bytes },
		{ "iosonar_timed_commands", NULL,
		  "Commands whose latency was measured; that of the others is estimated.",
		  metrics_timed, true },
	};

	for (size_t c = 0; c < sizeof(counters) / sizeof(counters[0]); c++) {
		if (counters[c].of_sampled && !m->is_sampled)
			continue;
		openmetrics__counter_family(out, m->format, counters[c].name, counters[c].unit,
					    counters[c].help);
		for (size_t i = 0; i < m->set->nr; i++)
			if (metrics_has(m, i))
				openmetrics__counter(out, counters[c].name,
						     metrics_labels(m->set->all[i]),
						     counters[c].value(m, m->set->all[i]));
	}
}

/* ---- of the whole machine ---- */

static const char metrics_failed[] = "iosonar_failed_commands";

static void metrics_write_failure(void *out, const struct failure *failure)
{
	const struct openmetrics_label labels[] = { { "device", failure->dev },
						    { "op", failure->op },
						    { "status", failure->status } };

	openmetrics__counter(out, metrics_failed, (struct openmetrics_labels){ labels, 3, NULL },
			     failure->count);
}

static int metrics_write_failed(const struct metrics *m, FILE *out)
{
	openmetrics__counter_family(out, m->format, metrics_failed, NULL,
				    "Commands that ended with an error.");
	openmetrics__counter(out, metrics_failed, metrics_no_labels, m->failures->unknown);
	return failures__each(m->failures, metrics_write_failure, out);
}

static void metrics_write_ledger(const struct metrics *m, FILE *out)
{
	static const char retries[] = "iosonar_retries";

	openmetrics__counter_family(out, m->format, retries, NULL,
				    "Attempts after the first one of a command.");
	openmetrics__counter(out, retries, metrics_no_labels, m->ledger->retries);
	openmetrics__family(out, "iosonar_in_flight", "gauge", NULL,
			    "Commands that were sent and have not ended.");
	openmetrics__gauge(out, "iosonar_in_flight", metrics_no_labels, m->ledger->in_flight);
	openmetrics__family(out, "iosonar_oldest_in_flight_seconds", "gauge", "seconds",
			    "Age of the oldest command in flight; 0 if there is none.");
	openmetrics__gauge_seconds(out, "iosonar_oldest_in_flight_seconds", metrics_no_labels,
				   m->ledger->oldest_ns);
}

/* The ledger's own names of its losses, without "lost_". */
static void metrics_write_losses(const struct metrics *m, FILE *out)
{
	static const char prefix[] = "lost_";
	struct ledger_term terms[LEDGER_TERMS];
	size_t nr = ledger__terms(m->ledger, terms);

	openmetrics__counter_family(out, m->format, "iosonar_lost", NULL,
				    "Commands or events that were not seen or not counted as they "
				    "should be, by reason.");
	for (size_t i = 0; i < nr; i++) {
		struct openmetrics_label reason = { "reason", terms[i].name + strlen(prefix) };

		if (!strncmp(terms[i].name, prefix, strlen(prefix)))
			openmetrics__counter(out, "iosonar_lost",
					     (struct openmetrics_labels){ &reason, 1, NULL },
					     terms[i].value);
	}
}

static void metrics_write_self(const struct metrics *m, FILE *out)
{
	const struct openmetrics_label version = { "version", VERSION };

	openmetrics__family(out, "iosonar_series_dropped", "gauge", NULL,
			    "Label sets that are added up in the series other, because of "
			    "--series.");
	openmetrics__gauge(out, "iosonar_series_dropped", metrics_no_labels, m->set->nr_dropped);
	openmetrics__family(out, "iosonar_build_info", "gauge", NULL, "Version of iosonar.");
	openmetrics__gauge(out, "iosonar_build_info",
			   (struct openmetrics_labels){ &version, 1, NULL }, 1);
}

static void metrics_write_cost(const struct metrics *m, FILE *out)
{
	static const char name[] = "iosonar_bpf_run_seconds";

	if (!m->own_ns)
		return;
	openmetrics__counter_family(out, m->format, name, "seconds",
				    "CPU time of iosonar's own programs in the kernel, as about "
				    "one run in 1,024 shows.");
	openmetrics__counter_seconds(out, name, metrics_no_labels, *m->own_ns);
}

int metrics__write(const struct metrics *m, FILE *out)
{
	int err = metrics_write_latencies(m, out);

	metrics_write_counters(m, out);
	err = err ?: metrics_write_failed(m, out);
	metrics_write_ledger(m, out);
	metrics_write_losses(m, out);
	metrics_write_cost(m, out);
	metrics_write_self(m, out);
	if (m->format == OPENMETRICS_1_0)
		openmetrics__end(out);
	return err;
}

static void metrics_raise(uint64_t *shown, uint64_t now)
{
	if (now > *shown)
		*shown = now;
}

void metrics__raise(struct ledger *shown, const struct ledger *now)
{
	shown->in_flight = now->in_flight;
	shown->oldest_ns = now->oldest_ns;
	metrics_raise(&shown->failed, now->failed);
	metrics_raise(&shown->retries, now->retries);
	for (int i = 0; i < NR_LOST; i++)
		metrics_raise(&shown->lost[i], now->lost[i]);
}
