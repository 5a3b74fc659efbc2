# SPDX-License-Identifier: BSD-2-Clause
# An element of a list goes to JSON as it is: a name with a quote breaks the line.
# file: src/render/form.c
# red: unit form
s/text__put_json_escaped(out, span.from, (size_t)(span.to - span.from));/fprintf(out, "\\"%.*s\\"", (int)(span.to - span.from), span.from);/
