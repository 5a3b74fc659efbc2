/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/job.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "decode/column.h"

enum {
	JOB_STREAMS = 16,   /* sections of one row, at most */
	JOB_SECTOR = 512,   /* unit of direct I/O */
	JOB_TEXT = 160,	    /* of a name in a comment: fio reads lines of 4096 bytes */
	JOB_RARE = 8,	    /* a depth above this multiple of the mean is rare */
	JOB_STREAMED = 10,  /* percent sequential from which each stream gets a section */
	JOB_FLOW_SLEEP = 50 /* us; with 0, fio's jobs spin while they wait for each other */
};
static const double job_worth_percent = 0.5; /* less rounds to nothing */
static const char job_moves_words[PATTERN_MOVES][6] = { "read", "write" };

/* What the sections of one row share. */
struct job_plan {
	char path[JOB_PATH], name[40];
	bool has[PATTERN_MOVES];
	uint32_t random_percent[PATTERN_MOVES];
	uint32_t align_bytes[PATTERN_MOVES];
	uint32_t depth, streams;
	uint64_t from_byte, stream_bytes;
	double discard_percent;
};

/* ---- names ---- */

/* Plain, and cannot leave /dev. */
static bool job_name_is_plain(const char *name)
{
	if (!isalnum((unsigned char)name[0]) || strstr(name, ".."))
		return false;
	for (; *name; name++)
		if (!isascii((unsigned char)*name) ||
		    (!isalnum((unsigned char)*name) && !strchr("._-!", *name)))
			return false;
	return true;
}

/* sysfs writes '!' for the '/' of a name. */
static void job_set_name(struct job_plan *plan, const char *dev)
{
	/* For nvme0c1n1, a path of a multipath namespace, programs see the head: nvme0n1. */
	size_t head = strncmp(dev, "nvme", 4) ? 0 : 4 + strspn(dev + 4, "0123456789");
	size_t leg = head > 4 && dev[head] == 'c' ? strspn(dev + head + 1, "0123456789") : 0;

	leg = leg && dev[head + 1 + leg] == 'n' ? leg + 1 : 0;
	snprintf(plan->name, sizeof(plan->name), "%.*s%s", (int)head, dev, dev + head + leg);
	snprintf(plan->path, sizeof(plan->path), "/dev/%s", plan->name);
	for (char *at = plan->path; *at; at++)
		if (*at == '!')
			*at = '/';
}

bool job__path(const char *dev, char path[JOB_PATH])
{
	struct job_plan plan;

	if (!job_name_is_plain(dev))
		return false;
	job_set_name(&plan, dev);
	memcpy(path, plan.path, JOB_PATH);
	return true;
}

static void job_put_text(FILE *out, const char *text)
{
	char cut[JOB_TEXT];

	snprintf(cut, sizeof(cut), "%s", text);
	text__put_terminal(out, cut);
}

bool job_part__is_fit(const struct job_part *part)
{
	const struct pattern_row *row = part->row;

	return row->after_byte > row->first_byte && job_name_is_plain(part->dev) &&
	       row->total.kinds[PATTERN_READ] + row->total.kinds[PATTERN_WRITE];
}

/* ---- the plan ---- */

static uint32_t job_align(const struct pattern_row *row, enum pattern_kind kind)
{
	const struct pattern_moves *moves = &row->total.moves[kind];
	uint32_t block = row->disk.block_bytes;

	if (2 * moves->misaligned <= moves->placed && block <= PATTERN_ALIGN)
		return PATTERN_ALIGN;
	return block >= JOB_SECTOR && block <= PATTERN_ALIGN ? block : JOB_SECTOR;
}

static uint32_t job_most_streams(const struct pattern_row *row)
{
	uint32_t most = 1;

	for (int kind = 0; kind < PATTERN_MOVES; kind++) {
		uint32_t nr = streams__at_once(&row->streams[kind]);

		if (pattern_sum__sequential(&row->total, kind) >= JOB_STREAMED && nr > most)
			most = nr;
	}
	return most < JOB_STREAMS ? most : JOB_STREAMS;
}

