/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top_keys.c: what does a key do in `top`? One table, which the help prints, too. While a filter is
 * typed, keys are its characters.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>
#include "screen/top.h"

static void top_say(struct top_screen *t, const char *text)
{
	snprintf(t->message, sizeof(t->message), "%s", text);
}

static long top_page(void)
{
	return screen__lines() / 2;
}

static void key_up(struct top_screen *t)
{
	top_model__move(t->model, -1);
}

static void key_down(struct top_screen *t)
{
	top_model__move(t->model, 1);
}

static void key_page_up(struct top_screen *t)
{
	top_model__move(t->model, -top_page());
}

static void key_page_down(struct top_screen *t)
{
	top_model__move(t->model, top_page());
}

static void key_first(struct top_screen *t)
{
	top_model__move(t->model, -(long)t->model->nr);
}

static void key_last(struct top_screen *t)
{
	top_model__move(t->model, (long)t->model->nr);
}

static void key_enter(struct top_screen *t)
{
	if (!top_model__enter(t->model))
		top_say(t, "there is nothing below these rows; --by adds keys");
}

static void key_leave(struct top_screen *t)
{
	if (!top_model__leave(t->model))
		top_say(t, "this is the first level; q quits");
}

static void key_by(struct top_screen *t)
{
	int err = top_model__next_key(t->model);

	if (err == -ENOENT)
		top_say(t, "there is no other key for these rows; --by adds keys");
	else if (err)
		top_say(t, "out of memory");
}

static void key_sort(struct top_screen *t)
{
	top_model__sort_next(t->model);
}

static void key_reverse(struct top_screen *t)
{
	t->model->is_reversed = !t->model->is_reversed;
}

static void key_filter(struct top_screen *t)
{
	const struct top_level *level = &t->model->levels[t->model->depth];

	t->types = true;
	snprintf(t->input, sizeof(t->input), "%s", level->filter);
}

static void key_freeze(struct top_screen *t)
{
	t->is_frozen = !t->is_frozen;
}

static void key_longer(struct top_screen *t)
{
	t->multiple += t->multiple < TOP_MOST_MULTIPLE;
}

static void key_shorter(struct top_screen *t)
{
	t->multiple -= t->multiple > 1;
}

/* ---- the time of a capture ---- */

static void key_earlier(struct top_screen *t)
{
	if (!top_browse__step(&t->browse, -1))
		top_say(t, "this is the start of the capture");
}

static void key_later(struct top_screen *t)
{
	if (!top_browse__step(&t->browse, 1))
		top_say(t, "this is the end of the capture");
}

static void key_start(struct top_screen *t)
{
	top_browse__to_first(&t->browse);
}

static void key_end(struct top_screen *t)
{
	top_browse__to_last(&t->browse);
}

static void key_longer_window(struct top_screen *t)
{
	if (!top_browse__lengthen(&t->browse))
		top_say(t, "the window has the whole capture");
}

static void key_shorter_window(struct top_screen *t)
{
	if (!top_browse__shorten(&t->browse))
		top_say(t, "there is no shorter window");
}

static void key_play(struct top_screen *t)
{
	t->browse.plays = !t->browse.plays;
}

/* ---- the tables ---- */

static void key_latency(struct top_screen *t)
{
	t->model->shows_others = !t->model->shows_others;
}

static void key_strip(struct top_screen *t)
{
	t->hides_strip = !t->hides_strip;
}

static void key_help(struct top_screen *t)
{
	t->shows_help = true;
}

static void key_quit(struct top_screen *t)
{
	t->quits = true;
}

