/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE 1 /* asprintf */
#include "calls/trace.h"

#include <bpf/btf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "base/log.h"

/* Dead objects may be removed a little later; checking all of them takes time. */
static const uint64_t call_trace_linger_ns = 20000000, call_trace_settle_ns = 50000000;

/* ---- which functions ---- */

/* "vfs_*" means fn:vfs_*; the prefixes fn: and user: are allowed. */
static int call_trace_find_glob(struct call_trace *t, const char *glob, bool is_return)
{
	const bool is_user = !strncmp(glob, "user:", 5);
	const char *name = is_user ? glob + 5 : !strncmp(glob, "fn:", 3) ? glob + 3 : glob;
	const char *kind = is_user ? (is_return ? "userret" : "user") : (is_return ? "ret" : "fn");
	struct find_misses unsaid = { 0 };
	char *spec;
	int err;

	if (asprintf(&spec, "%s:%s", kind, name) < 0)
		return log_no_memory();
	err = finder__find(t->request.finder, spec,
			   is_return ? &t->request.ends : &t->request.probes,
			   is_return ? &unsaid : &t->request.misses);
	find_misses__free(&unsaid);
	free(spec);
	return err;
}

static bool call_trace_is_same(const struct probe *a, const struct probe *b)
{
	return a->address == b->address && a->offset == b->offset && !strcmp(a->func, b->func) &&
	       (!a->path || !b->path || !strcmp(a->path, b->path));
}

/* "*" means the whole kernel, 50,000 functions, each with two records a call. */
static int call_trace_refuse_many(const struct call_trace *t, const char *glob, size_t nr)
{
	if (nr <= t->most_functions)
		return 0;
	return log_err(-EINVAL, "calls%s%s%s would attach %zu functions; --most %zu allows that",
		       glob ? " '" : "", glob ?: "", glob ? "'" : "", nr, nr);
}

/* Before the returns of as many are looked for. */
static int call_trace_find_entries(struct call_trace *t, const char *glob)
{
	const size_t before = t->request.probes.nr;
	int err = call_trace_find_glob(t, glob, false);

	return err ?: call_trace_refuse_many(t, glob, t->request.probes.nr - before);
}

/* Two globs may match the same function. */
static void call_trace_drop_doubles(struct probe_list *list)
{
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++) {
		size_t j = 0;

		while (j < nr && !call_trace_is_same(&list->probes[j], &list->probes[i]))
			j++;
		if (j == nr)
			list->probes[nr++] = list->probes[i];
		else
			probe__free(&list->probes[i]);
	}
	list->nr = nr;
}

static uint32_t call_trace_find_exit(const struct call_trace *t, size_t entry)
{
	const struct probe_list *ends = &t->request.ends;

	if (entry < ends->nr &&
	    call_trace_is_same(&t->request.probes.probes[entry], &ends->probes[entry]))
		return (uint32_t)(t->request.probes.nr + entry);
	for (size_t i = 0; i < ends->nr; i++)
		if (call_trace_is_same(&t->request.probes.probes[entry], &ends->probes[i]))
			return (uint32_t)(t->request.probes.nr + i);
	return CALL_TRACE_NONE;
}

static int call_trace_list_functions(struct call_trace *t)
{
	const size_t nr = t->request.probes.nr;

	t->functions = calloc(nr, sizeof(*t->functions));
	t->function_of = calloc(nr + t->request.ends.nr, sizeof(*t->function_of));
	if (!t->functions || !t->function_of)
		return log_no_memory();
	t->nr = nr;
	for (uint32_t i = 0; i < nr; i++) {
		t->functions[i].entry = i;
		t->functions[i].exit = call_trace_find_exit(t, i);
		t->function_of[i] = i;
		if (t->functions[i].exit != CALL_TRACE_NONE)
			t->function_of[t->functions[i].exit] = i;
	}
	return 0;
}

/* ---- the plan ---- */

