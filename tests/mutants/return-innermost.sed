# SPDX-License-Identifier: BSD-2-Clause
# A return ends the innermost call, whoever returns.
# file: src/analyse/calls.c
# red: unit calls
# case: who left around them left them, too
s/^\twhile (call \&\& call->function != function)$/\twhile (call \&\& function == UINT32_MAX)/
