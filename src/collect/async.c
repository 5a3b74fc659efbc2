/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/async.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include "base/clock.h"
#include "base/log.h"
#include "bpf/async.skel.h"
#include "collect/feed.h"
#include "collect/file_filter.h"
#include "collect/kernel.h"
#include "collect/obstacle.h"
#include "collect/target.h"
#include "collect/task_filter.h"
#include "collect/trial.h"

/* Functions, in the order of attaching. */
enum async_hook { HOOK_AIO_COMPLETE, HOOK_ISSUE, HOOK_AIO_READ, HOOK_AIO_WRITE, NR_ASYNC_HOOKS };
enum async_method { BY_NOTHING, BY_KPROBE, BY_FENTRY };

struct async {
	struct feed feed;
	struct async_wants wants;
	struct async_bpf *skel;
	enum async_method methods[NR_ASYNC_HOOKS];
	bool submits_sqe; /* io_uring_submit_sqe, else io_uring_submit_req */
	bool has_punt, has_link, has_defer, has_commands;
	async_fn fn; /* of the current reader */
	void *taker;
};

/* ---- the shape of the kernel ---- */

/*
 * Where an event has the request, by the number of its arguments: the events had the ring first
 * until 6.0 (48863ffd3e81), and more in between. 0: another shape, or no such event.
 */
struct async_shape {
	const char *event;
	struct {
		int nr;
		enum async_at at;
	} known[4];
};

static bool async_find(const struct async *a, const struct async_shape *shape, uint8_t *at)
{
	const int nr = kernel__event_arguments(a->feed.btf, shape->event);

	for (int i = 0; i < 4; i++) {
		if (nr <= 0 || shape->known[i].nr != nr)
			continue;
		*at = (uint8_t)shape->known[i].at;
		return true;
	}
	return false;
}

static int async_find_events(struct async *a, struct async_settings *ro)
{
	static const struct async_shape sqe = { "btf_trace_io_uring_submit_sqe",
						{ { 7, ASYNC_SECOND }, { 2, ASYNC_FIRST } } };
	static const struct async_shape req = { "btf_trace_io_uring_submit_req",
						{ { 1, ASYNC_FIRST } } };
	static const struct async_shape punt = {
		"btf_trace_io_uring_queue_async_work",
		{ { 7, ASYNC_SECOND }, { 5, ASYNC_THIRD }, { 2, ASYNC_FIRST } },
	};
	static const struct async_shape link = { "btf_trace_io_uring_link",
						 { { 3, ASYNC_SECOND }, { 2, ASYNC_FIRST } } };
	static const struct async_shape defer = {
		"btf_trace_io_uring_defer",
		{ { 4, ASYNC_SECOND }, { 3, ASYNC_SECOND }, { 1, ASYNC_FIRST } },
	};
	const int complete = kernel__event_arguments(a->feed.btf, "btf_trace_io_uring_complete");

	a->submits_sqe = async_find(a, &sqe, &ro->submit_at);
	if (complete < 3 || (!a->submits_sqe && !async_find(a, &req, &ro->submit_at)))
		return log_err(-EOPNOTSUPP,
			       "requests of io_uring cannot be followed here: this kernel has no "
			       "io_uring, or its tracepoints do not name requests");
	a->has_punt = async_find(a, &punt, &ro->punt_at);
	a->has_link = async_find(a, &link, &ro->link_at);
	a->has_defer = async_find(a, &defer, &ro->defer_at);
	a->has_commands = btf__find_by_name_kind(a->feed.btf, "io_uring_cmd", BTF_KIND_STRUCT) > 0;
	ro->complete_is_named = complete == 4; /* until 5.17 */
	ro->bio_is_second = kernel__event_arguments(a->feed.btf, "btf_trace_block_bio_queue") == 2;
	return 0;
}

/* ---- settings ---- */

static int async_set_filter(struct async_settings *ro, const struct async_wants *wants)
{
	const struct filter_options *f = wants->filter;
	struct task_filter task;
	struct file_filter file;
	int err = task_filter__read(&task, f);

	err = err ?: file_filter__read(&file, wants->file);
	if (err)
		return err;
	ro->filter_pid = task.pid;
	memcpy((void *)ro->filter_comm, task.comm, sizeof(task.comm));
	ro->filter_cgroup = task.cgroup.id;
	ro->filter_cgroup_level = task.cgroup.level;
	ro->filter_file = file.is_given;
	ro->filter_inode = file.inode;
	ro->filter_dev = file.dev;
	ro->min_ns = f->min_ns.given ? f->min_ns.value : 0;
	ro->self = (uint32_t)getpid();
	return 0;
}

