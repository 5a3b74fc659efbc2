/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inside.h: shared by the files of the finder: the current search, what was read before, and an
 * index of names. One find_*.c for each place where probes are found.
 */
#ifndef IOSONAR_PROBE_FIND_INSIDE_H
#define IOSONAR_PROBE_FIND_INSIDE_H

#include "base/index.h"
#include "probe/find/find.h"
#include "symbol/table.h"

/* ---- hashed names: a lookup among 100,000 should not scan them ---- */

struct find_index {
	struct find_index_name *names; /* as they came */
	size_t nr;
	struct index index;
};
/* Names are not copied. The first entry of a name stays. -ENOMEM. */
int find_index__add(struct find_index *index, const char *name, uint32_t value);
/* value may be NULL. */
bool find_index__get(const struct find_index *index, const char *name, uint32_t *value);
void find_index__free(struct find_index *index);
/* Every name, in the order of adding, until fn returns nonzero; returns that. */
typedef int (*find_index_fn)(void *arg, const char *name);
int find_index__each(const struct find_index *index, find_index_fn fn, void *arg);

/* ---- one search ---- */

struct find_job {
	struct finder *finder;
	enum probe_kind kind;
	const char *spec; /* as it was written */
	const char *rest; /* the part after "fn:"; of a tracepoint all of it */
	bool is_loose;	  /* for listing: missing parts mean all */
	struct probe_list *list;
	struct find_misses *misses;
};

/* Calls fn for each full name of a kind ("fn:vfs_read") that matches, until fn returns nonzero;
 * returns that. Says nothing. */
struct find_naming {
	struct finder *finder;
	enum probe_kind kind;
	const char *glob; /* the whole: "fn:vfs_*" */
	finder_name_fn fn;
	void *arg;
};

int find__tracepoints(struct find_job *job);
int find__tracepoint_names(const struct find_naming *naming);
int find__raws(struct find_job *job);
int find__raw_names(const struct find_naming *naming);
int find__functions(struct find_job *job); /* FN and RET */
int find__function_names(const struct find_naming *naming);
int find__users(struct find_job *job); /* USER and USERRET */
int find__user_names(const struct find_naming *naming);
int find__usdts(struct find_job *job);
int find__usdt_names(const struct find_naming *naming);
int find__profiles(struct find_job *job);
int find__intervals(struct find_job *job);
int find__counters(struct find_job *job); /* SOFT and HW */
int find__counter_names(const struct find_naming *naming);

/* ---- search.c ---- */

bool find__is_glob(const char *text);
bool find__matches(const char *glob, const char *text);
/* Calls fn if the name matches. */
int find__name(const struct find_naming *naming, const char *name);
/* "PREFIX:NAME" becomes the probe's name and func. -ENOMEM. */
int find__set_name(struct probe *probe, const char *prefix, const char *name);
int find__miss(struct find_job *job, const char *name, const char *why); /* -ENOMEM */
/* "there is no WHAT 'x'REASON; did you mean y?" with the nearest of the names. -EINVAL. */
int find__unknown(const struct find_job *job, const char *what, const char *reason,
		  const char *const *names, size_t nr);
