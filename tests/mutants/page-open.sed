# SPDX-License-Identifier: BSD-2-Clause
# Text in a page can end the block it is in.
# file: src/render/page.c
# red: unit page
# case: hostile data
/^\tcase '<': return/d
