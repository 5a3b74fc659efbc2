# SPDX-License-Identifier: BSD-2-Clause
# `le` is the start of the next bucket: it would include a latency that is counted above it.
# file: src/serve/edges.c
# red: unit serve_series
s/^\te->least\[nr\] = hist_slot_from(slot) - 1;$/\te->least[nr] = hist_slot_from(slot);/
