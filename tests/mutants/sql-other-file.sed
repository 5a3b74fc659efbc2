# SPDX-License-Identifier: BSD-2-Clause
# A query about one file reads all.
# file: src/sql/io.c
# red: cli sql
# case: of several captures
s/if (rows->bounds.file && strcmp(rows->bounds.file, io_file(rows)->path))/if (rows->bounds.file \&\& strcmp(rows->bounds.file, io_file(rows)->path) > 99)/
s/^\treturn (uint64_t)rows->file << 40 | capture_reader__place(rows->reader);$/\treturn capture_reader__place(rows->reader);/
