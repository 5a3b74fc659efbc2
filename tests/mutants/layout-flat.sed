# SPDX-License-Identifier: BSD-2-Clause
# What is in a nameless union begins where the struct begins, not where the union does.
# file: src/calls/struct_layout.c
# red: unit struct_layout
# case: begins at
s/\.bit = base_bit + btf_member_bit_offset(in, i)/.bit = 0 * base_bit + btf_member_bit_offset(in, i)/
