/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/openmetrics.h"

#include <inttypes.h>
#include <stdlib.h>
#include "decode/column.h"

enum { OPENMETRICS_SECONDS = 25, OPENMETRICS_BYTES = 16 };
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

static void openmetrics_put_labels(FILE *out, struct openmetrics_labels labels, const char *le)
{
	char before = '{';

	for (size_t i = 0; i < labels.nr; i++) {
		if (!labels.labels[i].value)
			continue;
		fprintf(out, "%c%s=\"", before, labels.labels[i].key);
		openmetrics_put_value(out, labels.labels[i].value);
		fputc('"', out);
		before = ',';
	}
	if (le) {
		fprintf(out, "%cle=\"%s\"", before, le);
		before = ',';
	}
	fputs(before == ',' ? "} " : " ", out);
}

void openmetrics__family(FILE *out, const char *name, const char *type, const char *unit,
			 const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
	if (unit)
		fprintf(out, "# UNIT %s %s\n", name, unit);
}

void openmetrics__gauge(FILE *out, const char *name, struct openmetrics_labels labels,
			uint64_t value)
{
	fputs(name, out);
	openmetrics_put_labels(out, labels, NULL);
	fprintf(out, "%" PRIu64 "\n", value);
}

static void openmetrics_put_count(FILE *out, const char *name, const char *suffix,
				  struct openmetrics_labels labels, const char *le, uint64_t count)
{
	fprintf(out, "%s_%s", name, suffix);
	openmetrics_put_labels(out, labels, le);
	fprintf(out, "%" PRIu64 "\n", count);
}

void openmetrics__histogram(FILE *out, const char *name, struct openmetrics_labels labels,
			    const struct openmetrics_bounds *bounds,
			    const struct openmetrics_histogram *h, uint64_t per_unit)
{
	uint64_t count = 0;

	for (size_t i = 0; i <= bounds->nr; i++) {
		count += h->buckets[i];
		openmetrics_put_count(out, name, "bucket", labels,
				      i < bounds->nr ? bounds->texts[i] : "+Inf", count);
	}
	fprintf(out, "%s_sum", name);
	openmetrics_put_labels(out, labels, NULL);
	fprintf(out, "%" PRIu64, h->sum / per_unit);
	if (per_unit > 1)
		fprintf(out, ".%09" PRIu64, h->sum % per_unit * (1000000000 / per_unit));
	fputc('\n', out);
	openmetrics_put_count(out, name, "count", labels, NULL, count);
}

void openmetrics__end(FILE *out)
{
	fputs("# EOF\n", out);
}
