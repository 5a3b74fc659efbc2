/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/waits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include "base/clock.h"
#include "base/log.h"
#include "bpf/waits.skel.h"
#include "collect/feed.h"
#include "collect/file_filter.h"
#include "collect/io_complete.h"
#include "collect/kernel.h"
#include "collect/known.h"
#include "collect/obstacle.h"
#include "collect/target.h"
#include "collect/task_filter.h"
#include "collect/trial.h"

enum { WAITS_HOOKS = 16 };

struct waits {
	struct feed feed;
	struct waits_wants wants;
	struct waits_bpf *skel;
	struct known *known;
	uint32_t cast, cast_type; /* bpf_rdonly_cast; 0: this kernel has none */
	void *object;		  /* with its calls; libbpf reads it until it is loaded */
	char *op_names[KERNEL_OPS];
	const struct waits_takers *takers; /* of the current reader */
	void *taker;
	enum waits_method { NOT_AT_ALL, BY_FENTRY, BY_KPROBE, BY_SYSTEM_CALL } tried; /* now */
	struct waits_at {							      /* by hook */
		enum waits_method method;
		const char *function;
		int id; /* of its type, by fentry */
	} at[WAITS_HOOKS];
};

/* ---- settings ---- */

static struct wait_settings *waits_settings(const struct waits *w)
{
	return (struct wait_settings *)&w->skel->rodata->settings;
}

enum {
	WAITS_SYNCS = 1 << WAIT_FSYNC | 1 << WAIT_FDATASYNC,
	WAITS_WRITES = 1 << WAIT_WRITE | 1 << WAIT_SYNCWRITE,
};

/* By number. A page fault is none; msync(2) has no descriptor. */
static void waits_set_system_calls(const struct waits *w)
{
	static const struct {
		int number;
		enum wait_system_call call;
		uint32_t calls; /* mask of enum wait_call */
	} followed[] = {
		{ SYS_read, SYSTEM_READ, 1 << WAIT_READ },
		{ SYS_pread64, SYSTEM_READ, 1 << WAIT_READ },
		{ SYS_readv, SYSTEM_READ, 1 << WAIT_READ },
		{ SYS_preadv, SYSTEM_READ, 1 << WAIT_READ },
		{ SYS_preadv2, SYSTEM_READ, 1 << WAIT_READ },
		{ SYS_write, SYSTEM_WRITE, WAITS_WRITES },
		{ SYS_pwrite64, SYSTEM_WRITE, WAITS_WRITES },
		{ SYS_writev, SYSTEM_WRITE, WAITS_WRITES },
		{ SYS_pwritev, SYSTEM_WRITE, WAITS_WRITES },
		{ SYS_pwritev2, SYSTEM_PWRITEV2, WAITS_WRITES },
		{ SYS_fsync, SYSTEM_FSYNC, WAITS_SYNCS },
		{ SYS_fdatasync, SYSTEM_FDATASYNC, WAITS_SYNCS },
		{ SYS_sync_file_range, SYSTEM_SYNC_RANGE, 1 << WAIT_SYNCRANGE },
		{ SYS_openat, SYSTEM_OPEN, 1 << WAIT_OPEN },
		{ SYS_openat2, SYSTEM_OPEN, 1 << WAIT_OPEN },
#ifdef SYS_open
		{ SYS_open, SYSTEM_OPEN, 1 << WAIT_OPEN },
		{ SYS_creat, SYSTEM_OPEN, 1 << WAIT_OPEN },
#endif
	};
	uint8_t *kinds = (uint8_t *)w->skel->rodata->system_calls;

	for (size_t i = 0; i < sizeof(followed) / sizeof(followed[0]); i++)
		if (w->wants.calls & followed[i].calls)
			kinds[followed[i].number] = (uint8_t)followed[i].call;
}

