/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * find.h: what can be probed on this machine? Reads tracefs, the BTF of the kernel and its modules,
 * the kernel's symbols, ELF files and their USDT notes; each only when that kind is asked for.
 * Attaches nothing.
 */
#ifndef IOSONAR_PROBE_FIND_FIND_H
#define IOSONAR_PROBE_FIND_FIND_H

#include "probe/find/probe.h"

/* Keeps what it read for all specs; probes point into it, so free it after them. */
struct finder;
struct finder *finder__new(void); /* NULL: out of memory */
/* finder__new with a root ("" or a test's tree) before /sys and /proc. */
struct finder *finder__new_at(const char *root);
void finder__free(struct finder *finder);
/* From now on user functions have their arguments, from their program's DWARF; without DWARF, as
 * many as registers are asked for: arg0 to argN. */
void finder__want_user_args(struct finder *finder, uint32_t nr_registers);
uint32_t find_abi__nr_registers(void); /* number of argument registers on this machine */
/* `reg` of argument `nr`, if every argument before it is a number or a pointer. */
uint32_t find_abi__plain_register(uint32_t nr);

/* A probe that the spec names and why it is not available: "inlined", "not traceable (notrace)". */
struct find_miss {
	char *name, *why;
};
struct find_misses {
	struct find_miss *misses;
	size_t nr;
};
void find_misses__free(struct find_misses *misses);

/*
 * Appends the probes of a spec ("block:*", "fn:vfs_*", "profile:99"), sorted by name. -EINVAL: no
 * such spec, or nothing matches; -EACCES, -EOPNOTSUPP: this kernel or privilege cannot: one line is
 * said, with the nearest right name. Single functions of a glob that cannot be attached go to
 * misses; it is an error if all of them do.
 */
int finder__find(struct finder *finder, const char *spec, struct probe_list *list,
		 struct find_misses *misses);

/* finder__find for listing: a missing part means all: "", "block", "raw", "user:/bin/ls". */
int finder__list(struct finder *finder, const char *spec, struct probe_list *list,
		 struct find_misses *misses);

/* What could not be read, so that the result may promise too much; NULL: nothing. */
const char *finder__doubt(const struct finder *finder);

/* The running kernel's BTF; NULL: it has none. */
const struct btf *finder__vmlinux(struct finder *finder);
struct probe_task finder__task(struct finder *finder); /* of that BTF */
/* The name of a kernel address; NULL: unknown or hidden. For sym(). The first call reads
 * kallsyms (50 ms), so make it before privileges are dropped. */
const char *finder__symbol(struct finder *finder, uint64_t address, uint64_t *offset);

/*
 * Names for completion: all of a kind that match the glob ("blo*", "fn:vfs_*"), without fields,
 * hence fast. Says nothing; a negative errno, or what fn returned to stop it.
 */
typedef int (*finder_name_fn)(void *arg, const char *name);
int finder__names(struct finder *finder, const char *spec_glob, finder_name_fn fn, void *arg);

#endif
