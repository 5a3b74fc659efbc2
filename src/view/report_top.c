/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/report_top.h"

#include <errno.h>
#include <string.h>
#include "session/host_source.h"
#include "wire/io_stages.h"

/*
 * The key of a process: pid and above it the machine, then comm. Of a file: inode, then its file
 * system's device, then the machine. It is 0 if captures are of one.
 */
struct top_row {
	const char *host, *comm, *file;
	uint64_t pid, count, bytes, failed, mean_ns, max_ns, sum_ns;
	double share;
};

#define FIELD(name) offsetof(struct top_row, name)

static const struct column process_columns[] = {
	{ "host", "host", CELL_TEXT, 5, "machine, if captures are of several", .at = FIELD(host) },
	{ "pid", "pid", CELL_COUNT, 7,
	  "process that submitted the commands; null: all processes without a row of their own",
	  .at = FIELD(pid) },
	{ "comm", "comm", CELL_TEXT, 15, "name of the task that submitted the commands",
	  .at = FIELD(comm) },
	{ 0 },
};

static const struct column file_columns[] = {
	{ "host", "host", CELL_TEXT, 5, "machine, if captures are of several", .at = FIELD(host) },
	{ "file", "file", CELL_TEXT, 20, "path of the file, or what it is instead, e.g. [device]",
	  .at = FIELD(file) },
	{ 0 },
};

static const struct column sum_columns[] = {
	{ "count", "count", CELL_COUNT, 7, "commands", .at = FIELD(count) },
	{ "bytes", "bytes", CELL_BYTES, 5, "bytes of these commands", .at = FIELD(bytes) },
	{ "failed", "failed", CELL_COUNT, 6, "number of these commands that failed",
	  .at = FIELD(failed) },
	{ "mean_ns", "mean", CELL_DURATION, 6, "mean latency, exact", .at = FIELD(mean_ns) },
	{ "max_ns", "max", CELL_DURATION, 6, "maximum latency, exact", .at = FIELD(max_ns) },
	{ "sum_ns", "sum", CELL_DURATION, 6, "sum of the latencies", .at = FIELD(sum_ns) },
	{ "share_percent", "share", CELL_PERCENT, 6, "percentage of the latencies of all commands",
	  .at = FIELD(share) },
	{ 0 },
};

const struct object report_processes = { "process", { process_columns, sum_columns } };
const struct object report_files = { "file", { file_columns, sum_columns } };

int report_top__init(struct report_top *t)
{
	int err = top__init(&t->processes);

	return err ?: top__init(&t->files);
}

void report_top__add(struct report_top *t, const struct session *s, const struct io_record *r)
{
	const uint64_t host = host_source__are_several(s) ? host_source__here(s) : 0;
	const struct io_stages *stages = io_record__stages(r);
	const struct top_io io = { r->end_ns - r->first_ns, r->bytes, r->status != 0 };
	uint64_t key[TOP_WORDS] = { r->pid | host << 32 };

	_Static_assert(sizeof(r->comm) == 2 * sizeof(key[0]), "a name is two words");
	memcpy(&key[1], r->comm, sizeof(r->comm));
	top__add(&t->processes, key, &io);
	t->sum_ns += io.ns;
	if (!stages || !stages->inode) {
		t->fileless++;
		return;
	}
	top__add(&t->files,
		 (const uint64_t[TOP_WORDS]){
			 stages->inode, io_file_place(stages->file_dev, stages->file_nth), host },
		 &io);
}

void report_top__free(struct report_top *t)
{
	top__free(&t->processes);
	top__free(&t->files);
}

/* ---- rows ---- */

static void top_put(const struct report_top *t, struct table *table, const struct top_sum *sum,
		    struct top_row row)
{
	row.count = sum->count;
	row.bytes = sum->bytes;
	row.failed = sum->failed;
	row.mean_ns = sum->sum_ns / sum->count;
	row.max_ns = sum->max_ns;
	row.sum_ns = sum->sum_ns;
	row.share = t->sum_ns ? 100.0 * (double)sum->sum_ns / (double)t->sum_ns : 0;
	table__row(table, &row);
}

static void top_put_process(const struct report_top *t, const struct session *s,
			    struct table *table, const struct top_sum *sum)
{
	char comm[17] = "";

	memcpy(comm, &sum->key[1], 16);
	top_put(t, table, sum,
		(struct top_row){ .host = host_source__label(s, (uint16_t)(sum->key[0] >> 32)),
				  .pid = (uint32_t)sum->key[0],
				  .comm = comm });
}

static void top_put_file(const struct report_top *t, const struct session *s, struct table *table,
			 const struct top_sum *sum, const char *file)
{
	char unnamed[64];

	if (!file)
		snprintf(unnamed, sizeof(unnamed), "inode %llu of device %llu:%llu",
			 (unsigned long long)sum->key[0],
			 (unsigned long long)(uint32_t)sum->key[1] >> 20,
			 (unsigned long long)sum->key[1] & 0xfffff);
	top_put(t, table, sum,
		(struct top_row){ .host = host_source__label(s, (uint16_t)sum->key[2]),
				  .file = file ? file : unnamed });
}

static int top_put_processes(struct report_top *t, const struct session *s, size_t most, FILE *out)
{
	struct table *table = table__of(out, TABLE_JSON, &report_processes, NULL, NULL);

	if (!table)
		return -ENOMEM;
	top__sort(&t->processes);
	for (size_t i = 0; i < t->processes.nr && i < most; i++)
		top_put_process(t, s, table, &t->processes.sums[i]);
	if (t->processes.rest.count)
		top_put(t, table, &t->processes.rest,
			(struct top_row){ .pid = CELL_NO_NUMBER, .comm = "other" });
	table__free(table);
	return 0;
}

static int top_put_files(struct report_top *t, const struct session *s, size_t most, FILE *out)
{
	struct table *table = table__of(out, TABLE_JSON, &report_files, NULL, NULL);

	if (!table)
		return -ENOMEM;
	top__sort(&t->files);
	for (size_t i = 0; i < t->files.nr && i < most; i++)
		top_put_file(t, s, table, &t->files.sums[i],
			     session__file(s, t->files.sums[i].key[0], t->files.sums[i].key[1]));
	if (t->files.rest.count)
		top_put_file(t, s, table, &t->files.rest, "other");
	table__free(table);
	return 0;
}

int report_top__put(struct report_top *t, const struct session *s, size_t most, FILE *out)
{
	int err = top_put_processes(t, s, most, out);

	return err ?: top_put_files(t, s, most, out);
}
