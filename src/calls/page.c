/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/grow.h"
#include "base/log.h"
#include "render/page.h"

/* ---- source ---- */

int trace_page__read_source(struct trace_page *p, const struct call_trace *t)
{
	const char **names;
	int err;

	if (!p->source_dir || p->source)
		return 0;
	names = calloc(t->nr, sizeof(*names));
	p->source = calloc(t->nr, sizeof(*p->source));
	p->trace = (struct call_trace *)t;
	for (uint32_t i = 0; names && i < t->nr; i++)
		names[i] = call_trace__probe(t, i)->func;
	err = names && p->source ? source_tree__find(p->source_dir, names, t->nr, p->source)
				 : log_no_memory();
	free(names);
	return err;
}

/* ---- words ---- */

static uint32_t page_text(struct trace_page *p, const char *text)
{
	return intern__number(&p->texts, text, strlen(text), NULL);
}

static uint32_t page_value(struct trace_page *p, struct members *words, size_t i,
			   const void *values)
{
	rewind(p->words);
	members__put_value(words, p->words, i, values);
	if (fflush(p->words))
		return INTERN_NONE;
	return intern__number(&p->texts, p->word, p->word_len, NULL);
}

/* ---- parts of a row ---- */

static int page_add_args(struct trace_page *p, const struct call *call)
{
	size_t nr;

	call_trace__shown(p->trace, call->function, false, &nr);
	for (size_t i = 0; i < nr; i++) {
		struct members *words = trace_words__of(&p->in_words, call->function, false);

		if (!words || GROW(p->args, p->room_args, p->nr_args + 1))
			return -ENOMEM;
		p->args[p->nr_args] =
			call->entered ? page_value(p, words, i, call->entered) : page_text(p, "");
		if (p->args[p->nr_args++] == INTERN_NONE)
			return -ENOMEM;
	}
	return 0;
}

static int32_t page_ret(struct trace_page *p, const struct call *call)
{
	struct members *words;
	size_t nr = 0;

	if (call->left)
		call_trace__shown(p->trace, call->function, true, &nr);
	words = nr ? trace_words__of(&p->in_words, call->function, true) : NULL;
	return words ? (int32_t)page_value(p, words, 0, call->left) : TRACE_PAGE_NONE;
}

static int32_t page_object(struct trace_page *p, const struct call *call)
{
	const uint64_t object = call_trace__object_of(p->trace, call);
	char text[32];

	snprintf(text, sizeof(text), "0x%" PRIx64, object);
	return object ? (int32_t)page_text(p, text) : TRACE_PAGE_NONE;
}

static int32_t page_task(struct trace_page *p, const struct call *call)
{
	const struct trace_task task = { call->pid, call->tid, page_text(p, call->comm) };

	return (int32_t)intern__number(&p->tasks, &task, sizeof(task), NULL);
}

/* Text of all members except the first, which is the object itself. */
static bool page_name_snapshot(struct trace_page *p, uint32_t number, const char *bytes)
{
	const size_t nr = p->trace->nr_shown - 1;
	uint32_t *texts;

	if (grow__room(&p->snapshot_texts, &p->room_snapshots, (size_t)number + 1,
		       (nr + !nr) * sizeof(*p->snapshot_texts)))
		return false;
	texts = p->snapshot_texts + number * nr;
	for (size_t i = 0; i < nr; i++) {
		texts[i] = page_value(p, p->in_words.members, i + 1, bytes);
		if (texts[i] == INTERN_NONE)
			return false;
	}
	return true;
}

/* The object's members as a snapshot; TRACE_PAGE_NONE: unknown. */
static int page_snapshot(struct trace_page *p, const struct call *call, bool is_return,
			 int32_t *snapshot)
{
	const void *values = is_return ? call->left : call->entered;
	char bytes[PLAN_MAX_SHOWN];
	size_t object;
	uint32_t number;
	bool is_new;

	*snapshot = TRACE_PAGE_NONE;
	if (!p->in_words.members ||
	    !call_trace__members(p->trace, call->function, is_return, values, bytes))
		return 0;
	object = p->trace->members[0].shape.size;
	number = intern__number(&p->snapshots, bytes + object, p->trace->member_bytes - object,
				&is_new);
	if (number == INTERN_NONE || (is_new && !page_name_snapshot(p, number, bytes)))
		return -ENOMEM;
	*snapshot = (int32_t)number;
	return 0;
}

/* ---- rows ---- */

