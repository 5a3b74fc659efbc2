# SPDX-License-Identifier: BSD-2-Clause
# A row of the page cache loses its last count on the way into a capture.
# file: src/capture/cache.c
# red: unit capture_cache
# case: every row to the last bit
/void capture_cache__put_row/,/^}/s/for (int i = 0; i < NR_CACHE_COUNTS; i++)/for (int i = 0; i < NR_CACHE_COUNTS - 1; i++)/
