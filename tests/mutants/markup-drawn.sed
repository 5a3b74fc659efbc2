# SPDX-License-Identifier: BSD-2-Clause
# A name in a flame graph is markup.
# file: src/render/flame_svg.c
# red: unit flame
# case: breaks out of its text
/^\tcase .<.:/d
