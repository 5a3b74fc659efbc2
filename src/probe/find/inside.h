/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inside.h: what the files of the finder share: the search that is going on, what was read
 * before, and an index of names. One find_*.c for each place where probes are to be found.
 */
#ifndef IOSONAR_PROBE_FIND_INSIDE_H
#define IOSONAR_PROBE_FIND_INSIDE_H

#include "base/index.h"
#include "probe/find/find.h"
#include "symbol/table.h"

/* ---- names, hashed: who asks for one of 100,000 should not look at all ---- */

struct find_index {
	struct find_index_name *names; /* as they came */
	size_t nr;
	struct index index;
};
/* Names are not copied. The first of a name stays. -ENOMEM. */
int find_index__add(struct find_index *index, const char *name, uint32_t value);
/* value NULL: of no interest. */
bool find_index__get(const struct find_index *index, const char *name, uint32_t *value);
void find_index__free(struct find_index *index);
/* Every name, as they came, until fn returns another than 0, which is returned. */
typedef int (*find_index_fn)(void *arg, const char *name);
int find_index__each(const struct find_index *index, find_index_fn fn, void *arg);

/* ---- one search ---- */

struct find_job {
	struct finder *finder;
	enum probe_kind kind;
	const char *spec; /* as it was written */
	const char *rest; /* of it, behind "fn:"; of a tracepoint all */
	bool is_loose;	  /* for who looks around: parts that are missing mean all */
	struct probe_list *list;
	struct find_misses *misses;
};

/* Everything of its kind whose whole name ("fn:vfs_read") matches, until fn returns another than 0,
 * which is returned. Says nothing. */
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
/* Calls fn for a name that matches. */
int find__name(const struct find_naming *naming, const char *name);
/* "PREFIX:NAME" becomes the probe's name and func. -ENOMEM. */
int find__set_name(struct probe *probe, const char *prefix, const char *name);
int find__miss(struct find_job *job, const char *name, const char *why); /* -ENOMEM */
/* "there is no WHAT 'x'REASON; did you mean y?": the nearest of the names. -EINVAL. */
int find__unknown(const struct find_job *job, const char *what, const char *reason,
		  const char *const *names, size_t nr);
/* Keeps in near (size bytes, empty at first) which of it and the candidate is more like word. */
void find__nearer(const char *word, const char *candidate, char *near, size_t size);
/* A whole file of the kernel's, by its path; NULL and errno. Freed by the caller. */
char *find__read_file(size_t most_bytes, const char *path, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- tracefs ---- */

struct find_tracefs {
	bool is_read;
	int err;       /* why it cannot be */
	char *dir;     /* "/sys/kernel/tracing" */
	char *text;    /* names point into it */
	char *systems; /* the same, where each ends at its colon */
	char **names;  /* "block:block_rq_issue", sorted */
	size_t nr;
};
/* Once; -errno: its list of events cannot be read. Says nothing. */
int find_tracefs__read(struct finder *finder);
void find_tracefs__free(struct find_tracefs *tracefs);

/* The fields of a format file; hostile text: what is no field is skipped. -ENOMEM. */
int find_format__parse(char *text, bool is_syscall, struct probe *probe);

/* ---- BTF ---- */

struct find_btf {
	char *module; /* NULL: vmlinux */
	struct btf *btf;
	struct find_index structs, funcs;
	struct find_index raws; /* NAME of btf_trace_NAME: the typedef */
	const char **raw_names; /* all of them */
	size_t nr_raws;
};
struct find_btfs {
	struct find_btf *vmlinux; /* NULL: none */
	struct find_btf **modules;
	size_t nr_modules;
	bool is_vmlinux_read, is_listed; /* and all modules are loaded */
	bool lacks_memory;		 /* for vmlinux's: the kernel may have it */
};
struct find_btf *find_btf__vmlinux(struct finder *finder); /* NULL: there is none */
struct find_btf *find_btf__module(struct finder *finder, const char *module);
int find_btf__load_modules(struct finder *finder); /* all; those that make no sense are left out */
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
	const struct find_symbol **by_address; /* made when it is first needed */
	bool has_bases;
	struct find_index suffixed; /* "foo": number of the symbol foo.isra.0; likewise */
	char **bases;		    /* its names */
	size_t nr_bases;
	uint64_t init_begin, init_end; /* code that was thrown away after the boot */
	char *traceable_text, *blacklist_text;
	struct find_index traceable; /* "vfs_read", "nvme_queue_rq [nvme]"; empty: not readable */
	struct find_index blacklist;
};
/* Once; -errno: there are no symbols. Says nothing. */
int find_symbols__read(struct finder *finder);
void find_symbols__free(struct find_symbols *symbols);
/* May it be probed, by what ftrace's list and kprobes' blacklist say? NULL, or why not. */
const char *find_symbols__why_not(struct find_symbols *symbols, const struct find_symbol *symbol);
/* Another symbol at its address that ftrace lists, or NULL. */
const struct find_symbol *find_symbols__alias(struct find_symbols *symbols,
					      const struct find_symbol *symbol);
/* "foo.isra.0" of foo, if the compiler left only that; or NULL. */
const struct find_symbol *find_symbols__suffixed(struct find_symbols *symbols, const char *name);

/* Its FUNC in the BTF of its module, or 0; *btf: that BTF, or NULL. */
uint32_t find_function__id(struct finder *finder, const struct find_symbol *symbol,
			   const struct btf **btf);
/* Makes a probe, whose kind is set, one of this function, with the fields of its kind; func_id: its
 * FUNC in BTF, or 0. -ENOMEM; what the probe has by then is freed by the caller. */
int find_function__fill(struct probe *probe, const struct find_symbol *symbol,
			const struct btf *btf, uint32_t func_id);
/* Why BTF knows a function that has no symbol; changed: what find_symbols__suffixed has of it. */
enum { FIND_WHY_ROOM = 640 };
void find_function__why_lost(enum probe_kind kind, const struct find_symbol *changed, char *why,
			     size_t size);

/* The arguments of a function by its prototype, and in which registers they lie. -ENOMEM. */
enum find_abi { ABI_ARM64, ABI_X86_64 };
enum find_abi find_abi__here(void);
int find_abi__add_args(struct probe *probe, enum find_abi abi, const struct btf *btf,
		       uint32_t proto_id);
/* `ret`; btf NULL: a long. -ENOMEM. */
int find_abi__add_ret(struct probe *probe, const struct btf *btf, uint32_t proto_id);

/* What a USDT note says of its arguments, for this machine (EM_X86_64, EM_AARCH64); how many. */
size_t find_usdt__parse(uint16_t machine, const char *text, struct usdt_arg *args, size_t room);

/* ---- arguments of user functions ---- */

struct find_user {
	bool wants_args;       /* by DWARF; */
	uint32_t nr_registers; /* without DWARF: number of registers to take */
	struct btf **btfs;     /* of our own, one for each file */
	size_t nr_btfs;
};
/* Arguments of entries, results of returns, of one file; vaddrs: where each begins, as its symbols
 * count, 0: not to be asked for. -ENOMEM. */
int find_user_args__add(struct finder *finder, const char *path, struct probe *probes,
			const uint64_t *vaddrs, size_t nr);
void find_user_args__free(struct find_user *user);

struct finder {
	char *root; /* "", or a test's tree before /sys and /proc */
	struct find_user user;
	struct find_tracefs tracefs;
	struct find_btfs btfs;
	struct find_symbols symbols;
	struct symbol_table addresses; /* for who asks after one */
	bool has_addresses;
};

#endif
