# SPDX-License-Identifier: BSD-2-Clause
# A disk that took the place of an earlier one is taken for another one, which is gone.
# file: src/device/device_list.c
# red: unit device
# case: takes the place of an earlier one
s/if (!device->gone)/if (true)/
