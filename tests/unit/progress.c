/* SPDX-License-Identifier: BSD-2-Clause */
/* progress.c: does the bar say how far it is, and stay within the terminal? */
#include "base/progress.h"

#include "tap.h"

int main(void)
{
	char line[PROGRESS_LINE];
	unsigned int wide = 0;

	is_str(progress__line(line, 0, 1000, 1, 80),
	       "reading [                                        ]   0 %",
	       "at first there is no telling");
	is_str(progress__line(line, 500, 1000, 3, 80),
	       "reading [####################                    ]  50 %, 3 s left",
	       "half is done in 3 s: as much again");
	is_str(progress__line(line, 100, 1000, 60, 80),
	       "reading [####                                    ]  10 %, 9 min left",
	       "long ones in minutes");
	is_str(progress__line(line, 1000, 1000, 3, 80),
	       "reading [########################################] 100 %", "the end");
	is_str(progress__line(line, 2000, 1000, 3, 80),
	       "reading [########################################] 100 %", "no more than all");
	is_str(progress__line(line, 5, 0, 3, 80),
	       "reading [                                        ]   0 %", "of nothing");
	is_str(progress__line(line, 1, 4, 3, 40), "reading 25 %", "a narrow terminal has no bar");
	for (uint64_t at = 0; at <= 1000; at++)
		wide += strlen(progress__line(line, at, 1000, 86400, 73)) > 72;
	is_u64(wide, 0, "it is never wider than the terminal");
	return done_testing();
}
