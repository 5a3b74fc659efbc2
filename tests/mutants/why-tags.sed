# SPDX-License-Identifier: BSD-2-Clause
# The wait for a request counts as time at the device: a lack of requests is not found.
# file: src/why/facts.c
# red: unit why
# case: tags: found, and ranked first
s/waits, &t->parts_ns\[PART_TAGS\]/waits, \&t->parts_ns[PART_DEVICE]/
