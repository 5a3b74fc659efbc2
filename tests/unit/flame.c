/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flame.c: are folded lines and picture true to the stacks, whatever their names and in whatever
 * order they come? Bytes are compared; widths are read back from the picture and added up; every
 * name that could break XML is looked for in it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include "render/flame.h"
#include "tap.h"

enum { DEEP = 1000 };

static const struct flame_style style = {
	.title = "I/Os by stack",
	.note = "10 s",
	.value = CELL_COUNT,
	.unit = "I/Os",
};

/* "c:fio u:main k:vfs_read": kind and name of each frame. */
static void add(struct flame *f, const char *frames, uint64_t value)
{
	struct flame_frame list[16];
	char text[256], *word;
	size_t nr = 0;

	snprintf(text, sizeof(text), "%s", frames);
	for (word = strtok(text, " "); word; word = strtok(NULL, " "))
		list[nr++] = (struct flame_frame){
			.name = word + 2,
			.kind = *word == 'k'   ? FLAME_KERNEL
				: *word == 'u' ? FLAME_USER
					       : FLAME_COMM,
		};
	if (flame__add(f, list, nr, value))
		printf("Bail out! no memory\n");
}

static void add_name(struct flame *f, const char *name, uint64_t value)
{
	const struct flame_frame frame = { name, FLAME_USER };

	if (flame__add(f, &frame, 1, value))
		printf("Bail out! no memory\n");
}

static char *folded(struct flame *f)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (flame__write_folded(f, out))
		printf("Bail out! no memory\n");
	fclose(out);
	return text;
}

static char *svg(struct flame *f, const struct flame_style *s, struct flame_drawn *drawn)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (flame__write_svg(f, s, out, drawn))
		printf("Bail out! no memory\n");
	fclose(out);
	return text;
}

static void folded_is(struct flame *f, const char *want, const char *what)
{
	char *text = folded(f);

	is_str(text, want, what);
	free(text);
}

static void has(const char *text, const char *part, const char *what)
{
	if (!ok(strstr(text, part), "%s", what))
		printf("# there is no '%s'\n", part);
}

static size_t count(const char *text, const char *part)
{
	size_t nr = 0;

	for (; (text = strstr(text, part)); text++)
		nr++;
	return nr;
}

/* ---- folded lines ---- */

static void check_folded(void)
{
	struct flame *f = flame__new();

	folded_is(f, "", "nothing folds to nothing");
	add(f, "c:fio u:main u:write k:vfs_write", 7);
	add(f, "c:fio u:main u:read k:vfs_read", 5);
	add(f, "c:dd k:vfs_read", 1);
	add(f, "c:fio u:main u:read k:vfs_read", 3);
	add(f, "c:fio u:main", 2);
	add(f, "c:none", 0);
	folded_is(f,
		  "dd;vfs_read 1\n"
		  "fio;main 2\n"
		  "fio;main;read;vfs_read 8\n"
		  "fio;main;write;vfs_write 7\n",
		  "one line a stack, by name, the same ones added up, nothing for nothing");
	is_u64(flame__total(f), 18, "the total");
	flame__free(f);
}

static void check_folded_names(void)
{
	struct flame *f = flame__new();

	add(f, "c:a u:Lcom/foo;bar", 1);
	add(f, "c:a u:", 2);
	flame__add(f, NULL, 0, 3);
	add(f, "c:a\nb u:x\x1b[2J\xff", 4);
	add(f, "c:a u:k", 5);
	add(f, "c:a k:k", 6);
	folded_is(f,
		  "[unknown] 3\n"
		  "a;Lcom/foo:bar 1\n"
		  "a;[unknown] 2\n"
		  "a;k 5\n"
		  "a;k 6\n"
		  "a\\x0ab;x\\x1b[2J\\xff 4\n",
		  "a name can neither end a frame nor a line; a kind is part of a frame");
	flame__free(f);
}

