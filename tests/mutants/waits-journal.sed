# SPDX-License-Identifier: BSD-2-Clause
# The handles of a worker that writes pages are its own: the task that dirtied the file is not named.
# file: src/bpf/wait_journal.h
# red: vm waits_journal
# case: of a worker's handles: the task that dirtied the file
s/^\tif (dirtier)$/\tif (dirtier \&\& !person->tid)/
