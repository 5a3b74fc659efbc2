/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/ctrl_watch.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/libbpf.h>
#include "base/log.h"
#include "bpf/ctrl.skel.h"
#include "collect/kernel.h"
#include "collect/target.h"
#include "collect/types.h"

enum ctrl_function { CTRL_STATE, CTRL_TIMEOUT, NR_CTRL_FUNCTIONS };

struct ctrl_watch {
	struct ctrl_bpf *skels[NR_CTRL_FUNCTIONS]; /* NULL: it cannot be watched */
	int rings_fd;
	uint32_t nr_cpus;
	const struct kernel *kernel; /* during start */
};

static void ctrl_choose(struct ctrl_bpf *s, enum ctrl_function function, bool typed)
{
	bpf_program__set_autoload(s->progs.ctrl_state, function == CTRL_STATE && typed);
	bpf_program__set_autoload(s->progs.ctrl_state_enters, function == CTRL_STATE && !typed);
	bpf_program__set_autoload(s->progs.ctrl_state_leaves, function == CTRL_STATE && !typed);
	bpf_program__set_autoload(s->progs.ctrl_timeout, function == CTRL_TIMEOUT && typed);
	bpf_program__set_autoload(s->progs.ctrl_timeout_k, function == CTRL_TIMEOUT && !typed);
}

static int ctrl_load(const struct ctrl_watch *w, struct ctrl_bpf *s)
{
	struct targets targets = targets__of(w->kernel);
	int err = bpf_map__set_max_entries(s->maps.io_rings, w->nr_cpus);

	err = err ?: bpf_map__reuse_fd(s->maps.io_rings, w->rings_fd);
	err = err ?: targets__aim_all(&targets, s->obj);
	err = err ?: ctrl_bpf__load(s);
	targets__close(&targets);
	return err;
}

static int ctrl_try(struct ctrl_watch *w, enum ctrl_function function, bool typed)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts);
	struct ctrl_bpf *s;
	struct types types;
	int err;

	opts.btf_custom_path = types__open(&types);
	s = ctrl_bpf__open_opts(&opts);
	if (!s) {
		err = -errno;
		types__close(&types);
		return err;
	}
	ctrl_choose(s, function, typed);
	s->rodata->instance_at = w->kernel->nvme_instance_at;
	err = types__fill(&types, w->kernel->btf, bpf_object__btf(s->obj));
	err = err ?: ctrl_load(w, s);
	types__close(&types);
	err = err ?: ctrl_bpf__attach(s);
	if (err)
		ctrl_bpf__destroy(s);
	else
		w->skels[function] = s;
	return err;
}

static void ctrl_watch_one(struct ctrl_watch *w, enum ctrl_function function)
{
	static const char *const names[] = { "nvme_change_ctrl_state", "nvme_timeout" };
	static const char *const what[] = { "state changes of controllers", "time-outs" };
	int err = ctrl_try(w, function, true);

	if (err) {
		log_verbose("fentry of %s: %s", names[function], strerror(-err));
		err = ctrl_try(w, function, false);
	}
	if (err)
		log_note("%s are not shown: cannot attach to %s (%s)", what[function],
			 names[function], strerror(-err));
}

struct ctrl_watch *ctrl_watch__new(int rings_fd, uint32_t nr_cpus, const struct kernel *kernel)
{
	struct ctrl_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->rings_fd = rings_fd;
	w->nr_cpus = nr_cpus;
	w->kernel = kernel;
	for (int function = 0; function < NR_CTRL_FUNCTIONS; function++)
		ctrl_watch_one(w, (enum ctrl_function)function);
	w->kernel = NULL;
	return w;
}

void ctrl_watch__free(struct ctrl_watch *w)
{
	if (!w)
		return;
	for (int function = 0; function < NR_CTRL_FUNCTIONS; function++)
		ctrl_bpf__destroy(w->skels[function]);
	free(w);
}

uint64_t ctrl_watch__dropped(const struct ctrl_watch *w)
{
	uint64_t dropped = 0;

	for (int function = 0; w && function < NR_CTRL_FUNCTIONS; function++)
		if (w->skels[function])
			dropped += w->skels[function]->bss->dropped;
	return dropped;
}
