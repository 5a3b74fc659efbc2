/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page_model.c: which data does the page of a trace get? One JSON object: texts once, by number;
 * calls as columns of numbers, ordered by outermost call, inner calls after it; times as
 * differences from the row before. src/pages/trace.js reads it; -1 means none.
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

static void model_truth(FILE *out, const char *key, bool is_true)
{
	fprintf(out, ",\"%s\":%s", key, is_true ? "true" : "false");
}

static void model_member_name(FILE *out, const struct plan_part *part)
{
	char name[128];
	int len;
	const char *at = member__name(part, &len);

	snprintf(name, sizeof(name), "%.*s", len, at);
	text__put_json(out, name);
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

/* Data of a capture come from the file, otherwise from this machine. */
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
		fputs(i ? "," : "", out);
		model_member_name(out, &shown[i].part);
	}
	fputc(']', out);
}

static void model_source(const struct source_text *source, FILE *out)
{
	if (!source->file)
		return;
	fprintf(out, ",\"source\":{\"line\":%u", source->line);
	model_text(out, "file", source->file);
	model_text(out, "text", source->text);
	model_truth(out, "cut", source->is_cut);
	fputc('}', out);
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
	model_truth(out, "returns", f->returns);
	model_number(out, "birth",
		     f->at_entry.role == LIFE_BIRTH  ? 1
		     : f->at_exit.role == LIFE_BIRTH ? 2
						     : 0);
	model_truth(out, "death", f->at_entry.role == LIFE_DEATH);
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
	for (size_t i = 1; i < p->trace->nr_shown; i++) {
		const struct plan_part *part = &p->trace->shown[i];
		char name[128];

		fputs(i > 1 ? ",{\"name\":" : "{\"name\":", out);
		model_member_name(out, part);
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
	model_truth(out, "cut", layout->is_cut);
	fputs(",\"members\":[", out);
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
	for (size_t i = 0; p->trace->nr_shown && i < p->snapshots.nr * (p->trace->nr_shown - 1);
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

/* Calls arrive by end; the page shows them by start. */
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

enum model_column {
	COLUMN_START,
	COLUMN_DURATION,
	COLUMN_FUNCTION,
	COLUMN_CPU,
	COLUMN_TASK,
	COLUMN_DEPTH,
	COLUMN_OBJECT,
	COLUMN_RET,
	COLUMN_ENTERED,
	COLUMN_LEFT,
	COLUMN_ENTERED_LIFE,
	COLUMN_LEFT_LIFE,
	NR_MODEL_COLUMNS,
};

static int64_t model_value(const struct trace_page *p, enum model_column column,
			   const struct trace_row *row, const struct trace_row *before)
{
	static const struct trace_about nothing;
	const struct trace_about *about =
		row->number < p->room_about ? &p->about[row->number] : &nothing;

	switch (column) {
	case COLUMN_START: return (int64_t)(row->start_ns - (before ? before->start_ns : 0));
	case COLUMN_DURATION: return (int64_t)row->duration_ns;
	case COLUMN_FUNCTION: return row->function;
	case COLUMN_CPU: return row->cpu;
	case COLUMN_TASK: return row->task;
	case COLUMN_DEPTH: return row->depth;
	case COLUMN_OBJECT: return row->object;
	case COLUMN_RET: return row->ret;
	case COLUMN_ENTERED: return row->entered;
	case COLUMN_LEFT: return row->left;
	case COLUMN_ENTERED_LIFE: return (int64_t)about->entered - 1;
	default: return (int64_t)about->left - 1;
	}
}

static void model_column(const struct trace_page *p, const struct model_trees *t, FILE *out,
			 const char *key, enum model_column column)
{
	const struct trace_row *before = NULL;

	fprintf(out, "%s\"%s\":[", column == COLUMN_START ? "\n" : ",\n", key);
	for (size_t i = 0; i < t->nr; i++)
		for (size_t r = 0; r < t->trees[i].nr; r++) {
			const struct trace_row *row = &p->rows[t->trees[i].first + r];

			fprintf(out, "%s%" PRId64, before ? "," : "",
				model_value(p, column, row, before));
			before = row;
		}
	fputc(']', out);
}

/* For each call, one for each argument of its function. */
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
	static const char *const keys[NR_MODEL_COLUMNS] = {
		"start",  "duration", "function", "cpu",  "task",	  "depth",
		"object", "ret",      "entered",  "left", "entered_life", "left_life",
	};
	struct model_trees trees;

	if (model_sort(p, &trees))
		return -ENOMEM;
	fputs(",\n\"calls\":{", out);
	for (int i = 0; i < NR_MODEL_COLUMNS; i++)
		model_column(p, &trees, out, keys[i], (enum model_column)i);
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
