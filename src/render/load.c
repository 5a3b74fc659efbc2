/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/load.h"

#include <math.h>
#include "decode/op.h"

#define FIELD(name) offsetof(struct load_row, name)

/* The tags of a row. */
static const struct column tag_columns[] = {
	{ "span", "span", CELL_TEXT, 0, "interval, or total for the whole run", .at = FIELD(span) },
	{ "time_s", "time", CELL_SECONDS, 5, "time of the end of the span, since the start",
	  .at = FIELD(time_s) },
	{ "host", "host", CELL_TEXT, 5, "machine, of captures", .at = FIELD(host) },
	{ "dev", "dev", CELL_TEXT, 7, "disk, or controller for admin commands", .at = FIELD(dev) },
	{ "pid", "pid", CELL_COUNT, 7, "process that submitted the commands", .at = FIELD(pid) },
	{ "comm", "comm", CELL_TEXT, 15, "name of the task that submitted the commands",
	  .at = FIELD(comm) },
	{ "cgroup", "cgroup", CELL_TEXT, 10, "cgroup of the task that submitted the commands",
	  .at = FIELD(cgroup) },
	{ 0 },
};

static const struct column load_columns[] = {
	{ "count", "count", CELL_COUNT, 7, "commands", .at = FIELD(count) },
	{ "iops", "IO/s", CELL_RATE, 5, "commands per second", .at = FIELD(per_s), .drop = 6 },
	{ "mb_per_s", "MB/s", CELL_MBPS, 5, "10^6 bytes read and written per second",
	  .at = FIELD(mb_per_s), .drop = 7 },
	{ "read_percent", "read", CELL_PERCENT, 6, "percentage of commands that are reads",
	  .at = FIELD(read) },
	{ "write_percent", "write", CELL_PERCENT, 6, "percentage of commands that are writes",
	  .at = FIELD(write), .drop = 8 },
	{ "discard_percent", "discard", CELL_PERCENT, 7, "percentage of commands that are discards",
	  .at = FIELD(discard) },
	{ "flush_percent", "flush", CELL_PERCENT, 6, "percentage of commands that are flushes",
	  .at = FIELD(flush) },
	{ "other_percent", "others", CELL_PERCENT, 6, "percentage of other commands",
	  .at = FIELD(other) },
	{ "rest_percent", "rest", CELL_PERCENT, 5,
	  "percentage of commands that are neither reads nor writes", .at = FIELD(rest),
	  .drop = 1 },
	{ "size_bytes", "size", CELL_BYTES, 5, "mean size of reads and writes",
	  .at = FIELD(size_bytes) },
	{ "read_size_bytes", "read size", CELL_BYTES, 5, "mean size of a read",
	  .at = FIELD(read_bytes) },
	{ "write_size_bytes", "write size", CELL_BYTES, 5, "mean size of a write",
	  .at = FIELD(write_bytes) },
	{ "seq_percent", "seq", CELL_PERCENT, 6,
	  "percentage of reads and writes that begin where another one ended", .at = FIELD(seq) },
	{ "read_seq_percent", "read seq", CELL_PERCENT, 6,
	  "percentage of reads that are sequential", .at = FIELD(read_seq) },
	{ "write_seq_percent", "write seq", CELL_PERCENT, 6,
	  "percentage of writes that are sequential", .at = FIELD(write_seq) },
	{ "streams", "strm", CELL_COUNT, 4, "number of sequential streams that take turns, so far",
	  .at = FIELD(streams), .drop = 2 },
	{ "read_streams", "read strm", CELL_COUNT, 4, "number of sequential streams of reads",
	  .at = FIELD(read_streams) },
	{ "write_streams", "write strm", CELL_COUNT, 4, "number of sequential streams of writes",
	  .at = FIELD(write_streams) },
	{ "aligned_percent", "4Ki", CELL_PERCENT, 6,
	  "percentage of reads and writes that begin and end on a 4 KiB boundary",
	  .at = FIELD(aligned), .drop = 5 },
	{ "misaligned_reads", "misaligned reads", CELL_COUNT, 7,
	  "number of reads that do not begin and end on a 4 KiB boundary",
	  .at = FIELD(misaligned_reads) },
	{ "misaligned_writes", "misaligned writes", CELL_COUNT, 7,
	  "number of writes that do not begin and end on a 4 KiB boundary",
	  .at = FIELD(misaligned_writes) },
	{ "unit_percent", "unit", CELL_PERCENT, 6,
	  "percentage of reads and writes that begin and end on a boundary of the unit",
	  .at = FIELD(in_units), .drop = 4 },
	{ "unit_bytes", "unit size", CELL_BYTES, 5, "preferred I/O size of the device",
	  .at = FIELD(unit_bytes) },
	{ "depth_mean", "depth", CELL_RATE, 5, "mean number of commands in flight at submission",
	  .at = FIELD(depth_mean) },
	{ "depth_p50", "depth p50", CELL_COUNT, 5,
	  "median number of commands in flight at submission", .at = FIELD(depth_p50) },
	{ "depth_p99", "depth p99", CELL_COUNT, 5,
	  "99th percentile of commands in flight at submission", .at = FIELD(depth_p99) },
	{ "depth_max", "depth max", CELL_COUNT, 5,
	  "maximum number of commands in flight at submission", .at = FIELD(depth_max) },
	{ "gap_p50_ns", "gap", CELL_DURATION, 6, "median time between two submissions",
	  .at = FIELD(gap_p50_ns), .drop = 3 },
	{ "gap_p99_ns", "gap p99", CELL_DURATION, 6,
	  "99th percentile of the time between two submissions", .at = FIELD(gap_p99_ns) },
	{ "gap_mean_ns", "gap mean", CELL_DURATION, 6, "mean time between two submissions",
	  .at = FIELD(gap_mean_ns) },
	{ "first_sector", "from", CELL_COUNT, 9,
	  "first sector accessed so far, in units of 512 bytes", .at = FIELD(first_sector) },
	{ "after_sector", "to", CELL_COUNT, 9, "sector after the last one accessed so far",
	  .at = FIELD(after_sector) },
	{ "late", "late", CELL_COUNT, 4, "commands that arrived too late to judge their order",
	  .at = FIELD(late) },
	{ 0 },
};

