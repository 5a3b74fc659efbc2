# SPDX-License-Identifier: BSD-2-Clause
# A server that needs no file may open files.
# file: src/base/privilege.c
# red: unit privilege
# case: and no path leads it anywhere
s/(needs->role == PRIVILEGE_RUNS \&\& !needs->opens_nothing)/needs->role == PRIVILEGE_RUNS/