static int waits_set(void *owner)
{
	struct waits *w = owner;
	const struct filter_options *f = w->wants.filter;
	struct wait_settings *ro = waits_settings(w);
	struct task_filter task;
	struct file_filter file;
	int err = task_filter__read(&task, f);

	err = err ?: file_filter__read(&file, w->wants.file);
	if (err)
		return err;
	ro->filter_file = file.is_given;
	ro->filter_inode = file.inode;
	ro->filter_dev = file.dev;
	ro->filter_pid = task.pid;
	ro->self = (uint32_t)getpid();
	memcpy((void *)ro->filter_comm, task.comm, sizeof(task.comm));
	ro->filter_cgroup = task.cgroup.id;
	ro->filter_cgroup_level = task.cgroup.level;
	ro->calls = w->wants.calls;
	ro->bio_is_second = kernel__event_arguments(w->feed.btf, "btf_trace_block_bio_queue") == 2;
	ro->request_is_second =
		kernel__event_arguments(w->feed.btf, "btf_trace_block_rq_issue") == 2;
	ro->cast_type = w->cast_type;
	ro->commands = w->wants.commands;
	ro->preflush_flag = kernel__request_flag(w->feed.btf, "__REQ_PREFLUSH");
	ro->fua_flag = kernel__request_flag(w->feed.btf, "__REQ_FUA");
	ro->min_ns = f->min_ns.given ? f->min_ns.value : 0;
	waits_set_system_calls(w);
	return 0;
}

/* ---- programs ---- */

/*
 * A program NAME at the function's entry and NAME_end at its end, and the same with _k for kprobes.
 * The first function that this kernel has is taken.
 */
static const struct waits_hook {
	const char *program, *functions[2];
	uint32_t calls; /* mask of enum wait_call; it is loaded for these */
	bool is_spare;	/* nothing is missing without it */
} waits_hooks[] = {
	{ "waits_range", { "vfs_fsync_range" }, WAITS_SYNCS },
	/* Most kernels call the function before it. */
	{ "waits_fsync", { "do_fsync" }, WAITS_SYNCS, true },
	{ "waits_part", { "sync_file_range" }, 1 << WAIT_SYNCRANGE },
	{ "waits_write", { "vfs_write" }, WAITS_WRITES },
	{ "waits_writev", { "vfs_writev" }, WAITS_WRITES },
	{ "waits_read", { "vfs_read" }, 1 << WAIT_READ },
	{ "waits_readv", { "vfs_readv" }, 1 << WAIT_READ },
	{ "waits_fault", { "__do_fault", "filemap_fault" }, 1 << WAIT_FAULT },
	{ "waits_mkwrite", { "do_page_mkwrite" }, 1 << WAIT_FAULT },
	{ "waits_dirtied", { "fault_dirty_shared_page" }, 1 << WAIT_FAULT },
	{ "waits_opens", { "do_filp_open", "do_file_open" }, 1 << WAIT_OPEN },
	/* A kernel without it has no such limits. */
	{ "waits_limit", { "__blk_throtl_bio", "blk_throtl_bio" }, ~0u, true },
};
enum { NR_HOOKS = sizeof(waits_hooks) / sizeof(waits_hooks[0]) };
_Static_assert((int)NR_HOOKS <= WAITS_HOOKS, "places for all");

static struct bpf_program *waits_program(const struct waits *w, int hook, bool is_end)
{
	const bool by_kprobe = w->at[hook].method == BY_KPROBE;
	char name[64];

	snprintf(name, sizeof(name), "%s%s%s", waits_hooks[hook].program, by_kprobe ? "_k" : "",
		 is_end ? "_end" : "");
	return bpf_object__find_program_by_name(w->skel->obj, name);
}

/* Finding a type takes 1 ms: once for each function. */
static void waits_find_typed(const struct waits *w, const struct waits_hook *hook,
			     struct waits_at *at)
{
	for (int i = 0; i < 2 && hook->functions[i] && !at->function; i++) {
		at->id = btf__find_by_name_kind(w->feed.btf, hook->functions[i], BTF_KIND_FUNC);
		if (at->id > 0)
			at->function = hook->functions[i];
	}
}

/* Before 5.11 the kernel's types have no static functions: kprobes find these. */
static struct waits_at waits_place(const struct waits *w, const struct waits_hook *hook)
{
	struct waits_at at = { .method = BY_KPROBE };

