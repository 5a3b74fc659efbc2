/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE 1 /* fwrite_unlocked */
#include "render/openmetrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "decode/column.h"

enum { OPENMETRICS_SECONDS = 25, OPENMETRICS_BYTES = 16, OPENMETRICS_REST = 64 /* of a bucket */ };
_Static_assert(OPENMETRICS_SECONDS <= (int)OPENMETRICS_BOUNDS, "they fit");

static const char *const second_texts[OPENMETRICS_SECONDS] = {
	"1e-06", "2e-06", "5e-06", "1e-05", "2e-05", "5e-05", "0.0001", "0.0002", "0.0005",
	"0.001", "0.002", "0.005", "0.01",  "0.02",  "0.05",  "0.1",	"0.2",	  "0.5",
	"1.0",	 "2.0",	  "5.0",   "10.0",  "20.0",  "50.0",  "100.0",
};
static const uint64_t second_bounds[OPENMETRICS_SECONDS] = {
	1000,	     2000,	  5000,	       10000,	     20000,	 50000,	     100000,
	200000,	     500000,	  1000000,     2000000,	     5000000,	 10000000,   20000000,
	50000000,    100000000,	  200000000,   500000000,    1000000000, 2000000000, 5000000000,
	10000000000, 20000000000, 50000000000, 100000000000,
};
const struct openmetrics_bounds openmetrics_seconds = { second_texts, second_bounds,
							OPENMETRICS_SECONDS };

static const char *const byte_texts[OPENMETRICS_BYTES] = {
	"512.0",     "1024.0",	  "2048.0",    "4096.0",     "8192.0",	 "16384.0",
	"32768.0",   "65536.0",	  "131072.0",  "262144.0",   "524288.0", "1048576.0",
	"2097152.0", "4194304.0", "8388608.0", "16777216.0",
};
static const uint64_t byte_bounds[OPENMETRICS_BYTES] = {
	512,	1024,	2048,	4096,	 8192,	  16384,   32768,   65536,
	131072, 262144, 524288, 1048576, 2097152, 4194304, 8388608, 16777216,
};
const struct openmetrics_bounds openmetrics_bytes = { byte_texts, byte_bounds, OPENMETRICS_BYTES };

size_t openmetrics_bounds__find(const struct openmetrics_bounds *bounds, uint64_t value)
{
	size_t at = 0;

	while (at < bounds->nr && value > bounds->least[at])
		at++;
	return at;
}

/* Control characters and invalid UTF-8 are already escaped with backslashes. */
static void openmetrics_put_value(FILE *out, const char *value)
{
	char *plain = text__plain(value);

	for (const char *c = plain; c && *c; c++) {
		if (*c == '"' || *c == '\\')
			fputc('\\', out);
		fputc(*c, out);
	}
	free(plain);
}

/* device="sda",op="read" */
static void openmetrics_put_pairs(FILE *out, struct openmetrics_labels labels)
{
	const char *gap = "";

	if (labels.pairs)
		fputs_unlocked(labels.pairs, out);
	for (size_t i = 0; i < labels.nr; i++) {
		if (!labels.labels[i].value)
			continue;
		fprintf(out, "%s%s=\"", gap, labels.labels[i].key);
		openmetrics_put_value(out, labels.labels[i].value);
		fputc('"', out);
		gap = ",";
	}
}

static bool openmetrics_has_pairs(struct openmetrics_labels labels)
{
	for (size_t i = 0; i < labels.nr; i++)
		if (labels.labels[i].value)
			return true;
	return labels.pairs && *labels.pairs;
}

char *openmetrics__pairs(struct openmetrics_labels labels)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	openmetrics_put_pairs(out, labels);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static void openmetrics_put_labels(FILE *out, struct openmetrics_labels labels)
{
	if (openmetrics_has_pairs(labels)) {
		fputc('{', out);
		openmetrics_put_pairs(out, labels);
		fputc('}', out);
	}
	fputc(' ', out);
}

void openmetrics__family(FILE *out, const char *name, const char *type, const char *unit,
			 const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
	if (unit)
		fprintf(out, "# UNIT %s %s\n", name, unit);
}

void openmetrics__counter_family(FILE *out, enum openmetrics_format format, const char *name,
				 const char *unit, const char *help)
{
	if (format == OPENMETRICS_1_0)
		openmetrics__family(out, name, "counter", unit, help);
	else
		fprintf(out, "# HELP %s_total %s\n# TYPE %s_total counter\n", name, help, name);
}

