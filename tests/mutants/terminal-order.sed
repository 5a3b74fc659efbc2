# SPDX-License-Identifier: BSD-2-Clause
# A narrow terminal leaves out first what should go last.
# file: src/render/table_terminal.c
# red: unit table_terminal
# case: columns go in their order
/^static struct table_column \*terminal_next/,/^}/s/column->drop < next/column->drop > next/
