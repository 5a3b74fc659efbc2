/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * class.c: which kernel functions handle a struct, and which of them can be attached? Uses the BTF
 * of vmlinux and its modules: functions that take a pointer to the struct or return one. Attaches
 * nothing; without root it cannot tell which functions ftrace knows.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "base/log.h"
#include "calls/class_trace.h"
#include "capture/read.h"
#include "cmd/cmd.h"
#include "decode/column.h"
#include "probe/class/class.h"
#include "session/probe_source.h"
#include "view/listing.h"

enum {
	CLASS_WIDTH_MOST = 40, /* columns: longer names do not widen the others */
	CLASS_PROTOTYPE_MOST = 4096,
};

struct class_view {
	/* options */
	struct option_list structs;
	bool list, names;
	struct option_list only, not, with;
	struct option_list births, deaths;
	const char *module;
	struct class_trace trace;
	/* state */
	struct listing to;
	struct finder *finder;
	struct class class;
	struct table *table; /* of names alone */
};

/*
 * function    module     argument  attach  role   prototype
 * bio_endio   -          1         yes     spine  void bio_endio(struct bio *bio)
 */
struct function_row {
	const char *function, *module, *argument, *attach, *role, *prototype;
};

#define FUNCTION(name) offsetof(struct function_row, name)

static const struct column function_columns[] = {
	{ "function", "function", CELL_TEXT, 0, "name of the function", .at = FUNCTION(function) },
	{ "module", "module", CELL_TEXT, 0, "kernel module that contains it; null: none",
	  .at = FUNCTION(module) },
	{ "argument", "arg", CELL_TEXT, 5,
	  "number of the argument that points to the struct, from 1; ret: returned; null: from "
	  "--with",
	  .at = FUNCTION(argument) },
	{ "attach", "attach", CELL_TEXT, 0, "yes, or why it cannot be attached",
	  .at = FUNCTION(attach) },
	{ "role", "role", CELL_TEXT, 5,
	  "birth, death: begins or ends an object; spine: part of the preset; with: from --with",
	  .at = FUNCTION(role) },
	{ "prototype", "prototype", CELL_TEXT, 0, "prototype in C; null: unknown",
	  .at = FUNCTION(prototype) },
	{ 0 },
};

static const struct column struct_columns[] = {
	{ "name", "name", CELL_TEXT, 0, "name of a preset or struct", .at = 0 },
	{ 0 },
};

static const struct object function_object = { "function", { function_columns } };
static const struct object struct_object = { "struct", { struct_columns } };
static const struct object *const class_objects[] = {
	&lives_view_life,	&lives_view_step,
	&lives_view_transition, &lives_view_path,
	&calls_view_object,	&graph_view_object,
	&probe_ledger_object,	&function_object,
	&struct_object,		NULL,
};

static const struct option_def class_options[] = {
	{ "STRUCT", 0, OPTION_OPERANDS, offsetof(struct class_view, structs), "STRUCT",
	  "struct to follow: bio, request, nvme_request, folio, inode, file (these have a preset) "
	  "or any other",
	  .completes = "struct", .is_capture = capture__is_one },
	{ "list", 0, OPTION_FLAG, offsetof(struct class_view, list), NULL,
	  "list the functions, and why any cannot be attached" },
	{ "only", 0, OPTION_LIST, offsetof(struct class_view, only), "GLOB,...",
	  "only these functions, and births and deaths" },
	{ "not", 0, OPTION_LIST, offsetof(struct class_view, not ), "GLOB,...",
	  "leave out these functions" },
	{ "with", 0, OPTION_LIST, offsetof(struct class_view, with), "GLOB,...",
	  "also these functions, without data of the object, e.g. 'blk_*,nvme_*'" },
	{ "module", 0, OPTION_STRING, offsetof(struct class_view, module), "MODULE",
	  "only functions of this kernel module, and births and deaths, e.g. nvme_core" },
	{ "birth", 0, OPTION_LIST, offsetof(struct class_view, births), "GLOB,...",
	  "functions that begin an object, instead of the preset's" },
	{ "death", 0, OPTION_LIST, offsetof(struct class_view, deaths), "GLOB,...",
	  "functions that end an object, instead of the preset's" },
	{ "all", 0, OPTION_FLAG, offsetof(struct class_view, trace.all), NULL,
	  "also functions outside the preset; attaching is slow" },
	{ "fields", 0, OPTION_LIST, offsetof(struct class_view, trace.fields), "MEMBER,...",
	  "members to read, e.g. bi_iter.bi_sector,bi_bdev->bd_disk->disk_name" },
	{ "device", 'd', OPTION_LIST, offsetof(struct class_view, trace.devices), "DISK",
	  "only objects of this disk, e.g. nvme0n1; repeatable", .completes = "device" },
	{ "pid", 'p', OPTION_NUMBER, offsetof(struct class_view, trace.pid), "PID",
	  "only objects with their first step in this process", .min = 1, .max = 4194304,
	  .completes = "pid" },
	{ "if", 0, OPTION_STRING, offsetof(struct class_view, trace.condition), "EXPR",
	  "only objects with EXPR true, e.g. 'bi_size > 4Ki'" },
	{ "calls", 0, OPTION_FLAG, offsetof(struct class_view, trace.calls), NULL,
	  "show nested calls, with arguments and changes" },
	{ "graph", 0, OPTION_FLAG, offsetof(struct class_view, trace.graph), NULL,
	  "sum up all calls at the end: counts and times by function and callers" },
	{ "min", 0, OPTION_DURATION, offsetof(struct class_view, trace.min_ns), "TIME",
	  "with --calls, --graph: leave out calls shorter than this, and the calls inside them" },
	{ "depth", 0, OPTION_NUMBER, offsetof(struct class_view, trace.depth), "N",
	  "with --calls, --graph: at most N levels of calls", .min = 1, .max = 1000 },
	{ "summary", 0, OPTION_FLAG, offsetof(struct class_view, trace.summary), NULL,
	  "show only the summary of all objects" },
	{ "returns", 0, OPTION_FLAG, offsetof(struct class_view, trace.returns), NULL,
	  "trace returns even where the kernel may miss some without counting them" },
	{ "addresses", 0, OPTION_FLAG, offsetof(struct class_view, trace.addresses), NULL,
	  "with -w: write real addresses instead of hashes" },
	{ "buffer", 0, OPTION_SIZE, offsetof(struct class_view, trace.buffer), "SIZE",
	  "size of each CPU's ring (default 8Mi); a full ring drops whole objects and counts them",
	  .min = 4096, .max = 1 << 30 },
	{ "max-rate", 0, OPTION_NUMBER, offsetof(struct class_view, trace.max_rate), "N",
	  "drop new objects, whole, above N records per second (default 500000); 0: never",
	  .max = 1000000000 },
	{ "source", 0, OPTION_STRING, offsetof(struct class_view, trace.source), "DIR",
	  "with -o html: show source code from this kernel tree", .completes = "file" },
	{ "emit", 0, OPTION_FLAG, offsetof(struct class_view, trace.emit), NULL,
	  "print the generated BPF instructions" },
	{ "names", 0, OPTION_FLAG, offsetof(struct class_view, names), NULL,
	  "print names of structs that begin with STRUCT", .not_with = "list" },
	{ 0 },
};