/* "arg0, arg0->bi_opf, arg0->bi_status": the object itself comes first. NULL: out of memory. */
static char *call_trace_shown_text(const struct call_trace *t, const char *object, bool has_fields)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs(object, out);
	for (size_t i = 0; has_fields && i < t->nr_fields; i++)
		fprintf(out, ", %s->%s", object, t->fields[i]);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static int call_trace_plan_place(const struct call_trace *t, const struct probe *probe,
				 const struct call_trace_place *place, struct plan_call *call)
{
	*call = (struct plan_call){ .probe = probe };
	if (!place->object[0])
		return 0;
	call->follows = place->object;
	call->is_birth = place->role == LIFE_BIRTH;
	call->behind_bytes = t->behind_bytes;
	call->shown = call_trace_shown_text(
		t, place->object, call_trace__has_fields(place, probe->kind == PROBE_RET));
	return call->shown ? 0 : log_no_memory();
}

static const struct call_trace_place *call_trace_place(const struct call_trace *t, uint32_t number)
{
	const struct call_trace_function *f = &t->functions[t->function_of[number]];

	return number == f->entry ? &f->at_entry : &f->at_exit;
}

static int call_trace_make_plan(struct call_trace *t)
{
	const size_t nr = t->request.probes.nr + t->request.ends.nr;
	struct plan_call *calls = calloc(nr, sizeof(*calls));
	int err = calls ? 0 : log_no_memory();

	for (uint32_t i = 0; !err && i < nr; i++)
		err = call_trace_plan_place(t, call_trace__probe(t, i), call_trace_place(t, i),
					    &calls[i]);
	err = err ?: plan__make_calls(&t->request.plan, &t->request.line, calls, nr);
	if (!err)
		t->request.plan.task = finder__task(t->request.finder);
	t->request.wants.plan = &t->request.plan;
	for (size_t i = 0; calls && i < nr; i++)
		free((char *)calls[i].shown);
	free(calls);
	return err;
}

/* Offsets of members in the bytes of call_trace__members, from the first place with members. */
int call_trace__lay_out(struct call_trace *t)
{
	const struct plan_probe *probe = NULL;

	for (uint32_t i = 0; !probe && i < t->request.plan.nr_probes; i++)
		if (call_trace__has_fields(call_trace_place(t, i), i >= t->request.probes.nr))
			probe = &t->request.plan.probes[i];
	if (!probe)
		return 0;
	t->nr_members = 1 + t->nr_fields;
	for (size_t i = 0; i < t->nr_members; i++) {
		struct plan_part *part = &t->members[i];

		*part = probe->shown[probe->nr_shown - t->nr_members + i].part;
		part->at = (uint32_t)t->member_bytes;
		part->text = i ? t->fields[i - 1] : "object";
		part->text_len = strlen(part->text);
		t->member_bytes += part->shape.size;
		t->shown[i] = *part;
	}
	t->nr_shown = t->nr_members - t->nr_hidden;
	return 0;
}

static int call_trace_complete(struct call_trace *t)
{
	int err = call_trace_make_plan(t);

	t->btf = finder__vmlinux(t->request.finder);
	return err ?: call_trace__lay_out(t);
}

int call_trace__of_globs(struct call_trace *t, const struct option_list *globs,
			 const struct options *options)
{
	int err = request__tasks(&t->request, &options->filter);

	if (!err && !t->request.finder) {
		t->request.finder = finder__new();
		err = t->request.finder ? 0 : log_no_memory();
	}
	if (!err)
		finder__want_user_args(t->request.finder, t->nr_registers);
	for (size_t i = 0; !err && i < globs->nr; i++) {
		err = call_trace_find_entries(t, globs->words[i]);
		err = err ?: call_trace_find_glob(t, globs->words[i], true);
	}
	if (err)
		return err;
	call_trace_drop_doubles(&t->request.probes);
	err = call_trace_refuse_many(t, NULL, t->request.probes.nr);
	if (err)
		return err;
	request__tell_misses(&t->request);
	call_trace_drop_doubles(&t->request.ends);
	err = call_trace_list_functions(t);
	return err ?: call_trace_complete(t);
}

/* ---- of a class ---- */

static bool call_trace_wants(const struct call_trace_class *wants, const struct class_function *f)
{
	const bool is_spine = f->is_spine || f->is_birth || f->is_death || f->is_without;

	return !f->why && (is_spine || wants->all || !wants->class->preset);
}