static int page_add(struct trace_page *p, const struct call *call)
{
	const uint64_t start_ns = p->session->start_ns;
	struct trace_row row = {
		.start_ns = call->start_ns > start_ns ? call->start_ns - start_ns : 0,
		.duration_ns = call->end_ns ? call->end_ns - call->start_ns : UINT64_MAX,
		.number = call->number,
		.args_at = p->nr_args,
		.function = call->function,
		.cpu = call->cpu,
		.depth = call->depth,
		.task = page_task(p, call),
		.object = page_object(p, call),
		.ret = page_ret(p, call),
	};
	int err = page_add_args(p, call);

	err = err ?: page_snapshot(p, call, false, &row.entered);
	err = err ?: page_snapshot(p, call, true, &row.left);
	if (err || GROW(p->rows, p->room, p->nr + 1))
		return -ENOMEM;
	p->rows[p->nr++] = row;
	return 0;
}

int trace_page__tree(struct trace_page *p, const struct call *root)
{
	const struct call *call = root;
	int err = 0;

	while (!err && call) {
		if (!call__is_within(call, &p->limits)) {
			call = call__next_beside(call, root);
			continue;
		}
		p->left_out += p->nr >= TRACE_PAGE_MOST;
		err = p->nr < TRACE_PAGE_MOST ? page_add(p, call) : 0;
		call = call__next(call, root);
	}
	return err ? log_no_memory() : 0;
}

/* ---- lives ---- */

/* Calls past the limit are not on the page; nothing is known of an object that was gone. */
static int page_note_step(struct trace_page *p, const struct life_step *step, uint32_t life)
{
	const size_t before = p->room_about;

	if (!step->call || step->call->number >= 4ull * TRACE_PAGE_MOST ||
	    (step->is_return && !step->values))
		return 0;
	if (GROW(p->about, p->room_about, step->call->number + 1))
		return -ENOMEM;
	memset(p->about + before, 0, (p->room_about - before) * sizeof(*p->about));
	if (step->is_return)
		p->about[step->call->number].left = life;
	else
		p->about[step->call->number].entered = life;
	return 0;
}

int trace_page__life(struct trace_page *p, const struct life *life, bool is_wanted)
{
	char text[32];
	int err = 0;

	if (GROW(p->lives, p->room_lives, p->nr_lives + 1))
		return log_no_memory();
	snprintf(text, sizeof(text), "0x%" PRIx64, life->object);
	p->lives[p->nr_lives++] = (struct trace_life){
		.number = life->number,
		.object = page_text(p, text),
		.is_born = life->is_born,
		.is_dead = life->is_dead,
		.is_whole = life->is_whole,
		.is_wanted = is_wanted,
	};
	for (size_t i = 0; !err && i < life->nr; i++)
		err = page_note_step(p, &life->steps[i], (uint32_t)p->nr_lives);
	return err ? log_no_memory() : 0;
}

/* ---- the run ---- */

int trace_page__start(struct trace_page *p, struct session *s, struct call_trace *t)
{
	int err = trace_page__read_source(p, t);

	if (err)
		return err;
	p->session = s;
	p->trace = t;
	uname(&p->here);
	p->wall_ns = (uint64_t)time(NULL) * 1000000000;
	p->words = open_memstream(&p->word, &p->word_len);
	err = p->words ? trace_words__start(&p->in_words, t) : log_no_memory();
	return err ?: call_trace__lay_structs(t);
}

static int page_write(const struct trace_page *p, const struct run_counts *counts)
{
	char title[128];
	const struct page_parts parts = {
		.title = title,
		.styles = { &page_source_trace_css },
		.scripts = { &page_source_trace_model_js, &page_source_trace_timeline_js,
			     &page_source_trace_ways_js, &page_source_trace_js }
	};
	struct page *page;
	FILE *data;
	int err;

	snprintf(title, sizeof(title), "iosonar %s%s%s", p->command,
		 p->trace->name && *p->trace->name ? " " : "",
		 p->trace->name ? p->trace->name : "");
	page = page__begin(p->session->out, &parts);
	if (!page)
		return log_no_memory();
	data = page__open_data(page, "trace");
	err = data ? trace_model__write(p, counts, data) : -ENOMEM;
	page__close_data(page);
	page__end(page);
	return err ? log_no_memory() : 0;
}

int trace_page__end(struct trace_page *p, const struct run_counts *counts)
{
	if (p->left_out) {
		p->session->incomplete = true;
		log_warn("the page holds %zu calls, its maximum; %" PRIu64
			 " were left out; narrow it with -t, --min, --depth or --from and --to",
			 p->nr, p->left_out);
	}
	return page_write(p, counts);
}

void trace_page__free(struct trace_page *p)
{
	trace_words__free(&p->in_words);
	for (size_t i = 0; p->source && i < p->trace->nr; i++)
		source_text__free(&p->source[i]);
	free(p->source);
	intern__free(&p->texts);
	intern__free(&p->tasks);
	intern__free(&p->snapshots);
	free(p->snapshot_texts);
	free(p->rows);
	free(p->args);
	free(p->lives);
	free(p->about);
	if (p->words)
		fclose(p->words);
	free(p->word);
}
