/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page_model.c: what does the page of a trace know? One JSON object: texts once, by number; calls
 * as columns, a number each, in order of their outermost call, what is inside behind it; times as
 * differences to the row before. src/pages/trace.js reads it; -1 is nothing.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "calls/page.h"
#include "capture/about.h"
#include "decode/column.h"

/* ---- JSON ---- */

static void model_text(FILE *out, const char *key, const char *text)
{
	fprintf(out, ",\"%s\":", key);
	if (text && *text)
		text__put_json(out, text);
	else
		fputs("null", out);
}

static void model_number(FILE *out, const char *key, uint64_t n)
{
	fprintf(out, ",\"%s\":%" PRIu64, key, n);
}

static int model_strings(const struct trace_page *p, FILE *out)
{
	fputs(",\n\"strings\":[", out);
	for (uint32_t i = 0; i < p->texts.nr; i++) {
		size_t len;
		const char *bytes = intern__bytes(&p->texts, i, &len);
		char *text = strndup(bytes ? bytes : "", len);

		if (!text)
			return -ENOMEM;
		if (i)
			fputc(',', out);
		text__put_json(out, text);
		free(text);
	}
	fputc(']', out);
	return 0;
}

/* ---- what is known of the run ---- */

/* Of a capture as it says; else of this machine. */
static void model_about(const struct trace_page *p, FILE *out)
{
	const struct session *s = p->session;
	const bool is_capture = s->options->file.read.nr;
	const uint64_t wall_ns = is_capture ? session__wall_ns(s, s->start_ns) : p->wall_ns;

	model_text(out, "kernel",
		   is_capture ? session__about(s, CAPTURE_INFO_KERNEL) : p->here.release);
	model_text(out, "machine",
		   is_capture ? session__about(s, CAPTURE_INFO_MACHINE) : p->here.machine);
	model_text(out, "made_by", is_capture ? session__about(s, CAPTURE_INFO_COMMAND) : NULL);
	model_number(out, "wall_ms", wall_ns / 1000000);
}

static void model_counts(const struct run_counts *counts, FILE *out)
{
	const uint64_t *n = counts ? counts->counters : NULL;

	if (!n)
		return;
	model_number(out, "hits", n[PROBE_HITS]);
	model_number(out, "lost",
		     n[PROBE_LOST_KEY] + n[PROBE_LOST_RING] + n[PROBE_DROPPED] + counts->skipped);
}

/* ---- functions ---- */

static void model_arguments(const struct trace_page *p, FILE *out, uint32_t function)
{
	const struct plan_shown *shown;
	size_t nr;

	shown = call_trace__shown(p->trace, function, false, &nr);
	fputs(",\"arguments\":[", out);
	for (size_t i = 0; i < nr; i++) {
		char name[128];
		int len;
		const char *at = member__name(&shown[i].part, &len);

		snprintf(name, sizeof(name), "%.*s", len, at);
		fputs(i ? "," : "", out);
		text__put_json(out, name);
	}
	fputc(']', out);
}

static void model_source(const struct source_text *source, FILE *out)
{
	if (!source->file)
		return;
	fputs(",\"source\":{\"line\":", out);
	fprintf(out, "%u", source->line);
	model_text(out, "file", source->file);
	model_text(out, "text", source->text);
	fprintf(out, ",\"cut\":%s}", source->is_cut ? "true" : "false");
}

static void model_function(const struct trace_page *p, FILE *out, uint32_t i)
{
	const struct call_trace_function *f = &p->trace->functions[i];
	char prototype[1024];

	fputs("{\"name\":", out);
	text__put_json(out, call_trace__probe(p->trace, i)->func);
	model_text(out, "module", call_trace__module(p->trace, i));
	model_text(out, "prototype",
		   call_trace__prototype(p->trace, i, prototype, sizeof(prototype)));
	model_arguments(p, out, i);
	fprintf(out, ",\"returns\":%s", f->returns ? "true" : "false");
	fprintf(out, ",\"birth\":%d,\"death\":%s",
		f->at_entry.role == LIFE_BIRTH	? 1
		: f->at_exit.role == LIFE_BIRTH ? 2
						: 0,
		f->at_entry.role == LIFE_DEATH ? "true" : "false");
	if (p->source)
		model_source(&p->source[i], out);
	fputc('}', out);
}

