/* SPDX-License-Identifier: BSD-2-Clause */
/* unwind_option.h: --unwind, of all commands that take user stacks. */
#ifndef IOSONAR_VIEW_UNWIND_OPTION_H
#define IOSONAR_VIEW_UNWIND_OPTION_H

#include "collect/unwind.h"

/* In the order of enum unwind_how. */
extern const char *const unwind_choices[];
#define UNWIND_OPTION(at, ...)                                                            \
	{                                                                                 \
		"unwind", 0, OPTION_CHOICE, at, "HOW",                                    \
			"how to find user stacks: fp by frame pointers, dwarf by tables " \
			"(.eh_frame), auto as each process needs it",                     \
			.choices = unwind_choices, __VA_ARGS__                            \
	}

#endif
