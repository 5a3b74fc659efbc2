/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * output.h: where --out writes: beside FILE, in FILE.partial, which takes FILE's place when the run
 * ends well. So a run that fails leaves an old FILE as it was, and nobody takes half an output for
 * a whole one. A pipe, a device or /dev/stdout is written directly. FILE has its old owner and
 * permissions; a new one those of the umask.
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
 * inputs: files that the command reads or keeps; --out may be none of them. NULL: there are none.
 * 0 or a negative errno, said.
 */
int output__open(struct output *output, const char *path, const struct option_list *inputs);
/* Before privileges are dropped: what output__finish has to do is left to another process. */
int output__keep_rights(struct output *output);
/*
 * err is how the command ended: a negative one keeps FILE.partial, and says so; one that is empty
 * is removed. Returns err, or if that is no error, what went wrong here, said. stdout is left to
 * the door.
 */
int output__finish(struct output *output, int err);

#endif
