# SPDX-License-Identifier: BSD-2-Clause
# A latency is counted one bucket too high.
# file: src/wire/buckets.h
# red: unit wire_hist
s/^\treturn (e << HIST_SUB_BITS) + (__u32)(ns >> e);$/\treturn (e << HIST_SUB_BITS) + (__u32)(ns >> e) + 1;/
