/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * symbols.h: addresses into names, of the kernel and of processes. The kernel's functions are read
 * once (50 ms, 5 MB); a process is looked at when it is first asked about (some 100 us, a function
 * of a new file some ms more). A process that has ended by then is known if it was started after
 * symbols__prepare_user (mapping_notes.h), else it is "[exited]". An address is where a frame goes
 * on: for all but the innermost frame of a stack pass it less 1, or a function that ends with a
 * call is shown as its neighbour. Code compiled on the fly has the names of /tmp/perf-PID.map, else
 * it is "[anon]"; inlined code is not seen. C++ and Rust names are
 * demangled if libiberty is built in. A process in a chroot
 * is named only with CAP_CHECKPOINT_RESTORE, one in a container always.
 *
 * Two processes, started by symbols__prepare_user, read user symbols. One may still look into other
 * processes, and opens files; the other has no rights left, and reads these files, which are
 * hostile: if it dies of one, the run goes on without user symbols. Both end with this process.
 * Asking them needs write, ppoll, recvfrom, wait4 and close, all of which privilege__drop leaves;
 * naming kernel addresses needs no system call.
 */
#ifndef IOSONAR_SYMBOL_SYMBOLS_H
#define IOSONAR_SYMBOL_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>
#include "symbol/table.h"
#include "wire/unwind.h"

/* What is known of an address, and its name then; an unnamed kernel address is "[kernel]". */
enum symbol_how {
	SYMBOL_FOUND,	  /* "vfs_read", "nvme_map_data [nvme]", "main" */
	SYMBOL_FILE,	  /* "[libfoo.so]": it has no symbol there, or cannot be read */
	SYMBOL_ANON,	  /* "[anon]": executable memory without a file, not in a perf map */
	SYMBOL_UNMAPPED,  /* "[unknown]": nothing is there */
	SYMBOL_EXITED,	  /* "[exited]": the process had ended before it was looked at */
	SYMBOL_DENIED,	  /* "[unknown]": we may not look at the process, or at kallsyms */
	SYMBOL_NO_READER, /* "[unknown]": no process reads user symbols (any more) */
	SYMBOL_NO_ROOM,	  /* "[unknown]": no memory, or too many names are kept already */
	NR_SYMBOL_HOW,
};

struct symbol {
	const char *name; /* hostile text, <= SYMBOL_NAME_MAX bytes; kept until symbols__free */
	uint64_t offset;  /* into the function; SYMBOL_FILE: in the file, as addr2line counts */
	enum symbol_how how;
};

/* A process: its pid (tgid), and a number that changes when it executes another program. */
struct symbols_process {
	uint32_t pid;
	uint64_t image; /* 0: not known; then names after an exec may be those from before */
};

struct symbols;

/* root: "", or where /proc and /usr/lib/debug are for a test. Reads nothing. NULL: no memory. */
struct symbols *symbols__new(const char *root);
void symbols__free(struct symbols *symbols);

/*
 * Call before privilege__drop. Kernel: after programs are attached, or their names are missing;
 * without this call it is done at the first address. User: best before maps are made, as it forks.
 * The next two explain a negative errno.
 */
int symbols__prepare_kernel(struct symbols *symbols);
int symbols__prepare_user(struct symbols *symbols);
/* Why no names are available, in one line for people; NULL: they are, or nothing was asked yet. */
const char *symbols__kernel_trouble(const struct symbols *symbols);
const char *symbols__user_trouble(const struct symbols *symbols);

struct symbol symbols__kernel(struct symbols *symbols, uint64_t addr);
struct symbol symbols__user(struct symbols *symbols, const struct symbols_process *process,
			    uint64_t addr);
/* Looks at a process before it ends, for later questions about its addresses. */
void symbols__see(struct symbols *symbols, const struct symbols_process *process);

/* For the unwinder in the kernel: the mappings that a process runs from, by address, and the
 * tables of their files. */
enum {
	UNWIND_FILES = 4096,
	UNWIND_FILE_NONE = UNWIND_FILES, /* no table */
	UNWIND_FILE_VDSO,
};

struct symbols_unwind {
	uint32_t nr;
	uint32_t by_fp;	     /* all its files keep frame pointers, or have no table */
	uint32_t is_cut;     /* it has more mappings */
	uint32_t is_partial; /* there was no time to read all files: ask again */
	struct symbols_unwind_map {
		uint64_t start, end, vaddr;
		uint64_t offset, inode; /* of start in the file, and which file */
		int64_t changed_s;
		uint32_t changed_ns;
		uint32_t dev;  /* as the kernel has it */
		uint32_t file; /* a number below UNWIND_FILES, or as above */
		uint32_t pad;
	} maps[UNWIND_MAPS];
};

/* Looks at the process now. False: it has ended, or cannot be looked at. */
bool symbols__unwind(struct symbols *symbols, const struct symbols_process *process,
		     struct symbols_unwind *unwind);
/* How many rows and rules the table of a file has. False: no answer. */
bool symbols__unwind_size(struct symbols *symbols, uint32_t file, uint32_t *nr_rows,
			  uint32_t *nr_rules);
/*
 * Copies them, with rules counted from first_rule on. Ask once: the reader forgets the table then.
 * False: no answer, or a wrong one.
 */
bool symbols__unwind_copy(struct symbols *symbols, uint32_t file, uint32_t first_rule,
			  struct unwind_row *rows, uint32_t nr_rows, struct unwind_rule *rules,
			  uint32_t nr_rules);

/* The reader forgets all files, and their numbers. False: no answer. */
bool symbols__unwind_forget(struct symbols *symbols);

bool symbols__has_libdw(void); /* built in? For --version. */
bool symbols__has_demangler(void);

#endif
