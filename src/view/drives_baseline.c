/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/drives_baseline.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analyse/servers.h"
#include "base/grow.h"
#include "base/log.h"
#include "decode/json.h"

enum { BASELINE_LINE = 4096, BASELINE_DRIVES = 65536, BASELINE_DEPTHS = 64 };

static const char *const baseline_depths[NR_DRIVE_DEPTHS] = { "start", "mean" };

struct baseline_row {
	const char *host, *dev, *model, *serial, *depth_by, *op;
	uint64_t servers, blocks, size_class, depth_class, count;
	double service_ns, error;
};

#define FIELD(name) offsetof(struct baseline_row, name)
static const struct column baseline_columns[] = {
	{ "host", "host", CELL_TEXT, 8, "where the drive was", .at = FIELD(host) },
	{ "dev", "dev", CELL_TEXT, 8, "disk", .at = FIELD(dev) },
	{ "model", "model", CELL_TEXT, 8, "its model", .at = FIELD(model) },
	{ "serial", "serial", CELL_TEXT, 8, "its serial number", .at = FIELD(serial) },
	{ "servers", "servers", CELL_COUNT, 7, "commands that it serves at once; null: all",
	  .at = FIELD(servers) },
	{ "blocks", "blocks", CELL_COUNT, 7, "blocks of time", .at = FIELD(blocks) },
	{ "depth_by", "by", CELL_TEXT, 5, "depth when a service began, or the mean during it",
	  .at = FIELD(depth_by) },
	{ "op", "op", CELL_TEXT, 5, "operation", .at = FIELD(op) },
	{ "size_class", "size", CELL_COUNT, 4, "sizes up to 2 to the power of one less",
	  .at = FIELD(size_class) },
	{ "depth_class", "depth", CELL_COUNT, 5, "commands served at once, in half octaves",
	  .at = FIELD(depth_class) },
	{ "count", "count", CELL_COUNT, 7, "commands of this class", .at = FIELD(count) },
	{ "service_ns", "service", CELL_REAL, 7, "their typical service time",
	  .at = FIELD(service_ns) },
	{ "error", "error", CELL_REAL, 7, "standard error of its logarithm", .at = FIELD(error) },
	{ 0 },
};
#undef FIELD

const struct object drives_baseline = { "drive_baseline", { baseline_columns } };

/* ---- writing ---- */

static void baseline_put(struct table *table, struct baseline_row *row, const struct drives *d,
			 const struct drive *drive)
{
	for (size_t i = 0; i < NR_DRIVE_DEPTHS; i++)
		for (size_t j = 0; j < drive->now.by[i].nr; j++) {
			const struct drive_cell *cell = &drive->now.by[i].cells[j];

			row->depth_by = baseline_depths[i];
			row->op = d->kinds[cell->kind].op;
			row->size_class = d->kinds[cell->kind].size_class;
			row->depth_class = cell->depth;
			row->count = (uint64_t)cell->nr;
			row->service_ns = exp(drive_cell__log_ns(cell));
			row->error = drive_cell__error(cell, drive->now.nr_blocks);
			table__row(table, row);
		}
}

int drives_past__write(FILE *out, const struct drives *d, size_t number,
		       const struct drive_name *name)
{
	const struct drive *drive = d->drives[number];
	struct table *table = table__of(out, TABLE_JSON, &drives_baseline, NULL, NULL);
	struct baseline_row row = {
		.host = name->host,
		.dev = name->dev,
		.model = name->model,
		.serial = name->serial,
		.servers = drive->servers == SERVERS_ALL ? CELL_NO_NUMBER : drive->servers,
		.blocks = drive->now.nr_blocks,
	};

	if (!table)
		return -ENOMEM;
	baseline_put(table, &row, d, drive);
	table__free(table);
	return 0;
}

/* ---- reading ---- */

/* Its serial, with its model; without one, its place. */
static bool baseline_is_same(const struct drive_name *a, const struct drive_name *b)
{
	if (strcmp(a->model, b->model) || strcmp(a->serial, b->serial))
		return false;
	return a->serial[0] || (!strcmp(a->host, b->host) && !strcmp(a->dev, b->dev));
}

const struct drive_past *drives_past__find(const struct drives_past *past,
					   const struct drive_name *name)
{
	for (size_t i = past->nr; i-- > 0;)
		if (baseline_is_same(&past->drives[i].name, name))
			return &past->drives[i];
	return NULL;
}

static void baseline_text(const struct json_line *line, const char *key, char *buf, size_t size)
{
	const char *text = json_line__text(line, key);

	snprintf(buf, size, "%s", text ? text : "");
}

/* A whole number from `least` to `most`; false: it is something else. */
static bool baseline_number(const struct json_line *line, const char *key, double least,
			    double most, uint32_t *number)
{
	double value = json_line__number(line, key);

	if (!(value >= least && value <= most && value == floor(value)))
		return false;
	*number = (uint32_t)value;
	return true;
}

