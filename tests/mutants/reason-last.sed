# SPDX-License-Identifier: BSD-2-Clause
# Of several reasons of a loss only the last is told.
# file: src/capture/damage.c
# red: cli replay
# case: each reason of a loss
s/^\tfor (size_t i = 0; i < lost->nr; i++) {$/\tfor (size_t i = lost->nr ? lost->nr - 1 : 0; i < lost->nr; i++) {/