static uint32_t job_largest(const struct pattern_row *row)
{
	uint32_t largest = JOB_SECTOR;

	for (int kind = 0; kind < PATTERN_MOVES; kind++)
		for (size_t i = 0; i < row->sizes[kind].nr; i++)
			if (row->sizes[kind].exact[i].bytes > largest)
				largest = row->sizes[kind].exact[i].bytes;
	return largest;
}

/*
 * A job keeps its queue full, but the queue is often less than full if the device is faster than
 * the CPU. The same holds for the recorded load, so its depth is the maximum seen. But a depth far
 * above the mean was rare, and a job would have it all the time.
 */
static uint32_t job_depth(const struct hist *depths)
{
	static const uint32_t per_10000[] = { 9900, 9500, 5000 };
	uint64_t depth = 1;

	for (size_t i = 0; i < sizeof(per_10000) / sizeof(per_10000[0]); i++) {
		depth = hist__percentile(depths, per_10000[i]);
		if (depth * depths->count <= JOB_RARE * depths->sum_ns)
			break;
	}
	return depth ? (uint32_t)depth : 1;
}

/*
 * Streams share the depth and the range, which limit their number. Discards, in a section of their
 * own, take one of the depth.
 */
static void job_set_streams(struct job_plan *plan, const struct pattern_row *row)
{
	uint64_t range = row->after_byte - row->first_byte, room = range / job_largest(row);

	plan->depth = job_depth(&row->total.depths);
	plan->depth -= plan->depth > 1 && plan->discard_percent >= job_worth_percent;
	plan->streams = job_most_streams(row);
	if (plan->streams > plan->depth)
		plan->streams = plan->depth;
	if (plan->streams > room)
		plan->streams = room ? (uint32_t)room : 1;
	plan->from_byte = row->first_byte;
	plan->stream_bytes = range;
	if (plan->streams > 1)
		plan->stream_bytes = range / plan->streams / PATTERN_ALIGN * PATTERN_ALIGN;
}

static void job_make_plan(struct job_plan *plan, const struct job_part *part)
{
	const struct pattern_row *row = part->row;
	double sequential;

	memset(plan, 0, sizeof(*plan));
	job_set_name(plan, part->dev);
	for (int kind = 0; kind < PATTERN_MOVES; kind++) {
		plan->has[kind] = row->total.kinds[kind];
		sequential = pattern_sum__sequential(&row->total, kind);
		plan->random_percent[kind] =
			isnan(sequential) ? 100 : (uint32_t)(100.5 - sequential);
		plan->align_bytes[kind] = job_align(row, kind);
	}
	plan->discard_percent = pattern_sum__share(&row->total, PATTERN_DISCARD);
	job_set_streams(plan, row);
}

/* ---- options of a section ---- */

static bool job_size_is_fit(const struct size_count *size)
{
	return size->bytes && !(size->bytes % JOB_SECTOR);
}

/* The remainder to 100 goes to the values that lost most by rounding down. */
static void job_shares(const struct sizes *sizes, uint32_t percents[SIZES])
{
	double lost[SIZES] = { 0 };
	uint64_t all = 0;
	uint32_t left = 100;

	for (size_t i = 0; i < sizes->nr; i++)
		all += job_size_is_fit(&sizes->exact[i]) ? sizes->exact[i].count : 0;
	for (size_t i = 0; i < sizes->nr; i++) {
		bool fit = job_size_is_fit(&sizes->exact[i]);
		double share = fit ? 100 * ((double)sizes->exact[i].count / (double)all) : 0;

		percents[i] = (uint32_t)share;
		lost[i] = fit ? share - percents[i] : -1;
		left -= percents[i] < left ? percents[i] : left;
	}
	while (left && all) {
		size_t most = 0;

		for (size_t i = 1; i < sizes->nr; i++)
			most = lost[i] > lost[most] ? i : most;
		percents[most]++;
		lost[most] -= 1;
		left--;
	}
}

static void job_put_sizes(FILE *out, const struct sizes *sizes)
{
	uint32_t percents[SIZES];
	const char *before = "";

	job_shares(sizes, percents);
	for (size_t i = 0; i < sizes->nr; i++) {
		if (!percents[i])
			continue;
		fprintf(out, "%s%" PRIu32 "/%" PRIu32, before, sizes->exact[i].bytes, percents[i]);
		before = ":";
	}
	if (!*before)
		fprintf(out, "%d/100", PATTERN_ALIGN);
}

