/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flame_svg.c: the tree of frames as a picture. Places are worked out in integers, hundredths of a
 * pixel, so that the same stacks give the same bytes on every machine. Labels are cut by the number
 * of characters: wide ones of East Asia may run over their frame.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "render/flame_inside.h"
#include "render/page.h"

enum {
	SVG_WIDTH = 1200, /* of the frames */
	SVG_MARGIN = 10,
	SVG_TOP = 84, /* title, note, legend */
	SVG_BOTTOM = 44,
	SVG_ROW = 18,
	SVG_GLYPH_TENTHS = 72, /* of a pixel: width of a 12-pixel monospaced letter */
	SVG_SHADES = 4,
	SVG_LEAST_PER_PIXEL = 10, /* a frame is at least a tenth of a pixel wide */
};

static const char *const svg_kinds[NR_FLAME_KINDS] = {
	[FLAME_COMM] = "process",
	[FLAME_USER] = "user",
	[FLAME_KERNEL] = "kernel",
};

static const char svg_class[NR_FLAME_KINDS + 1] = "cuk";

/* The script's numbers: shares of the total, all exact in its arithmetic. */
static const uint64_t svg_whole = 1ULL << 40;

struct svg_page {
	FILE *out;
	const struct flame *flame;
	const struct flame_style *style;
	uint64_t height;
};

/* ---- text ---- */

/* Not allowed in XML although not control characters: U+FFFE and U+FFFF. */
static size_t svg_put_char(FILE *out, const char *at)
{
	switch (*at) {
	case '&': fputs("&amp;", out); return 1;
	case '<': fputs("&lt;", out); return 1;
	case '>': fputs("&gt;", out); return 1;
	case '"': fputs("&quot;", out); return 1;
	case '\'': fputs("&#39;", out); return 1;
	}
	if (!strncmp(at, "\xef\xbf\xbe", 3) || !strncmp(at, "\xef\xbf\xbf", 3)) {
		fprintf(out, "\\xef\\xbf\\x%02x", (unsigned char)at[2]);
		return 3;
	}
	fputc(*at, out);
	return 1;
}

static bool svg_begins_char(char c)
{
	return (c & 0xc0) != 0x80;
}

/* At most `most` characters of a plain text; SIZE_MAX: all. */
static void svg_put_plain(FILE *out, const char *plain, size_t most)
{
	size_t nr = 0;

	while (*plain) {
		nr += svg_begins_char(*plain);
		if (nr > most)
			return;
		plain += svg_put_char(out, plain);
	}
}

static void svg_put_text(FILE *out, const char *text)
{
	char *plain = text__plain(text);

	if (plain)
		svg_put_plain(out, plain, SIZE_MAX);
	free(plain);
}

/* ---- numbers ---- */

/* value * by / total, without overflow. */
static uint64_t svg_scale(uint64_t value, uint64_t by, uint64_t total)
{
	return (uint64_t)((unsigned __int128)value * by / total);
}

static void svg_put_hundredths(FILE *out, uint64_t n)
{
	fprintf(out, "%" PRIu64 ".%02" PRIu64, n / 100, n % 100);
}

static void svg_put_percent(FILE *out, uint64_t value, uint64_t total)
{
	uint64_t hundredths = svg_scale(value, 10000, total);

	if (value && !hundredths)
		fputs("&lt;0.01", out);
	else
		svg_put_hundredths(out, hundredths);
	fputs(" %", out);
}

static void svg_put_value(FILE *out, const struct flame_style *style, uint64_t value)
{
	char words[32];

	switch (style->value) {
	case CELL_BYTES: fprintf(out, "%sB", text__bytes(words, sizeof(words), value)); break;
	case CELL_DURATION: fputs(text__duration(words, sizeof(words), value), out); break;
	default:
		fprintf(out, "%" PRIu64 " ", value);
		svg_put_text(out, style->unit ? style->unit : "");
	}
}

/* ---- the parts around the frames ---- */

static void svg_put_line(const struct svg_page *page, const char *class, int y, const char *text)
{
	fprintf(page->out, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class, SVG_MARGIN, y);
	svg_put_text(page->out, text);
	fputs("</text>\n", page->out);
}

