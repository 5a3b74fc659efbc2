# SPDX-License-Identifier: BSD-2-Clause
# The same stack of two processes becomes that of the first.
# file: src/capture/merge.c
# red: unit capture
# case: the second has it too
s/^\tif (kind == GLOSSARY_STACKS \&\& a->id.words\[1\] != b->id.words\[1\])$/\tif (kind == GLOSSARY_STACKS \&\& !a)/