const struct top_key top_keys[] = {
	{ SCREEN_UP, 'k', "Up k", "choose the row above", key_up },
	{ SCREEN_DOWN, 'j', "Down j", "choose the row below", key_down },
	{ SCREEN_PAGE_UP, 0, "PgUp", "half a page up", key_page_up },
	{ SCREEN_PAGE_DOWN, 0, "PgDn", "half a page down", key_page_down },
	{ SCREEN_HOME, 'g', "Home g", "choose the first row", key_first },
	{ SCREEN_END, 'G', "End G", "choose the last row", key_last },
	{ SCREEN_ENTER, 0, "Enter", "show what the chosen row is made of", key_enter },
	{ SCREEN_RIGHT, 0, NULL, NULL, key_enter },
	{ SCREEN_BACK, SCREEN_ESCAPE, "Backspace", "go back; also Esc", key_leave },
	{ SCREEN_LEFT, 0, NULL, NULL, key_leave },
	{ 'b', 0, "b", "show these rows by the next key of --by", key_by },
	{ 's', 0, "s", "sort by the next column", key_sort },
	{ 'r', 0, "r", "reverse the order", key_reverse },
	{ '/', 0, "/", "show only rows for which an expression is true", key_filter },
	{ ' ', 0, "Space", "freeze the screen; counting goes on", key_freeze },
	{ '+', '=', "+", "longer intervals", key_longer },
	{ '-', 0, "-", "shorter intervals", key_shorter },
	{ 'l', 0, "l", "other latency columns", key_latency },
	{ 'h', 0, "h", "heat strip of the chosen row: show or hide", key_strip },
	{ '?', 0, "?", "this help", key_help },
	{ 'q', 0, "q", "quit", key_quit },
	{ 0 },
};

const struct top_key top_browse_keys[] = {
	{ SCREEN_LEFT, 0, "Left", "the window before", key_earlier },
	{ SCREEN_RIGHT, 0, "Right", "the window after", key_later },
	{ SCREEN_HOME, 0, "Home", "the first window", key_start },
	{ SCREEN_END, 0, "End", "the last window", key_end },
	{ '+', '=', "+", "a window twice as long", key_longer_window },
	{ '-', 0, "-", "a window half as long", key_shorter_window },
	{ ' ', 0, "Space", "play: the next window whenever its time is up", key_play },
	{ 'g', 0, "g", "choose the first row", key_first },
	{ 'G', 0, "G", "choose the last row", key_last },
	{ 0 },
};

const struct top_key *top_key__find(const struct top_key *keys, int key)
{
	for (const struct top_key *k = keys; k->act; k++)
		if (key == k->key || (k->also && key == k->also))
			return k;
	return NULL;
}

/* ---- the filter ---- */

static void top_type(struct top_screen *t, int key)
{
	char bytes[16] = "";
	mbstate_t state = { 0 };
	size_t len = wcrtomb(bytes, (wchar_t)key, &state), used = strlen(t->input);

	if (len == (size_t)-1 || used + len >= sizeof(t->input))
		return;
	memcpy(t->input + used, bytes, len);
	t->input[used + len] = '\0';
}

static void top_untype(struct top_screen *t)
{
	size_t len = strlen(t->input);

	while (len && ((unsigned char)t->input[--len] & 0xc0) == 0x80)
		;
	t->input[len] = '\0';
}

/* A mistake is a message, and the line stays open. */
static void top_on_typed(struct top_screen *t, int key)
{
	if (key == SCREEN_ENTER)
		t->types = top_model__filter(t->model, t->input) != 0;
	else if (key == SCREEN_ESCAPE)
		t->types = false;
	else if (key == SCREEN_BACK)
		top_untype(t);
	else if (key > 0)
		top_type(t, key);
}

void top_screen__on_key(struct top_screen *t, int key)
{
	const struct top_key *found;

	t->message[0] = '\0';
	if (t->types) {
		top_on_typed(t, key);
		return;
	}
	if (t->shows_help) { /* any key ends it, and q does not quit */
		t->shows_help = false;
		return;
	}
	found = t->browse.is_on ? top_key__find(top_browse_keys, key) : NULL;
	found = found ? found : top_key__find(top_keys, key);
	if (found)
		found->act(t);
}