/* Shown by the script, without which they would do nothing. */
static void svg_put_tools(const struct svg_page *page)
{
	const int right = SVG_MARGIN + SVG_WIDTH;

	fprintf(page->out,
		"<g id=\"tools\" style=\"display:none\">\n"
		"<text id=\"matched\" text-anchor=\"end\" x=\"%d\" y=\"68\"></text>\n"
		"<g id=\"reset\" class=\"button\" style=\"display:none\">"
		"<rect x=\"%d\" y=\"10\" width=\"90\" height=\"22\" rx=\"3\"/>"
		"<text text-anchor=\"middle\" x=\"%d\" y=\"25\">reset zoom</text></g>\n"
		"<foreignObject x=\"%d\" y=\"10\" width=\"240\" height=\"24\">"
		"<input xmlns=\"http://www.w3.org/1999/xhtml\" id=\"query\" type=\"search\" "
		"placeholder=\"search (Ctrl-F)\"/></foreignObject>\n</g>\n",
		right, right - 340, right - 295, right - 240);
}

/* Without its first line, the licence. */
static void svg_put_source(FILE *out, const struct page_source *source)
{
	const char *first = (const char *)memchr(source->text, '\n', source->len) + 1;

	fwrite(first, 1, source->len - (size_t)(first - source->text), out);
}

static void svg_put_head(const struct svg_page *page)
{
	const int width = SVG_WIDTH + 2 * SVG_MARGIN;
	FILE *out = page->out;

	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" "
		"height=\"%" PRIu64 "\" viewBox=\"0 0 %d %" PRIu64 "\" data-width=\"%d\" "
		"data-margin=\"%d\" data-glyph=\"%d.%d\">\n<title>",
		width, page->height, width, page->height, SVG_WIDTH, SVG_MARGIN,
		SVG_GLYPH_TENTHS / 10, SVG_GLYPH_TENTHS % 10);
	svg_put_text(out, page->style->title);
	fputs("</title>\n<style>\n", out);
	svg_put_source(out, &page_source_flame_css);
	fputs("</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n", out);
	svg_put_line(page, "title", 26, page->style->title);
	if (page->style->note)
		svg_put_line(page, "note", 46, page->style->note);
	/* A square of each kind's colour and its name. */
	for (int kind = 0; kind < NR_FLAME_KINDS; kind++)
		fprintf(out,
			"<g class=\"%c0\"><rect x=\"%d\" y=\"58\" width=\"12\" height=\"12\"/>"
			"<text x=\"%d\" y=\"68\">%s</text></g>\n",
			svg_class[kind], SVG_MARGIN + 100 * kind, SVG_MARGIN + 100 * kind + 18,
			svg_kinds[kind]);
	svg_put_tools(page);
}

/* Says what is not drawn. */
static void svg_put_foot(const struct svg_page *page, const struct flame_drawn *drawn)
{
	FILE *out = page->out;

	fprintf(out, "<text id=\"detail\" x=\"%d\" y=\"%" PRIu64 "\"></text>\n", SVG_MARGIN,
		page->height - 26);
	if (drawn->left_out) {
		fprintf(out,
			"<text class=\"note\" x=\"%d\" y=\"%" PRIu64 "\">%" PRIu64
			" frames narrower than 0.1 pixels are not drawn: ",
			SVG_MARGIN, page->height - 8, drawn->left_out);
		svg_put_percent(out, drawn->left_out_value, page->flame->total);
		fputs("</text>\n", out);
	}
	fputs("<script>\n<![CDATA[\n", out);
	svg_put_source(out, &page_source_flame_js);
	fputs("]]>\n</script>\n</svg>\n", out);
}

/* ---- frames ---- */

static bool svg_is_visible(const struct flame *f, const struct flame_node *node)
{
	return (unsigned __int128)node->total * SVG_WIDTH * SVG_LEAST_PER_PIXEL >= f->total;
}

static bool svg_is_root(const struct flame_node *node)
{
	return node->parent == FLAME_NOBODY;
}

/* The same name has the same shade; neighbours usually differ. */
static void svg_put_class(FILE *out, const struct flame_node *node)
{
	uint32_t h = 2166136261u; /* FNV-1a */

	for (const char *c = node->name; *c; c++)
		h = (h ^ (unsigned char)*c) * 16777619u;
	if (svg_is_root(node))
		fputs("f r", out);
	else
		fprintf(out, "f %c%u", svg_class[node->kind], (h >> 16) % SVG_SHADES);
}

