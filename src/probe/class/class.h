/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * class.h: which functions of this kernel take a struct by pointer, or return one, and which of
 * them can be attached? Of vmlinux and its modules, by BTF; finds and says why not, attaches
 * nothing. A preset knows what makes sense out of the box: which functions are the spine of such an
 * object's way, where it is born and dies, which members tell something.
 */
#ifndef IOSONAR_PROBE_CLASS_CLASS_H
#define IOSONAR_PROBE_CLASS_CLASS_H

#include "probe/find/find.h"

/* The spine has births and deaths in it. */
enum { CLASS_MAX_SPINE = 48, CLASS_MAX_ENDS = 12, CLASS_MAX_FIELDS = 16 };

struct class_preset {
	const char *name;   /* as the user says it: "bio" */
	const char *object; /* the struct that functions take: "request" for nvme_request */
	const char *behind; /* members are of this struct, which lies behind it; or NULL */
	const char *spine[CLASS_MAX_SPINE + 1]; /* NULL at the end; of all kernels */
	/*
	 * Likewise. Of a birth that returns one, that one is born, else its argument; it may call
	 * another birth of the same object (bio_alloc_bioset does bio_init), and so may a death.
	 */
	const char *births[CLASS_MAX_ENDS + 1], *deaths[CLASS_MAX_ENDS + 1];
	bool outlives; /* a death may be one of several: called on it until its next birth: still it
			*/
	/* Members, as --fields takes them; "a|b": the first that this kernel has. */
	const char *fields[CLASS_MAX_FIELDS + 1];
};
const struct class_preset *class_preset__find(const char *name); /* NULL: there is none */
extern const struct class_preset *const class_presets[];	 /* NULL at the end */

struct class_function {
	const char *name;   /* the finder's */
	const char *module; /* likewise; NULL: vmlinux */
	char *why;	    /* it cannot be attached; NULL: it can */
	int argument;	    /* the first that points to the struct, from 0; -1: none does */
	bool returns;	    /* it returns one */
	bool is_birth, is_death, is_spine;
	bool is_without;       /* of --with: it has no object, or it is not shown */
	char *prototype;       /* NULL: not known, of --with only */
	const struct btf *btf; /* where its prototype is */
	uint32_t btf_id;       /* 0: nowhere */
	uint64_t address;      /* 0: hidden */
};

struct class_wants {
	const char *name;   /* of the preset or the struct: "bio", "struct bio" */
	const char *module; /* of this one alone; NULL: vmlinux and what is loaded */
	/* Globs: of these only; not these; these too, without data. Births and deaths are always
	 * in, for without them objects cannot be told apart. */
	const char *const *only, *const * not, *const *with;
	size_t nr_only, nr_not, nr_with;
	const char *const *births, *const *deaths; /* instead of the preset's; globs */
	size_t nr_births, nr_deaths;
};

struct class
{
	const struct class_preset *preset; /* NULL: none */
	const char *object;		   /* the struct's name; the preset's or the finder's */
	struct class_function *functions;  /* by name, then module */
	size_t nr;
	/* Of those, without what is of --with alone: */
	size_t nr_arguments;   /* take it */
	size_t nr_only_return; /* beside them */
	size_t nr_attachable;
	size_t nr_known,
		nr_traceable; /* functions of vmlinux: in BTF, in ftrace's list; 0: not read */
};

/* -EINVAL (said): no such struct, with the nearest one; no function takes it; globs that match none
 * of them. -EOPNOTSUPP: this kernel has no BTF. -ENOMEM. */
int class__find(struct class *class, struct finder *finder, const struct class_wants *wants);
void class__free(struct class *class);
/* BTF lacks many functions that could be traced: of Linux 5.10 those that are static. */
bool class__is_narrow(const struct class *class);

/*
 * Entry or return (PROBE_FN, PROBE_RET) of one that can be attached, appended to the list with its
 * fields: arguments at the return, too, which fentry has there and kprobes do not. There `ret` is
 * what it returns, and an argument that is called so goes by its number: arg1. -ENOMEM.
 */
int class__add_probe(const struct class_function *function, enum probe_kind kind,
		     struct probe_list *list);

/* Whose members fields are of: the struct itself, or what lies so far behind it. false: BTF of
 * neither vmlinux nor its modules has it (nvme_request on 5.10). */
bool class__members(const struct class *class, struct finder *finder, struct type *of,
		    uint32_t *offset_bytes);
/* Which of "a->b|c.d" this kernel has: the first; cut at size. false: none. */
bool class__pick_field(const struct type *of, const char *alternatives, char *buf, size_t size);

/* Names of structs for completion: presets, then all that begin so. */
int class__names(struct finder *finder, const char *prefix, finder_name_fn fn, void *arg);

#endif
