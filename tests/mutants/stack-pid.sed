# SPDX-License-Identifier: BSD-2-Clause
# The same stack of two processes becomes that of the first.
# file: src/capture/merge_about.c
# red: unit capture
# case: the second has it too
s/^\t\tif (kind == GLOSSARY_STACKS \&\& entry->id.words\[1\] != wanted->id.words\[1\])$/\t\tif (kind == GLOSSARY_STACKS \&\& !entry)/