static void check_cut(void)
{
	char name[2 * FLAME_NAME_MAX], want[2 * FLAME_NAME_MAX];
	struct flame *f = flame__new();

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	add_name(f, name, 1);
	name[sizeof(name) - 2] = 'm';
	add_name(f, name, 1);
	snprintf(want, sizeof(want), "%.*s 2\n", FLAME_NAME_MAX, name);
	folded_is(f, want, "long names are cut, and then the same");
	flame__free(f);
}

/* ---- the picture ---- */

/* Hundredths, from "12.34". */
static uint64_t hundredths(const char *text)
{
	return strtoull(text, NULL, 10) * 100 + strtoull(strchr(text, '.') + 1, NULL, 10);
}

struct bar {
	uint64_t x, y, wide;
};

/* Of the frame whose title begins with this name. */
static struct bar bar_of(const char *text, const char *name)
{
	struct bar bar = { 0 };
	char title[600];
	const char *at;

	snprintf(title, sizeof(title), "<title>%s\n", name);
	at = strstr(text, title);
	if (!at || !(at = strstr(at, "<rect x=\"")))
		return bar;
	bar.x = hundredths(at + 9);
	bar.y = strtoull(strstr(at, "y=\"") + 3, NULL, 10);
	bar.wide = hundredths(strstr(at, "width=\"") + 7);
	return bar;
}

static void check_places(void)
{
	struct flame *f = flame__new();
	struct flame_drawn drawn;
	struct bar all, a, b, top;
	char *text;

	add(f, "c:a k:top", 100);
	add(f, "c:a", 200);
	add(f, "c:b u:main", 700);
	text = svg(f, &style, &drawn);
	all = bar_of(text, "all");
	a = bar_of(text, "a");
	b = bar_of(text, "b");
	top = bar_of(text, "top");
	is_u64(all.wide, 120000, "all is as wide as the picture");
	is_u64(a.wide, 36000, "a frame as wide as its share");
	is_u64(b.wide, 84000, "another one");
	is_u64(b.x, a.x + a.wide, "the next begins where one ends");
	ok(a.x == all.x && top.x == a.x && top.wide == 12000, "a frame above it lies on it");
	ok(all.y == a.y + 18 && a.y == b.y && top.y == a.y - 18, "stacks grow upwards");
	is_u64(drawn.frames, 5, "five frames");
	is_u64(drawn.left_out, 0, "none is left out");
	is_u64(count(text, "<g class=\"f "), 5, "and five are there");
	has(text, "<title>a\nprocess, 300 I/Os, 30.00 %</title>", "hover: a process");
	has(text, "<title>top\nkernel, 100 I/Os, 10.00 %</title>", "hover: a kernel function");
	has(text, "<title>main\nuser, 700 I/Os, 70.00 %</title>", "hover: a user function");
	has(text, "<title>all\n1000 I/Os, 100.00 %</title>", "hover: all of it");
	has(text, ">I/Os by stack</text>", "the title");
	has(text, ">10 s</text>", "the note");
	free(text);
	flame__free(f);
}

static void check_units(void)
{
	struct flame_style s = style;
	struct flame *f = flame__new();
	struct flame_drawn drawn;
	char *text;

	add(f, "c:a", 1536);
	s.value = CELL_BYTES;
	text = svg(f, &s, &drawn);
	has(text, "process, 1.5KiB, 100.00 %", "bytes");
	free(text);
	s.value = CELL_DURATION;
	text = svg(f, &s, &drawn);
	has(text, "process, 1.54us, 100.00 %", "time");
	free(text);
	flame__free(f);
}

