# SPDX-License-Identifier: BSD-2-Clause
# Services of different queues are compared as if they were of different kinds: the number of servers is not found.
# file: src/analyse/blame.c
# red: unit blame
# case: 250 queues
s/other.qid = tags->qid;/other.qid += 0;/
