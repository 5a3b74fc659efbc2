/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * output.h: where --out writes: beside FILE, in FILE.partial, which takes FILE's place when the run
 * ends well. So a failed run leaves an old FILE unchanged, and half an output never looks complete.
 * A pipe, a device or /dev/stdout is written directly. FILE keeps its old owner and permissions; a
 * new FILE gets those of the umask.
 */
#ifndef IOSONAR_BASE_OUTPUT_H
#define IOSONAR_BASE_OUTPUT_H

#include <stdio.h>
#include "base/option.h"
#include "base/place.h"
#include "base/renamer.h"

struct output {
	FILE *file;	  /* stdout without --out */
	const char *path; /* as it was given; NULL: stdout */
	struct place place;
	char partial[PATH_MAX]; /* "": FILE itself is written */
	struct renamer renamer;
	bool is_empty; /* nothing was written */
};

/*
 * inputs: files that the command reads or keeps; --out must not be one of them. NULL: none. 0 or a
 * negative errno, logged.
 */
int output__open(struct output *output, const char *path, const struct option_list *inputs);
/* Call before privileges are dropped: another process then does the work of output__finish. */
int output__keep_rights(struct output *output);
/*
 * err is how the command ended: if it is negative, FILE.partial is kept, with a message, or removed
 * if empty. Returns err, or if that is not an error, the error met here, logged. stdout is left to
 * the door.
 */
int output__finish(struct output *output, int err);

#endif
