# SPDX-License-Identifier: BSD-2-Clause
# With -p the time of all tasks is judged.
# file: src/why/facts.c
# red: unit why
# case: time and tail of a process do not depend on others
s/!choice.bystanders && g->key.flags & FACT_BYSTANDER/false/
