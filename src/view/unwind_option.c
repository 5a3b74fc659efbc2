/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/unwind_option.h"

#include <stddef.h>

const char *const unwind_choices[] = { "auto", "fp", "dwarf", "none", NULL };
