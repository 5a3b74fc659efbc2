# SPDX-License-Identifier: BSD-2-Clause
# In a blktrace the status of an NVMe command is taken for an errno.
# file: src/export/blktrace.c
# red: cli export
# case: an NVMe error is EIO
s/return r->kind == IO_BLOCK && r->status < 4096/return r->status < 4096/
