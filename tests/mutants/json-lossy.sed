# SPDX-License-Identifier: BSD-2-Clause
# In JSON, bytes that are not UTF-8 become one character, and two names become one.
# file: src/render/table.c
# red: unit table
# case: an odd byte is found wherever it is
s/text__put_json_escaped(table->out, cell.text, strlen(cell.text))/text__put_json(table->out, cell.text)/
