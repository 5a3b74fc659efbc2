# SPDX-License-Identifier: BSD-2-Clause
# Each file of a ring names all devices that ever were, until it has room for nothing else.
# file: src/session/recorder_file.c
# red: unit recorder
# case: a device that went is in the first two
s/if (!list->devices\[i\]\.gone)/if (true)/