/* The name, then its value: a tooltip without the script. */
static void svg_put_title(const struct svg_page *page, const struct flame_node *node,
			  const char *plain)
{
	FILE *out = page->out;

	fputs("<title>", out);
	svg_put_plain(out, plain, SIZE_MAX);
	fputc('\n', out);
	if (!svg_is_root(node))
		fprintf(out, "%s, ", svg_kinds[node->kind]);
	svg_put_value(out, page->style, node->total);
	fputs(", ", out);
	svg_put_percent(out, node->total, page->flame->total);
	fputs("</title>", out);
}

/* Three pixels are free on each side; fewer than three letters are not readable. */
static void svg_put_label(FILE *out, const char *plain, uint64_t x, uint64_t y, uint64_t wide)
{
	uint64_t fit = wide > 600 ? (wide - 600) / (10 * SVG_GLYPH_TENTHS) : 0;
	size_t len = 0;

	for (const char *c = plain; *c; c++)
		len += svg_begins_char(*c);
	if (fit < 3)
		return;
	fputs("<text x=\"", out);
	svg_put_hundredths(out, x + 300);
	fprintf(out, "\" y=\"%" PRIu64 "\">", y + 13);
	svg_put_plain(out, plain, len <= fit ? len : fit - 2);
	fprintf(out, "%s</text>", len <= fit ? "" : "..");
}

/* Where a share begins, if the total is `whole` units wide. */
static uint64_t svg_place(const struct svg_page *page, uint64_t share, uint64_t whole)
{
	return svg_scale(share, whole, page->flame->total);
}

static void svg_put_bar(const struct svg_page *page, const struct flame_node *node,
			const char *plain)
{
	uint64_t x = svg_place(page, node->start, 100 * SVG_WIDTH);
	uint64_t wide = svg_place(page, node->start + node->total, 100 * SVG_WIDTH) - x;
	uint64_t y = page->height - SVG_BOTTOM - ((uint64_t)node->depth + 1) * SVG_ROW;
	FILE *out = page->out;

	x += 100 * SVG_MARGIN;
	fputs("<rect x=\"", out);
	svg_put_hundredths(out, x);
	fprintf(out, "\" y=\"%" PRIu64 "\" width=\"", y);
	svg_put_hundredths(out, wide);
	fprintf(out, "\" height=\"%d\"/>", SVG_ROW - 1);
	svg_put_label(out, plain, x, y, wide);
}

static int svg_put_frame(const struct svg_page *page, const struct flame_node *node)
{
	char *plain = text__plain(node->name);

	if (!plain)
		return -ENOMEM;
	fputs("<g class=\"", page->out);
	svg_put_class(page->out, node);
	fprintf(page->out, "\" data-s=\"%" PRIu64 "\" data-e=\"%" PRIu64 "\">",
		svg_place(page, node->start, svg_whole),
		svg_place(page, node->start + node->total, svg_whole));
	svg_put_title(page, node, plain);
	svg_put_bar(page, node, plain);
	fputs("</g>\n", page->out);
	free(plain);
	return 0;
}

static int svg_put_frames(const struct svg_page *page, struct flame_drawn *drawn)
{
	const struct flame *f = page->flame;
	uint32_t i = f->total ? FLAME_ROOT : FLAME_NOBODY;
	int err = 0;

	while (i != FLAME_NOBODY && !err) {
		const struct flame_node *node = &f->nodes[i];

		if (svg_is_visible(f, node)) {
			err = svg_put_frame(page, node);
			drawn->frames++;
			i = flame_next(f, i);
		} else {
			drawn->left_out += 1 + node->nr_below;
			drawn->left_out_value += node->total;
			i = flame_next_beside(f, i);
		}
	}
	return err;
}

int flame__write_svg(struct flame *f, const struct flame_style *style, FILE *out,
		     struct flame_drawn *drawn)
{
	struct svg_page page = { .out = out, .flame = f, .style = style };
	uint32_t deepest = 0;
	int err = flame_lay_out(f);

	*drawn = (struct flame_drawn){ 0 };
	if (err)
		return err;
	for (uint32_t i = 0; i < f->nr; i++)
		if (f->nodes[i].depth > deepest)
			deepest = f->nodes[i].depth;
	page.height = SVG_TOP + ((uint64_t)deepest + 1) * SVG_ROW + SVG_BOTTOM;
	svg_put_head(&page);
	err = svg_put_frames(&page, drawn);
	if (!f->total)
		svg_put_line(&page, "note", SVG_TOP + 13, "no stacks");
	svg_put_foot(&page, drawn);
	return err;
}
