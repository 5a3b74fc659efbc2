# SPDX-License-Identifier: BSD-2-Clause
# A link in a container leads to the file of that name outside of it.
# file: src/symbol/opener.c
# red: unit symbol_reader
# case: does not lead out of a root
s/RESOLVE_IN_ROOT | //
s/root_fd, request->path,/root_fd, request->path + 1,/
