# SPDX-License-Identifier: BSD-2-Clause
# A partition of a capture has one sector more than it had: the first of the next one.
# file: src/capture/filter.c
# red: unit filter
# case: and not those beside them
s/sector - choice->from_sector < choice->nr_sectors/sector - choice->from_sector <= choice->nr_sectors/