static struct call_trace_place call_trace_argument(const struct class_function *f,
						   enum life_role role)
{
	struct call_trace_place place = { .role = role };

	if (f->argument >= 0)
		snprintf(place.object, sizeof(place.object), "arg%d", f->argument);
	return place;
}

/* A returned object is born at the return; an argument is born at the entry. */
static void call_trace_set_places(struct call_trace_function *to, const struct class_function *f)
{
	const bool gives_birth = f->is_birth && f->returns;

	if (f->is_without)
		return;
	to->at_entry = call_trace_argument(f, f->is_birth && !f->returns ? LIFE_BIRTH
					      : f->is_death		 ? LIFE_DEATH
									 : LIFE_CALL);
	to->at_exit = call_trace_argument(f, LIFE_CALL);
	if (f->returns && (gives_birth || f->argument < 0))
		to->at_exit =
			(struct call_trace_place){ "ret", gives_birth ? LIFE_BIRTH : LIFE_CALL };
}

/* Members may belong to another struct, which follows the one pointed to. */
static void call_trace_retype(const struct call_trace *t, struct probe *probe, int argument)
{
	for (size_t i = 0; i < probe->nr_fields; i++) {
		struct probe_field *field = &probe->fields[i];
		const bool is_object =
			argument < 0 ? field->place == PLACE_RET
				     : field->place == PLACE_ARG && field->at == (uint32_t)argument;

		if (is_object && field->type.kind == TYPE_POINTER) {
			field->type.btf = t->member_type.btf;
			field->type.id = t->member_type.id;
		}
	}
}

int call_trace__add_field(struct call_trace *t, const char *name)
{
	if (GROW_BY_ONE(t->fields, t->nr_fields))
		return -ENOMEM;
	t->fields[t->nr_fields] = strdup(name);
	return t->fields[t->nr_fields++] ? 0 : -ENOMEM;
}

/* Fields of a preset may be from other kernels; fields that the user names must exist. */
static int call_trace_pick_fields(struct call_trace *t, const struct call_trace_class *wants)
{
	const bool is_preset = !wants->fields->nr;
	const char *const *names = !is_preset		  ? wants->fields->words
				   : wants->class->preset ? wants->class->preset->fields
							  : NULL;
	int err = 0;

	for (size_t i = 0; !err && names && (is_preset ? names[i] != NULL : i < wants->fields->nr);
	     i++) {
		char field[128], type[64];

		if (i >= CLASS_MAX_FIELDS)
			return log_err(-EINVAL, "--fields takes at most %d members",
				       CLASS_MAX_FIELDS);
		if (class__pick_field(&t->member_type, names[i], field, sizeof(field)))
			err = call_trace__add_field(t, field) ? log_no_memory() : 0;
		else if (!is_preset)
			err = log_err(-EINVAL,
				      "--fields: unknown member '%s' of %s; iosonar events -v "
				      "shows members",
				      names[i], type__print(&t->member_type, type, sizeof(type)));
	}
	return err;
}

/* For a filter: it is not shown. */
static int call_trace_read_disk(struct call_trace *t, const struct class *class)
{
	char field[128];
	int err = call_trace__find_disk(t, class, field, sizeof(field));

	if (err || !*field)
		return err;
	t->nr_hidden = 1;
	return call_trace__add_field(t, field) ? log_no_memory() : 0;
}

static int call_trace_add_all(struct call_trace *t, const struct call_trace_class *wants)
{
	const struct class *class = wants->class;
	int err;

	for (size_t i = 0; i < class->nr; i++) {
		const struct class_function *f = &class->functions[i];

		if (call_trace_wants(wants, f) &&
		    (class__add_probe(f, PROBE_FN, &t->request.probes) ||
		     class__add_probe(f, PROBE_RET, &t->request.ends)))
			return log_no_memory();
	}
	if (!t->request.probes.nr)
		return log_err(-EOPNOTSUPP,
			       "none of the %zu functions of struct %s can be attached on this "
			       "kernel; iosonar class %s --list shows why",
			       class->nr, class->object, class->object);
	err = call_trace_list_functions(t);
	for (size_t i = 0, nr = 0; !err && i < class->nr; i++) {
		const struct class_function *f = &class->functions[i];

		if (!call_trace_wants(wants, f))
			continue;
		call_trace_set_places(&t->functions[nr], f);
		if (t->behind_bytes && !f->is_without) {
			call_trace_retype(t, &t->request.probes.probes[nr], f->argument);
			call_trace_retype(t, &t->request.ends.probes[nr], f->argument);
		}
		nr++;
	}
	return err;
}

