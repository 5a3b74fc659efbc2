# SPDX-License-Identifier: BSD-2-Clause
# With --pair the other devices are compared, too.
# file: src/diff/diff.c
# red: cli replay
# case: shown as its golden text
s/if (!asked_only || d->ends\[side\]/if (asked_only || d->ends[side]/
