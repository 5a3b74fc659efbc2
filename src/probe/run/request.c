/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE 1 /* asprintf */
#include "probe/run/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "collect/task_filter.h"
#include "expr/tree.h"

enum {
	ASKED_MISSES = 5, /* named one by one; above that only counted */
	ASKED_AGAIN = 16, /* system calls whose texts are read again: each takes a program or two */
};

int request__tasks(struct request *a, const struct filter_options *f)
{
	struct task_filter task;
	int err;

	if (f->children && !f->pid.given)
		return log_err(-EINVAL, "--children requires -p PID");
	err = task_filter__read(&task, f);
	a->line.pid = task.pid;
	a->line.children = f->children;
	a->line.cgroup = task.cgroup.id;
	return err;
}

static bool request_tree_names(const struct expr *tree, const char *word)
{
	for (uint32_t i = 0; i < tree->nr_nodes; i++)
		if (tree->nodes[i].op == OP_WORD && tree->nodes[i].text_len == strlen(word) &&
		    !memcmp(tree->nodes[i].text, word, strlen(word)))
			return true;
	return false;
}

/* Mistakes in the text are reported later. */
static bool request_names(const char *text, const char *word)
{
	struct expr *trees[PLAN_MAX_PARTS];
	struct expr_error error = { 0 };
	bool names = false;
	size_t nr = 0;

	if (text)
		expr__parse_list(text, trees, PLAN_MAX_PARTS, &nr, &error);
	for (size_t i = 0; i < nr; i++) {
		names |= request_tree_names(trees[i], word);
		expr__free(trees[i]);
	}
	return names;
}

static bool request_is_function(const char *event)
{
	return !strncmp(event, "fn:", 3) || !strncmp(event, "user:", 5);
}

/* At other events it may be the name of a field. */
static bool request_are_functions(const struct line *line)
{
	for (size_t i = 0; i < line->nr_events; i++)
		if (!request_is_function(line->events[i]))
			return false;
	return true;
}

/* "of latency", "if 'latency > 1ms'": the time from a function's entry to its return needs no
 * explicit pair. */
static bool request_is_call(const struct line *line)
{
	if (line->action == LINE_PAIR)
		return false;
	if (line->of && !strcmp(line->of, "latency"))
		return true;
	return request_are_functions(line) &&
	       (request_names(line->of, "latency") || request_names(line->by, "latency") ||
		request_names(line->condition, "latency") || request_names(line->show, "latency"));
}

/* fn:vfs_read ends with ret:vfs_read, user:PATH:SYMBOL with userret:PATH:SYMBOL. */
static int request_find_ends_of_calls(struct request *a)
{
	for (size_t i = 0; i < a->line.nr_events; i++) {
		const char *event = a->line.events[i], *colon = strchr(event, ':');
		char *end;
		int err;

		if (!request_is_function(event))
			return log_err(-EINVAL,
				       "'%s' has no latency: only fn: and user: have one, from "
				       "entry to return; between two other events use pair",
				       event);
		if (asprintf(&end, "%s%s", *event == 'f' ? "ret" : "userret", colon) < 0)
			return log_no_memory();
		err = finder__find(a->finder, end, &a->ends, &a->misses);
		free(end);
		if (err)
			return err;
	}
	return 0;
}

static int request_find(struct request *a)
{
	bool is_pair = a->line.action == LINE_PAIR;
	int err = 0;

	a->finder = finder__new();
	if (!a->finder)
		return log_no_memory();
	for (size_t i = 0; !err && i < a->line.nr_events; i++)
		err = finder__find(a->finder, a->line.events[i],
				   is_pair && i ? &a->ends : &a->probes, &a->misses);
	if (!err && a->line.is_call)
		err = request_find_ends_of_calls(a);
	return err;
}

/* "syscalls:sys_enter_openat": openat; "raw_syscalls:sys_enter": "" */
static const char *request_call_of(const struct probe *probe)
{
	const char *call = strstr(probe->func, "sys_enter_");

	return call ? call + strlen("sys_enter_") : "";
}

static int request_find_end_of_text(struct request *a, const struct probe *probe)
{
	const char *call = request_call_of(probe);
	char *end;
	int err;

	if (asprintf(&end, *call ? "syscalls:sys_exit_%s" : "raw_syscalls:sys_exit%s", call) < 0)
		return log_no_memory();
	err = finder__find(a->finder, end, &a->later, &a->misses);
	free(end);
	return err;
}

static bool request_may_exec(const struct probe *probe)
{
	const char *call = request_call_of(probe);

	return !*call || !strncmp(call, "execve", strlen("execve"));
}

/* Of each probe one after the other; the last one is a new program's. */
static void request_link_ends_of_texts(struct request *a)
{
	size_t at = 0;

	for (size_t i = 0; i < a->plan.nr_probes; i++) {
		struct plan_probe *p = &a->plan.probes[i];

		if (!plan__may_read_again(&a->plan, p))
			continue;
		p->ended = &a->later.probes[at++];
		if (request_may_exec(p->probe))
			p->execed = &a->later.probes[a->later.nr - 1];
	}
}

/* A text that is not in memory as a system call begins is there as it ends. */
static int request_find_ends_of_texts(struct request *a)
{
	bool may_exec = false;
	size_t nr = 0;
	int err = 0;

	for (size_t i = 0; i < a->plan.nr_probes; i++)
		nr += plan__may_read_again(&a->plan, &a->plan.probes[i]);
	if (nr > ASKED_AGAIN)
		return 0;
	for (size_t i = 0; !err && i < a->plan.nr_probes; i++) {
		const struct plan_probe *p = &a->plan.probes[i];

		if (!plan__may_read_again(&a->plan, p))
			continue;
		may_exec |= request_may_exec(p->probe);
		err = request_find_end_of_text(a, p->probe);
	}
	if (!err && may_exec)
		err = finder__find(a->finder, "sched:sched_process_exec", &a->later, &a->misses);
	if (!err)
		request_link_ends_of_texts(a);
	return err;
}

void request__tell_misses(const struct request *a)
{
	for (size_t i = 0; i < a->misses.nr && i < ASKED_MISSES; i++)
		log_note("%s: %s", a->misses.misses[i].name, a->misses.misses[i].why);
	if (a->misses.nr > ASKED_MISSES)
		log_note("and %zu more cannot be probed: iosonar events lists them",
			 a->misses.nr - ASKED_MISSES);
}

int request__understand(struct request *a, enum line_action action, const struct option_list *words,
			const struct options *options)
{
	int err = line__read(&a->line, action, words->words, words->nr);

	err = err ?: request__tasks(a, &options->filter);
	a->line.is_call = !err && request_is_call(&a->line);
	err = err ?: request_find(a);
	if (err)
		return err;
	request__tell_misses(a);
	err = plan__make(&a->plan, &a->line, &a->probes, &a->ends);
	err = err ?: request_find_ends_of_texts(a);
	if (!err && plan__has_comm(&a->plan))
		a->plan.task = finder__task(a->finder);
	a->wants.plan = &a->plan;
	return err;
}

void request__free(struct request *a)
{
	plan__free(&a->plan);
	probe_list__free(&a->probes);
	probe_list__free(&a->ends);
	probe_list__free(&a->later);
	find_misses__free(&a->misses);
	finder__free(a->finder);
	line__free(&a->line);
}