int call_trace__of_class(struct call_trace *t, const struct call_trace_class *wants)
{
	int err;

	if (!class__members(wants->class, t->request.finder, &t->member_type, &t->behind_bytes))
		return log_err(-EOPNOTSUPP, "this kernel's BTF does not have the members of %s",
			       wants->class->preset ? wants->class->preset->name
						    : wants->class->object);
	err = call_trace_pick_fields(t, wants);
	if (!err && wants->reads_disk)
		err = call_trace_read_disk(t, wants->class);
	err = err ?: call_trace_add_all(t, wants);
	return err ?: call_trace_complete(t);
}

/* ---- their structs ---- */

int call_trace__lay_structs(struct call_trace *t)
{
	int err;

	if (t->has_layouts || t->own_btf)
		return 0;
	err = t->member_type.btf ? struct_layouts__add_inside(&t->layouts, &t->member_type) : 0;

	for (size_t i = 0; !err && i < t->request.probes.nr; i++) {
		const struct probe *probe = &t->request.probes.probes[i];

		for (size_t f = 0; !err && f < probe->nr_fields; f++)
			err = struct_layouts__add(&t->layouts, &probe->fields[f].type);
	}
	t->has_layouts = !err;
	return err ? log_no_memory() : 0;
}

/* ---- running ---- */

static int call_trace_on_call(void *arg, struct call *call, const struct call_event *event)
{
	struct call_trace *t = arg;
	const struct call_trace_function *f = &t->functions[event->function];
	const struct life_event life = {
		.object = t->nth ? call_trace__object(t, event->function, event->is_return,
						      event->values)
				 : 0,
		.nth = t->nth,
		.role = event->is_return ? f->at_exit.role : f->at_entry.role,
	};

	return t->lives ? lives__take(t->lives, &life, call, event) : 0;
}

static int call_trace_on_tree(void *arg, const struct call *root)
{
	struct call_trace *t = arg;

	return t->on_tree ? t->on_tree(t->arg, root) : 0;
}

static int call_trace_on_life(void *arg, const struct life *life)
{
	struct call_trace *t = arg;

	return t->on_life ? t->on_life(t->arg, life) : 0;
}

static int call_trace_compare_counts(const void *a, const void *b)
{
	const struct call_trace_count *x = a, *y = b;

	return (x->object > y->object) - (x->object < y->object);
}

int call_trace__note_count(struct call_trace *t, uint64_t object, uint64_t count)
{
	if (GROW_BY_ONE(t->counts, t->nr_counts))
		return -ENOMEM;
	t->counts[t->nr_counts++] = (struct call_trace_count){ object, count };
	return 0;
}

/* Unknown for a truncated capture. */
static uint64_t call_trace_counted(void *arg, uint64_t object)
{
	const struct call_trace *t = arg;
	const struct call_trace_count key = { object, 0 }, *found = NULL;

	if (t->run)
		return run__followed(t->run, object);
	if (t->nr_counts)
		found = bsearch(&key, t->counts, t->nr_counts, sizeof(key),
				call_trace_compare_counts);
	return found ? found->count : LIVES_UNKNOWN;
}

static bool call_trace_has_lost(void *arg)
{
	const struct call_trace *t = arg;

	return (t->run ? run__lost(t->run) : t->lost) > 0;
}

