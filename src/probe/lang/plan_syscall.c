/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan_syscall.c: system calls in words. Without `show`, the fields of syscalls:sys_enter_NAME and
 * sys_exit_NAME get their kinds (decode/syscall_args.h), and the program reads the texts that they
 * point to. raw_syscalls has all calls in one event: there the number of the call decides which of
 * its arguments are texts.
 */
#define _GNU_SOURCE 1 /* asprintf */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "decode/syscall_args.h"
#include "probe/lang/plan_inside.h"
#include "probe/lang/value_inside.h"

enum { SYSCALLS_MOST = 1024 };

static const char *syscall_behind(const char *name, const char *prefix)
{
	const size_t len = strlen(prefix);

	return strncmp(name, prefix, len) ? NULL : name + len;
}

/* The text that a field points to, into the process's memory; takes the field. */
static struct value *syscall_text(struct value *pointer)
{
	struct value *v = calloc(1, sizeof(*v));

	if (!v)
		return pointer;
	*v = (struct value){
		.op = VALUE_CHARS,
		.left = pointer,
		.memory = MEMORY_USER,
		.size = VALUE_STR_DEFAULT,
		.shape = { .is_text = true, .size = value__text_room(VALUE_STR_DEFAULT) },
		.source = pointer->source,
		.at = pointer->at,
		.len = pointer->len,
	};
	return v;
}

/* The first field is the number of the call. */
static struct value *syscall_argument(const char *call, size_t field, struct value *v)
{
	const enum syscall_kind kind =
		field ? syscall__argument(call, (unsigned int)field - 1) : SYSCALL_UNKNOWN;

	if (!field)
		v->shape.unit = VALUE_SYSCALL;
	else if (kind == SYSCALL_TEXT && v->shape.unit == VALUE_POINTER)
		return syscall_text(v);
	else if (kind != SYSCALL_UNKNOWN && kind != SYSCALL_INT && kind != SYSCALL_NUMBER &&
		 !v->shape.is_text) {
		v->shape.unit = VALUE_WORDS;
		v->shape.words = kind;
	}
	return v;
}

struct value *planning__field_in_words(const struct probe *event, size_t field, struct value *v)
{
	const char *call = syscall_behind(event->name, "syscalls:sys_enter_");
	const char *ended = syscall_behind(event->name, "syscalls:sys_exit_");

	if (call)
		return syscall_argument(call, field, v);
	if (!ended)
		return v;
	v->shape.unit = field ? VALUE_RESULT : VALUE_SYSCALL;
	if (field)
		v->shape.words = syscall__result(ended);
	return v;
}

/* ---- texts that are not in memory ---- */

/* How many of it are texts of the process, and how many are arguments of a program. */
static void syscall_count(const struct value *v, size_t *nr_texts, size_t *nr_args)
{
	if (!v)
		return;
	*nr_texts += v->op == VALUE_CHARS && v->left && v->memory != MEMORY_KERNEL;
	*nr_args += v->op == VALUE_ARGS;
	syscall_count(v->left, nr_texts, nr_args);
	syscall_count(v->right, nr_texts, nr_args);
	syscall_count(v->other, nr_texts, nr_args);
}

/* Stacks would be others by then. Arguments of a program can be kept once. */
bool plan__may_read_again(const struct plan *plan, const struct plan_probe *probe)
{
	size_t nr_texts = 0, nr_args = 0, kept = 0;

	if (probe->probe->kind != PROBE_TRACEPOINT || plan->has_ends || plan->is_calls ||
	    plan->kernel_stack || plan->user_stack ||
	    (strncmp(probe->probe->name, "syscalls:sys_enter_", strlen("syscalls:sys_enter_")) &&
	     strcmp(probe->probe->name, "raw_syscalls:sys_enter")))
		return false;
	syscall_count(probe->condition, &nr_texts, &nr_args);
	syscall_count(probe->of, &nr_texts, &nr_args);
	for (size_t i = 0; i < plan->nr_keys; i++) {
		syscall_count(probe->keys[i], &nr_texts, &nr_args);
		kept += probe->keys[i]->op == VALUE_ARGS;
	}
	for (size_t i = 0; i < probe->nr_shown; i++) {
		syscall_count(probe->shown[i].value, &nr_texts, &nr_args);
		kept += probe->shown[i].value->op == VALUE_ARGS;
	}
	return nr_texts && nr_args == kept && nr_args <= 1;
}

/* ---- raw_syscalls ---- */

static bool syscall_is_raw(const struct probe *event, const char *which)
{
	const char *name = syscall_behind(event->name, "raw_syscalls:");

	return name && !strcmp(name, which);
}

/* "(id == 2 || id == 4) ? ": the calls with that argument as text `nr`. False: no calls. */
static bool syscall_put_calls(FILE *out, const char *side, unsigned int nr, int argument)
{
	const char *gap = "(";

	for (int64_t id = 0; id < SYSCALLS_MOST; id++) {
		if (syscall__text(syscall__name(id), nr) != argument)
			continue;
		fprintf(out, "%s%sid == %d", gap, side, (int)id);
		gap = " || ";
	}
	if (*gap == '(')
		return false;
	fputs(") ? ", out);
	return true;
}

/* "(id == 2 || id == 4) ? str(args[0]) : id == 7 ? str(args[3]) : \"\"" */
static void syscall_put_text(FILE *out, const char *side, unsigned int nr)
{
	for (int argument = 0; argument < SYSCALL_ARGUMENTS; argument++)
		if (syscall_put_calls(out, side, nr, argument))
			fprintf(out, "str(%sargs[%d], %d) : ", side, argument, VALUE_STR_DEFAULT);
	fputs("\"\"", out);
}

static char *syscall_clause(const char *side, const char *behind)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "syscall(%sid), %sargs", side, side);
	for (unsigned int nr = 0; nr < SYSCALL_TEXTS; nr++) {
		fputs(", ", out);
		syscall_put_text(out, side, nr);
	}
	fputs(behind, out);
	return fclose(out) ? NULL : text;
}

char *planning__raw_syscalls(const struct plan *plan, const struct line *line)
{
	const struct probe *first = plan->probes[0].probe;

	if (line->action == LINE_PAIR && line->each && !line->by && plan->nr_probes == 2 &&
	    syscall_is_raw(first, "sys_enter") && syscall_is_raw(plan->probes[1].probe, "sys_exit"))
		return syscall_clause("entry.", ", ret");
	if (line->action == LINE_PRINT && !line->show && plan->nr_probes == 1 &&
	    syscall_is_raw(first, "sys_enter"))
		return syscall_clause("", "");
	return NULL;
}

void planning__mark_raw_syscalls(struct plan_probe *probe)
{
	static const enum value_unit units[] = { VALUE_SYSCALL, VALUE_CALL, VALUE_HIDDEN,
						 VALUE_HIDDEN, VALUE_RESULT };

	for (size_t i = 0; i < probe->nr_shown && i < sizeof(units) / sizeof(units[0]); i++)
		probe->shown[i].value->shape.unit = units[i];
	/* Its column is `id`. */
	probe->shown[0].value->at += strlen("syscall(");
	probe->shown[0].value->len -= strlen("syscall()");
}
