# SPDX-License-Identifier: BSD-2-Clause
# Programs wait for their disk where they cannot be attached later.
# file: src/base/privilege.c
# red: vm privileges on 5.10
# case: root: and counted
/^\tcan = syscall(/s/ && errno != EPERM//
