/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * program.c: makes, loads and attaches each group's program, by another way if the first one fails.
 * Names probes that cannot be attached; for a refusal by the verifier shows the part of the line
 * that the instructions were made for.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/log.h"
#include "collect/obstacle.h"
#include "probe/run/inside.h"

enum {
	PROGRAM_LOG_BYTES = 16 << 20, /* before 6.4 a longer log loses its end, the reason */
	PROGRAM_NAMED = 8,	      /* named probes that were skipped, without -v */
	PROGRAM_SPARE_FDS = 64,
};
static const uint64_t program_progress_ns = 100000000;

/* ---- the verifier's log ---- */

/* The last line of a log that is not about its own statistics. */
static void blame_last_line(const char *log, char *buf, size_t size)
{
	const char *last = log, *at = log;

	while (at && *at) {
		if (*at != '\n' && strncmp(at, "processed ", 10) &&
		    strncmp(at, "verification ", 13))
			last = at;
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	snprintf(buf, size, "%.*s", (int)strcspn(last, "\n"), last);
}

static int blame_say(const struct probe *probe, const struct value *blamed, const char *log)
{
	struct expr_error error = { .at = blamed->at };
	char reason[160], lines[1024] = "";

	blame_last_line(log, reason, sizeof(reason));
	if (blamed->source)
		expr__point_at(blamed->source, &error, lines, sizeof(lines));
	return log_err_lines(-EOPNOTSUPP, lines,
			     "this kernel's verifier rejects a part of the program for %s: %s (-v "
			     "shows its log)",
			     probe->name, reason);
}

/* ---- one group ---- */

struct program_try {
	struct run *run;
	struct run_group *group;
	const struct probe **probes; /* of the group */
	int *errs;		     /* of each */
	char *log;
};

static bool program_is_shortage(int err)
{
	return err == -ENOMEM || err == -EMFILE || err == -ENFILE;
}

static int program_say_shortage(const char *aim, const struct probe *probe, int err)
{
	return log_err(err, "cannot %s %s: %s%s", aim, probe->name, strerror(-err),
		       err == -EMFILE ? "; raise the limit (ulimit -n), or use fewer events" : "");
}

/* 1: not for this probe, another way may do; -errno: said, the run is over. */
static int program_refused(const struct program_try *t, const struct program *program, int err)
{
	const struct plan_probe *p = &t->run->plan->probes[t->group->probes[0]];
	const struct value *blamed = t->log[0] ? program__blame(program, t->log) : NULL;

	if (t->log[0])
		log_verbose_lines(t->log, "%s: %s: %s", p->probe->name, attach__word(t->group->way),
				  strerror(-err));
	if (blamed && attach__instead(t->run->attacher, t->group->way, p->probe) == ATTACH_NONE)
		return blame_say(p->probe, blamed, t->log);
	if (err == -E2BIG)
		return log_err(-EOPNOTSUPP, "the program for %s is too long for this kernel",
			       p->probe->name);
	if (program_is_shortage(err))
		return program_say_shortage("load a program for", p->probe, err);
	for (size_t i = 0; i < t->group->nr; i++)
		t->errs[i] = err;
	t->group->is_refused = true;
	blame_last_line(t->log, t->group->reason, sizeof(t->group->reason));
	return 1;
}

static int program_load_made(const struct program_try *t, const struct program *program)
{
	struct run *run = t->run;
	const struct attach_load load = {
		.way = t->group->way,
		.probe = t->probes[0],
		.switch_fd = run->switch_fd,
		.block = run_unwind_block(run),
		.insns = program->insns,
		.nr = program->nr,
		.log = t->log,
		.log_size = PROGRAM_LOG_BYTES,
	};

	if (run->wants.emit)
		program__print(program, stderr);
	return attachment__load(&t->group->attachment, run->attacher, &load);
}

static int program_load(const struct program_try *t)
{
	struct program_wants wants = run_program_wants(t->run, t->group);
	struct program program = { 0 };
	char reason[160];
	int err = program__make(&program, &wants);

	if (err)
		return err;
	t->group->is_refused = false;
	err = program_load_made(t, &program);
	if (err && wants.is_direct && t->log[0]) {
		blame_last_line(t->log, reason, sizeof(reason));
		log_verbose("%s: members cannot be loaded directly: %s", t->probes[0]->name,
			    reason);
		wants.is_direct = false;
		program__free(&program);
		err = program__make(&program, &wants);
		if (err)
			return err;
		err = program_load_made(t, &program);
	}
	if (err)
		err = program_refused(t, &program, err);
	program__free(&program);
	return err;
}

static int program_attach(const struct program_try *t)
{
	struct run_group *group = t->group;
	int err = attachment__attach(&group->attachment, t->run->attacher, t->probes, group->nr,
				     t->errs);

	if (!err)
		return 0;
	attachment__close(&group->attachment);
	if (program_is_shortage(err))
		return program_say_shortage("attach to", t->probes[0], err);
	return 1;
}

/* 0: attached, or every way was tried: see errs. */
static int program_try_ways(const struct program_try *t)
{
	struct run_group *group = t->group;

	for (;;) {
		int err = program_load(t);
		enum attach_way way;

		err = err ?: program_attach(t);
		if (err <= 0)
			return err;
		way = attach__instead(t->run->attacher, group->way, t->probes[0]);
		if (way == ATTACH_NONE)
			return 0;
		log_verbose("%s: %s: %s; trying %s", t->probes[0]->name, attach__word(group->way),
			    attach__why(group->way, t->errs[0]), attach__word(way));
		group->way = way;
	}
}

static int program_open_group(struct run *run, struct run_group *group, char *log)
{
	struct program_try t = {
		.run = run,
		.group = group,
		.probes = calloc(group->nr, sizeof(*t.probes)),
		.errs = calloc(group->nr, sizeof(*t.errs)),
		.log = log,
	};
	int err = -ENOMEM;

	if (t.probes && t.errs) {
		for (size_t i = 0; i < group->nr; i++)
			t.probes[i] = run->plan->probes[group->probes[i]].probe;
		err = program_try_ways(&t);
		for (size_t i = 0; i < group->nr; i++)
			run->errs[group->probes[i]] = t.errs[i];
	} else {
		log_err(err, "out of memory");
	}
	free(t.probes);
	free(t.errs);
	return err;
}

/* ---- returns without entries ---- */

static bool program_is_return_of(const struct probe *ret, const struct probe *entry)
{
	return (entry->kind == PROBE_FN || entry->kind == PROBE_USER) &&
	       (ret->kind == PROBE_RET) == (entry->kind == PROBE_FN) &&
	       entry->address == ret->address && entry->offset == ret->offset &&
	       !strcmp(entry->func, ret->func) &&
	       (!entry->path || !ret->path || !strcmp(entry->path, ret->path));
}

/* Of a trace of calls: its entry, which comes before it, could not be had. */
static bool program_is_orphan(const struct run *run, size_t number)
{
	const struct probe *ret = run->plan->probes[number].probe;

	if (ret->kind != PROBE_RET && ret->kind != PROBE_USERRET)
		return false;
	for (size_t i = 0; i < number; i++)
		if (run->errs[i] && program_is_return_of(ret, run->plan->probes[i].probe))
			return true;
	return false;
}

/* false: the group has nothing else. */
static bool program_drop_orphans(struct run *run, struct run_group *group)
{
	size_t nr = 0;

	for (size_t i = 0; run->plan->is_calls && i < group->nr; i++)
		if (program_is_orphan(run, group->probes[i]))
			run->errs[group->probes[i]] = -ECANCELED;
	for (size_t i = 0; i < group->nr; i++)
		if (!run->errs[group->probes[i]])
			group->probes[nr++] = group->probes[i];
	group->nr = nr ? nr : group->nr;
	return nr;
}

/* ---- all ---- */

/* Only if need be: a COMMAND that we start inherits it. */
static void program_raise_limit(const struct run *run)
{
	/* Programs, their links, maps; samples and counters need one per CPU. */
	rlim_t needed = PROGRAM_SPARE_FDS + run->nr_counters * (rlim_t)run->nr_cpus;
	struct rlimit limit, wanted;

	for (size_t i = 0; i < run->nr_groups; i++)
		needed += 1 + (run->groups[i].way == ATTACH_PERF ? run->nr_cpus : 1);
	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= needed)
		return;
	wanted.rlim_cur = needed;
	wanted.rlim_max = limit.rlim_max > needed ? limit.rlim_max : needed;
	limit.rlim_cur = limit.rlim_max; /* the soft limit that any process may have */
	if (setrlimit(RLIMIT_NOFILE, &wanted) && setrlimit(RLIMIT_NOFILE, &limit))
		log_verbose("cannot raise the limit of open files: %s", strerror(errno));
}

