# SPDX-License-Identifier: BSD-2-Clause
# info gives a controller the number of a disk.
# file: src/view/capture_lists.c
# red: cli replay
# case: shown as its golden text
s/\.major = d->kind == DEVICE_NVME_CTRL ? CELL_NO_NUMBER : d->major,/.major = d->major,/
