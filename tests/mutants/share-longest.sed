# SPDX-License-Identifier: BSD-2-Clause
# The longest command of a part that another process read is forgotten.
# file: src/session/share.c
# red: unit share
# case: a distribution is the sum of its parts
s/into->max_ns = max_ns > into->max_ns ? max_ns : into->max_ns;/(void)max_ns;/
