/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * class.h: which functions of this kernel take a struct by pointer, or return one, and which of
 * them can be attached? Searches the BTF of vmlinux and its modules and says why a function cannot
 * be attached; attaches nothing. A preset has defaults: the functions that make up the spine of an
 * object's life, its births and deaths, and the members worth showing.
 */
#ifndef IOSONAR_PROBE_CLASS_CLASS_H
#define IOSONAR_PROBE_CLASS_CLASS_H

#include "probe/find/find.h"

/* The spine includes births and deaths. */
enum { CLASS_MAX_SPINE = 48, CLASS_MAX_ENDS = 12, CLASS_MAX_FIELDS = 16 };

struct class_preset {
	const char *name;   /* as the user writes it: "bio" */
	const char *object; /* the struct that functions take: "request" for nvme_request */
	const char *behind; /* members are of this struct, which follows the object; or NULL */
	const char *spine[CLASS_MAX_SPINE + 1]; /* NULL at the end; for all kernels */
	/*
	 * As above. If a birth returns an object, that is born, else its argument is; it may call
	 * another birth of the same object (bio_alloc_bioset calls bio_init), and so may a death.
	 */
	const char *births[CLASS_MAX_ENDS + 1], *deaths[CLASS_MAX_ENDS + 1];
	bool outlives; /* not every death is final: until its next birth the object is the same */
	/* Members, as --fields takes them; "a|b": the first that this kernel has. */
	const char *fields[CLASS_MAX_FIELDS + 1];
};
const struct class_preset *class_preset__find(const char *name); /* NULL: not found */
extern const struct class_preset *const class_presets[];	 /* NULL at the end */

struct class_function {
	const char *name;   /* the finder's */
	const char *module; /* likewise; NULL: vmlinux */
	char *why;	    /* why it cannot be attached; NULL: it can */
	int argument;	    /* the first argument that points to the struct, from 0; -1: none */
	bool returns;	    /* it returns one */
	bool is_birth, is_death, is_spine;
	bool is_without;       /* from --with: it has no object, or the object is not shown */
	char *prototype;       /* NULL: unknown, only with --with */
	const struct btf *btf; /* holds its prototype */
	uint32_t btf_id;       /* 0: nowhere */
	uint64_t address;      /* 0: hidden */
};

struct class_wants {
	const char *name;   /* of the preset or the struct: "bio", "struct bio" */
	const char *module; /* only this module; NULL: vmlinux and all loaded modules */
	/* Globs: only these; not these; these too, without data. Births and deaths are always
	 * included: without them objects cannot be told apart. */
	const char *const *only, *const * not, *const *with;
	size_t nr_only, nr_not, nr_with;
	const char *const *births, *const *deaths; /* instead of the preset's; globs */
	size_t nr_births, nr_deaths;
};

struct class
{
	const struct class_preset *preset; /* NULL: none */
	const char *object;		   /* the struct's name; the preset or finder owns it */
	struct class_function *functions;  /* sorted by name, then module */
	size_t nr;
	/* Counts of those functions, without those from --with alone: */
	size_t nr_arguments;   /* take it */
	size_t nr_only_return; /* beside them */
	size_t nr_attachable;
	size_t nr_known,
		nr_traceable; /* functions of vmlinux in BTF and in ftrace's list; 0: not read */
};

/* -EINVAL (said): no such struct (suggests the nearest), no function takes it, or globs that
 * match no function. -EOPNOTSUPP: this kernel has no BTF. -ENOMEM. */
int class__find(struct class *class, struct finder *finder, const struct class_wants *wants);
void class__free(struct class *class);
/* BTF lacks many functions that could be traced: on Linux 5.10 the static ones. */
bool class__is_narrow(const struct class *class);

/*
 * Appends the entry or return (PROBE_FN, PROBE_RET) of an attachable function to the list, with its
 * fields. The return has the arguments too, which fentry has there and kprobes do not; there `ret`
 * is the returned value, and an argument named ret goes by its number: arg1. -ENOMEM.
 */
int class__add_probe(const struct class_function *function, enum probe_kind kind,
		     struct probe_list *list);

/* The struct that --fields names members of: the class's struct, or the one at *offset_bytes
 * from it. false: not in the BTF of vmlinux or its modules (nvme_request on 5.10). */
bool class__members(const struct class *class, struct finder *finder, struct type *of,
		    uint32_t *offset_bytes);
/* The first of "a->b|c.d" that this kernel has; cut at size. false: none. */
bool class__pick_field(const struct type *of, const char *alternatives, char *buf, size_t size);

/* Names of structs for completion: presets, then all structs with this prefix. */
int class__names(struct finder *finder, const char *prefix, finder_name_fn fn, void *arg);

#endif
