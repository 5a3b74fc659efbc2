# SPDX-License-Identifier: BSD-2-Clause
# A worker that takes a request is not seen to begin.
# file: src/bpf/async.bpf.c
# red: vm waits_async
s/r->worker_ns = r->issue_ns;/r->worker_ns = 0;/
