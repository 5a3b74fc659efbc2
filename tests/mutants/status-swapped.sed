# SPDX-License-Identifier: BSD-2-Clause
# Two NVMe statuses have the words of each other.
# file: src/decode/nvme_status.c
# red: unit nvme_libnvme
# case: type 0: words mean what libnvme
s/\[0x80\] = "LBA out of range"/[0x80] = "capacity exceeded"/
/^\t\[0x81\] = "capacity exceeded"/s/capacity exceeded/LBA out of range/
