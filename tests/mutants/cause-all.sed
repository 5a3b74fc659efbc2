# SPDX-License-Identifier: BSD-2-Clause
# Every page that a command brings is said to have been asked for: readahead has no commands of its own.
# file: src/bpf/cache_cause.h
# red: vm cache_io on 6.18
# case: the pages that were asked for are the misses
s/c->missed = overlap(p, t->request.first, t->request.last);/c->missed = p->nr;/
