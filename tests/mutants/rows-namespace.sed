# SPDX-License-Identifier: BSD-2-Clause
# In exported rows a disk that is no NVMe has a namespace.
# file: src/export/rows.c
# red: cli export
# case: csv: every command of trace
s/row->nsid = nvme ? r->nsid : CELL_NO_NUMBER;/row->nsid = r->nsid;/
