/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace.h: traces functions from entry to return and turns their records into nested calls and
 * lives of the objects they handle. Shared by `class` and `calls`, except the output.
 */
#ifndef IOSONAR_CALLS_TRACE_H
#define IOSONAR_CALLS_TRACE_H

#include "analyse/lives.h"
#include "calls/struct_layout.h"
#include "probe/class/class.h"
#include "probe/run/request.h"

struct session;

#define CALL_TRACE_NONE UINT32_MAX

/* What is known about an object at a function's entry or return. */
struct call_trace_place {
	char object[16]; /* its expression: "arg0", "ret"; "": none */
	enum life_role role;
};

struct call_trace_function {
	uint32_t entry, exit; /* numbers in the plan; exit may be CALL_TRACE_NONE */
	bool returns;	      /* its return is traced */
	struct call_trace_place at_entry, at_exit;
	char *module, *prototype; /* from a capture, or NULL */
	bool is_hidden;		  /* of a capture: its records are only counted */
};

struct call_trace {
	/* made here */
	struct request request; /* entries are its probes, returns its ends */
	struct call_trace_function *functions;
	size_t nr;
	uint32_t *function_of; /* by number in the plan */
	/* Of an object: itself first, then the requested fields, without gaps. */
	char **fields;
	size_t nr_fields;
	struct plan_part members[CLASS_MAX_FIELDS + 1];
	size_t nr_members, member_bytes;	      /* 0: there are no objects */
	struct plan_part shown[CLASS_MAX_FIELDS + 1]; /* those of members, in this order */
	size_t nr_shown, nr_hidden;		      /* hidden: the last fields, for filters */
	uint32_t behind_bytes;			      /* distance from the object to its members */
	struct type member_type;		      /* whose they are */
	const struct btf *btf;			      /* where words for numbers are looked up */
	const char *name; /* struct of the objects: "bio"; NULL, "": no objects */
	struct calls *calls;
	struct lives *lives; /* NULL: no objects */
	/* set by the view */
	int (*on_tree)(void *arg, const struct call *root);
	int (*on_life)(void *arg, const struct life *life);
	void *arg;
	uint32_t nr_registers; /* number to show for user functions without DWARF */
	size_t most_functions; /* of globs: more are refused */
	/* at work */
	struct run *run; /* NULL: from a capture */
	uint64_t nth;	 /* of the current record */
	uint64_t settled_ns;
	/* of a capture */
	struct btf *own_btf;
	char *own_name;
	bool has_layouts; /* from call_trace__lay_structs or the capture */
	struct struct_layouts layouts;
	uint64_t lost;			 /* records lost before the current one */
	struct call_trace_count *counts; /* of objects, at the end */
	size_t nr_counts;
};

struct call_trace_count {
	uint64_t object, count;
};

/* Takes globs of functions, also user:PATH:GLOB. 0, or a negative errno (said). */
int call_trace__of_globs(struct call_trace *trace, const struct option_list *globs,
			 const struct options *options);
/* Takes the functions of a class that can be attached: its spine, or all. */
struct call_trace_class {
	const struct class *class; /* found with asked.finder */
	bool all;
	const struct option_list *fields; /* empty: the preset's */
	bool reads_disk;		  /* -d: also where fields lack the disk's name */
};
int call_trace__of_class(struct call_trace *trace, const struct call_trace_class *wants);
void call_trace__free(struct call_trace *trace);

int call_trace__start(struct call_trace *trace, struct run *run); /* attached; NULL: of a capture */
void call_trace__tell_returns(const struct call_trace *trace);	  /* traced returns; none: why */
/* At the end: reports calls whose returns the kernel dropped because too many were nested. true:
 * there were some. */
bool call_trace__tell_unkept(const struct call_trace *trace);
int call_trace__take(struct call_trace *trace, const struct probe_record *record,
		     const void *values);
int call_trace__finish(struct call_trace *trace); /* hands on everything still open */

/* For reading a capture: adds a field; lays out the members; sets the number of records that an
 * object should have. -ENOMEM, not said. */
int call_trace__add_field(struct call_trace *trace, const char *name);
int call_trace__lay_out(struct call_trace *trace);
int call_trace__note_count(struct call_trace *trace, uint64_t object, uint64_t count);
/* Adds the structs of objects and arguments to layouts, from this kernel's BTF. -ENOMEM, said. */
int call_trace__lay_structs(struct call_trace *trace);

/* ---- trace_choice.c: what is shown; all -EINVAL, said ---- */

bool call_trace__is_disk(const char *field, size_t len); /* the name of a disk: "...disk_name" */
/* The field that is a disk's name; "": it is among those of the trace. */
int call_trace__find_disk(const struct call_trace *trace, const struct class *class, char *field,
			  size_t size);
/* Of a capture, when its functions are known: --fields; -d; --only and --not, of which births and
 * deaths are always shown. */
int call_trace__choose_fields(struct call_trace *trace, const struct option_list *fields);
int call_trace__check_disk(const struct call_trace *trace, const struct option_list *devices);
int call_trace__choose_functions(struct call_trace *trace, const struct class_wants *wants);

/* False at an entry that gives birth: members are the previous object's, or not set. */
bool call_trace__has_fields(const struct call_trace_place *place, bool is_return);
const struct probe *call_trace__probe(const struct call_trace *trace, uint32_t function);
/* The function's module or file, and its C prototype; NULL: none, or unknown. */
const char *call_trace__module(const struct call_trace *trace, uint32_t function);
const char *call_trace__prototype(const struct call_trace *trace, uint32_t function, char *buf,
				  size_t size);
/* Its parts of a record: arguments at the entry, ret at the return. */
const struct plan_shown *call_trace__shown(const struct call_trace *trace, uint32_t function,
					   bool is_return, size_t *nr);
/* Copies the members in a record, member_bytes of them. false: it has none. */
bool call_trace__members(const struct call_trace *trace, uint32_t function, bool is_return,
			 const void *values, void *bytes);
/* A bit for each of these members that is not 0; none for the first, which is the object's address.
 */
uint64_t call_trace__set(const struct call_trace *t, const char *bytes);
/* The object in a record, or 0. */
uint64_t call_trace__object(const struct call_trace *trace, uint32_t function, bool is_return,
			    const void *values);
/* The object of a call, from its entry or else its return. */
uint64_t call_trace__object_of(const struct call_trace *trace, const struct call *call);

#endif