	if (!(w->wants.calls & hook->calls) || w->tried == BY_SYSTEM_CALL)
		return (struct waits_at){ 0 };
	if (w->tried == BY_FENTRY)
		waits_find_typed(w, hook, &at);
	if (at.function)
		at.method = BY_FENTRY;
	else if (w->tried == BY_FENTRY && trial__do(TRIAL_KPROBE))
		at.method = NOT_AT_ALL;
	return at;
}

enum { NR_COMMAND_PROGRAMS = 3, NR_STORY_PROGRAMS = 12 };

/* In the order of attaching, ends before starts: commands, then who made commits long. */
static struct bpf_program *waits_story_program(const struct waits *w, int i)
{
	struct bpf_program *const programs[NR_STORY_PROGRAMS] = {
		w->skel->progs.waits_complete,	 w->skel->progs.waits_issue,
		w->skel->progs.waits_split,	 w->skel->progs.waits_handle,
		w->skel->progs.waits_commit_end, w->skel->progs.waits_logging,
		w->skel->progs.waits_data,	 w->skel->progs.waits_flushing,
		w->skel->progs.waits_writer_end, w->skel->progs.waits_writer,
		w->skel->progs.waits_dirty,	 w->skel->progs.waits_commit,
	};

	return programs[i];
}

static int waits_choose(void *owner)
{
	struct waits *w = owner;
	struct targets targets = { .kernel = w->feed.btf };
	struct bpf_program *program;
	int err = 0;

	bpf_object__for_each_program(program, w->skel->obj)
		bpf_program__set_autoload(program, false);
	bpf_program__set_autoload(w->skel->progs.waits_switch, true);
	bpf_program__set_autoload(w->skel->progs.waits_wakeup, true);
	bpf_program__set_autoload(w->skel->progs.waits_bio, true);
	for (int i = 0; i < NR_STORY_PROGRAMS; i++)
		bpf_program__set_autoload(waits_story_program(w, i), w->wants.commands);
	bpf_program__set_autoload(w->skel->progs.waits_enter, w->tried == BY_SYSTEM_CALL);
	bpf_program__set_autoload(w->skel->progs.waits_leave, w->tried == BY_SYSTEM_CALL);
	for (int i = 0; i < NR_HOOKS; i++) {
		w->at[i] = waits_place(w, &waits_hooks[i]);
		for (int is_end = 0; is_end < 2 && w->at[i].method && !err; is_end++) {
			program = waits_program(w, i, is_end);
			bpf_program__set_autoload(program, true);
			if (w->at[i].function)
				err = targets__aim_at(&targets, program, w->at[i].id);
		}
	}
	return err ?: targets__aim_all(&targets, w->skel->obj);
}

/* A function that the kernel does not have leaves the hook without a method. */
static int waits_attach_kprobe(struct waits *w, int hook, bool is_end)
{
	const char *const *functions = waits_hooks[hook].functions;
	struct bpf_program *program = waits_program(w, hook, is_end);
	struct waits_at *at = &w->at[hook];
	int err = -ENOENT;

	for (int i = 0; i < 2 && functions[i] && err; i++) {
		if (at->function && strcmp(at->function, functions[i]))
			continue;
		err = feed__keep(&w->feed,
				 bpf_program__attach_kprobe(program, is_end, functions[i]));
		if (!err)
			at->function = functions[i];
	}
	if (err == -EPERM || err == -EACCES)
		return err;
	if (err)
		at->method = NOT_AT_ALL;
	return 0;
}

static int waits_attach_calls(struct waits *w, bool is_end)
{
	int err = 0;

	if (w->tried == BY_SYSTEM_CALL)
		return feed__keep(&w->feed,
				  bpf_program__attach(is_end ? w->skel->progs.waits_leave
							     : w->skel->progs.waits_enter));
	for (int i = 0; i < NR_HOOKS && !err; i++) {
		if (w->at[i].method == BY_FENTRY)
			err = feed__keep(&w->feed,
					 bpf_program__attach(waits_program(w, i, is_end)));
		else if (w->at[i].method == BY_KPROBE)
			err = waits_attach_kprobe(w, i, is_end);
	}
	return err;
}

