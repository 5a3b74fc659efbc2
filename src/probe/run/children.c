/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * children.c: --children selects the processes in a table: the one that was named, its descendants,
 * and those they start from now on. Two programs keep it: a fork adds the child of a process in the
 * table, and an exit removes a process, so that its number can be reused. The table is filled
 * before anything else is attached.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include "base/grow.h"
#include "base/log.h"
#include "probe/code/code.h"
#include "probe/find/type.h"
#include "probe/run/inside.h"

enum { CHILDREN_MOST = 16384 };

/* ---- existing processes ---- */

struct children_parent {
	uint32_t pid, parent;
};

static bool children_read_parent(const char *name, struct children_parent *p)
{
	char path[64], *end;
	char line[512];
	const char *close;
	FILE *in;
	bool got;

	p->pid = (uint32_t)strtoul(name, &end, 10);
	if (*end || end == name)
		return false;
	snprintf(path, sizeof(path), "/proc/%u/stat", p->pid);
	in = fopen(path, "re");
	if (!in)
		return false;
	/* The name may hold any character: parse from its last bracket. */
	close = fgets(line, sizeof(line), in) ? strrchr(line, ')') : NULL;
	got = close && sscanf(close + 1, " %*c %u", &p->parent) == 1;
	fclose(in);
	return got;
}

static size_t children_read_all(struct children_parent **all)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	size_t nr = 0, room = 0;

	*all = NULL;
	while (proc && (entry = readdir(proc))) {
		struct children_parent p;

		if (!children_read_parent(entry->d_name, &p))
			continue;
		if (GROW(*all, room, nr + 1))
			break;
		(*all)[nr++] = p;
	}
	if (proc)
		closedir(proc);
	return nr;
}

static int children_add(int map, uint32_t pid)
{
	const uint64_t key = pid, one = 1;

	return bpf_map_update_elem(map, &key, &one, BPF_ANY);
}

/* Children may have smaller numbers than their parents: as often as it finds one more. */
static int children_fill(int map, uint32_t pid)
{
	struct children_parent *all;
	size_t nr = children_read_all(&all);
	int err = children_add(map, pid);
	uint64_t key, one;
	bool found = true;

	while (!err && found) {
		found = false;
		for (size_t i = 0; !err && i < nr; i++) {
			key = all[i].parent;
			if (!all[i].parent || bpf_map_lookup_elem(map, &key, &one))
				continue;
			all[i].parent = 0;
			err = children_add(map, all[i].pid);
			found = true;
		}
	}
	free(all);
	return err;
}

/* ---- processes that come and go ---- */

/* A field of the task that argument number `argument` of a raw tracepoint points to, into R1. */
static void children_read_task(struct code *c, int argument, uint32_t offset, struct place to)
{
	code__store_number(c, 8, to, 0);
	code__load(c, 8, R3, (struct place){ R6, 8 * argument });
	code__reckon_number(c, BPF_ADD, R3, offset);
	code__set_address(c, R1, to);
	code__set(c, R2, 4);
	code__call(c, BPF_FUNC_probe_read_kernel);
}

/* sched_process_fork(parent, child): the parent is the current task. */
static void children_at_fork(struct code *c, int map, uint32_t tgid_at)
{
	struct place parent = code__take(c, 8), child = code__take(c, 8);
	int out = code__label(c);

	code__call(c, BPF_FUNC_get_current_pid_tgid);
	code__reckon_number(c, BPF_RSH, R0, 32);
	code__store(c, 8, parent, R0);
	code__set_map(c, R1, map);
	code__set_address(c, R2, parent);
	code__call(c, BPF_FUNC_map_lookup_elem);
	code__jump_if_number(c, BPF_JEQ, R0, 0, out);
	children_read_task(c, 1, tgid_at, child);
	code__set_map(c, R1, map);
	code__set_address(c, R2, child);
	code__set_address(c, R3, child);
	code__set(c, R4, BPF_ANY);
	code__call(c, BPF_FUNC_map_update_elem);
	code__bind(c, out);
}

/* sched_process_free(task): the last thread of a process to go is the one with its number. */
static void children_at_free(struct code *c, int map, uint32_t pid_at)
{
	struct place pid = code__take(c, 8);

	children_read_task(c, 0, pid_at, pid);
	code__set_map(c, R1, map);
	code__set_address(c, R2, pid);
	code__call(c, BPF_FUNC_map_delete_elem);
}

static int children_load(struct code *c, const char *event, int *link)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts);
	int prog;

	code__set(c, R0, 0);
	code__exit(c);
	if (code__finish(c))
		return -ENOMEM;
	prog = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "children", "GPL", c->insns, c->nr,
			     &opts);
	if (prog < 0)
		return prog;
	*link = bpf_raw_tracepoint_open(event, prog);
	close(prog);
	return *link < 0 ? *link : 0;
}

static int children_attach(const char *event, void (*make)(struct code *, int, uint32_t), int map,
			   uint32_t offset, int *link)
{
	struct code code;
	int err;

	code__init(&code, 0, 0);
	code__move(&code, R6, R1);
	make(&code, map, offset);
	err = children_load(&code, event, link);
	code__free(&code);
	return err;
}

static bool children_offsets(uint32_t *tgid_at, uint32_t *pid_at)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int id = btf ? btf__find_by_name_kind(btf, "task_struct", BTF_KIND_STRUCT) : -1;
	struct type task = { 0 }, member;
	bool found = false;

	if (id > 0) {
		task = type__of(btf, (uint32_t)id);
		found = type__member(&task, "tgid", &member, tgid_at) &&
			type__member(&task, "pid", &member, pid_at);
	}
	btf__free(btf);
	return found;
}

int run_follow_children(struct run *run)
{
	uint32_t tgid_at, pid_at;
	int err;

	if (!run->plan->children)
		return 0;
	if (!children_offsets(&tgid_at, &pid_at))
		return log_err(-EOPNOTSUPP,
			       "cannot follow child processes: this kernel's BTF lacks struct "
			       "task_struct");
	run->maps.tasks = bpf_map_create(BPF_MAP_TYPE_HASH, "tasks", sizeof(uint64_t),
					 sizeof(uint64_t), CHILDREN_MOST, NULL);
	err = run->maps.tasks < 0 ? run->maps.tasks : 0;
	err = err
		      ?: children_attach("sched_process_free", children_at_free, run->maps.tasks,
					 pid_at, &run->children[0]);
	err = err
		      ?: children_attach("sched_process_fork", children_at_fork, run->maps.tasks,
					 tgid_at, &run->children[1]);
	err = err ?: children_fill(run->maps.tasks, run->plan->pid);
	return err ? log_err(err, "cannot follow child processes: %s", strerror(-err)) : 0;
}