static const struct option_group class_group = { "Which functions", class_options };
static int class_run(void *state, const struct options *options, char **argv);

const struct cmd cmd_class = {
	.name = "class",
	.group = "any event",
	.brief = "every function that handles a struct, object by object",
	.synopsis = "[options] STRUCT [-- COMMAND...]",
	.groups = CMD_GROUPS(&run_group, OUTPUT_IN(OUTPUT_CALLS), &write_group, &read_group,
			     &alias_group),
	.own = &class_group,
	.view_size = sizeof(struct class_view),
	.objects = class_objects,
	.run = class_run,
	.needs = NEED_PROGRAMS | NEED_RINGS | NEED_FUNCTIONS,
};

/* ---- a line for each function ---- */

/* "2", "ret", "1+ret": arguments are counted from 1. */
static const char *function_argument(const struct class_function *f, char *buf, size_t size)
{
	if (f->is_without)
		return NULL;
	if (f->argument < 0)
		return "ret";
	snprintf(buf, size, "%d%s", f->argument + 1, f->returns ? "+ret" : "");
	return buf;
}

static void class_widen(int *width, const char *text)
{
	size_t columns = text ? text__width(text) : 1;

	if (columns <= CLASS_WIDTH_MOST && (int)columns > *width)
		*width = (int)columns;
}

static void function_show(const struct class_view *v, const struct class_function *f, int before,
			  struct table *table)
{
	char argument[16], prototype[CLASS_PROTOTYPE_MOST];
	const struct function_row row = {
		.function = f->name,
		.module = f->module,
		.argument = function_argument(f, argument, sizeof(argument)),
		.attach = f->why ? f->why : "yes",
		.role = f->is_without ? "with"
			: f->is_birth ? "birth"
			: f->is_death ? "death"
			: f->is_spine ? "spine"
				      : NULL,
		.prototype = f->prototype ? prototype : NULL,
	};

	snprintf(prototype, sizeof(prototype), "%s", f->prototype ? f->prototype : "");
	listing__cut(&v->to, prototype, before);
	table__row(table, &row);
}

static int class_show(const struct class_view *v)
{
	enum { FUNCTION_COLUMN, MODULE_COLUMN, ARGUMENT_COLUMN, ATTACH_COLUMN, ROLE_COLUMN, NR };
	const struct column *shown[OBJECT_COLUMNS];
	struct column sized[NR];
	size_t nr = object__columns(&function_object, shown);
	struct table *table;
	int before = 0;

	for (size_t i = 0; i < NR; i++) {
		sized[i] = *shown[i];
		shown[i] = &sized[i];
	}
	for (size_t i = 0; i < v->class.nr; i++) {
		class_widen(&sized[FUNCTION_COLUMN].width, v->class.functions[i].name);
		class_widen(&sized[MODULE_COLUMN].width, v->class.functions[i].module);
		class_widen(&sized[ATTACH_COLUMN].width, v->class.functions[i].why);
	}
	for (size_t i = 0; i < NR; i++)
		before += sized[i].width + 1;
	table = table__new(v->to.out, v->to.format, function_object.type, shown, nr);
	if (!table)
		return log_no_memory();
	for (size_t i = 0; i < v->class.nr; i++)
		function_show(v, &v->class.functions[i], before, table);
	table__free(table);
	return 0;
}