/* One value of each kind present, reads before writes. */
static void job_put_each(FILE *out, const char *option, const struct job_plan *plan,
			 const uint32_t values[PATTERN_MOVES])
{
	fprintf(out, "%s=", option);
	if (plan->has[PATTERN_READ] && plan->has[PATTERN_WRITE])
		fprintf(out, "%" PRIu32 ",%" PRIu32 "\n", values[PATTERN_READ],
			values[PATTERN_WRITE]);
	else
		fprintf(out, "%" PRIu32 "\n",
			values[plan->has[PATTERN_READ] ? PATTERN_READ : PATTERN_WRITE]);
}

static void job_put_order(FILE *out, const struct job_plan *plan)
{
	const bool both = plan->has[PATTERN_READ] && plan->has[PATTERN_WRITE];
	const char *word = both ? "rw" : job_moves_words[!plan->has[PATTERN_READ]];
	bool random = false;

	for (int kind = 0; kind < PATTERN_MOVES; kind++)
		random |= plan->has[kind] && plan->random_percent[kind];
	fprintf(out, "rw=%s%s\n", random ? "rand" : "", word);
	if (!random)
		return;
	job_put_each(out, "percentage_random", plan, plan->random_percent);
	job_put_each(out, "blockalign", plan, plan->align_bytes);
}

/* Both kinds are present: neither becomes 0. */
static uint32_t job_read_percent(const struct pattern_sum *sum)
{
	uint64_t reads = sum->kinds[PATTERN_READ], all = reads + sum->kinds[PATTERN_WRITE];
	uint32_t percent = (uint32_t)(100 * ((double)reads / (double)all) + 0.5);

	return percent < 1 ? 1 : percent > 99 ? 99 : percent;
}

static void job_put_mix(FILE *out, const struct job_plan *plan, const struct pattern_row *row)
{
	uint64_t writes = row->total.kinds[PATTERN_WRITE],
		 flushes = row->total.kinds[PATTERN_FLUSH];

	if (plan->has[PATTERN_READ] && plan->has[PATTERN_WRITE])
		fprintf(out, "rwmixread=%" PRIu32 "\n", job_read_percent(&row->total));
	fputs("bssplit=", out);
	for (int kind = 0; kind < PATTERN_MOVES; kind++) {
		if (!plan->has[kind])
			continue;
		if (kind == PATTERN_WRITE && plan->has[PATTERN_READ])
			fputc(',', out);
		job_put_sizes(out, &row->sizes[kind]);
	}
	fputc('\n', out);
	if (writes && pattern_sum__share(&row->total, PATTERN_FLUSH) >= job_worth_percent)
		fprintf(out, "fdatasync=%" PRIu64 "\n",
			writes > flushes ? (writes + flushes / 2) / flushes : 1);
}

static void job_put_flow(FILE *out, const struct job_plan *plan, size_t part, double weight)
{
	if (plan->discard_percent < job_worth_percent)
		return;
	fprintf(out, "flow=%.0f\nflow_id=%zu\nflow_sleep=%d\n", weight < 1 ? 1 : weight, part,
		JOB_FLOW_SLEEP);
}

/* ---- sections ---- */

static void job_put_stream(FILE *out, const struct job_plan *plan, const struct pattern_row *row,
			   size_t part, uint32_t stream)
{
	uint32_t depth = plan->depth / plan->streams + (stream < plan->depth % plan->streams);

	fprintf(out, "\n[%zu-%s-%" PRIu32 "]\nfilename=%s\n", part, plan->name, stream + 1,
		plan->path);
	job_put_order(out, plan);
	job_put_mix(out, plan, row);
	fprintf(out, "iodepth=%" PRIu32 "\noffset=%" PRIu64 "\nsize=%" PRIu64 "\n", depth,
		plan->from_byte + stream * plan->stream_bytes, plan->stream_bytes);
	job_put_flow(out, plan, part, 1000 - 10 * plan->discard_percent);
}

