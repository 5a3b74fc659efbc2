# SPDX-License-Identifier: BSD-2-Clause
# A part of a capture is created where a symbolic link leads.
# file: src/base/place.c
# red: unit maker
# case: a part that is a link is refused
s/int fd = openat(directory, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, mode)/int fd = openat(directory, name, O_WRONLY | O_CREAT | O_CLOEXEC, mode)/