static void model_functions(const struct trace_page *p, FILE *out)
{
	fputs(",\n\"functions\":[", out);
	for (uint32_t i = 0; i < p->trace->nr; i++) {
		fputs(i ? ",\n" : "\n", out);
		model_function(p, out, i);
	}
	fputc(']', out);
}

/* ---- objects ---- */

static void model_members(const struct trace_page *p, FILE *out)
{
	fputs(",\n\"members\":[", out);
	for (size_t i = 1; i < p->trace->nr_members; i++) {
		const struct plan_part *part = &p->trace->members[i];
		char name[128];
		int len;
		const char *at = member__name(part, &len);

		snprintf(name, sizeof(name), "%.*s", len, at);
		fputs(i > 1 ? ",{\"name\":" : "{\"name\":", out);
		text__put_json(out, name);
		snprintf(name, sizeof(name), "%.*s", (int)part->text_len, part->text);
		model_text(out, "path", name);
		fputc('}', out);
	}
	fputc(']', out);
}

static void model_layout(const struct struct_layout *layout, FILE *out)
{
	fputs("{\"name\":", out);
	text__put_json(out, layout->name);
	model_number(out, "bytes", layout->bytes);
	fprintf(out, ",\"cut\":%s,\"members\":[", layout->is_cut ? "true" : "false");
	for (size_t i = 0; i < layout->nr; i++) {
		const struct struct_member *m = &layout->members[i];

		fputs(i ? ",[" : "[", out);
		text__put_json(out, m->declared);
		fprintf(out, ",%u,%" PRIu64 ",%" PRIu64 "]", m->depth, m->bit, m->bits);
	}
	fputs("]}", out);
}

static void model_layouts(const struct trace_page *p, FILE *out)
{
	const struct struct_layouts *layouts = &p->trace->layouts;

	fputs(",\n\"layouts\":", out);
	if (!p->trace->has_layouts) {
		fputs("null", out);
		return;
	}
	for (size_t i = 0; i < layouts->nr; i++) {
		fputs(i ? ",\n" : "[\n", out);
		model_layout(&layouts->layouts[i], out);
	}
	fputs(layouts->nr ? "]" : "[]", out);
}

static void model_lives(const struct trace_page *p, FILE *out)
{
	fputs(",\n\"lives\":[", out);
	for (size_t i = 0; i < p->nr_lives; i++) {
		const struct trace_life *life = &p->lives[i];
		unsigned int flags = life->is_born | life->is_dead << 1 | life->is_whole << 2 |
				     life->is_wanted << 3;

		fprintf(out, "%s%" PRIu64 ",%u,%u", i ? "," : "", life->number, life->object,
			flags);
	}
	fputs("],\n\"snapshots\":[", out);
	for (size_t i = 0; p->trace->nr_members && i < p->snapshots.nr * (p->trace->nr_members - 1);
	     i++)
		fprintf(out, "%s%u", i ? "," : "", p->snapshot_texts[i]);
	fputc(']', out);
}

static void model_tasks(const struct trace_page *p, FILE *out)
{
	fputs(",\n\"tasks\":[", out);
	for (uint32_t i = 0; i < p->tasks.nr; i++) {
		size_t len;
		struct trace_task task;

		memcpy(&task, intern__bytes(&p->tasks, i, &len), sizeof(task));
		fprintf(out, "%s%u,%u,%u", i ? "," : "", task.pid, task.tid, task.comm);
	}
	fputc(']', out);
}

/* ---- calls ---- */

struct model_tree {
	uint64_t start_ns;
	size_t first, nr; /* rows */
};

struct model_trees {
	struct model_tree *trees;
	size_t nr;
};

static int model_compare(const void *a, const void *b)
{
	const struct model_tree *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->first < y->first ? -1 : 1;
}

/* They came as they ended; they are shown as they began. */
static int model_sort(const struct trace_page *p, struct model_trees *t)
{
	*t = (struct model_trees){ .trees = calloc(p->nr + 1, sizeof(*t->trees)) };
	if (!t->trees)
		return -ENOMEM;
	for (size_t i = 0; i < p->nr; i++) {
		if (!i || !p->rows[i].depth)
			t->trees[t->nr++] = (struct model_tree){ p->rows[i].start_ns, i, 0 };
		t->trees[t->nr - 1].nr++;
	}
	qsort(t->trees, t->nr, sizeof(*t->trees), model_compare);
	return 0;
}