static void check_labels(void)
{
	struct flame *f = flame__new();
	struct flame_drawn drawn;
	char *text;

	add_name(f, "abcdefghijklmnopqrstuvwxyz", 100);
	add_name(f, "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc-",
		 50);
	add_name(f, "long", 850);
	add_name(f, "zz", 18);
	text = svg(f, &style, &drawn);
	/* 1018: 117.87 px hold 15 letters, 58.93 px 7, 21.21 px 2. */
	has(text, ">abcdefghijklm..</text>", "a label is cut to its frame");
	has(text, ">\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6..</text>", "between characters");
	has(text, ">long</text>", "or is whole");
	ok(!strstr(text, ">zz</text>"), "where three letters do not fit there is none");
	has(text, "<title>zz\n", "but the frame is there");
	free(text);
	flame__free(f);
}

/* 1,200 pixels: a tenth of one is a 12,000th. */
static void check_narrow(void)
{
	struct flame *f = flame__new();
	struct flame_drawn drawn;
	char *text;

	add(f, "c:a", 12000000 - 1000 - 999 - 500);
	add(f, "c:b u:in k:side", 999);
	add(f, "c:c", 1000);
	add(f, "c:d", 500);
	text = svg(f, &style, &drawn);
	ok(strstr(text, "<title>c\n") && !strstr(text, "<title>b\n"),
	   "a tenth of a pixel is drawn, less is not");
	ok(!strstr(text, "<title>side\n"), "nor what is above");
	is_u64(drawn.frames, 3, "three are drawn: all, a, c");
	is_u64(drawn.left_out, 4, "those left out are counted");
	is_u64(drawn.left_out_value, 1499, "so is what they stand for");
	has(text, "4 frames narrower than 0.1 pixels are not drawn: 0.01 %", "and it is said");
	free(text);
	folded_is(f, "a 11997501\nb;in;side 999\nc 1000\nd 500\n", "folded lines have them");
	flame__free(f);
}

/* ---- hostile names ---- */

/* What an XML reader would stumble over: a bare &, a < that begins none of our tags, control. */
static bool is_well_formed(const char *text)
{
	static const char *const tags[] = {
		"<?xml ",   "<svg ",	 "</svg>",	    "<title>", "</title>",
		"<style>",  "</style>",	 "<rect ",	    "<text ",  "</text>",
		"<g ",	    "</g>",	 "<foreignObject ", "<input ", "</foreignObject>",
		"<script>", "</script>", "<![CDATA[",
	};
	const char *script = strstr(text, "<![CDATA["), *end = strstr(text, "]]>");

	for (const char *c = text; *c; c++) {
		bool known = false;

		if ((unsigned char)*c < 0x20 && *c != '\n')
			return false;
		if (c > script && c < end)
			continue;
		if (*c == '&' && strncmp(c, "&amp;", 5) && strncmp(c, "&lt;", 4) &&
		    strncmp(c, "&gt;", 4) && strncmp(c, "&quot;", 6) && strncmp(c, "&#39;", 5))
			return false;
		for (size_t i = 0; *c == '<' && i < sizeof(tags) / sizeof(tags[0]); i++)
			known |= !strncmp(c, tags[i], strlen(tags[i]));
		if (*c == '<' && !known)
			return false;
	}
	return script && end && !strstr(end + 1, "]]>");
}

static void check_hostile(void)
{
	struct flame_style s = style;
	struct flame *f = flame__new();
	struct flame_drawn drawn;
	char *text;

	add_name(f, "</title><script>alert(1)</script>", 9);
	add_name(f, "a&b<c>\"d'e", 9);
	add_name(f, "]]>", 9);
	add_name(f, "\x01\x1b[31m\x7f\n\t\r", 9);
	add_name(f, "\xff\xfe\xc0\x80\xed\xa0\x80", 9);
	add_name(f, "\xef\xbf\xbe\xef\xbf\xbf", 9);
	add_name(f,
		 "\xc2\x9b"
		 "31m\xe2\x82\xac",
		 9);
	s.title = "<b>&\x02";
	s.note = "<!--";
	s.unit = "<&";
	text = svg(f, &s, &drawn);
	ok(is_well_formed(text), "no name, title or unit breaks out of its text");
	is_u64(count(text, "<script>"), 1, "there is one script, ours");
	has(text, "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;\n", "markup is text");
	has(text, "a&amp;b&lt;c&gt;&quot;d&#39;e\n", "so are its characters");
	has(text, "\\x01\\x1b[31m\\x7f\\x0a\\x09\\x0d\n", "control characters are shown");
	has(text, "\\xff\\xfe\\xc0\\x80\\xed\\xa0\\x80\n", "so is what is no UTF-8");
	has(text, "\\xef\\xbf\\xbe\\xef\\xbf\\xbf\n", "and what is no XML");
	has(text,
	    "\\xc2\\x9b"
	    "31m\xe2\x82\xac\n",
	    "the rest stays what it is");
	has(text, "&lt;b&gt;&amp;\\x02</text>", "the title, too");
	free(text);
	flame__free(f);
}

