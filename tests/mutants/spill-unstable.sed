# SPDX-License-Identifier: BSD-2-Clause
# What went to a file is merged without regard to order: events of one moment change places.
# file: src/base/spill.c
# red: unit spill
# case: in order
s/a->time_ns == b->time_ns \&\& a->nr < b->nr/a->time_ns == b->time_ns \&\& a->nr > b->nr/