/* fio cannot mix three kinds: discards have their own section, in proportion to the others. */
static void job_put_discards(FILE *out, const struct job_plan *plan, const struct pattern_row *row,
			     size_t part)
{
	const struct pattern_sum *sum = &row->total;
	uint64_t range = row->after_byte - row->first_byte, bytes;

	if (plan->discard_percent < job_worth_percent)
		return;
	bytes = sum->bytes[PATTERN_DISCARD] / sum->kinds[PATTERN_DISCARD];
	bytes = bytes / PATTERN_ALIGN * PATTERN_ALIGN;
	if (!bytes || bytes > range)
		bytes = PATTERN_ALIGN < range ? PATTERN_ALIGN : range;
	fprintf(out,
		"\n[%zu-%s-discard]\nfilename=%s\nrw=randtrim\nbs=%" PRIu64 "\noffset=%" PRIu64
		"\nsize=%" PRIu64 "\n",
		part, plan->name, plan->path, bytes, plan->from_byte, range);
	job_put_flow(out, plan, part, 10 * plan->discard_percent * plan->streams);
}

static void job_put_notes(FILE *out, const struct job_part *part, double seconds)
{
	const struct pattern_sum *sum = &part->row->total;
	uint64_t others =
		part->row->sizes[PATTERN_READ].others + part->row->sizes[PATTERN_WRITE].others;

	fputs("\n# ", out);
	job_put_text(out, part->whose);
	fprintf(out, ": %" PRIu64 " commands", sum->count);
	if (seconds > 0)
		fprintf(out, ", %.0f per second; rate_iops= in its sections would keep this rate",
			(double)sum->count / seconds);
	fprintf(out,
		"\n# iodepth: the highest of p99, p95 and p50 of the depth at submission (%" PRIu64
		", %" PRIu64 ", %" PRIu64 ") that is not far above the mean, %.1f\n",
		hist__percentile(&sum->depths, 9900), hist__percentile(&sum->depths, 9500),
		hist__percentile(&sum->depths, 5000),
		sum->depths.count ? (double)sum->depths.sum_ns / (double)sum->depths.count : 0);
	if (others)
		fprintf(out,
			"# left out: %" PRIu64
			" commands of other sizes: too many different sizes\n",
			others);
	if (!part->left_out[0])
		return;
	fputs("# left out, fio has no such operation: ", out);
	job_put_text(out, part->left_out);
	fputc('\n', out);
}

static void job_put_part(FILE *out, const struct job *job, size_t nr)
{
	const struct job_part *part = &job->parts[nr];
	struct job_plan plan;

	job_make_plan(&plan, part);
	job_put_notes(out, part, job->seconds);
	for (uint32_t i = 0; i < plan.streams; i++)
		job_put_stream(out, &plan, part->row, nr + 1, i);
	job_put_discards(out, &plan, part->row, nr + 1);
}

static bool job_changes(const struct job_part *part)
{
	return job_part__is_fit(part) &&
	       (part->row->total.kinds[PATTERN_WRITE] || part->row->total.kinds[PATTERN_DISCARD]);
}

static bool job_is_warned(const struct job *job, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (job_changes(&job->parts[i]) && !strcmp(job->parts[i].dev, job->parts[nr].dev))
			return true;
	return false;
}

static void job_put_warning(FILE *out, const struct job *job)
{
	struct job_plan plan;

	for (size_t i = 0; i < job->nr; i++) {
		if (!job_changes(&job->parts[i]) || job_is_warned(job, i))
			continue;
		job_set_name(&plan, job->parts[i].dev);
		fprintf(out,
			"# WARNING: this job writes to %s and DESTROYS the data there; fio "
			"--readonly refuses to run it\n",
			plan.path);
	}
}

void job__write(FILE *out, const struct job *job)
{
	uint64_t seconds = (uint64_t)(job->seconds + 0.999); /* rounded up, and at least one */

	fputs("# fio job made by iosonar pattern from ", out);
	job_put_text(out, job->from);
	fprintf(out, ", %.1f s\n", job->seconds);
	job_put_warning(out, job);
	fprintf(out,
		"[global]\nioengine=libaio\ndirect=1\nnorandommap=1\nallow_file_create=0\n"
		"time_based=1\nruntime=%" PRIu64 "\n",
		seconds ? seconds : 1);
	for (size_t i = 0; i < job->nr; i++)
		if (job_part__is_fit(&job->parts[i]))
			job_put_part(out, job, i);
}
