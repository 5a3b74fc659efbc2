# SPDX-License-Identifier: BSD-2-Clause
# A key that was given twice is taken.
# file: src/serve/query.c
# red: unit serve_query
s/if (q->given >> i & 1)/if (q->given >> i \& 0)/