static int async_set(void *owner)
{
	struct async *a = owner;
	struct async_settings *ro = (struct async_settings *)&a->skel->rodata->async;
	int err = async_set_filter(ro, &a->wants);

	err = err ?: async_find_events(a, ro);
	if (!err && ro->complete_is_named)
		err = bpf_map__set_max_entries(a->skel->maps.async_names, ASYNC_REQUESTS);
	return err;
}

/* ---- programs ---- */

/* Programs NAME and, if it has one, NAME_end; the same with _k for kprobes. */
static const struct {
	const char *program, *function;
	int parameters; /* with others, only a kprobe can be had */
	bool has_end;
} async_hooks[NR_ASYNC_HOOKS] = {
	[HOOK_AIO_COMPLETE] = { "async_aio_complete", "aio_complete", 1, false },
	[HOOK_ISSUE] = { "async_issue", "io_issue_sqe", 2, true },
	[HOOK_AIO_READ] = { "async_aio_read", "aio_read", 4, true },
	[HOOK_AIO_WRITE] = { "async_aio_write", "aio_write", 4, true },
};

bool async__follows_aio(const struct async *a)
{
	return a->methods[HOOK_AIO_COMPLETE] && a->methods[HOOK_AIO_READ] &&
	       a->methods[HOOK_AIO_WRITE];
}

static void async_choose_methods(struct async *a)
{
	const bool has_fentry = !trial__fentry(a->feed.btf), has_kprobe = !trial__do(TRIAL_KPROBE);

	for (int i = 0; i < NR_ASYNC_HOOKS; i++) {
		const char *function = async_hooks[i].function;

		if (has_fentry &&
		    kernel__function_parameters(a->feed.btf, function) == async_hooks[i].parameters)
			a->methods[i] = BY_FENTRY;
		else
			a->methods[i] = has_kprobe ? BY_KPROBE : BY_NOTHING;
	}
}

static struct bpf_program *async_hook_program(const struct async *a, int hook, bool is_end)
{
	char name[64];

	snprintf(name, sizeof(name), "%s%s%s", async_hooks[hook].program,
		 a->methods[hook] == BY_KPROBE ? "_k" : "", is_end ? "_end" : "");
	return bpf_object__find_program_by_name(a->skel->obj, name);
}

/* In the order of attaching, ends before starts: every request that is seen has its end seen. */
enum { NR_ASYNC_EVENTS = 10 };

struct async_program {
	struct bpf_program *program;
	bool is_wanted;
};

static void async_programs(const struct async *a, struct async_program programs[NR_ASYNC_EVENTS])
{
	const struct async_bpf *skel = a->skel;
	const bool bios = a->methods[HOOK_ISSUE] || async__follows_aio(a);
	const struct async_program all[NR_ASYNC_EVENTS] = {
		{ skel->progs.async_complete, true },
		{ skel->progs.async_bio_end, bios },
		{ skel->progs.async_rq_end, bios || a->has_commands },
		{ skel->progs.async_rq_issue, a->has_commands },
		{ skel->progs.async_split, bios },
		{ skel->progs.async_bio, bios },
		{ skel->progs.async_punt, a->has_punt },
		{ skel->progs.async_link, a->has_link },
		{ skel->progs.async_defer, a->has_defer },
		{ a->submits_sqe ? skel->progs.async_submit_sqe : skel->progs.async_submit_req,
		  true },
	};

	memcpy(programs, all, sizeof(all));
}

static int async_choose(void *owner)
{
	struct async *a = owner;
	struct targets targets = { .kernel = a->feed.btf };
	struct async_program programs[NR_ASYNC_EVENTS];
	struct bpf_program *program;

	async_programs(a, programs);
	bpf_object__for_each_program(program, a->skel->obj)
		bpf_program__set_autoload(program, false);
	for (int i = 0; i < NR_ASYNC_EVENTS; i++)
		if (programs[i].is_wanted)
			bpf_program__set_autoload(programs[i].program, true);
	for (int i = 0; i < NR_ASYNC_HOOKS; i++)
		for (int is_end = 0; is_end <= async_hooks[i].has_end && a->methods[i]; is_end++)
			bpf_program__set_autoload(async_hook_program(a, i, is_end), true);
	return targets__aim_all(&targets, a->skel->obj);
}

/* A function that the kernel does not have, or that cannot be probed, leaves it without a method.
 */
static int async_attach_hook(struct async *a, int hook)
{
	const char *function = async_hooks[hook].function;
	int err = 0;

	for (int is_end = async_hooks[hook].has_end; is_end >= 0 && !err; is_end--) {
		struct bpf_program *program = async_hook_program(a, hook, is_end);

		err = feed__keep(&a->feed,
				 a->methods[hook] == BY_FENTRY
					 ? bpf_program__attach(program)
					 : bpf_program__attach_kprobe(program, is_end, function));
	}
	if (!err || err == -EPERM || err == -EACCES)
		return err;
	a->methods[hook] = BY_NOTHING;
	return 0;
}