void openmetrics__gauge(FILE *out, const char *name, struct openmetrics_labels labels,
			uint64_t value)
{
	fputs(name, out);
	openmetrics_put_labels(out, labels);
	fprintf(out, "%" PRIu64 "\n", value);
}

/* A number of our units as one of the family's. */
static void openmetrics_put_units(FILE *out, uint64_t value, uint64_t per_unit)
{
	fprintf(out, "%" PRIu64, value / per_unit);
	if (per_unit > 1)
		fprintf(out, ".%09" PRIu64, value % per_unit * (1000000000 / per_unit));
}

void openmetrics__gauge_seconds(FILE *out, const char *name, struct openmetrics_labels labels,
				uint64_t ns)
{
	fputs(name, out);
	openmetrics_put_labels(out, labels);
	openmetrics_put_units(out, ns, 1000000000);
	fputc('\n', out);
}

void openmetrics__counter_seconds(FILE *out, const char *name, struct openmetrics_labels labels,
				  uint64_t ns)
{
	fprintf(out, "%s_total", name);
	openmetrics_put_labels(out, labels);
	openmetrics_put_units(out, ns, 1000000000);
	fputc('\n', out);
}

static void openmetrics_put_count(FILE *out, const char *name, const char *suffix,
				  struct openmetrics_labels labels, uint64_t count)
{
	fprintf(out, "%s_%s", name, suffix);
	openmetrics_put_labels(out, labels);
	fprintf(out, "%" PRIu64 "\n", count);
}

void openmetrics__counter(FILE *out, const char *name, struct openmetrics_labels labels,
			  uint64_t value)
{
	openmetrics_put_count(out, name, "total", labels, value);
}

/*
 * What all buckets of a histogram begin with, and room for the rest of one; *len is the length
 * without that. NULL: out of memory.
 */
static char *openmetrics_bucket_head(const char *name, struct openmetrics_labels labels,
				     size_t *len)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "%s_bucket{", name);
	openmetrics_put_pairs(out, labels);
	fputs(openmetrics_has_pairs(labels) ? ",le=\"" : "le=\"", out);
	*len = (size_t)ftell(out);
	fprintf(out, "%*s", OPENMETRICS_REST, "");
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

/* 1.023e-06"} 17\n; returns its end. A page has tens of thousands: printf would take most of the
 * time. */
static char *openmetrics_end_bucket(char *at, const char *bound, uint64_t count)
{
	char text[24], *first = text + sizeof(text);

	*--first = 0;
	*--first = '\n';
	do
		*--first = (char)('0' + count % 10);
	while (count /= 10);
	return stpcpy(stpcpy(stpcpy(at, bound), "\"} "), first);
}

static void openmetrics_put_exemplar(FILE *out, const struct openmetrics_exemplar *e,
				     uint64_t per_unit)
{
	fprintf(out, " # {record=\"%" PRIu64 "\"} ", e->record);
	openmetrics_put_units(out, e->value, per_unit);
	fputc(' ', out);
	openmetrics_put_units(out, e->wall_ns, 1000000000);
	fputc('\n', out);
}

int openmetrics__histogram(FILE *out, const char *name, struct openmetrics_labels labels,
			   const struct openmetrics_bounds *bounds,
			   const struct openmetrics_histogram *h, uint64_t per_unit)
{
	size_t len = 0;
	char *head = openmetrics_bucket_head(name, labels, &len), *end;
	uint64_t count = 0;
	bool has_exemplar;

	if (!head)
		return -ENOMEM;
	for (size_t i = 0; i <= bounds->nr; i++) {
		count += h->buckets[i];
		end = openmetrics_end_bucket(head + len, i < bounds->nr ? bounds->texts[i] : "+Inf",
					     count);
		has_exemplar = h->exemplars && h->exemplars[i].record;
		end -= has_exemplar; /* before the end of the line */
		fwrite_unlocked(head, 1, (size_t)(end - head), out);
		if (has_exemplar)
			openmetrics_put_exemplar(out, &h->exemplars[i], per_unit);
	}
	free(head);
	fprintf(out, "%s_sum", name);
	openmetrics_put_labels(out, labels);
	openmetrics_put_units(out, h->sum, per_unit);
	fputc('\n', out);
	openmetrics_put_count(out, name, "count", labels, count);
	return 0;
}

void openmetrics__end(FILE *out)
{
	fputs("# EOF\n", out);
}
