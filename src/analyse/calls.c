/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The calls that a task is in. */
struct calls_task {
	uint64_t id;	   /* 0: nobody's place */
	struct call *root; /* NULL: in none */
	struct call *now;  /* the innermost */
};

struct calls {
	struct calls_wants wants;
	struct calls_task *tasks; /* hashed, a power of two */
	size_t nr, room;
	uint64_t entered, strays, unfinished;
};

/* ---- tasks ---- */

static uint64_t task_id(const struct call_event *event)
{
	return event->tid ? event->tid : (1ull << 32) + event->cpu;
}

static struct calls_task *task_place(struct calls_task *tasks, size_t room, uint64_t id)
{
	size_t at = (size_t)(id * 0x9e3779b97f4a7c15ull >> 32) & (room - 1);

	while (tasks[at].id && tasks[at].id != id)
		at = (at + 1) & (room - 1);
	return &tasks[at];
}

static int tasks_grow(struct calls *calls)
{
	size_t room = calls->room ? 2 * calls->room : 64;
	struct calls_task *tasks = calloc(room, sizeof(*tasks));

	if (!tasks)
		return -ENOMEM;
	for (size_t i = 0; i < calls->room; i++)
		if (calls->tasks[i].root) /* who is in no call is forgotten */
			*task_place(tasks, room, calls->tasks[i].id) = calls->tasks[i];
	calls->nr = 0;
	for (size_t i = 0; i < room; i++)
		calls->nr += tasks[i].id != 0;
	free(calls->tasks);
	calls->tasks = tasks;
	calls->room = room;
	return 0;
}

static struct calls_task *calls_task(struct calls *calls, const struct call_event *event)
{
	struct calls_task *task;

	if (2 * calls->nr >= calls->room && tasks_grow(calls))
		return NULL;
	task = task_place(calls->tasks, calls->room, task_id(event));
	calls->nr += !task->id;
	task->id = task_id(event);
	return task;
}

/* ---- calls ---- */

void call__hold(struct call *call)
{
	call->holders++;
}

void call__let_go(struct call *call)
{
	if (--call->holders)
		return;
	free(call->entered);
	free(call->left);
	free(call);
}

/* A call that outlives its tree, since it is held, stands alone from then on. */
static void tree_let_go(struct call *root)
{
	struct call *call = root->first, *next;

	for (; call; call = next) {
		next = call->next;
		tree_let_go(call);
	}
	root->parent = root->first = root->next = root->last = NULL;
	call__let_go(root);
}

static int call_copy(void **to, const struct call_event *event)
{
	if (!event->bytes)
		return 0;
	*to = malloc(event->bytes);
	if (!*to)
		return -ENOMEM;
	memcpy(*to, event->values, event->bytes);
	return 0;
}

static struct call *call_new(const struct call_event *event)
{
	struct call *call = calloc(1, sizeof(*call));

	if (!call)
		return NULL;
	call->start_ns = event->ns;
	call->function = event->function;
	call->cpu = call->end_cpu = event->cpu;
	call->pid = event->pid;
	call->tid = event->tid;
	memcpy(call->comm, event->comm, sizeof(call->comm) - 1);
	call->holders = 1;
	if (!call_copy(&call->entered, event))
		return call;
	free(call);
	return NULL;
}

static void call_put_in(struct call *parent, struct call *call)
{
	call->parent = parent;
	call->depth = parent->depth + 1;
	if (parent->last)
		parent->last->next = call;
	else
		parent->first = call;
	parent->last = call;
}

static int calls_end_tree(struct calls *calls, struct calls_task *task)
{
	struct call *root = task->root;
	int err;

	task->root = task->now = NULL;
	err = calls->wants.on_tree(calls->wants.arg, root);
	tree_let_go(root);
	return err;
}

/* ---- events ---- */

static int calls_tell(const struct calls *calls, struct call *call, const struct call_event *event)
{
	return calls->wants.on_call(calls->wants.arg, call, event);
}

static void calls_push(struct calls_task *task, struct call *call)
{
	if (task->now)
		call_put_in(task->now, call);
	else
		task->root = call;
	task->now = call;
}

/* Of one whose return is not seen nobody knows what is inside it: it is over at once. */
static int calls_pop(struct calls *calls, struct calls_task *task)
{
	task->now = task->now->parent;
	return task->now ? 0 : calls_end_tree(calls, task);
}

static int calls_enter(struct calls *calls, struct calls_task *task, const struct call_event *event)
{
	struct call *call = call_new(event);
	int err;

	if (!call)
		return -ENOMEM;
	call->number = calls->entered++;
	calls_push(task, call);
	err = calls_tell(calls, call, event);
	return err || event->returns ? err : calls_pop(calls, task);
}

static struct call *calls_find_open(const struct calls_task *task, uint32_t function)
{
	struct call *call = task->now;

	while (call && call->function != function)
		call = call->parent;
	return call;
}

static int calls_leave(struct calls *calls, struct calls_task *task, const struct call_event *event)
{
	struct call *call = calls_find_open(task, event->function);
	int err;

	if (!call) {
		calls->strays++;
		return calls_tell(calls, NULL, event);
	}
	for (; task->now != call; task->now = task->now->parent)
		calls->unfinished++;
	call->end_ns = event->ns;
	call->end_cpu = event->cpu;
	err = call_copy(&call->left, event);
	err = err ? err : calls_tell(calls, call, event);
	return err ? err : calls_pop(calls, task);
}

int calls__take(struct calls *calls, const struct call_event *event)
{
	struct calls_task *task = calls_task(calls, event);

	if (!task)
		return -ENOMEM;
	return event->is_return ? calls_leave(calls, task, event) : calls_enter(calls, task, event);
}

/* ---- all ---- */

struct calls *calls__new(const struct calls_wants *wants)
{
	struct calls *calls = calloc(1, sizeof(*calls));

	if (calls)
		calls->wants = *wants;
	return calls;
}

int calls__finish(struct calls *calls)
{
	int err = 0;

	for (size_t i = 0; !err && i < calls->room; i++)
		if (calls->tasks[i].root)
			err = calls_end_tree(calls, &calls->tasks[i]);
	return err;
}

void calls__free(struct calls *calls)
{
	for (size_t i = 0; calls && i < calls->room; i++)
		if (calls->tasks[i].root)
			tree_let_go(calls->tasks[i].root);
	if (calls)
		free(calls->tasks);
	free(calls);
}

bool call__is_within(const struct call *call, const struct call_limits *limits)
{
	if (limits->max_depth && call->depth >= limits->max_depth)
		return false;
	return !call->end_ns || call->end_ns - call->start_ns >= limits->min_ns;
}

uint64_t calls__strays(const struct calls *calls)
{
	return calls->strays;
}

uint64_t calls__unfinished(const struct calls *calls)
{
	return calls->unfinished;
}
