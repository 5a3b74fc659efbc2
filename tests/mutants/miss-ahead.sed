# SPDX-License-Identifier: BSD-2-Clause
# A page that a request did not ask for is taken for one that it missed: readahead looks like misses.
# file: src/bpf/cache_pages.h
# red: vm cache
# case: map-128: accesses and misses
s/	__u64 from = p->first > first ? p->first : first, to = end < last ? end : last;/	__u64 from = p->first, to = end;/
