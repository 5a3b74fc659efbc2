# SPDX-License-Identifier: BSD-2-Clause
# Two NVMe statuses have the same words.
# file: src/decode/nvme_status.c
# red: unit nvme_status
# case: no words twice
s/\[0x81\] = "capacity exceeded"/[0x81] = "LBA out of range"/
