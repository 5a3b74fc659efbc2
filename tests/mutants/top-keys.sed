# SPDX-License-Identifier: BSD-2-Clause
# Rows by another key are added to what was counted before.
# file: src/view/top_model.c
# red: unit top_model
/^static int model_recount/,/^}/s/level_begin(&m->levels\[i\]);/;/
