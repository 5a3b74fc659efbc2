/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace_record.c: what does a record of a traced function hold, and where? As the plan says:
 * arguments or return value, then the object alone or all requested members.
 */
#include <string.h>
#include "calls/trace.h"

bool call_trace__has_fields(const struct call_trace_place *place, bool is_return)
{
	return place->object[0] && (is_return || place->role != LIFE_BIRTH);
}

const struct probe *call_trace__probe(const struct call_trace *t, uint32_t number)
{
	const size_t entries = t->request.probes.nr;

	return number < entries ? &t->request.probes.probes[number]
				: &t->request.ends.probes[number - entries];
}

const char *call_trace__module(const struct call_trace *t, uint32_t function)
{
	const struct probe *probe = call_trace__probe(t, function);

	if (t->functions[function].module)
		return t->functions[function].module;
	return probe->path ? probe->path : probe->module;
}

const char *call_trace__prototype(const struct call_trace *t, uint32_t function, char *buf,
				  size_t size)
{
	if (t->functions[function].prototype)
		return t->functions[function].prototype;
	return probe__prototype(call_trace__probe(t, function), buf, size);
}

/* Number of parts after arguments or ret: all members, the object alone, or none. */
static size_t call_trace_tail(const struct call_trace *t, uint32_t function, bool is_return)
{
	const struct call_trace_function *f = &t->functions[function];
	const struct call_trace_place *place = is_return ? &f->at_exit : &f->at_entry;

	if (!place->object[0])
		return 0;
	return call_trace__has_fields(place, is_return) ? t->nr_members : 1;
}

const struct plan_shown *call_trace__shown(const struct call_trace *t, uint32_t function,
					   bool is_return, size_t *nr)
{
	const struct call_trace_function *f = &t->functions[function];
	const struct plan_probe *probe = &t->request.plan.probes[is_return ? f->exit : f->entry];

	*nr = probe->nr_shown - call_trace_tail(t, function, is_return);
	return probe->shown;
}

bool call_trace__members(const struct call_trace *t, uint32_t function, bool is_return,
			 const void *values, void *bytes)
{
	const struct plan_shown *shown;
	size_t nr;

	if (!values || !t->nr_members || call_trace_tail(t, function, is_return) < t->nr_members)
		return false;
	shown = call_trace__shown(t, function, is_return, &nr) + nr;
	for (size_t i = 0; i < t->nr_members; i++)
		memcpy((char *)bytes + t->members[i].at, (const char *)values + shown[i].part.at,
		       t->members[i].shape.size);
	return true;
}

uint64_t call_trace__set(const struct call_trace *t, const char *bytes)
{
	uint64_t set = 0;

	for (size_t i = 1; i < t->nr_shown; i++) {
		const char *at = bytes + t->shown[i].at;
		size_t size = t->shown[i].shape.size;

		if (size && (at[0] || memcmp(at, at + 1, size - 1)))
			set |= 1ULL << i;
	}
	return set;
}

uint64_t call_trace__object(const struct call_trace *t, uint32_t function, bool is_return,
			    const void *values)
{
	const struct plan_shown *shown;
	uint64_t object;
	size_t nr;

	if (!values || !call_trace_tail(t, function, is_return))
		return 0;
	shown = call_trace__shown(t, function, is_return, &nr) + nr;
	memcpy(&object, (const char *)values + shown->part.at, sizeof(object));
	return object;
}

uint64_t call_trace__object_of(const struct call_trace *t, const struct call *call)
{
	const uint64_t object = call_trace__object(t, call->function, false, call->entered);

	return object ? object : call_trace__object(t, call->function, true, call->left);
}
