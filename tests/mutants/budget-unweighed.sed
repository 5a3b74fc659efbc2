# SPDX-License-Identifier: BSD-2-Clause
# What was timed stands for itself alone in its span: a span with fewer timed commands weighs less.
# file: src/analyse/estimate.c
# red: unit estimate
# case: weigh more than
s/estimate_spread(&e->all, &span, timed, span.count);/estimate_spread(\&e->all, \&span, timed, timed);/