/* Parts of the whole, as JSON has them. */
static const struct column op_columns[] = {
	{ "op", "op", CELL_TEXT, 8, "operation", .at = FIELD(op) },
	{ "count", "count", CELL_COUNT, 7, "commands", .at = FIELD(count) },
	{ "share_percent", "share", CELL_PERCENT, 6, "percentage of all commands",
	  .at = FIELD(share) },
	{ 0 },
};
static const struct column size_columns[] = {
	{ "op", "op", CELL_TEXT, 8, "read or write", .at = FIELD(op) },
	{ "size_bytes", "size", CELL_BYTES, 5, "exact size; null: all other sizes",
	  .at = FIELD(size_bytes) },
	{ "count", "count", CELL_COUNT, 7, "number of commands of this size", .at = FIELD(count) },
	{ "share_percent", "share", CELL_PERCENT, 6, "percentage of the commands of this operation",
	  .at = FIELD(share) },
	{ 0 },
};
static const struct column gap_columns[] = {
	{ "from_ns", "from", CELL_DURATION, 6, "start of the bucket", .at = FIELD(from) },
	{ "to_ns", "to", CELL_DURATION, 6, "start of the next bucket; 0: no upper limit",
	  .at = FIELD(to) },
	{ "count", "count", CELL_COUNT, 7, "submissions", .at = FIELD(count) },
	{ "share_percent", "share", CELL_PERCENT, 6, "percentage of all submissions",
	  .at = FIELD(share) },
	{ 0 },
};
static const struct column depth_columns[] = {
	{ "from_depth", "from", CELL_COUNT, 5,
	  "start of the bucket: commands in flight at submission, including the new one",
	  .at = FIELD(from) },
	{ "to_depth", "to", CELL_COUNT, 5, "start of the next bucket; 0: no upper limit",
	  .at = FIELD(to) },
	{ "count", "count", CELL_COUNT, 7, "submissions", .at = FIELD(count) },
	{ "share_percent", "share", CELL_PERCENT, 6, "percentage of all submissions",
	  .at = FIELD(share) },
	{ 0 },
};
static const struct column heat_columns[] = {
	{ "op", "op", CELL_TEXT, 8, "read or write", .at = FIELD(op) },
	{ "from_sector", "from", CELL_COUNT, 9, "first sector of the cell, in units of 512 bytes",
	  .at = FIELD(from) },
	{ "to_sector", "to", CELL_COUNT, 9, "first sector of the next cell", .at = FIELD(to) },
	{ "count", "count", CELL_COUNT, 7, "number of accesses that begin in the cell",
	  .at = FIELD(count) },
	{ "share_percent", "share", CELL_PERCENT, 6, "percentage of the accesses of this operation",
	  .at = FIELD(share) },
	{ 0 },
};

