/* SPDX-License-Identifier: BSD-2-Clause */
/* load_text.c: the summary of a load below its title, as text. */
#include <inttypes.h>
#include "render/load.h"

enum {
	TEXT_FRAME = 42, /* columns beside a heat map */
	TEXT_BAR = 40,	 /* a wider bar says no more */
};

static const char *const moves_words[PATTERN_MOVES] = { "read", "write" };

static void text_put_op(void *out, const struct load_row *row)
{
	fputs("  ", out);
	text__put_terminal(out, row->op);
	fprintf(out, " %" PRIu64 " (%.1f%%)", row->count, row->share);
}

static void text_put_mix(FILE *out, const struct load *load)
{
	struct load_row row = { 0 };

	fputs("  mix     ", out);
	load__each(load, LOAD_OPS, &row, text_put_op, out);
	fputc('\n', out);
}

static void text_put_order(FILE *out, const struct pattern_row *row)
{
	const struct pattern_sum *sum = &row->total;

	if (!(sum->moves[PATTERN_READ].judged + sum->moves[PATTERN_WRITE].judged))
		return;
	fputs("  order     sequential:", out);
	for (int kind = 0; kind < PATTERN_MOVES; kind++) {
		uint32_t streams = streams__at_once(&row->streams[kind]);

		if (!sum->moves[kind].judged)
			continue;
		fprintf(out, " %s%s %.1f%%", kind ? " " : "", moves_words[kind],
			pattern_sum__sequential(sum, kind));
		if (streams)
			fprintf(out, " in %" PRIu32 " stream%s", streams, streams > 1 ? "s" : "");
	}
	fputc('\n', out);
}

static void text_put_alignment(FILE *out, const struct pattern_row *row)
{
	const struct pattern_sum *sum = &row->total;
	char unit[16];

	if (!(sum->moves[PATTERN_READ].placed + sum->moves[PATTERN_WRITE].placed))
		return;
	fprintf(out,
		"  aligned   %.1f%% to 4.0Ki, misaligned: %" PRIu64 " reads, %" PRIu64 " writes",
		pattern_sum__aligned(sum), sum->moves[PATTERN_READ].misaligned,
		sum->moves[PATTERN_WRITE].misaligned);
	if (row->disk.unit_bytes)
		fprintf(out, "; %.1f%% to %s, the device's unit", pattern_sum__in_units(sum),
			text__bytes(unit, sizeof(unit), row->disk.unit_bytes));
	fputc('\n', out);
}

static void text_put_depth(FILE *out, const struct hist *h)
{
	if (h->count)
		fprintf(out,
			"  depth     mean %.1f  p50 %" PRIu64 "  p99 %" PRIu64 "  max %" PRIu64
			"\n",
			(double)h->sum_ns / (double)h->count, hist__percentile(h, 5000),
			hist__percentile(h, 9900), h->max_ns);
}

static void text_put_gaps(FILE *out, const struct hist *h)
{
	char p50[16], p90[16], p99[16], max[16];

	if (h->count)
		fprintf(out, "  gap       p50 %s  p90 %s  p99 %s  max %s\n",
			text__duration(p50, sizeof(p50), hist__percentile(h, 5000)),
			text__duration(p90, sizeof(p90), hist__percentile(h, 9000)),
			text__duration(p99, sizeof(p99), hist__percentile(h, 9900)),
			text__duration(max, sizeof(max), h->max_ns));
}

/* ---- pictures ---- */

static uint64_t text_class_count(const struct pattern_row *row, int class)
{
	return row->sizes[PATTERN_READ].classes[class] + row->sizes[PATTERN_WRITE].classes[class];
}

/* From the smallest value present to the largest, including those between. */
static void text_put_sizes(FILE *out, const struct pattern_row *row, struct chart_style style)
{
	int first = SIZES_CLASSES, last = -1, width = style.columns - TEXT_FRAME;
	uint64_t most = 0;
	char size[16];

	for (int i = 0; i < SIZES_CLASSES; i++) {
		uint64_t count = text_class_count(row, i);

		if (!count)
			continue;
		first = i < first ? i : first;
		last = i;
		most = count > most ? count : most;
	}
	if (last >= 0)
		fprintf(out, "  %8s  %9s  %9s\n", "up to", "read", "write");
	for (int i = first; i <= last; i++) {
		fprintf(out, "  %8s  %9" PRIu64 "  %9" PRIu64,
			i ? text__bytes(size, sizeof(size), 1ULL << (i - 1)) : "none",
			row->sizes[PATTERN_READ].classes[i], row->sizes[PATTERN_WRITE].classes[i]);
		if (width > 0)
			chart__bar(out, style, width < TEXT_BAR ? width : TEXT_BAR,
				   text_class_count(row, i), most);
		fputc('\n', out);
	}
}

uint32_t load__nr_cells(struct chart_style style)
{
	return style.columns > TEXT_FRAME ? (uint32_t)(style.columns - TEXT_FRAME) : 1;
}

static void text_put_heat(FILE *out, const struct load *load, struct chart_style style)
{
	const struct pattern_row *row = load->row;
	char all[16], cell[16];

	for (int kind = 0; kind < PATTERN_MOVES; kind++) {
		if (!row->heat[kind])
			continue;
		fprintf(out, "  %-8s  ", moves_words[kind]);
		chart__shades(out, style, row->heat[kind], load->pattern->nr_cells);
		fprintf(out, " %s a cell, %s\n",
			text__bytes(cell, sizeof(cell), pattern__cell_bytes(load->pattern, row)),
			text__bytes(all, sizeof(all), row->disk.size_bytes));
	}
}

void load__put_text(FILE *out, const struct load *load, struct chart_style style)
{
	text_put_mix(out, load);
	text_put_order(out, load->row);
	text_put_alignment(out, load->row);
	text_put_depth(out, &load->row->total.depths);
	text_put_gaps(out, &load->row->total.gaps);
	text_put_sizes(out, load->row, style);
	text_put_heat(out, load, style);
}
