/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * btf.c: the BTF of the kernel and of its modules, with an index of the names to look up:
 * functions, structs, raw tracepoints. vmlinux takes some 20 ms and 10 MB; a module is read when it
 * is needed. The files are world-readable.
 */
#define _GNU_SOURCE
#include <bpf/btf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/grow.h"
#include "probe/find/inside.h"

#define BTF_FOLDER "/sys/kernel/btf"
#define BTF_RAW	   "btf_trace_"

/* ---- the index ---- */

static int btf_index_type(struct find_btf *b, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(b->btf, id);
	const char *name = t ? btf__name_by_offset(b->btf, t->name_off) : NULL;

	if (!name || !*name)
		return 0;
	if (btf_is_func(t))
		return find_index__add(&b->funcs, name, id);
	if (btf_is_composite(t))
		return find_index__add(&b->structs, name, id);
	if (!btf_is_typedef(t) || strncmp(name, BTF_RAW, strlen(BTF_RAW)) != 0)
		return 0;
	name += strlen(BTF_RAW);
	if (GROW_BY_ONE(b->raw_names, b->nr_raws))
		return -ENOMEM;
	b->raw_names[b->nr_raws++] = name;
	return find_index__add(&b->raws, name, id);
}

static int btf_index(struct find_btf *b)
{
	const struct btf *base = btf__base_btf(b->btf);
	int err = 0;

	for (uint32_t id = base ? btf__type_cnt(base) : 1; !err && id < btf__type_cnt(b->btf); id++)
		err = btf_index_type(b, id);
	return err;
}

static void btf_free(struct find_btf *b)
{
	if (!b)
		return;
	find_index__free(&b->funcs);
	find_index__free(&b->structs);
	find_index__free(&b->raws);
	free(b->raw_names);
	btf__free(b->btf);
	free(b->module);
	free(b);
}

/* Takes the BTF over; NULL: out of memory. */
static struct find_btf *btf_new(struct btf *btf, const char *module)
{
	struct find_btf *b = calloc(1, sizeof(*b));

	if (!b) {
		btf__free(btf);
		return NULL;
	}
	b->btf = btf;
	b->module = module ? strdup(module) : NULL;
	if ((!module || b->module) && !btf_index(b))
		return b;
	btf_free(b);
	return NULL;
}

/* ---- vmlinux ---- */

/* Not every kernel shows it in sysfs; libbpf knows other places. NULL: see errno. */
static struct btf *btf_load_vmlinux(const struct finder *finder)
{
	struct btf *btf;
	char *path;
	int err;

	if (asprintf(&path, "%s" BTF_FOLDER "/vmlinux", finder->root) < 0)
		return NULL;
	btf = access(path, R_OK) ? NULL : btf__parse(path, NULL);
	err = errno;
	free(path);
	if (!btf && !*finder->root && err != ENOMEM)
		return btf__load_vmlinux_btf();
	errno = err;
	return btf;
}

struct find_btf *find_btf__vmlinux(struct finder *finder)
{
	struct find_btfs *btfs = &finder->btfs;
	struct btf *btf;

	if (btfs->is_vmlinux_read)
		return btfs->vmlinux;
	btfs->is_vmlinux_read = true;
	btf = btf_load_vmlinux(finder);
	btfs->lacks_memory = !btf && errno == ENOMEM;
	if (btf) {
		btfs->vmlinux = btf_new(btf, NULL);
		btfs->lacks_memory = !btfs->vmlinux;
	}
	return btfs->vmlinux;
}

static bool btf_task(struct finder *finder, struct type *task)
{
	const struct find_btf *vmlinux = find_btf__vmlinux(finder);
	uint32_t id;

	if (!vmlinux || !find_index__get(&vmlinux->structs, "task_struct", &id))
		return false;
	*task = type__of(vmlinux->btf, id);
	return true;
}

/* The kernel's pid is what users call a thread. */
struct probe_task finder__task(struct finder *finder)
{
	struct probe_task at;
	struct type task, comm, number;

	if (!btf_task(finder, &task) || !type__member(&task, "comm", &comm, &at.comm_at) ||
	    !type__member(&task, "pid", &number, &at.tid_at) ||
	    !type__member(&task, "tgid", &number, &at.pid_at))
		return (struct probe_task){ 0 };
	return at;
}

/*
 * A 32-bit system call has its own numbers. x86_64 marks the call: TS_COMPAT, set by int 0x80 and
 * by 32-bit programs. arm64 marks the program: TIF_32BIT. Both are macros, which BTF does not have.
 */
struct probe_compat find_btf__compat(struct finder *finder)
{
	const bool is_x86 = find_abi__here() == ABI_X86_64;
	struct probe_compat compat = { .bits = is_x86 ? 1 << 1 : 1 << 22, .size = 4 };
	struct type task, info, flags;
	uint32_t info_at, flags_at;

	if (!btf_task(finder, &task) || !type__member(&task, "thread_info", &info, &info_at) ||
	    !type__member(&info, is_x86 ? "status" : "flags", &flags, &flags_at))
		return (struct probe_compat){ 0 };
	compat.at = info_at + flags_at;
	return compat;
}

/* ---- modules ---- */

static struct find_btf *btf_load_module(struct finder *finder, const char *module)
{
	struct find_btf *vmlinux = find_btf__vmlinux(finder);
	struct btf *btf = NULL;
	char *path;

	if (!vmlinux || asprintf(&path, "%s" BTF_FOLDER "/%s", finder->root, module) < 0)
		return NULL;
	if (!access(path, R_OK))
		btf = btf__parse_split(path, vmlinux->btf);
	free(path);
	return btf ? btf_new(btf, module) : NULL;
}

struct find_btf *find_btf__module(struct finder *finder, const char *module)
{
	struct find_btfs *btfs = &finder->btfs;
	struct find_btf *b;

	for (size_t i = 0; i < btfs->nr_modules; i++)
		if (!strcmp(btfs->modules[i]->module, module))
			return btfs->modules[i];
	if (btfs->is_listed || strchr(module, '/'))
		return NULL;
	b = btf_load_module(finder, module);
	if (!b)
		return NULL;
	if (GROW_BY_ONE(btfs->modules, btfs->nr_modules)) {
		btf_free(b);
		return NULL;
	}
	btfs->modules[btfs->nr_modules++] = b;
	return b;
}

int find_btf__load_modules(struct finder *finder)
{
	struct dirent *entry;
	char *path;
	DIR *dir;

	if (finder->btfs.is_listed)
		return 0;
	if (asprintf(&path, "%s" BTF_FOLDER, finder->root) < 0)
		return -ENOMEM;
	dir = opendir(path);
	free(path);
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, "vmlinux"))
			find_btf__module(finder, entry->d_name);
	if (dir)
		closedir(dir);
	finder->btfs.is_listed = true;
	return 0;
}

void find_btf__free(struct find_btfs *btfs)
{
	while (btfs->nr_modules)
		btf_free(btfs->modules[--btfs->nr_modules]);
	free(btfs->modules);
	btf_free(btfs->vmlinux);
	*btfs = (struct find_btfs){ 0 };
}