const struct object load_rows = { "pattern", { tag_columns, load_columns } };
const struct object load_parts[NR_LOAD_PARTS] = {
	[LOAD_OPS] = { "pattern_op", { tag_columns, op_columns } },
	[LOAD_SIZES] = { "pattern_size", { tag_columns, size_columns } },
	[LOAD_GAPS] = { "pattern_gap", { tag_columns, gap_columns } },
	[LOAD_DEPTHS] = { "pattern_depth", { tag_columns, depth_columns } },
	[LOAD_HEAT] = { "pattern_heat", { tag_columns, heat_columns } },
};

bool load_column__is_for_text(const struct column *column)
{
	static const size_t fields[] = {
		FIELD(time_s),	   FIELD(host),	      FIELD(dev),	 FIELD(pid),
		FIELD(comm),	   FIELD(cgroup),     FIELD(count),	 FIELD(per_s),
		FIELD(mb_per_s),   FIELD(read),	      FIELD(write),	 FIELD(rest),
		FIELD(size_bytes), FIELD(seq),	      FIELD(streams),	 FIELD(aligned),
		FIELD(in_units),   FIELD(depth_mean), FIELD(gap_p50_ns),
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (column->at == fields[i])
			return true;
	return false;
}

/* ---- a row ---- */

static uint64_t load_mean(uint64_t sum, uint64_t count)
{
	return count ? sum / count : CELL_NO_NUMBER;
}

static uint64_t load_percentile(const struct hist *h, uint32_t per_10000)
{
	return h->count ? hist__percentile(h, per_10000) : CELL_NO_NUMBER;
}

static void load_fill_mix(struct load_row *row, const struct pattern_sum *sum, double seconds)
{
	uint64_t reads = sum->kinds[PATTERN_READ], writes = sum->kinds[PATTERN_WRITE];
	uint64_t bytes = sum->bytes[PATTERN_READ] + sum->bytes[PATTERN_WRITE];

	row->count = sum->count;
	row->per_s = seconds > 0 ? (double)sum->count / seconds : 0;
	row->mb_per_s = seconds > 0 ? (double)bytes / seconds / 1e6 : 0;
	row->read = pattern_sum__share(sum, PATTERN_READ);
	row->write = pattern_sum__share(sum, PATTERN_WRITE);
	row->discard = pattern_sum__share(sum, PATTERN_DISCARD);
	row->flush = pattern_sum__share(sum, PATTERN_FLUSH);
	row->other = pattern_sum__share(sum, PATTERN_OTHER);
	row->rest = row->discard + row->flush + row->other;
	row->size_bytes = load_mean(bytes, reads + writes);
	row->read_bytes = load_mean(sum->bytes[PATTERN_READ], reads);
	row->write_bytes = load_mean(sum->bytes[PATTERN_WRITE], writes);
}

static void load_fill_order(struct load_row *row, const struct pattern_row *of,
			    const struct pattern_sum *sum)
{
	const struct hist *depths = &sum->depths, *gaps = &sum->gaps;

	row->seq = pattern_sum__sequential(sum, PATTERN_MOVES);
	row->read_seq = pattern_sum__sequential(sum, PATTERN_READ);
	row->write_seq = pattern_sum__sequential(sum, PATTERN_WRITE);
	row->read_streams = streams__at_once(&of->streams[PATTERN_READ]);
	row->write_streams = streams__at_once(&of->streams[PATTERN_WRITE]);
	row->streams = row->read_streams + row->write_streams;
	row->depth_mean = depths->count ? (double)depths->sum_ns / (double)depths->count : NAN;
	row->depth_p50 = load_percentile(depths, 5000);
	row->depth_p99 = load_percentile(depths, 9900);
	row->depth_max = depths->count ? depths->max_ns : CELL_NO_NUMBER;
	row->gap_p50_ns = load_percentile(gaps, 5000);
	row->gap_p99_ns = load_percentile(gaps, 9900);
	row->gap_mean_ns = load_mean(gaps->sum_ns, gaps->count);
	row->late = sum->late;
}

static void load_fill_place(struct load_row *row, const struct pattern_row *of,
			    const struct pattern_sum *sum)
{
	const bool touched = of->after_byte > of->first_byte;

	row->aligned = pattern_sum__aligned(sum);
	row->misaligned_reads = sum->moves[PATTERN_READ].misaligned;
	row->misaligned_writes = sum->moves[PATTERN_WRITE].misaligned;
	row->unit_bytes = of->disk.unit_bytes ? of->disk.unit_bytes : CELL_NO_NUMBER;
	row->in_units = of->disk.unit_bytes ? pattern_sum__in_units(sum) : NAN;
	row->first_sector = touched ? of->first_byte / 512 : CELL_NO_NUMBER;
	row->after_sector = touched ? (of->after_byte - 1) / 512 + 1 : CELL_NO_NUMBER;
}

void load_row__fill(struct load_row *row, const struct pattern_row *of,
		    const struct pattern_sum *sum, double seconds)
{
	load_fill_mix(row, sum, seconds);
	load_fill_order(row, of, sum);
	load_fill_place(row, of, sum);
}

/* ---- parts of the whole ---- */

static const char *const moves_words[PATTERN_MOVES] = { "read", "write" };

static double load_share(uint64_t part, uint64_t whole)
{
	return whole ? 100 * ((double)part / (double)whole) : NAN;
}

static void load_each_op(const struct load *load, struct load_row *row, load_fn fn, void *arg)
{
	char word[16];

	for (int kind = 0; kind < 4; kind++)
		for (int op = 0; op < 256; op++) {
			row->count = load->row->ops[kind][op];
			if (!row->count)
				continue;
			row->share = load_share(row->count, load->row->total.count);
			row->op = op__word(kind, (uint8_t)op, load->op_names, word, sizeof(word));
			fn(arg, row);
		}
}

static void load_each_size(const struct load *load, struct load_row *row, load_fn fn, void *arg)
{
	for (int kind = 0; kind < PATTERN_MOVES; kind++) {
		const struct sizes *sizes = &load->row->sizes[kind];

		row->op = moves_words[kind];
		for (size_t i = 0; i < sizes->nr + (sizes->others != 0); i++) {
			const bool rest = i == sizes->nr;

			row->count = rest ? sizes->others : sizes->exact[i].count;
			row->size_bytes = rest ? CELL_NO_NUMBER : sizes->exact[i].bytes;
			row->share = load_share(row->count, load->row->total.kinds[kind]);
			fn(arg, row);
		}
	}
}

static void load_each_bucket(const struct hist *h, struct load_row *row, load_fn fn, void *arg)
{
	struct hist_range ranges[HIST_CELLS];
	int nr = hist__ranges(h, ranges, HIST_CELLS);

	for (int i = 0; i < nr; i++) {
		row->from = ranges[i].from_ns;
		row->to = ranges[i].to_ns;
		row->count = ranges[i].count;
		row->share = load_share(ranges[i].count, h->count);
		if (row->count)
			fn(arg, row);
	}
}

/* Cells are in bytes and need not align to sectors: a cell begins with its first sector. */
static void load_each_cell(const struct load *load, struct load_row *row, load_fn fn, void *arg)
{
	uint64_t bytes = pattern__cell_bytes(load->pattern, load->row);

	for (int kind = 0; kind < PATTERN_MOVES; kind++) {
		const uint64_t *heat = load->row->heat[kind];

		row->op = moves_words[kind];
		for (uint32_t i = 0; heat && i < load->pattern->nr_cells; i++) {
			row->from = i * bytes / 512;
			row->to = (i + 1) * bytes / 512;
			row->count = heat[i];
			row->share = load_share(heat[i], load->row->total.kinds[kind]);
			if (row->count)
				fn(arg, row);
		}
	}
}

void load__each(const struct load *load, enum load_part part, struct load_row *row, load_fn fn,
		void *arg)
{
	switch (part) {
	case LOAD_OPS: load_each_op(load, row, fn, arg); break;
	case LOAD_SIZES: load_each_size(load, row, fn, arg); break;
	case LOAD_GAPS: load_each_bucket(&load->row->total.gaps, row, fn, arg); break;
	case LOAD_DEPTHS: load_each_bucket(&load->row->total.depths, row, fn, arg); break;
	case LOAD_HEAT: load_each_cell(load, row, fn, arg); break;
	case NR_LOAD_PARTS: break;
	}
}
