/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dot.c: which paths do commands take, and where do they spend time? A graph for Graphviz: the
 * events that commands of a device and operation pass, and for each edge the number of commands,
 * its share of the time, and its duration.
 */
#include <inttypes.h>
#include <stdlib.h>
#include "analyse/steps.h"
#include "base/log.h"
#include "decode/op.h"
#include "export/exporter.h"
#include "render/dot.h"
#include "session/io_source.h"

static int dot_start(void **state, struct session *s)
{
	(void)s;
	*state = calloc(1, sizeof(struct steps));
	return *state ? 0 : log_no_memory();
}

static int dot_put(void *state, struct session *s, const struct io_record *r)
{
	if (steps__add(state, records__device(s, r), r, STEPS_OF_REQUEST))
		return log_no_memory();
	return 0;
}

/* ---- one device and operation ---- */

static void dot_put_nodes(struct session *s, const struct steps_group *g, uint32_t base)
{
	bool passed[NR_STAGES] = { false };
	char whose[64], op[16], name[64];

	snprintf(whose, sizeof(whose), "%s %s", records__device_name(s, g->device),
		 op__word(g->kind, g->op, io_source__op_names(s), op, sizeof(op)));
	for (size_t i = 0; i < g->nr_steps; i++)
		passed[g->steps[i].from] = passed[g->steps[i].to] = true;
	for (uint32_t stage = 0; stage < NR_STAGES; stage++) {
		struct dot_label label = { .lines = { whose, name }, .nr = 2 };

		snprintf(name, sizeof(name), "%c: %s", stage__letter(stage), stage__words(stage));
		if (passed[stage])
			dot__node(s->out, base + stage, &label);
	}
}

static void dot_put_step(struct session *s, const struct steps_group *g, uint32_t base, size_t nr)
{
	const struct step *step = &g->steps[nr];
	char mean[16], p50[16], p99[16], counts[64], times[80];
	struct dot_label label = { .lines = { step->wait ? wait__words(step->wait)
							 : step__words(step->from, step->to),
					      counts, times },
				   .nr = 3 };

	snprintf(counts, sizeof(counts), "%" PRIu64 ", %.1f%% of the time", step->hist.count,
		 steps_group__share(g, nr));
	snprintf(times, sizeof(times), "mean %s p50 %s p99 %s",
		 text__duration(mean, sizeof(mean), hist__mean_ns(&step->hist)),
		 text__duration(p50, sizeof(p50), hist__percentile(&step->hist, 5000)),
		 text__duration(p99, sizeof(p99), hist__percentile(&step->hist, 9900)));
	dot__edge(s->out, base + step->from, base + step->to, &label);
}

static int dot_finish(void *state, struct session *s)
{
	struct steps *steps = state;

	steps__sort(steps);
	dot__begin(s->out, "commands");
	for (size_t i = 0; i < steps->nr; i++) {
		const struct steps_group *g = steps->groups[i];
		uint32_t base = (uint32_t)i * NR_STAGES;

		dot_put_nodes(s, g, base);
		for (size_t step = 0; step < g->nr_steps; step++)
			dot_put_step(s, g, base, step);
	}
	dot__end(s->out);
	return 0;
}

static void dot_free(void *state)
{
	if (state)
		steps__free(state);
	free(state);
}

const struct exporter export_dot = {
	.start = dot_start,
	.put = dot_put,
	.finish = dot_finish,
	.free = dot_free,
};