/* Says what is missing. -EOPNOTSUPP: everything. */
static int waits_say_missing(const struct waits *w)
{
	int nr = 0, missing = 0;

	if (w->tried == BY_SYSTEM_CALL) {
		log_note("functions cannot be probed here: calls are followed by the tracepoints "
			 "of all system calls, which costs each of them; page faults, msync and "
			 "32-bit programs are not followed");
		return 0;
	}
	for (int i = 0; i < NR_HOOKS; i++) {
		const struct waits_hook *hook = &waits_hooks[i];

		if (!(w->wants.calls & hook->calls) || hook->is_spare)
			continue;
		nr++;
		if (w->at[i].method)
			continue;
		missing++;
		log_warn("calls of %s are not followed: the function cannot be probed here",
			 hook->functions[0]);
	}
	return nr == missing ? -EOPNOTSUPP : 0;
}

/* Without jbd2, no commit is seen; the rest is. */
static int waits_attach_story(struct waits *w)
{
	int err = 0, i = 0;

	for (; w->wants.commands && i < NR_STORY_PROGRAMS && !err; i++)
		err = feed__keep(&w->feed, bpf_program__attach(waits_story_program(w, i)));
	if (err != -ENOENT || i <= NR_COMMAND_PROGRAMS)
		return err;
	log_note("tasks behind a commit of a journal are not named: no tracepoint %s here; %s",
		 strchr(bpf_program__section_name(waits_story_program(w, i - 1)), '/') + 1,
		 "ext4 has it while it is loaded");
	return 0;
}

/* Ends before starts: every call whose start is seen has its end seen. */
static int waits_attach(struct waits *w)
{
	int err = feed__keep(&w->feed, bpf_program__attach(w->skel->progs.waits_wakeup));

	err = err ?: feed__keep(&w->feed, bpf_program__attach(w->skel->progs.waits_switch));
	err = err ?: waits_attach_story(w);
	err = err ?: feed__keep(&w->feed, bpf_program__attach(w->skel->progs.waits_bio));
	err = err ?: waits_attach_calls(w, true);
	w->feed.start_ns = clock__mono_ns(); /* no call that is seen began earlier */
	return err ?: waits_attach_calls(w, false);
}

static int waits_open(void *owner, const struct bpf_object_open_opts *opts)
{
	struct waits *w = owner;
	int err;

	w->skel = calloc(1, sizeof(*w->skel));
	err = w->skel ? waits_bpf__create_skeleton(w->skel) : -ENOMEM;
	if (err)
		return err;
	if (!w->object)
		w->object = io_complete__copy(w->skel->skeleton->data, w->skel->skeleton->data_sz,
					      w->cast);
	if (!w->object)
		return -ENOMEM;
	w->skel->skeleton->data = w->object;
	err = bpf_object__open_skeleton(w->skel->skeleton, opts);
	if (err)
		return err;
	w->feed.skeleton = w->skel->skeleton;
	w->feed.counts = w->skel->maps.wait_counts;
	w->feed.files = w->skel->maps.wait_files;
	w->feed.records = w->skel->maps.wait_records;
	return 0;
}

static int waits_try(struct waits *w, enum waits_method method, struct start *start)
{
	static const struct feed_steps steps = { waits_open, waits_set, waits_choose };
	int err;

	w->tried = method;
	err = feed__load(&w->feed, &steps, w, w->wants.buffer_bytes, start);
	if (err)
		return err;
	start->step = START_ATTACH;
	start->what = method == BY_SYSTEM_CALL ? "sys_enter" : "vfs_read";
	return start->err = waits_attach(w);
}

/* No method can be tried: for lack of rights, or because no such call can be followed. */
static int waits_say_none(void)
{
	int err = trial__do(TRIAL_RAW_TP);

	if (err)
		return obstacle__say(&(struct start){ START_PROGRAMS, err });
	return log_err(-EOPNOTSUPP, "functions cannot be probed here: no fentry and no kprobes; "
				    "page faults are not followed without");
}

static bool waits_may(const struct waits *w, enum waits_method method)
{
	switch (method) {
	case BY_FENTRY: return !trial__fentry(w->feed.btf);
	case BY_KPROBE: return !trial__do(TRIAL_KPROBE);
	case BY_SYSTEM_CALL:
		return w->wants.calls & ~(1u << WAIT_FAULT) && !trial__do(TRIAL_RAW_TP);
	default: return false;
	}
}

