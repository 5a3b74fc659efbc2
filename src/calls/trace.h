/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace.h: functions that are traced from entry to return, and what becomes of their records:
 * nested calls, and lives of the objects that they are about. What `class` and `calls` share, up to
 * what is shown.
 */
#ifndef IOSONAR_CALLS_TRACE_H
#define IOSONAR_CALLS_TRACE_H

#include "analyse/lives.h"
#include "calls/struct_layout.h"
#include "probe/class/class.h"
#include "probe/run/request.h"

struct session;

#define CALL_TRACE_NONE UINT32_MAX

/* What is known of an object where a function is entered, or left. */
struct call_trace_place {
	char object[16]; /* its expression: "arg0", "ret"; "": none */
	enum life_role role;
};

struct call_trace_function {
	uint32_t entry, exit; /* numbers in the plan; exit: CALL_TRACE_NONE */
	bool returns;	      /* its return is seen */
	struct call_trace_place at_entry, at_exit;
	char *module, *prototype; /* of a capture; NULL: none */
	bool is_hidden;		  /* of a capture: its records are only counted */
};

struct call_trace {
	/* made here */
	struct request request; /* entries are its probes, returns its ends */
	struct call_trace_function *functions;
	size_t nr;
	uint32_t *function_of; /* by number in the plan */
	/* Of an object: itself first, then fields as they were asked for; one behind the other. */
	char **fields;
	size_t nr_fields;
	struct plan_part members[CLASS_MAX_FIELDS + 1];
	size_t nr_members, member_bytes;	      /* 0: there are no objects */
	struct plan_part shown[CLASS_MAX_FIELDS + 1]; /* those of members, in this order */
	size_t nr_shown, nr_hidden;		      /* hidden: the last fields, for filters */
	uint32_t behind_bytes;			      /* that members lie behind the object */
	struct type member_type;		      /* whose they are */
	const struct btf *btf;			      /* where words for numbers are looked up */
	const char *name; /* what the objects are: "bio"; NULL, "": there are none */
	struct calls *calls;
	struct lives *lives; /* NULL: no objects */
	/* given by the view */
	int (*on_tree)(void *arg, const struct call *root);
	int (*on_life)(void *arg, const struct life *life);
	void *arg;
	uint32_t nr_registers; /* shown of user functions without DWARF */
	size_t most_functions; /* of globs: more are refused */
	/* at work */
	struct run *run; /* NULL: of a capture */
	uint64_t nth;	 /* of the record at hand */
	uint64_t settled_ns;
	/* of a capture */
	struct btf *own_btf;
	char *own_name;
	bool has_layouts; /* call_trace__lay_structs found them, or the capture had them */
	struct struct_layouts layouts;
	uint64_t lost;			 /* records, up to the one at hand */
	struct call_trace_count *counts; /* of objects, at the end */
	size_t nr_counts;
};

struct call_trace_count {
	uint64_t object, count;
};

/* Globs of functions; user:PATH:GLOB, too. 0, or a negative errno (said). */
int call_trace__of_globs(struct call_trace *trace, const struct option_list *globs,
			 const struct options *options);
/* Those of a class that can be attached: its spine, or all. */
struct call_trace_class {
	const struct class *class; /* found with asked.finder */
	bool all;
	const struct option_list *fields; /* empty: the preset's */
	bool reads_disk;		  /* -d: also where fields lack the disk's name */
};
int call_trace__of_class(struct call_trace *trace, const struct call_trace_class *wants);
void call_trace__free(struct call_trace *trace);

int call_trace__start(struct call_trace *trace, struct run *run); /* attached; NULL: of a capture */
void call_trace__tell_returns(const struct call_trace *trace);	  /* how many are seen; none: why */
/* At the end: calls whose returns the kernel did not keep, since too many were inside one another.
 * true: there were some. */
bool call_trace__tell_unkept(const struct call_trace *trace);
int call_trace__take(struct call_trace *trace, const struct probe_record *record,
		     const void *values);
int call_trace__finish(struct call_trace *trace); /* everything that is open is handed on */

/* For who makes one of a capture: one field more; what members there are; how many records an
 * object should have had. -ENOMEM, not said. */
int call_trace__add_field(struct call_trace *trace, const char *name);
int call_trace__lay_out(struct call_trace *trace);
int call_trace__note_count(struct call_trace *trace, uint64_t object, uint64_t count);
/* Structs of objects and arguments, into layouts, by this kernel's BTF. -ENOMEM, said. */
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

/* Of what is just being born members are the last one's, or nobody's. */
bool call_trace__has_fields(const struct call_trace_place *place, bool is_return);
const struct probe *call_trace__probe(const struct call_trace *trace, uint32_t function);
/* Its module or file, and its prototype as C writes it; NULL: none, or not known. */
const char *call_trace__module(const struct call_trace *trace, uint32_t function);
const char *call_trace__prototype(const struct call_trace *trace, uint32_t function, char *buf,
				  size_t size);
/* Its parts of a record: arguments at the entry, ret at the return. */
const struct plan_shown *call_trace__shown(const struct call_trace *trace, uint32_t function,
					   bool is_return, size_t *nr);
/* The members that a record holds, member_bytes of them. false: it holds none. */
bool call_trace__members(const struct call_trace *trace, uint32_t function, bool is_return,
			 const void *values, void *bytes);
/* The object that they are of; 0: none. */
uint64_t call_trace__object(const struct call_trace *trace, uint32_t function, bool is_return,
			    const void *values);
/* Of a call: at its entry, or else at its return. */
uint64_t call_trace__object_of(const struct call_trace *trace, const struct call *call);

#endif