/* The drive of this line: as the last one, or a new one. */
static struct drive_past *baseline_drive(struct drives_past *past, const struct json_line *line)
{
	struct drive_past drive = { 0 };

	baseline_text(line, "host", drive.name.host, sizeof(drive.name.host));
	baseline_text(line, "dev", drive.name.dev, sizeof(drive.name.dev));
	baseline_text(line, "model", drive.name.model, sizeof(drive.name.model));
	baseline_text(line, "serial", drive.name.serial, sizeof(drive.name.serial));
	if (past->nr && !memcmp(&past->drives[past->nr - 1].name, &drive.name, sizeof(drive.name)))
		return &past->drives[past->nr - 1];
	if (past->nr == BASELINE_DRIVES || GROW_BY_ONE(past->drives, past->nr))
		return NULL;
	drive.sample.is_past = true;
	past->drives[past->nr] = drive;
	return &past->drives[past->nr++];
}

struct baseline_cell {
	uint32_t servers, blocks, size_class, depth_class, count;
	double service_ns, error;
	const char *op;
	size_t by;
};

static bool baseline_take_cell(const struct json_line *line, struct baseline_cell *c)
{
	const char *by = json_line__text(line, "depth_by");

	c->op = json_line__text(line, "op");
	c->service_ns = json_line__number(line, "service_ns");
	c->error = json_line__number(line, "error");
	for (c->by = 0; by && c->by < NR_DRIVE_DEPTHS; c->by++)
		if (!strcmp(by, baseline_depths[c->by]))
			break;
	if (!baseline_number(line, "servers", 1, SERVERS_MOST, &c->servers))
		c->servers = SERVERS_ALL;
	return by && c->by < NR_DRIVE_DEPTHS && c->op && c->service_ns > 0 &&
	       isfinite(c->service_ns) &&
	       baseline_number(line, "blocks", 1, DRIVES_BLOCKS, &c->blocks) &&
	       baseline_number(line, "size_class", 0, 64, &c->size_class) &&
	       baseline_number(line, "depth_class", 0, BASELINE_DEPTHS, &c->depth_class) &&
	       baseline_number(line, "count", 1, UINT32_MAX, &c->count);
}

/* 1: the line is invalid; 0; -ENOMEM. */
static int baseline_take(struct drives_past *past, const struct json_line *line,
			 struct drives *kinds)
{
	struct baseline_cell c;
	struct drive_past *drive;
	struct drive_cell *cell;
	uint32_t kind;

	if (!baseline_take_cell(line, &c))
		return 1;
	kind = drives__kind(kinds, c.op, c.size_class);
	drive = kind ? baseline_drive(past, line) : NULL;
	cell = drive ? drive_cells__at(&drive->sample.by[c.by], kind, c.depth_class) : NULL;
	if (!cell)
		return -ENOMEM;
	drive->servers = c.servers;
	drive->sample.nr_blocks = c.blocks;
	cell->nr = c.count;
	cell->sum = c.count * cbrt(c.service_ns);
	cell->error = c.error >= 0 && isfinite(c.error) ? c.error : HUGE_VAL;
	drive->sample.by[c.by].all += c.count;
	return 0;
}

static int baseline_read(struct drives_past *past, const char *path, FILE *in, struct drives *kinds)
{
	char text[BASELINE_LINE];
	struct json_line line;
	size_t nr = 0;
	int err = 0;

	while (!err && fgets(text, sizeof(text), in)) {
		const char *type;

		nr++;
		err = json_line__parse(&line, text) ? 1 : 0;
		type = err ? NULL : json_line__text(&line, "type");
		err = type && !strcmp(type, drives_baseline.type)
			      ? baseline_take(past, &line, kinds)
			      : 1;
	}
	if (err == -ENOMEM)
		return log_no_memory();
	if (err)
		return log_err(-EINVAL, "%s: line %zu is not of 'drives --learn'", path, nr);
	if (ferror(in))
		return log_err(-EIO, "cannot read %s: %s", path, strerror(errno));
	return past->nr ? 0 : log_err(-EINVAL, "%s has no drive: it is empty", path);
}

int drives_past__read(struct drives_past *past, const char *path, struct drives *kinds)
{
	FILE *in = fopen(path, "re");
	int err;

	if (!in)
		return log_err(-EIO, "cannot read %s: %s", path, strerror(errno));
	err = baseline_read(past, path, in, kinds);
	fclose(in);
	return err;
}

void drives_past__free(struct drives_past *past)
{
	for (size_t i = 0; i < past->nr; i++)
		drive_sample__free(&past->drives[i].sample);
	free(past->drives);
	*past = (struct drives_past){ 0 };
}