/* Keeps in near (size bytes, empty at first) the closer match for word: near or the candidate. */
void find__nearer(const char *word, const char *candidate, char *near, size_t size);
/* Reads a whole file of the kernel by its path; NULL and errno. Freed by the caller. */
char *find__read_file(size_t most_bytes, const char *path, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- tracefs ---- */

struct find_tracefs {
	bool is_read;
	int err;       /* why it cannot be read */
	char *dir;     /* "/sys/kernel/tracing" */
	char *text;    /* names point into it */
	char *systems; /* copy of text in which each name ends at its colon */
	char **names;  /* "block:block_rq_issue", sorted */
	size_t nr;
};
/* Reads once; -errno: the list of events cannot be read. Says nothing. */
int find_tracefs__read(struct finder *finder);
void find_tracefs__free(struct find_tracefs *tracefs);

/* The fields of a format file; hostile text: lines that are not fields are skipped. -ENOMEM. */
int find_format__parse(char *text, bool is_syscall, struct probe *probe);

/* ---- BTF ---- */

struct find_btf {
	char *module; /* NULL: vmlinux */
	struct btf *btf;
	struct find_index structs, funcs;
	struct find_index raws; /* NAME of btf_trace_NAME -> the typedef */
	const char **raw_names; /* all of them */
	size_t nr_raws;
};
struct find_btfs {
	struct find_btf *vmlinux; /* NULL: none */
	struct find_btf **modules;
	size_t nr_modules;
	bool is_vmlinux_read, is_listed; /* is_listed: all modules are loaded */
	bool lacks_memory;		 /* no memory for vmlinux's: the kernel may have it */
};
struct find_btf *find_btf__vmlinux(struct finder *finder); /* NULL: no BTF */
/* From the types of the kernel. */
struct probe_compat find_btf__compat(struct finder *finder);
struct find_btf *find_btf__module(struct finder *finder, const char *module);
int find_btf__load_modules(struct finder *finder); /* all; invalid ones are left out */
void find_btf__free(struct find_btfs *btfs);

/* ---- functions ---- */

struct find_symbol {
	const char *name;
	const char *module; /* NULL: vmlinux */
	uint64_t address;   /* 0: hidden */
};
struct find_symbols {
	bool is_read;
	int err;		     /* why kallsyms cannot be read */
	char *text;		     /* of kallsyms: names point into it */
	struct find_symbol *symbols; /* functions, in no order */
	size_t nr;
	const struct find_symbol **by_address; /* built when first needed */
	bool has_bases;
	struct find_index suffixed; /* "foo" -> number of the symbol foo.isra.0; also lazy */
	char **bases;		    /* its names */
	size_t nr_bases;
	uint64_t init_begin, init_end; /* code that was freed after boot */
	char *traceable_text, *blacklist_text;
	struct find_index traceable; /* "vfs_read", "nvme_queue_rq [nvme]"; empty: not readable */
	struct find_index blacklist;
};
/* Reads once; -errno: no symbols. Says nothing. */
int find_symbols__read(struct finder *finder);
void find_symbols__free(struct find_symbols *symbols);
/* Do ftrace's list and kprobes' blacklist allow a probe? NULL, or the reason why not. */
const char *find_symbols__why_not(struct find_symbols *symbols, const struct find_symbol *symbol);
/* Another symbol at its address that ftrace lists, or NULL. */
const struct find_symbol *find_symbols__alias(struct find_symbols *symbols,
					      const struct find_symbol *symbol);
/* "foo.isra.0" for foo, if the compiler left only that; or NULL. */
const struct find_symbol *find_symbols__suffixed(struct find_symbols *symbols, const char *name);

/* The symbol's FUNC in the BTF of its module, or 0; *btf: that BTF, or NULL. */
uint32_t find_function__id(struct finder *finder, const struct find_symbol *symbol,
			   const struct btf **btf);
/* Fills a probe, with its kind already set, for this function, with the fields of its kind;
 * func_id: its FUNC in BTF, or 0. -ENOMEM; the caller frees what the probe has by then. */
int find_function__fill(struct probe *probe, const struct find_symbol *symbol,
			const struct btf *btf, uint32_t func_id);
/* Why a function in BTF has no symbol; changed: its result from find_symbols__suffixed. */
enum { FIND_WHY_ROOM = 640 };
void find_function__why_lost(enum probe_kind kind, const struct find_symbol *changed, char *why,
			     size_t size);

/* Adds a function's arguments by its prototype, with their registers. -ENOMEM. */
enum find_abi { ABI_ARM64, ABI_X86_64 };
enum find_abi find_abi__here(void);
int find_abi__add_args(struct probe *probe, enum find_abi abi, const struct btf *btf,
		       uint32_t proto_id);
/* Adds `ret`; btf NULL: a long. -ENOMEM. */
int find_abi__add_ret(struct probe *probe, const struct btf *btf, uint32_t proto_id);

/* Where a USDT probe is: operands name symbols of its file. */
struct usdt_site {
	uint16_t machine; /* EM_X86_64, EM_AARCH64 */
	uint64_t pc;	  /* as symbols count */
	bool (*symbol)(const void *arg, const char *name, size_t len, uint64_t *vaddr);
	const void *arg;
};
/* Parses the arguments of its note; returns how many. */
size_t find_usdt__parse(const struct usdt_site *site, const char *text, struct usdt_arg *args,
			size_t room);

/* ---- arguments of user functions ---- */

struct find_user {
	bool wants_args;       /* by DWARF; */
	uint32_t nr_registers; /* without DWARF: number of registers to take */
	struct btf **btfs;     /* our own, one per file */
	size_t nr_btfs;
};
/* Adds arguments of entries and results of returns, for one file; vaddrs: where each function
 * begins, as its symbols count; 0: do not look it up. -ENOMEM. */
int find_user_args__add(struct finder *finder, const char *path, struct probe *probes,
			const uint64_t *vaddrs, size_t nr);
void find_user_args__free(struct find_user *user);

struct finder {
	char *root; /* "", or a test's tree before /sys and /proc */
	struct find_user user;
	struct find_tracefs tracefs;
	struct find_btfs btfs;
	struct find_symbols symbols;
	struct symbol_table addresses; /* for lookups of addresses */
	bool has_addresses;
};

#endif
