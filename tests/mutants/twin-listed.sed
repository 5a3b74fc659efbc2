# SPDX-License-Identifier: BSD-2-Clause
# A request that was handed back while the tags were walked is listed twice.
# file: src/decode/inflight.c
# red: unit inflight
# case: listed once
s/if (!kept || c\[i\].request != c\[kept - 1\].request)/if (c[i].request)/
