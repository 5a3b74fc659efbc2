/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dropin.h: the commands nvme_trace and nvme_latency of nvme_bpf, with the same names, flags and
 * output, on top of this program's collector.
 */
#ifndef IOSONAR_CMD_DROPIN_H
#define IOSONAR_CMD_DROPIN_H

#include <stdbool.h>
#include <stddef.h>

/* A flag in abseil's syntax: --x=1, --x 1; a bool also --x and --nox. */
struct dropin_flag {
	const char *name;
	bool boolean;
	size_t at; /* of a long, or of a bool, in the state */
	const char *help;
};

struct dropin {
	const char *name; /* the name it is called by: argv[0]'s last part */
	const char *brief;
	const struct dropin_flag *flags; /* ends with a NULL name */
	size_t state_size;
	int (*run)(void *state); /* as in struct cmd; flags not given: -1 (long) or false (bool) */
};

extern const struct dropin dropin_nvme_trace, dropin_nvme_latency;

/* NULL: the program was called by another name. */
const struct dropin *dropin__find(const char *argv0);
int dropin__main(const struct dropin *dropin, int argc, char **argv);

#endif
