# SPDX-License-Identifier: BSD-2-Clause
# A volume's bio keeps the end of the first bio below, not that of the last.
# file: src/bpf/volume.h
# red: vm volumes on 6.12
# case: across: from the first that was submitted to the last that ended
s/^\tif (fresh(above->back_ns) < now)$/\tif (!fresh(above->back_ns))/