static int async_attach_hooks(struct async *a, int from, int to)
{
	int err = 0;

	for (int i = from; i <= to && !err; i++)
		if (a->methods[i])
			err = async_attach_hook(a, i);
	return err;
}

static int async_attach(struct async *a)
{
	struct async_program programs[NR_ASYNC_EVENTS];
	int err = async_attach_hooks(a, HOOK_AIO_COMPLETE, HOOK_ISSUE);

	async_programs(a, programs);
	for (int i = 0; i < NR_ASYNC_EVENTS - 1 && !err; i++)
		if (programs[i].is_wanted)
			err = feed__keep(&a->feed, bpf_program__attach(programs[i].program));
	a->feed.start_ns = clock__mono_ns(); /* no request that is seen is older */
	if (!err && async__follows_aio(a))
		err = async_attach_hooks(a, HOOK_AIO_READ, HOOK_AIO_WRITE);
	return err
		       ?: feed__keep(&a->feed,
				     bpf_program__attach(programs[NR_ASYNC_EVENTS - 1].program));
}

static int async_open(void *owner, const struct bpf_object_open_opts *opts)
{
	struct async *a = owner;

	a->skel = async_bpf__open_opts(opts);
	if (!a->skel)
		return -errno;
	a->feed.skeleton = a->skel->skeleton;
	a->feed.counts = a->skel->maps.async_counts;
	a->feed.files = a->skel->maps.async_files;
	a->feed.records = a->skel->maps.async_records;
	return 0;
}

static void async_say_missing(const struct async *a)
{
	if (!a->methods[HOOK_ISSUE])
		log_note("workers and bios are not seen, their time is in punt and rest: "
			 "functions cannot be probed here");
	if (!async__follows_aio(a))
		log_note("requests of libaio are not followed: functions cannot be probed here");
	if (!a->has_punt)
		log_note("requests that are given to a worker are not seen: this kernel has no "
			 "tracepoint for them");
}

static int async_start_programs(struct async *a)
{
	static const struct feed_steps steps = { async_open, async_set, async_choose };
	struct start start = { 0 };
	int err;

	async_choose_methods(a);
	err = feed__load(&a->feed, &steps, a, a->wants.buffer_bytes, &start);
	if (!err) {
		start.step = START_ATTACH;
		start.what = "io_uring_complete";
		start.err = async_attach(a);
	}
	if (start.err)
		return obstacle__say(&start);
	if (!err)
		async_say_missing(a);
	return err;
}

/* ---- open ---- */

static int async_on_sample(void *arg, void *data, size_t size)
{
	struct async *a = arg;

	return size == sizeof(struct async_record) ? a->fn(a->taker, data) : 0;
}

int async__open(struct async **out, const struct async_wants *wants)
{
	struct async *a = calloc(1, sizeof(*a));
	int err;

	*out = a;
	if (!a)
		return log_err(-ENOMEM, "out of memory");
	a->wants = *wants;
	err = feed__begin(&a->feed);
	err = err ?: async_start_programs(a);
	return err ?: feed__map(&a->feed, async_on_sample, a);
}

/* ---- the end ---- */

void async__detach(struct async *a)
{
	feed__detach(&a->feed);
}

void async__free(struct async *a)
{
	if (!a)
		return;
	feed__free(&a->feed);
	async_bpf__destroy(a->skel);
	free(a);
}

/* ---- reading ---- */

uint64_t async__start_ns(const struct async *a)
{
	return a->feed.start_ns;
}

int async__take(struct async *a, async_fn fn, void *arg)
{
	a->fn = fn;
	a->taker = arg;
	return feed__take(&a->feed);
}

static uint64_t async_in_flight(const struct async *a)
{
	const int fd = bpf_map__fd(a->skel->maps.async_requests);
	uint64_t key, next, nr = 0;
	const uint64_t *from = NULL;

	/* After detaching nobody changes the table: each key is seen once. */
	for (; nr <= ASYNC_REQUESTS && !bpf_map_get_next_key(fd, from, &next); nr++) {
		key = next;
		from = &key;
	}
	return nr;
}

void async__counts(const struct async *a, struct async_counts *counts)
{
	*counts = (struct async_counts){
		.skipped = a->feed.skipped,
		.in_flight = async_in_flight(a),
	};
	feed__count(&a->feed, (uint64_t *)&counts->n, sizeof(counts->n) / sizeof(uint64_t));
}

char *async__file(const struct async *a, uint64_t inode, uint64_t place)
{
	return feed__file(&a->feed, inode, place);
}

const char *async__fs(const struct async *a, uint64_t inode, uint32_t dev)
{
	return feed__fs(&a->feed, inode, dev);
}
