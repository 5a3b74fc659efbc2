/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * find.h: what can be probed on this machine? Reads tracefs, the kernel's BTF and modules', its
 * symbols, ELF files and their USDT notes; each only when somebody asks for that kind. Attaches
 * nothing.
 */
#ifndef IOSONAR_PROBE_FIND_FIND_H
#define IOSONAR_PROBE_FIND_FIND_H

#include "probe/find/probe.h"

/* What was read so far, once for all specs; probes point into it, so it is freed after them. */
struct finder;
struct finder *finder__new(void); /* NULL: out of memory */
/* The same below a root ("" or a test's tree) that stands before /sys and /proc. */
struct finder *finder__new_at(const char *root);
void finder__free(struct finder *finder);
/* From here on: user functions have their arguments, by their program's DWARF; where it says
 * nothing, as many as registers are asked for, arg0 to argN. */
void finder__want_user_args(struct finder *finder, uint32_t nr_registers);
uint32_t find_abi__nr_registers(void); /* that hold arguments on this machine */

/* One that the spec meant, and why it cannot be had: "inlined", "not traceable (notrace)". */
struct find_miss {
	char *name, *why;
};
struct find_misses {
	struct find_miss *misses;
	size_t nr;
};
void find_misses__free(struct find_misses *misses);

/*
 * Appends what a spec ("block:*", "fn:vfs_*", "profile:99") means, in the order of their names.
 * -EINVAL: no such spec, or nothing matches; -EACCES, -EOPNOTSUPP: this kernel or privilege cannot:
 * one line is said, with the nearest right name. Single functions of a glob that cannot be attached
 * go to misses; if all of them do it is an error.
 */
int finder__find(struct finder *finder, const char *spec, struct probe_list *list,
		 struct find_misses *misses);

/* The same for who looks around: what is missing means all: "", "block", "raw", "user:/bin/ls". */
int finder__list(struct finder *finder, const char *spec, struct probe_list *list,
		 struct find_misses *misses);

/* What could not be read while it looked, so that the answer may promise too much; NULL: nothing.
 */
const char *finder__doubt(const struct finder *finder);

/* The running kernel's BTF; NULL: it has none. */
const struct btf *finder__vmlinux(struct finder *finder);
/* Its name for an address; NULL: not known or hidden. For sym(). The first call reads kallsyms (50
 * ms): to be made before privileges are dropped. */
const char *finder__symbol(struct finder *finder, uint64_t address, uint64_t *offset);

/*
 * Names for completion: everything of a kind whose name matches the glob ("blo*", "fn:vfs_*"),
 * without fields, so quickly. Says nothing; a negative errno, or what fn returned to stop it.
 */
typedef int (*finder_name_fn)(void *arg, const char *name);
int finder__names(struct finder *finder, const char *spec_glob, finder_name_fn fn, void *arg);

#endif
