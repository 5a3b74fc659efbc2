# SPDX-License-Identifier: BSD-2-Clause
# In Trace Event JSON a step begins where it ends.
# file: src/export/chrome.c
# red: cli export
# case: chrome: the same slices
s/event->start_ns = io->moments\[i - 1\].ns;/event->start_ns = io->moments[i].ns;/
