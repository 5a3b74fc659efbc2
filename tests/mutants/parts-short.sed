# SPDX-License-Identifier: BSD-2-Clause
# The last part of a file is as long as the others: more pages than it has.
# file: src/analyse/residency.c
# red: unit residency
# case: parts cover its pages
s/	return r->pages - before < r->part_pages ? r->pages - before : r->part_pages;/	return before ? r->part_pages : r->part_pages;/