/* bio: 185 functions take it, 6 more only return it; 158 can be attached */
static void class_sum_up(const struct class_view *v)
{
	const struct class *c = &v->class;
	const char *doubt = finder__doubt(v->finder);

	log_note("%s: %zu functions take it, %zu more only return it; %zu can be attached",
		 c->object, c->nr_arguments, c->nr_only_return, c->nr_attachable);
	if (class__is_narrow(c))
		log_note("this kernel's BTF has %zu functions, ftrace has %zu: other functions "
			 "that take it are unknown",
			 c->nr_known, c->nr_traceable);
	if (doubt)
		log_note("%s", doubt);
}

static struct class_wants class_wants(const struct class_view *v)
{
	return (struct class_wants){
		.name = v->structs.nr ? v->structs.words[0] : NULL,
		.module = v->module,
		.only = v->only.words,
		.nr_only = v->only.nr,
		.not = v->not .words,
		.nr_not = v->not .nr,
		.with = v->with.words,
		.nr_with = v->with.nr,
		.births = v->births.words,
		.nr_births = v->births.nr,
		.deaths = v->deaths.words,
		.nr_deaths = v->deaths.nr,
	};
}

static int class_list(struct class_view *v)
{
	const struct class_wants wants = class_wants(v);
	int err = class__find(&v->class, v->finder, &wants);

	err = err ? err : class_show(v);
	if (!err)
		class_sum_up(v);
	class__free(&v->class);
	return err;
}

/* ---- only names ---- */

static int class_put_name(void *arg, const char *name)
{
	struct class_view *v = arg;

	table__row(v->table, &name);
	return 0;
}

static int class_name_structs(struct class_view *v)
{
	const struct column *const shown[] = { &struct_columns[0] };
	const char *prefix = v->structs.nr ? v->structs.words[0] : "";
	int err;

	v->table = table__new(v->to.out, v->to.format, struct_object.type, shown, 1);
	err = v->table ? class__names(v->finder, prefix, class_put_name, v) : log_no_memory();
	table__free(v->table);
	return err;
}

/* ---- the run ---- */

static int class_find(struct class_view *v, const struct output_options *o)
{
	int err = listing__open(&v->to, o, NULL);

	if (err)
		return err;
	v->finder = finder__new();
	if (!v->finder)
		err = log_no_memory();
	else
		err = v->names ? class_name_structs(v) : class_list(v);
	finder__free(v->finder);
	return output__finish(&v->to.output, err);
}

/* What decides what is recorded: a capture holds the result. */
static int class_check_replay(const struct class_view *v)
{
	const struct class_trace *t = &v->trace;
	const struct option_given recording[] = {
		{ v->with.nr, "--with" },
		{ v->module, "--module" },
		{ v->births.nr, "--birth" },
		{ v->deaths.nr, "--death" },
		{ t->all, "--all" },
		{ v->list, "--list" },
		{ v->names, "--names" },
		{ t->returns, "--returns" },
		{ t->addresses, "--addresses" },
		{ t->buffer.given, "--buffer" },
		{ t->max_rate.given, "--max-rate" },
		{ t->emit, "--emit" },
	};
	const char *given =
		options__first_given(recording, sizeof(recording) / sizeof(recording[0]));

	if (v->structs.nr)
		return log_err(-EINVAL, "class -r takes no STRUCT (got '%s')", v->structs.words[0]);
	return given ? log_err(-EINVAL, "class -r does not support %s: it applies to recording",
			       given)
		     : 0;
}

static int class_check(const struct class_view *v, const struct options *options, char **argv)
{
	if (v->structs.nr > 1)
		return log_err(-EINVAL, "class takes only one STRUCT (also got '%s')",
			       v->structs.words[1]);
	if (options->file.read.nr)
		return class_check_replay(v);
	if (!v->structs.nr && !v->names)
		return log_err(-EINVAL, "class requires a STRUCT, e.g. bio, request or any other "
					"struct of the kernel");
	if ((v->list || v->names) && options->output.format > OUTPUT_CSV)
		return log_err(-EINVAL,
			       "class --list and --names support only -o text, json and csv");
	if (argv[0] && (v->list || v->names))
		return log_err(-EINVAL, "class --list and --names take no COMMAND (got '%s')",
			       argv[0]);
	return 0;
}

static int class_run(void *state, const struct options *options, char **argv)
{
	struct class_view *v = state;
	int err = class_check(v, options, argv);
	struct class_wants wants;

	if (err)
		return err;
	if (v->list || v->names)
		return class_find(v, &options->output);
	wants = class_wants(v);
	return class_trace__run(&v->trace, &wants, options, argv);
}