static void program_show_progress(size_t done, size_t of, uint64_t *last_ns)
{
	const uint64_t now = clock__mono_ns();

	if (!isatty(STDERR_FILENO) || now - *last_ns < program_progress_ns)
		return;
	fprintf(stderr, "\r\033[Kattaching %zu of %zu", done, of);
	*last_ns = now;
}

static const struct run_group *program_group_of(const struct run *run, size_t number)
{
	for (size_t i = 0; i < run->nr_groups; i++)
		for (size_t j = 0; j < run->groups[i].nr; j++)
			if (run->groups[i].probes[j] == number)
				return &run->groups[i];
	return NULL;
}

static const char *program_why(const struct run *run, size_t number)
{
	const struct run_group *group = program_group_of(run, number);

	if (!group)
		return "it has no BTF, and this kernel has no kprobes";
	if (group->is_refused && group->reason[0])
		return group->reason;
	return attach__why(group->way, run->errs[number]);
}

static void program_name_skipped(const struct run *run, size_t nr_failed)
{
	const size_t named = log_verbosity() ? SIZE_MAX : PROGRAM_NAMED;
	size_t said = 0;

	for (size_t i = 0; i < run->plan->nr_probes && said < named; i++) {
		if (!run->errs[i] || run->errs[i] == -ECANCELED)
			continue;
		log_warn("%s is left out: %s", run->plan->probes[i].probe->name,
			 program_why(run, i));
		said++;
	}
	if (said < nr_failed)
		log_warn("and %zu more are left out (-v names them)", nr_failed - said);
}

