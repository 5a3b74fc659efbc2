# SPDX-License-Identifier: BSD-2-Clause
# The wait before the issue counts even while nothing is served: the parts no longer add up.
# file: src/analyse/blame_queue.c
# red: unit blame
# case: it waits before its issue
s/f->wait_ns += ns - idle_ns;/f->wait_ns += ns;/
