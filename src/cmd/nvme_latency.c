/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nvme_latency.c: nvme_bpf's nvme_latency: every second the histograms since the start, per
 * controller, opcode and size class, in its format. It shows what nvme_bpf's programs lose:
 * commands below the first bucket and beyond the last have rows, sizes come only from the block
 * count, and the limit of 20 histograms is gone.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "analyse/breakdown.h"
#include "base/log.h"
#include "cmd/dropin.h"
#include "session/io_source.h"
#include "session/session.h"
#include "view/nvme_bpf.h"

enum { NVME_LATENCY_MIN_US = 20 }; /* nvme_bpf's default */

struct nvme_latency {
	long ctrl_id, nsid, lat_min_us, lat_shift;
	bool split_size, lbs512, bpf_trace;
	struct breakdown breakdown;
	int err, marker;
};

static const struct dropin_flag nvme_latency_flags[] = {
	{ "ctrl_id", false, offsetof(struct nvme_latency, ctrl_id),
	  "only controller nvmeN; -1: all" },
	{ "nsid", false, offsetof(struct nvme_latency, nsid), "only this namespace; -1: all" },
	{ "lat_min_us", false, offsetof(struct nvme_latency, lat_min_us),
	  "start of the fine buckets; -1: 20" },
	{ "lat_shift", false, offsetof(struct nvme_latency, lat_shift),
	  "the first bucket is 2^N us wide; -1: 0" },
	{ "split_size", true, offsetof(struct nvme_latency, split_size),
	  "three size classes: <=16KiB, (16KiB, 64KiB], (64KiB, inf)" },
	{ "lbs512", true, offsetof(struct nvme_latency, lbs512),
	  "accepted and ignored: block sizes are read from the namespace" },
	{ "bpf_trace", true, offsetof(struct nvme_latency, bpf_trace),
	  "also write the lines to the kernel's trace" },
	{ 0 },
};

static int nvme_latency_run(void *state);

const struct dropin dropin_nvme_latency = {
	.name = "nvme_latency",
	.brief = "NVMe latency histograms, as nvme_bpf prints them. Part of iosonar: man "
		 "iosonar-latency",
	.flags = nvme_latency_flags,
	.state_size = sizeof(struct nvme_latency),
	.run = nvme_latency_run,
};

static struct io_wants nvme_latency_wants(void *state, const struct options *options)
{
	struct nvme_latency *l = state;

	return (struct io_wants){
		.filter = &options->filter,
		.kinds = 1 << IO_NVME,
		.by_size = l->split_size,
		.zoom = true,
		.zoom_min_us = (uint64_t)l->lat_min_us,
		.zoom_shift = (uint32_t)l->lat_shift,
	};
}

static int nvme_latency_on_start(void *state, struct session *s)
{
	(void)state;
	fputs("Successfully started!\n", s->out);
	return 0;
}

/* ---- rows ---- */

enum size_class { UP_TO_16K = 1, UP_TO_64K, LARGER };

static void nvme_latency_take(void *arg, const struct io_tags *tags, const struct hist *part)
{
	struct nvme_latency *l = arg;
	struct io_tags own = { .ctrl = tags->ctrl, .kind = tags->kind, .op = tags->op };

	/* Our classes are powers of two, numbered 1 + log2, rounded up: 16 KiB is 15. */
	if (l->split_size)
		own.size_class = tags->size_class <= 15	  ? UP_TO_16K
				 : tags->size_class <= 17 ? UP_TO_64K
							  : LARGER;
	if (breakdown__add(&l->breakdown, &own, part))
		l->err = -ENOMEM;
}

struct nvme_latency_text {
	char range[64], count[24], percent[32];
};

static int nvme_latency_texts(const struct hist *h, const struct nvme_latency *l,
			      struct nvme_latency_text texts[ZOOM_CELLS])
{
	struct hist_range ranges[ZOOM_CELLS];
	int nr = hist__zoom_ranges(h->slots, (uint64_t)l->lat_min_us, (uint32_t)l->lat_shift,
				   ranges);

	for (int i = 0; i < nr; i++) {
		const struct hist_range *r = &ranges[i];
		char to[24] = "inf";

		if (r->to_ns)
			snprintf(to, sizeof(to), "%" PRIu64 "us", r->to_ns / 1000);
		snprintf(texts[i].range, sizeof(texts[i].range),
			 "  [%" PRIu64 "us - %s):", r->from_ns / 1000, to);
		snprintf(texts[i].count, sizeof(texts[i].count), "%" PRIu64, r->count);
		snprintf(texts[i].percent, sizeof(texts[i].percent), "%g", r->cumulative_percent);
	}
	return nr;
}

