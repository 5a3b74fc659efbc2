/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * messages.h: what was said while there was a screen? The last messages, for the terminal when it
 * is back. A message that repeats the one before it is kept once; of many, the last ones are kept.
 */
#ifndef IOSONAR_SCREEN_MESSAGES_H
#define IOSONAR_SCREEN_MESSAGES_H

#include <stddef.h>

enum { MESSAGES_MOST = 64 };

struct messages {
	char *texts[MESSAGES_MOST];
	size_t nr;
};

void messages__keep(struct messages *messages, const char *message);
void messages__tell(struct messages *messages); /* on stderr, and forgets */

#endif
