# SPDX-License-Identifier: BSD-2-Clause
# Accesses are judged in the order in which they ended: a deep queue makes streams random.
# file: src/analyse/pattern.c
# red: unit pattern
# case: by submission, not by its end
s/io->submit_ns < io->end_ns ? io->submit_ns : io->end_ns/io->end_ns/
