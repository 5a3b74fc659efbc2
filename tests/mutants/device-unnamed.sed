# SPDX-License-Identifier: BSD-2-Clause
# A device's second number is not described in the capture: its commands would be those of "?".
# file: src/session/recorder.c
# red: unit recorder
# case: the same under another number
s/if (record->device < RECORDER_NUMBERS && !r->known\[record->device\])/if (record->device < RECORDER_NUMBERS \&\& !r->known[record->device \& ~1])/
s/r->known\[record->device\] = !err;/r->known[record->device \& ~1] = !err;/