int call_trace__start(struct call_trace *t, struct run *run)
{
	const struct calls_wants calls = { call_trace_on_call, call_trace_on_tree, t };
	const struct lives_wants lives = { call_trace_on_life, call_trace_counted,
					   call_trace_has_lost, t, call_trace_linger_ns };

	t->run = run;
	for (size_t i = 0; run && i < t->nr; i++)
		t->functions[i].returns = t->functions[i].exit != CALL_TRACE_NONE &&
					  run__is_attached(run, t->functions[i].exit);
	t->calls = calls__new(&calls);
	if (t->nr_members)
		t->lives = lives__new(&lives);
	return t->calls && (t->lives || !t->nr_members) ? 0 : log_no_memory();
}

void call_trace__tell_returns(const struct call_trace *t)
{
	size_t returns = 0, kernel = 0, kernel_returns = 0;

	for (uint32_t i = 0; i < t->nr; i++) {
		const bool is_kernel = call_trace__probe(t, i)->kind != PROBE_USER;

		returns += t->functions[i].returns;
		kernel += is_kernel;
		kernel_returns += is_kernel && t->functions[i].returns;
	}
	log_verbose("tracing %zu functions, with returns of %zu", t->nr, returns);
	if (returns && (kernel_returns || !kernel))
		return;
	if (t->run)
		log_note("returns are not traced: this kernel has only kretprobes, which may lose "
			 "returns without counting them; durations and nesting are not available; "
			 "--returns attaches them anyway");
	else
		log_note("returns were not recorded: durations and nesting are not available; "
			 "record with calls or class --returns -w");
}

bool call_trace__tell_unkept(const struct call_trace *t)
{
	const uint64_t nr = t->calls ? calls__unkept(t->calls) : 0;

	if (nr)
		log_warn("%" PRIu64 " calls were inside %d other user functions of their task: the "
			 "kernel reports the returns of the outermost %d only; the "
			 "other calls have no duration and no nesting",
			 nr, CALLS_MOST_KEPT, CALLS_MOST_KEPT);
	return nr > 0;
}

/* Of a function that is not shown: whether records of its object were lost depends on it. */
static int call_trace_pass(struct call_trace *t, const struct call_event *event)
{
	const struct life_event life = {
		.object = call_trace__object(t, event->function, event->is_return, event->values),
		.nth = t->nth,
		.role = LIFE_CALL,
	};

	return t->lives ? lives__pass(t->lives, &life) : 0;
}

int call_trace__take(struct call_trace *t, const struct probe_record *record, const void *values)
{
	const uint32_t function = t->function_of[record->probe];
	const struct call_event event = {
		.ns = record->ns,
		.function = function,
		.cpu = record->cpu,
		.pid = record->pid,
		.tid = record->tid,
		.comm = record->comm,
		.is_return = record->probe != t->functions[function].entry,
		.returns = t->functions[function].returns,
		.is_user = call_trace__probe(t, function)->kind == PROBE_USER,
		.values = values,
		.bytes = t->request.plan.probes[record->probe].shown_bytes,
	};
	int err;

	t->nth = record->nth;
	err = t->functions[function].is_hidden ? call_trace_pass(t, &event)
					       : calls__take(t->calls, &event);
	if (err || !t->lives || record->ns < t->settled_ns + call_trace_settle_ns)
		return err == -ENOMEM ? log_no_memory() : err;
	t->settled_ns = record->ns;
	return lives__settle(t->lives, record->ns);
}

int call_trace__finish(struct call_trace *t)
{
	int err = calls__finish(t->calls);

	if (t->nr_counts)
		qsort(t->counts, t->nr_counts, sizeof(*t->counts), call_trace_compare_counts);
	if (!err && t->lives)
		err = lives__finish(t->lives);
	return err == -ENOMEM ? log_no_memory() : err;
}

void call_trace__free(struct call_trace *t)
{
	lives__free(t->lives);
	calls__free(t->calls);
	for (size_t i = 0; i < t->nr_fields; i++)
		free(t->fields[i]);
	for (size_t i = 0; t->functions && i < t->nr; i++) {
		free(t->functions[i].module);
		free(t->functions[i].prototype);
	}
	struct_layouts__free(&t->layouts);
	free(t->fields);
	free(t->functions);
	free(t->function_of);
	free(t->counts);
	free(t->own_name);
	btf__free(t->own_btf);
	request__free(&t->request);
}
