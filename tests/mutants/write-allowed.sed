# SPDX-License-Identifier: BSD-2-Clause
# A process without privileges may still open a file to write.
# file: src/base/privilege.c
# red: unit privilege
# case: openat to write is refused
s/(O_ACCMODE | O_CREAT | O_TRUNC)/(O_CREAT | O_TRUNC)/
