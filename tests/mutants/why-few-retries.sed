# SPDX-License-Identifier: BSD-2-Clause
# Two of thousands of commands that are tried again are a cause. The near misses have some such.
# file: src/why/rule_retries.c
# red: unit why
# case: near-misses: at most 1 of 100 has a finding
s/RETRIES_FEW = 5/RETRIES_FEW = 1/
s/retries_least = 0.05/retries_least = 0.001/
