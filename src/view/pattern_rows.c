/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/pattern_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "render/job.h"
#include "session/host_source.h"
#include "session/io_source.h"
#include "session/table.h"
#include "view/records.h"

const char *const pattern_by_words[] = { "pid", "comm", "cgroup", "host", NULL };

void pattern_rows__label(struct pattern_rows *v, const struct session *s,
			 const struct pattern_row *row, struct load_row *line)
{
	const bool known = row->tags.device != PATTERN_REST;

	memcpy(v->comm_label, row->tags.comm, sizeof(row->tags.comm));
	line->dev = known ? records__device_name(s, row->tags.device) : "other";
	line->host = known ? records__host(s, row->tags.device) : NULL;
	line->pid = known ? row->tags.pid : CELL_NO_NUMBER;
	line->comm = known ? v->comm_label : NULL;
	line->cgroup = NULL;
	if (known && row->tags.cgroup)
		line->cgroup = session__cgroup_path(s, row->tags.cgroup, v->cgroup_label,
						    sizeof(v->cgroup_label));
}

const char *pattern_rows__title(const struct pattern_rows *v, const struct load_row *line,
				char *buf, size_t size)
{
	char pid[32] = "";

	if (v->tells[PATTERN_BY_PID] && line->pid != CELL_NO_NUMBER)
		snprintf(pid, sizeof(pid), " pid %" PRIu64, line->pid);
	snprintf(buf, size, "%s%s%s%s%s%s", line->dev, pid,
		 v->tells[PATTERN_BY_COMM] && line->comm ? " " : "",
		 v->tells[PATTERN_BY_COMM] && line->comm ? line->comm : "", line->cgroup ? " " : "",
		 line->cgroup ? line->cgroup : "");
	return buf;
}

int pattern_rows__sort(struct pattern_rows *v)
{
	struct pattern *p = &v->pattern;

	free(v->sorted);
	v->sorted = malloc((p->nr + 1) * sizeof(*v->sorted));
	if (!v->sorted)
		return log_no_memory();
	memcpy(v->sorted, p->rows, p->nr * sizeof(*v->sorted));
	qsort(v->sorted, p->nr, sizeof(*v->sorted), pattern_row__compare);
	return 0;
}

/* ---- summary of a row ---- */

bool pattern_rows__shows(const void *rows, const struct column *column)
{
	const struct pattern_rows *v = rows;

	for (int by = 0; by < NR_PATTERN_BY; by++)
		if (!strcmp(column->key, pattern_by_words[by]))
			return v->tells[by];
	return true;
}

static void pattern_put_part(void *table, const struct load_row *row)
{
	table__row(table, row);
}

static int pattern_show_parts(struct pattern_rows *v, struct session *s, const struct load *load,
			      struct load_row *row)
{
	for (int part = 0; part < NR_LOAD_PARTS; part++) {
		struct table *table = session__table(s, &load_parts[part], pattern_rows__shows, v);

		if (!table)
			return log_no_memory();
		load__each(load, part, row, pattern_put_part, table);
		table__free(table);
	}
	return 0;
}

int pattern_rows__show_whole(struct pattern_rows *v, struct session *s,
			     const struct pattern_row *row)
{
	const struct load load = { &v->pattern, row, io_source__op_names(s) };
	struct load_row line = { .span = "total", .time_s = s->elapsed_s };
	char title[512];

	if (!row->total.count)
		return 0;
	pattern_rows__label(v, s, row, &line);
	if (s->format == TABLE_JSON)
		return pattern_show_parts(v, s, &load, &line);
	if (s->format != TABLE_TEXT)
		return 0;
	fputc('\n', s->out);
	text__put_terminal(s->out, pattern_rows__title(v, &line, title, sizeof(title)));
	fputc('\n', s->out);
	load__put_text(s->out, &load, v->style);
	return 0;
}

/* ---- a job for fio ---- */

/* "12 write-zeroes": operations other than read, write, discard and flush. */
static void pattern_add_left_out(void *arg, const struct load_row *line)
{
	struct pattern_rows *v = arg;
	static const char *const done[] = { "read", "write",	    "discard",
					    "dsm",  "secure-erase", "flush" };
	size_t len = strlen(v->left_label);

	for (size_t i = 0; i < sizeof(done) / sizeof(done[0]); i++)
		if (!strcmp(line->op, done[i]))
			return;
	snprintf(v->left_label + len, sizeof(v->left_label) - len, "%s%" PRIu64 " %.24s",
		 len ? ", " : "", line->count, line->op);
}

static int pattern_fill_part(struct pattern_rows *v, struct session *s,
			     const struct pattern_row *row, struct job_part *part)
{
	const struct load load = { &v->pattern, row, io_source__op_names(s) };
	struct load_row line = { 0 };
	char title[512];

	pattern_rows__label(v, s, row, &line);
	v->left_label[0] = 0;
	load__each(&load, LOAD_OPS, &line, pattern_add_left_out, v);
	*part = (struct job_part){
		.row = row,
		.dev = line.dev,
		.whose = strdup(pattern_rows__title(v, &line, title, sizeof(title))),
		.left_out = strdup(v->left_label),
	};
	return part->whose && part->left_out ? 0 : -ENOMEM;
}

static int pattern_write_parts(struct session *s, const struct job *job)
{
	size_t fit = 0, unfit = 0;

	for (size_t i = 0; i < job->nr; i++) {
		const struct pattern_row *row = job->parts[i].row;
		bool is_fit = job_part__is_fit(&job->parts[i]);

		fit += is_fit;
		unfit +=
			!is_fit && row->total.kinds[PATTERN_READ] + row->total.kinds[PATTERN_WRITE];
	}
	if (unfit)
		log_warn("%zu rows have no job: the name of their device cannot be used in a path, "
			 "or its size is unknown",
			 unfit);
	if (!fit)
		return log_err(
			-ENODATA,
			"cannot make a job: no reads or writes of a usable device were seen");
	job__write(s->out, job);
	return 0;
}

/* A job is for one machine: its disks have one name there. */
static int pattern_check_hosts(const struct pattern_rows *v, const struct session *s)
{
	const struct device_list *list = io_source__devices(s);
	uint16_t first = 0;

	for (size_t i = 0; i < v->pattern.nr; i++) {
		const int32_t device = v->sorted[i]->tags.device;
		const uint16_t host = device < 0 || (size_t)device >= list->nr
					      ? 0
					      : list->devices[device].host_number;

		if (host && first && host != first)
			return log_err(-EINVAL,
				       "-o fio: a job is for the disks of one machine, "
				       "the captures are of %s and %s",
				       host_source__label(s, first), host_source__label(s, host));
		first = host ? host : first;
	}
	return 0;
}

int pattern_rows__write_job(struct pattern_rows *v, struct session *s)
{
	const struct option_list *files = &s->options->file.read;
	size_t nr = v->pattern.nr;
	struct job_part *parts = calloc(nr + 1, sizeof(*parts));
	const struct job job = { .from = files->nr ? files->words[0] : "a running machine",
				 .seconds = s->span_s,
				 .parts = parts,
				 .nr = nr };
	int err = parts ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < nr; i++)
		err = pattern_fill_part(v, s, v->sorted[i], &parts[i]);
	err = err ? log_err(err, "out of memory") : 0;
	err = err ?: pattern_check_hosts(v, s) ?: pattern_write_parts(s, &job);
	for (size_t i = 0; parts && i < nr; i++) {
		free((char *)parts[i].whose);
		free((char *)parts[i].left_out);
	}
	free(parts);
	return err;
}
