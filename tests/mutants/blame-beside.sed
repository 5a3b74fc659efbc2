# SPDX-License-Identifier: BSD-2-Clause
# Two commands of one party are not beside each other.
# file: src/analyse/blame_queue.c
# red: unit blame
# case: as counted moment by moment
s/other == party ? mark.beside : q->served_mark/q->served_mark/
