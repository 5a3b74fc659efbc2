# SPDX-License-Identifier: BSD-2-Clause
# Series of devices that left stay in memory.
# file: src/serve/series.c
# red: unit serve_series
# case: a thousand devices
/to\[i\] = SERIES_NONE;/,/continue;/ s/if (series_set_lacks(set, &tags)) {/if (false) {/