/* Columns are as wide as their longest cell plus two. */
static void nvme_latency_table(FILE *out, const struct nvme_latency_text *texts, int nr)
{
	int range = (int)strlen("Latency Range"), count = (int)strlen("Count");

	for (int i = 0; i < nr; i++) {
		range = (int)strlen(texts[i].range) > range ? (int)strlen(texts[i].range) : range;
		count = (int)strlen(texts[i].count) > count ? (int)strlen(texts[i].count) : count;
	}
	fprintf(out, "%-*s%-*s%s\n", range + 2, "Latency Range", count + 2, "Count",
		"Cumulative Percent");
	for (int i = 0; i < nr; i++)
		fprintf(out, "%-*s%-*s%s\n", range + 2, texts[i].range, count + 2, texts[i].count,
			texts[i].percent);
}

static void nvme_latency_row(FILE *out, const struct nvme_latency *l,
			     const struct breakdown_row *row)
{
	static const char *const classes[] = { "", ", <=16KiB", ", (16KiB, 64KiB]",
					       ", (64KiB, inf)" };
	struct nvme_latency_text texts[ZOOM_CELLS];
	const struct io_tags *t = &row->tags;
	int nr = nvme_latency_texts(&row->total, l, texts);

	if (t->other)
		fputs("key: other", out);
	else
		fprintf(out, "key: ctrl_id=%d, opcode=%u %s%s", t->ctrl - 1, t->op,
			nvme_bpf__op(false, t->op), classes[t->size_class & 3]);
	fputc('\n', out);
	nvme_latency_table(out, texts, nr);
	fprintf(out, "  Total count: %" PRIu64 " avg=%g\n", row->total.count,
		(double)row->total.sum_ns / 1000 / (double)row->total.count);
}

static int nvme_latency_compare(const void *a, const void *b)
{
	const struct io_tags *x = &(*(struct breakdown_row *const *)a)->tags;
	const struct io_tags *y = &(*(struct breakdown_row *const *)b)->tags;

	if (x->ctrl != y->ctrl)
		return x->ctrl < y->ctrl ? -1 : 1;
	if (x->op != y->op)
		return x->op < y->op ? -1 : 1;
	return (x->size_class > y->size_class) - (x->size_class < y->size_class);
}

static int nvme_latency_print(const struct nvme_latency *l, FILE *out)
{
	size_t nr = l->breakdown.nr, shown = 0;
	struct breakdown_row **rows = calloc(nr + 1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	memcpy(rows, l->breakdown.rows, nr * sizeof(*rows));
	qsort(rows, nr, sizeof(*rows), nvme_latency_compare);
	fputs("=====================\n", out);
	for (size_t i = 0; i < nr; i++) {
		if (!rows[i]->total.count)
			continue;
		nvme_latency_row(out, l, rows[i]);
		shown++;
	}
	if (!shown)
		fputs("No entries in histogram map.\n", out);
	free(rows);
	return 0;
}

static int nvme_latency_show(void *state, struct session *s)
{
	struct nvme_latency *l = state;
	char *text = NULL, line[256];
	const char *from, *end;
	size_t size;
	FILE *out;

	breakdown__begin(&l->breakdown);
	io_source__read(s, nvme_latency_take, l);
	out = open_memstream(&text, &size);
	if (out && !l->err)
		l->err = nvme_latency_print(l, out);
	if (!out || fclose(out) || l->err) {
		free(text);
		return log_no_memory();
	}
	fputs(text, s->out);
	for (from = text; l->marker >= 0 && (end = strchr(from, '\n')); from = end + 1) {
		snprintf(line, sizeof(line), "%.*s\n", (int)(end - from), from);
		nvme_bpf__trace(l->marker, line);
	}
	free(text);
	return 0;
}

static int nvme_latency_on_end(void *state, struct session *s)
{
	int err = nvme_latency_show(state, s);

	io_source__take_ledger(s, IO_NOT_COUNTED);
	return err;
}

static const struct session_view nvme_latency_view = {
	.wants = nvme_latency_wants,
	.on_start = nvme_latency_on_start,
	.on_tick = nvme_latency_show,
	.on_end = nvme_latency_on_end,
};

static int nvme_latency_run(void *state)
{
	struct nvme_latency *l = state;
	struct options options = { 0 };
	int err;

	options.filter.ctrl_id.given = l->ctrl_id >= 0;
	options.filter.ctrl_id.value = (uint64_t)l->ctrl_id;
	options.filter.nsid.given = l->nsid >= 0;
	options.filter.nsid.value = (uint64_t)l->nsid;
	if (l->lat_min_us < 0)
		l->lat_min_us = NVME_LATENCY_MIN_US;
	if (l->lat_shift < 0)
		l->lat_shift = 0;
	if (l->lat_shift > 32)
		return log_err(-EINVAL, "--lat_shift=%ld: expected at most 32", l->lat_shift);
	l->marker = l->bpf_trace ? nvme_bpf__open_trace() : -1;
	breakdown__init(&l->breakdown,
			1 << BY_CTRL | 1 << BY_OP | (uint32_t)l->split_size << BY_SIZE);
	err = session__run(&nvme_latency_view, l, &options, NULL);
	breakdown__free(&l->breakdown);
	if (l->marker >= 0)
		close(l->marker);
	return err;
}
