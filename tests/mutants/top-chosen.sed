# SPDX-License-Identifier: BSD-2-Clause
# The choice stays at its line of the screen when the order changes, not with its row.
# file: src/view/top_model.c
# red: unit top_model
s/if (m->order\[i\]->from != level->chosen)/if (i != m->at)/
