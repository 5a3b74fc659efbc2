/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * demangle.h: what is a function of C++ or Rust called in its source? Without its parameters and
 * the hash that Rust adds, some us each. Mangled names are hostile: libiberty's demangler bounds
 * its recursion, and what does not fit into the buffer ends it. Only the process without rights
 * calls this. Go's names are not mangled; D's and Swift's stay as they are.
 */
#ifndef IOSONAR_SYMBOL_DEMANGLE_H
#define IOSONAR_SYMBOL_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether it begins as a mangled name does. */
bool demangle__is_mangled(const char *name, size_t len);
/* Copies the name, demangled if it can be, and cut to size - 1 bytes. */
void demangle__copy(char *to, size_t size, const char *name);
bool demangle__is_built_in(void); /* libiberty was there when iosonar was built (HAVE_IBERTY) */

#endif
