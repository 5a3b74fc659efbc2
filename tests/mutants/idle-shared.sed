# SPDX-License-Identifier: BSD-2-Clause
# In Trace Event JSON the idle tasks of all CPUs share a line, on which their calls overlap.
# file: src/render/chrome.c
# red: unit chrome
# case: an idle task has the line of its CPU
s/CHROME_IDLE + e->cpu/CHROME_IDLE/