static void check_check(void)
{
	ok(!is_well_formed("<svg >&nope;<![CDATA[]]>"), "the test sees a bad entity");
	ok(!is_well_formed("<svg ><evil/><![CDATA[]]>"), "a tag that is not ours");
	ok(!is_well_formed("<svg >\x01<![CDATA[]]>"), "a control character");
}

/* ---- the same bytes ---- */

static const char *const stacks[] = {
	"c:fio u:main k:a", "c:fio u:main k:b",		"c:dd k:a", "c:dd u:a", "c:fio",
	"c:z u:y k:x",	    "c:fio u:main k:a k:c k:d", "c:B",	    "c:b",	"c:fio u:main u:a",
};

static char *both_outputs(const int *order, uint64_t rounds)
{
	struct flame *f = flame__new();
	struct flame_drawn drawn;
	char *lines, *picture, *joined;

	for (uint64_t r = 0; r < rounds; r++)
		for (int i = 0; i < 10; i++)
			add(f, stacks[order[i]], (uint64_t)(order[i] + 1) * (6 / rounds));
	lines = folded(f);
	picture = svg(f, &style, &drawn);
	if (asprintf(&joined, "%s%s", lines, picture) < 0)
		abort();
	free(lines);
	free(picture);
	flame__free(f);
	return joined;
}

static void check_same_bytes(void)
{
	static const int forth[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	static const int back[] = { 9, 8, 7, 6, 5, 4, 3, 2, 1, 0 };
	static const int mixed[] = { 4, 9, 0, 5, 1, 8, 6, 2, 7, 3 };
	char *a = both_outputs(forth, 1), *b = both_outputs(back, 1);
	char *c = both_outputs(mixed, 3), *d = both_outputs(forth, 1);

	ok(!strcmp(a, b), "backwards gives the same bytes");
	ok(!strcmp(a, c), "so do other orders, and parts");
	ok(!strcmp(a, d), "and the same again");
	free(a);
	free(b);
	free(c);
	free(d);
}

static void check_twice(void)
{
	struct flame *f = flame__new();
	struct flame_drawn drawn;
	char *first, *second;

	add(f, "c:a u:b", 1);
	first = svg(f, &style, &drawn);
	free(folded(f));
	second = svg(f, &style, &drawn);
	ok(!strcmp(first, second), "writing changes nothing");
	free(second);
	add(f, "c:a u:c", 3);
	second = svg(f, &style, &drawn);
	is_u64(bar_of(second, "b").wide, 30000, "what is added later has its place");
	free(first);
	free(second);
	flame__free(f);
}

/* ---- sizes ---- */

static void check_deep(void)
{
	static struct flame_frame frames[DEEP];
	static char names[DEEP][16];
	struct flame *f = flame__new();
	struct flame_drawn drawn;
	char *text;

	for (int i = 0; i < DEEP; i++) {
		snprintf(names[i], sizeof(names[i]), "f%d", i);
		frames[i] = (struct flame_frame){ names[i], FLAME_KERNEL };
	}
	flame__add(f, frames, DEEP, 1);
	flame__add(f, frames, 128, 1);
	text = svg(f, &style, &drawn);
	is_u64(drawn.frames, DEEP + 1, "a stack of 1,000 frames is drawn");
	is_u64(bar_of(text, "f127").wide, 120000, "128 of them twice as wide");
	is_u64(bar_of(text, "f999").wide, 60000, "as the last");
	is_u64(bar_of(text, "f0").y - bar_of(text, "f999").y, 999 * 18, "a row for each");
	is_u64(bar_of(text, "f999").y, 84, "the picture is as high as that takes");
	free(text);
	text = folded(f);
	ok(count(text, ";") == 999 + 127 && strstr(text, ";f999 1\n"), "and folded");
	free(text);
	flame__free(f);
}

static void check_many(void)
{
	struct flame *f = flame__new();
	struct flame_drawn drawn;
	uint64_t wide = 0;
	char name[32], *text;

	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "n%04d", i * 7 % 5000);
		add_name(f, name, (uint64_t)(10 + i % 13));
	}
	text = svg(f, &style, &drawn);
	is_u64(drawn.frames + drawn.left_out, 5001, "5,000 frames beside each other");
	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "n%04d", i);
		wide += bar_of(text, name).wide;
	}
	is_u64(wide, 120000, "fill the width exactly");
	free(text);
	flame__free(f);
}

