# SPDX-License-Identifier: BSD-2-Clause
# Rust's older names are taken for those of C++, and keep their hash.
# file: src/symbol/demangle.c
# red: unit demangle
# case: core3fmt
s/if (rust_demangle_callback(name, DMGL_NO_OPTS, demangle_add, text))/if (name[1] == 'R' \&\& rust_demangle_callback(name, DMGL_NO_OPTS, demangle_add, text))/
