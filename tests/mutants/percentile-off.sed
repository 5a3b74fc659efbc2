# SPDX-License-Identifier: BSD-2-Clause
# A percentile is that of the next rank.
# file: src/analyse/hist.c
# red: unit hist
s/^\treturn rank ? rank : 1;$/\treturn rank + 1;/
