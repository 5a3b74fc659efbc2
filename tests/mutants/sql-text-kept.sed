# SPDX-License-Identifier: BSD-2-Clause
# A text of a row of SQL is never given back.
# file: src/sql/query.c
# red: cli leaks with sanitizers
# case: leave no memory behind
s/^\t\t\tfree((char \*)row\[i\].text);$/\t\t\trow[i].text = NULL;/
