# SPDX-License-Identifier: BSD-2-Clause
# A --to beyond the end of time wraps around.
# file: src/session/tick.c
# red: cli replay
# case: a span begins at --from
s/^\treturn ns + by_ns < ns ? UINT64_MAX : ns + by_ns;$/\treturn ns + by_ns;/
