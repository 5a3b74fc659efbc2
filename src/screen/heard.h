/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heard.h: what was said while there was a screen? The last messages, for the terminal when it is
 * back. A message that repeats the one before it is kept once; of many, the last ones are kept.
 */
#ifndef IOSONAR_SCREEN_HEARD_H
#define IOSONAR_SCREEN_HEARD_H

#include <stddef.h>

enum { HEARD_MOST = 64 };

struct heard {
	char *messages[HEARD_MOST];
	size_t nr;
};

void heard__keep(struct heard *heard, const char *message);
void heard__tell(struct heard *heard); /* on stderr, and forgets */

#endif
