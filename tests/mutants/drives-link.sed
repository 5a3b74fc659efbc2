# SPDX-License-Identifier: BSD-2-Clause
# A link that lacks lanes is not seen.
# file: src/device/handicap.c
# red: unit handicap
# case: a narrow link
s/ || h->width < h->max_width//