/* EPERM without a verifier log is not about this probe. */
static int program_say_nothing(const struct run *run, size_t number, const char *what)
{
	const struct run_group *group = program_group_of(run, number);
	const struct probe *probe = run->plan->probes[number].probe;
	const struct start start = {
		.step = group && group->is_refused ? START_PROGRAMS : START_ATTACH,
		.err = run->errs[number],
		.what = probe->name,
	};

	if (group && !group->reason[0] && (start.err == -EPERM || start.err == -EACCES))
		return obstacle__say(&start);
	return log_err(-EOPNOTSUPP, "cannot attach to %s%s: %s", what, probe->name,
		       program_why(run, number));
}

/* Starts and ends are two sides: each needs at least one probe. */
static int program_check(const struct run *run)
{
	size_t attached[2] = { 0 }, failed[2] = { 0 }, first[2] = { 0 };

	for (size_t i = 0; i < run->plan->nr_probes; i++) {
		const bool end = run->plan->probes[i].is_end;

		if (!run->errs[i])
			attached[end]++;
		else if (run->errs[i] != -ECANCELED && !failed[end]++)
			first[end] = i;
	}
	for (int end = 0; end < 2; end++)
		if (failed[end] && !attached[end])
			return program_say_nothing(
				run, first[end], failed[end] > 1 ? "any of the events, e.g. " : "");
	program_name_skipped(run, failed[0] + failed[1]);
	return 0;
}

/* While we still have the privileges to try. */
static void program_note_exact(struct run *run)
{
	for (size_t i = 0; i < run->nr_groups; i++) {
		const enum attach_way way = run->groups[i].way;
		const struct probe *probe = run->plan->probes[run->groups[i].probes[0]].probe;

		if (run->groups[i].attachment.prog_fd < 0 ||
		    attach__is_exact(run->attacher, way, probe) ||
		    (run->inexact && way == ATTACH_PERF)) /* samples have no exact alternative */
			continue;
		run->inexact = attach__word(way);
		run->why = attach__inexact(way);
	}
}

static void program_note_ways(const struct run *run)
{
	for (int way = 0; way < NR_ATTACH_WAYS; way++) {
		size_t programs = 0, probes = 0;

		for (size_t i = 0; i < run->nr_groups; i++) {
			const struct run_group *group = &run->groups[i];

			if ((int)group->way != way || !group->attachment.nr_fds)
				continue;
			programs++;
			for (size_t j = 0; j < group->nr; j++)
				probes += !run->errs[group->probes[j]];
		}
		if (programs)
			log_verbose("attached: %zu by %s, %zu programs", probes,
				    attach__word((enum attach_way)way), programs);
	}
}

int run_attach_all(struct run *run)
{
	char *log = malloc(PROGRAM_LOG_BYTES); /* touched only if a program is refused */
	uint64_t shown_ns = clock__mono_ns();
	int err = log ? 0 : log_no_memory();

	program_raise_limit(run);
	for (size_t i = 0; !err && i < run->nr_groups; i++) {
		if (program_drop_orphans(run, &run->groups[i]))
			err = program_open_group(run, &run->groups[i], log);
		program_show_progress(i + 1, run->nr_groups, &shown_ns);
	}
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	free(log);
	err = err ?: program_check(run);
	if (err)
		return err;
	program_note_ways(run);
	program_note_exact(run);
	return 0;
}
