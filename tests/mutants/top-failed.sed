# SPDX-License-Identifier: BSD-2-Clause
# A command that failed after its retries has no status of its own.
# file: src/bpf/life.h
# red: vm top_failed
s/o.status = slot->queue;/o.status = NVME_HOST_ABORTED;/
