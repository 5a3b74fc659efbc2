/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The open calls of a task. */
struct calls_task {
	uint64_t id;	   /* 0: nobody's place */
	struct call *root; /* NULL: in none */
	struct call *now;  /* the innermost */
};

/* The innermost open call of a function in a task: found at once, however deep the task is. */
struct calls_open {
	uint64_t task;	   /* 0: nobody's place */
	struct call *call; /* NULL: none is open */
	uint32_t function;
};

struct calls {
	struct calls_wants wants;
	/* Hashed, a power of two. Not base/index.h: growing drops the idle entries. */
	struct calls_task *tasks;
	size_t nr, room;
	struct calls_open *opens; /* likewise */
	size_t nr_opens, opens_room;
	uint64_t entered, unkept;
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
		if (calls->tasks[i].root) /* drop tasks without an open call */
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

/* ---- open calls ---- */

static struct calls_open *open_place(struct calls_open *opens, size_t room, uint64_t task,
				     uint32_t function)
{
	uint64_t hash = (task * 0x9e3779b97f4a7c15ull ^ function) * 0xc2b2ae3d27d4eb4full;
	size_t at = (size_t)(hash >> 32) & (room - 1);

	while (opens[at].task && (opens[at].task != task || opens[at].function != function))
		at = (at + 1) & (room - 1);
	return &opens[at];
}

/* Drops the entries without an open call. */
static int opens_grow(struct calls *calls)
{
	size_t nr = 0, room = 64;
	struct calls_open *opens;

	for (size_t i = 0; i < calls->opens_room; i++)
		nr += calls->opens[i].call != NULL;
	while (room <= 4 * nr)
		room *= 2;
	opens = calloc(room, sizeof(*opens));
	if (!opens)
		return -ENOMEM;
	for (size_t i = 0; i < calls->opens_room; i++) {
		const struct calls_open *open = &calls->opens[i];

		if (open->call)
			*open_place(opens, room, open->task, open->function) = *open;
	}
	calls->nr_opens = nr;
	free(calls->opens);
	calls->opens = opens;
	calls->opens_room = room;
	return 0;
}

static int calls_note_open(struct calls *calls, const struct calls_task *task, struct call *call)
{
	struct calls_open *open;

	if (2 * calls->nr_opens >= calls->opens_room && opens_grow(calls))
		return -ENOMEM;
	open = open_place(calls->opens, calls->opens_room, task->id, call->function);
	calls->nr_opens += !open->task;
	call->outer = open->call;
	*open = (struct calls_open){ task->id, call, call->function };
	return 0;
}

/* Closes the innermost call of its task. */
static void calls_shut(struct calls *calls, const struct calls_task *task)
{
	open_place(calls->opens, calls->opens_room, task->id, task->now->function)->call =
		task->now->outer;
	task->now->outer = NULL;
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

/* A call that outlives its tree because a caller holds it stands alone from then on. */
static struct call *call_leave_tree(struct call *call, const struct call *root)
{
	struct call *parent = call == root ? NULL : call->parent;
	struct call *next = parent ? call->next : NULL;

	if (parent)
		parent->first = next;
	call->parent = call->first = call->next = call->last = call->outer = NULL;
	call__let_go(call);
	return next ? next : parent;
}

/* From the innermost call outwards; no recursion: the depth comes from a file. */
static void tree_let_go(struct call *root)
{
	struct call *call = root;

	while (call)
		call = call->first ? call->first : call_leave_tree(call, root);
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

static int calls_push(struct calls *calls, struct calls_task *task, struct call *call)
{
	int err = calls_note_open(calls, task, call);

	if (err)
		return err;
	if (task->now)
		call_put_in(task->now, call);
	else
		task->root = call;
	task->now = call;
	return 0;
}

/* A call without a seen return ends at once: which calls are inside it is unknown. */
static int calls_pop(struct calls *calls, struct calls_task *task)
{
	calls_shut(calls, task);
	task->now = task->now->parent;
	return task->now ? 0 : calls_end_tree(calls, task);
}

/* Whether its return will be seen: of user functions, the kernel reports only the outermost. */
static bool calls_keeps(struct calls *calls, const struct calls_task *task, struct call *call,
			const struct call_event *event)
{
	call->kept = task->now ? task->now->kept : 0;
	if (!event->is_user || !event->returns)
		return event->returns;
	if (call->kept >= CALLS_MOST_KEPT) {
		calls->unkept++;
		return false;
	}
	call->kept++;
	return true;
}

static int calls_enter(struct calls *calls, struct calls_task *task, const struct call_event *event)
{
	struct call_event seen = *event;
	struct call *call = call_new(event);
	int err;

	if (!call)
		return -ENOMEM;
	call->number = calls->entered++;
	seen.returns = calls_keeps(calls, task, call, event);
	err = calls_push(calls, task, call);
	if (err) {
		call__let_go(call);
		return err;
	}
	err = calls_tell(calls, call, &seen);
	return err || seen.returns ? err : calls_pop(calls, task);
}

static int calls_leave(struct calls *calls, struct calls_task *task, const struct call_event *event)
{
	struct call *call = NULL;
	int err;

	if (calls->opens_room)
		call = open_place(calls->opens, calls->opens_room, task->id, event->function)->call;
	if (!call) /* a stray */
		return calls_tell(calls, NULL, event);
	for (; task->now != call; task->now = task->now->parent)
		calls_shut(calls, task);
	call->end_ns = event->ns;
	call->end_cpu = event->cpu;
	err = call_copy(&call->left, event);
	err = err ?: calls_tell(calls, call, event);
	return err ?: calls_pop(calls, task);
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
	if (calls->opens)
		memset(calls->opens, 0, calls->opens_room * sizeof(*calls->opens));
	calls->nr_opens = 0;
	return err;
}

void calls__free(struct calls *calls)
{
	for (size_t i = 0; calls && i < calls->room; i++)
		if (calls->tasks[i].root)
			tree_let_go(calls->tasks[i].root);
	if (calls) {
		free(calls->tasks);
		free(calls->opens);
	}
	free(calls);
}

const struct call *call__next_beside(const struct call *call, const struct call *root)
{
	while (call != root && !call->next)
		call = call->parent;
	return call == root ? NULL : call->next;
}

const struct call *call__next(const struct call *call, const struct call *root)
{
	return call->first ? call->first : call__next_beside(call, root);
}

bool call__is_within(const struct call *call, const struct call_limits *limits)
{
	if (limits->max_depth && call->depth >= limits->max_depth)
		return false;
	return !call->end_ns || call->end_ns - call->start_ns >= limits->min_ns;
}

uint64_t calls__unkept(const struct calls *calls)
{
	return calls->unkept;
}