typedef int64_t (*model_value_fn)(const struct trace_page *p, const struct trace_row *row,
				  const struct trace_row *before);

static int64_t value_start(const struct trace_page *p, const struct trace_row *row,
			   const struct trace_row *before)
{
	(void)p;
	return (int64_t)(row->start_ns - (before ? before->start_ns : 0));
}

static int64_t value_life(const struct trace_page *p, uint64_t number, bool is_return)
{
	if (number >= p->room_about)
		return TRACE_PAGE_NONE;
	return (int64_t)(is_return ? p->about[number].left : p->about[number].entered) - 1;
}

static int64_t value_entered_life(const struct trace_page *p, const struct trace_row *row,
				  const struct trace_row *before)
{
	(void)before;
	return value_life(p, row->number, false);
}

static int64_t value_left_life(const struct trace_page *p, const struct trace_row *row,
			       const struct trace_row *before)
{
	(void)before;
	return value_life(p, row->number, true);
}

#define VALUE(field)                                                                          \
	static int64_t value_##field(const struct trace_page *p, const struct trace_row *row, \
				     const struct trace_row *before)                          \
	{                                                                                     \
		(void)p;                                                                      \
		(void)before;                                                                 \
		return (int64_t)row->field;                                                   \
	}
VALUE(duration_ns)
VALUE(function)
VALUE(cpu)
VALUE(task)
VALUE(depth)
VALUE(object)
VALUE(ret)
VALUE(entered)
VALUE(left)
#undef VALUE

static void model_column(const struct trace_page *p, const struct model_trees *t, FILE *out,
			 const char *key, model_value_fn value)
{
	const struct trace_row *before = NULL;

	fprintf(out, "%s\"%s\":[", value == value_start ? "\n" : ",\n", key);
	for (size_t i = 0; i < t->nr; i++)
		for (size_t r = 0; r < t->trees[i].nr; r++) {
			const struct trace_row *row = &p->rows[t->trees[i].first + r];

			fprintf(out, "%s%" PRId64, before ? "," : "", value(p, row, before));
			before = row;
		}
	fputc(']', out);
}

/* As many for each call as its function has arguments. */
static void model_args(const struct trace_page *p, const struct model_trees *t, FILE *out)
{
	const char *mark = "";

	fputs(",\n\"args\":[", out);
	for (size_t i = 0; i < t->nr; i++)
		for (size_t r = 0; r < t->trees[i].nr; r++) {
			const struct trace_row *row = &p->rows[t->trees[i].first + r];
			size_t nr;

			call_trace__shown(p->trace, row->function, false, &nr);
			for (size_t a = 0; a < nr; a++, mark = ",")
				fprintf(out, "%s%u", mark, p->args[row->args_at + a]);
		}
	fputc(']', out);
}

static int model_calls(const struct trace_page *p, FILE *out)
{
	static const struct {
		const char *key;
		model_value_fn value;
	} columns[] = {
		{ "start", value_start },
		{ "duration", value_duration_ns },
		{ "function", value_function },
		{ "cpu", value_cpu },
		{ "task", value_task },
		{ "depth", value_depth },
		{ "object", value_object },
		{ "ret", value_ret },
		{ "entered", value_entered },
		{ "left", value_left },
		{ "entered_life", value_entered_life },
		{ "left_life", value_left_life },
	};
	struct model_trees trees;

	if (model_sort(p, &trees))
		return -ENOMEM;
	fputs(",\n\"calls\":{", out);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		model_column(p, &trees, out, columns[i].key, columns[i].value);
	model_args(p, &trees, out);
	fputc('}', out);
	free(trees.trees);
	return 0;
}

/* ---- all ---- */

int trace_model__write(const struct trace_page *p, const struct run_counts *counts, FILE *out)
{
	int err;

	fputs("{\"version\":1", out);
	model_text(out, "command", p->command);
	model_text(out, "object", p->trace->name);
	model_about(p, out);
	model_counts(counts, out);
	model_number(out, "left_out", p->left_out);
	model_functions(p, out);
	model_members(p, out);
	model_layouts(p, out);
	model_tasks(p, out);
	model_lives(p, out);
	err = model_strings(p, out);
	err = err ?: model_calls(p, out);
	fputs("}\n", out);
	return err;
}
