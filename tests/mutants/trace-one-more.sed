# SPDX-License-Identifier: BSD-2-Clause
# trace -n 3 prints four.
# file: src/cmd/trace.c
# red: cli replay
# case: shown as its golden text
s/if (count->given && ++t->printed >= count->value)/if (count->given \&\& ++t->printed > count->value)/
