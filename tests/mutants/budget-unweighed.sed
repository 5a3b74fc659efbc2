# SPDX-License-Identifier: BSD-2-Clause
# What was timed stands for itself alone in its span: a span with fewer timed commands weighs less.
# file: src/analyse/sampled.c
# red: unit sampled
# case: weigh more than
s/sampled_spread(&s->all, &span, timed, span.count);/sampled_spread(\&s->all, \&span, timed, timed);/
