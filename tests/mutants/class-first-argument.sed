# SPDX-License-Identifier: BSD-2-Clause
# Only a function's first argument is looked at for the struct.
# file: src/probe/class/find.c
# red: unit class
# case: the second
s/^\tfor (int i = 0; i < btf_vlen(proto); i++)$/\tfor (int i = 0; i < btf_vlen(proto) \&\& i < 1; i++)/
