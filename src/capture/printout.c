/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/printout.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "base/log.h"
#include "decode/json.h"
#include "wire/buckets.h"

enum { PRINTOUT_LINE = 1 << 16 };

bool printout__is_one(const char *path)
{
	struct stat file;
	FILE *in;
	int c = EOF;

	if (stat(path, &file) || !S_ISREG(file.st_mode)) /* a pipe can be read only once */
		return false;
	in = fopen(path, "re");
	if (!in)
		return false;
	do
		c = getc(in);
	while (c == ' ' || c == '\t' || c == '\r' || c == '\n');
	fclose(in);
	return c == '{';
}

static double printout_number(const struct json_line *parsed, const char *key)
{
	double number = json_line__number(parsed, key);

	return isnan(number) || number < 0 ? 0 : number;
}

/* Buckets of a zoom have other widths and begin elsewhere. */
static bool printout_is_our_bucket(double from_ns, double to_ns)
{
	uint32_t slot;

	if (!(from_ns >= 0 && from_ns <= (double)(1ULL << HIST_TOP_BIT)))
		return false;
	slot = hist_slot((uint64_t)from_ns);
	if ((double)hist_slot_from(slot) != from_ns)
		return false;
	return slot == HIST_OVER ? to_ns == 0 : (double)hist_slot_from(slot + 1) == to_ns;
}

static int printout_bucket(const char *path, const struct json_line *parsed,
			   struct printout_line *line)
{
	double from_ns = json_line__number(parsed, "from_ns");

	if (!printout_is_our_bucket(from_ns, json_line__number(parsed, "to_ns")))
		return log_err(
			-EIO, "%s has zoomed buckets: save it without --lat-min-us and --lat-shift",
			path);
	line->from_ns = (uint64_t)from_ns;
	return 0;
}

/* 1: a line to skip. */
static int printout_take(const char *path, const struct json_line *parsed,
			 struct printout_line *line)
{
	const char *type = json_line__text(parsed, "type");
	const char *span = json_line__text(parsed, "span");

	*line = (struct printout_line){
		/* Called "hist" before version 0.2. */
		.is_bucket = type && (!strcmp(type, "bucket") || !strcmp(type, "hist")),
		.is_total = span && !strcmp(span, "total"),
		.dev = json_line__text(parsed, "dev"),
		.op = json_line__text(parsed, "op"),
		.time_s = printout_number(parsed, "time_s"),
		.count = printout_number(parsed, "count"),
		.iops = printout_number(parsed, "iops"),
		.size_bytes = printout_number(parsed, "size_bytes"),
		.mean_ns = printout_number(parsed, "mean_ns"),
	};
	if (!type || !span || (!line->is_bucket && strcmp(type, "latency")) ||
	    (!line->is_total && strcmp(span, "interval")))
		return 1;
	if (!line->dev || !line->op)
		return log_err(-EIO,
			       "%s is not split by device and operation: save it without --by, or "
			       "with --by dev,op",
			       path);
	return line->is_bucket ? printout_bucket(path, parsed, line) : 0;
}

static void printout_take_ledger(const struct json_line *parsed, double *lost)
{
	const char *type = json_line__text(parsed, "type");

	if (!type || strcmp(type, "ledger"))
		return;
	for (size_t i = 0; i < parsed->nr; i++)
		if (!strncmp(parsed->fields[i].key, "lost_", 5))
			*lost += printout_number(parsed, parsed->fields[i].key);
}

static int printout_line(const char *path, char *text, size_t nr, struct json_line *parsed,
			 struct printout_line *line)
{
	if (json_line__parse(parsed, text))
		return log_err(-EIO,
			       "%s: line %zu is not a complete line of 'latency -o json': the file "
			       "is truncated, or of another format",
			       path, nr);
	return printout_take(path, parsed, line);
}

static int printout_lines(const char *path, FILE *in,
			  int (*fn)(void *, const struct printout_line *), void *arg, double *lost)
{
	char text[PRINTOUT_LINE];
	struct json_line parsed;
	struct printout_line line;
	int err = 0;

	for (size_t nr = 1; err >= 0 && fgets(text, sizeof(text), in); nr++) {
		err = printout_line(path, text, nr, &parsed, &line);
		if (!err)
			err = fn(arg, &line);
		else if (err > 0)
			printout_take_ledger(&parsed, lost);
	}
	if (err < 0)
		return err;
	return ferror(in) ? log_err(-EIO, "cannot read %s: %s", path, strerror(errno)) : 0;
}

int printout__read(const char *path, int (*fn)(void *arg, const struct printout_line *line),
		   void *arg, double *lost)
{
	FILE *in = fopen(path, "re");
	int err;

	*lost = 0;
	if (!in)
		return log_err(-EIO, "cannot read %s: %s", path, strerror(errno));
	err = printout_lines(path, in, fn, arg, lost);
	fclose(in);
	return err;
}