/* A wrong option ends it with a message; a method that fails leads to the next one. */
static int waits_start_programs(struct waits *w)
{
	static const char *const names[] = { "", "fentry", "kprobes", "system calls" };
	struct start start = { 0 };
	bool any = false;
	int err;

	for (enum waits_method method = BY_FENTRY; method <= BY_SYSTEM_CALL; method++) {
		if (!waits_may(w, method))
			continue;
		any = true;
		start = (struct start){ 0 };
		err = waits_try(w, method, &start);
		log_verbose("programs for %s: %s", names[method],
			    err ? strerror(-err) : "attached");
		if (!err)
			return waits_say_missing(w);
		if (!start.err)
			return err;
		feed__unlink(&w->feed);
		waits_bpf__destroy(w->skel);
		w->skel = NULL;
	}
	return any ? obstacle__say(&start) : waits_say_none();
}

/* ---- open ---- */

static int waits_on_sample(void *arg, void *data, size_t size)
{
	struct waits *w = arg;

	if (size == sizeof(struct io_stack)) {
		known__stack(w->known, data);
		return w->takers->on_stack(w->taker, data);
	}
	if (size == sizeof(struct known_copy)) {
		known__copy(w->known, data);
		return 0;
	}
	if (size == sizeof(struct known_doubt)) {
		known__doubt(w->known, data);
		return 0;
	}
	if (size == sizeof(struct wait_command))
		return w->takers->on_command(w->taker, data);
	if (size == sizeof(struct wait_commit))
		return w->takers->on_commit(w->taker, data);
	if (size == sizeof(struct wait_who))
		return w->takers->on_who(w->taker, data);
	return size == sizeof(struct wait_record) ? w->takers->on_record(w->taker, data) : 0;
}

int waits__open(struct waits **out, const struct waits_wants *wants)
{
	struct waits *w = calloc(1, sizeof(*w));
	int err;

	*out = w;
	if (!w)
		return log_err(-ENOMEM, "out of memory");
	w->wants = *wants;
	err = feed__begin(&w->feed);
	if (err)
		return err;
	kernel__read_ops(w->op_names, w->feed.btf);
	kernel__find_cast(w->feed.btf, &w->cast, &w->cast_type);
	err = waits_start_programs(w);
	if (err)
		return err;
	w->known = known__new(w->skel->bss->known_stacks, WAIT_STACKS);
	return w->known ? feed__map(&w->feed, waits_on_sample, w)
			: log_err(-ENOMEM, "out of memory");
}

/* ---- the end ---- */

void waits__detach(struct waits *w)
{
	feed__detach(&w->feed);
}

void waits__free(struct waits *w)
{
	if (!w)
		return;
	feed__free(&w->feed);
	known__free(w->known);
	waits_bpf__destroy(w->skel);
	free(w->object);
	kernel__free_ops(w->op_names);
	free(w);
}

/* ---- reading ---- */

uint64_t waits__start_ns(const struct waits *w)
{
	return w->feed.start_ns;
}

int waits__take(struct waits *w, const struct waits_takers *takers, void *arg)
{
	w->takers = takers;
	w->taker = arg;
	return feed__take(&w->feed);
}

static uint64_t waits_in_flight(const struct waits *w)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < WAIT_TASKS; i++)
		nr += __atomic_load_n(&w->skel->bss->wait_owners[i], __ATOMIC_RELAXED) != 0;
	return nr;
}

void waits__counts(const struct waits *w, struct waits_counts *counts)
{
	*counts = (struct waits_counts){
		.skipped = w->feed.skipped,
		.in_flight = waits_in_flight(w),
		.wrong_stacks = known__nr_wrong(w->known),
	};
	feed__count(&w->feed, (uint64_t *)&counts->n, sizeof(counts->n) / sizeof(uint64_t));
	counts->n.begun -= counts->n.unwanted;
}

char *waits__file(const struct waits *w, uint64_t inode, uint64_t place)
{
	return feed__file(&w->feed, inode, place);
}

const char *waits__fs(const struct waits *w, uint64_t inode, uint32_t dev)
{
	return feed__fs(&w->feed, inode, dev);
}

char *const *waits__op_names(const struct waits *w)
{
	return w->op_names;
}
