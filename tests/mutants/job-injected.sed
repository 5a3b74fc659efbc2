# SPDX-License-Identifier: BSD-2-Clause
# A task's name goes into a job as it is: a newline in it begins an option of its own.
# file: src/render/job.c
# red: unit job
# case: cannot add a line
s/text__put_terminal(out, cut)/fputs(cut, out)/