static void check_large(void)
{
	struct flame *f = flame__new();
	const struct flame_frame frame = { "more", FLAME_USER };
	struct flame_drawn drawn;
	char *text;

	add(f, "c:a", UINT64_MAX / 2);
	add(f, "c:b", UINT64_MAX / 2);
	ok(flame__add(f, &frame, 1, 2) == -EOVERFLOW, "a sum that does not fit is refused");
	text = svg(f, &style, &drawn);
	is_u64(bar_of(text, "b").wide, 60000, "large ones are drawn right");
	has(text, "data-s=\"549755813888\" data-e=\"1099511627776\"", "in shares of 2^40");
	free(text);
	flame__free(f);
}

/* A tree that somebody has already, step by step, is the same picture. */
static void check_entered(void)
{
	const struct flame_frame a = { "a", FLAME_COMM }, b = { "b", FLAME_KERNEL }, none = { "" };
	const struct flame_frame frames[] = { a, b };
	struct flame *f = flame__new(), *g = flame__new();
	uint32_t at = flame__enter(f, FLAME_ROOT, &a);
	char *one, *other;

	ok(!flame__add_to(f, at, 3) && !flame__add_to(f, flame__enter(f, at, &b), 4), "by steps");
	is_u64(flame__enter(f, FLAME_ROOT, &a), at, "the same frame is one");
	flame__add(g, frames, 1, 3);
	flame__add(g, frames, 2, 4);
	one = folded(f);
	other = folded(g);
	is_str(one, other, "gives what whole stacks give");
	is_u64(flame__total(f), 7, "and their sum");
	free(one);
	flame__add_to(f, flame__enter(f, FLAME_ROOT, &none), 5);
	one = folded(f);
	has(one, "[unknown] 5", "a frame without a name is not lost");
	ok(flame__add_to(f, at, UINT64_MAX) == -EOVERFLOW, "nor is a sum that is too large");
	free(one);
	free(other);
	flame__free(f);
	flame__free(g);
}

static void check_empty(void)
{
	struct flame *f = flame__new();
	struct flame_drawn drawn;
	char *text = svg(f, &style, &drawn);

	ok(is_well_formed(text) && strstr(text, "no stacks"),
	   "no stacks are a picture that says so");
	is_u64(drawn.frames, 0, "without a frame");
	free(text);
	flame__free(f);
	flame__free(NULL);
}

int main(void)
{
	check_folded();
	check_folded_names();
	check_cut();
	check_places();
	check_units();
	check_labels();
	check_narrow();
	check_check();
	check_hostile();
	check_same_bytes();
	check_twice();
	check_deep();
	check_many();
	check_large();
	check_entered();
	check_empty();
	return done_testing();
}
