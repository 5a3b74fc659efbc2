/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/why_whose.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "capture/filter.h"
#include "collect/task_filter.h"
#include "wire/io_stages.h"

bool why_whose__is_given(const struct why_whose *w)
{
	return w->asked.pid.given || w->asked.comm || w->asked.cgroup;
}

int why_whose__check(const struct why_whose *w)
{
	struct task_filter unused;

	return task_filter__read(&unused, &w->asked);
}

/* Cgroups that share a place evict each other. */
static bool why_is_in_cgroup(struct why_whose *w, const struct session *s, uint64_t id)
{
	struct why_cgroup *known = &w->cgroups[id % WHY_CGROUPS];
	char path[4096];

	if (known->id != id) {
		session__cgroup_path(s, id, path, sizeof(path));
		*known = (struct why_cgroup){
			id, path[0] == '/' && capture_filter__is_in_cgroup(path, w->asked.cgroup)
		};
	}
	return known->is_asked;
}

static bool why_is_of_cgroup(struct why_whose *w, const struct session *s,
			     const struct io_record *r)
{
	const struct io_stages *stages = io_record__stages(r);

	if (stages && stages->cgroup)
		return why_is_in_cgroup(w, s, stages->cgroup);
	w->unknown++;
	return false;
}

bool why_whose__is(struct why_whose *w, const struct session *s, const struct io_record *r)
{
	const struct filter_options *asked = &w->asked;

	if (asked->pid.given && r->pid != asked->pid.value)
		return false;
	if (asked->comm && (strlen(asked->comm) >= sizeof(r->comm) ||
			    strncmp(r->comm, asked->comm, sizeof(r->comm)) != 0))
		return false;
	return !asked->cgroup || why_is_of_cgroup(w, s, r);
}

const char *why_whose__words(struct why_whose *w)
{
	const struct filter_options *asked = &w->asked;
	char pid[40] = "", comm[60] = "", cgroup[280] = "";

	if (!why_whose__is_given(w))
		return NULL;
	if (asked->pid.given)
		snprintf(pid, sizeof(pid), ", process %" PRIu64, asked->pid.value);
	if (asked->comm)
		snprintf(comm, sizeof(comm), ", tasks named '%s'", asked->comm);
	if (asked->cgroup)
		snprintf(cgroup, sizeof(cgroup), ", cgroup %.256s", asked->cgroup);
	snprintf(w->text, sizeof(w->text), "%s%s%s", pid, comm, cgroup);
	return w->text + 2;
}
