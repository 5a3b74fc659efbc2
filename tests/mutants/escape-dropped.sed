# SPDX-License-Identifier: BSD-2-Clause
# A backslash goes into JSON as it is.
# file: src/base/text.c
# red: unit text
s/code == '"' || code == '\\\\'/code == '"'/
