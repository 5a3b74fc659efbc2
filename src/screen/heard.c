/* SPDX-License-Identifier: BSD-2-Clause */
#include "screen/heard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void heard__keep(struct heard *h, const char *message)
{
	if (h->nr && !strcmp(h->messages[h->nr - 1], message))
		return;
	if (h->nr == HEARD_MOST) {
		free(h->messages[0]);
		memmove(h->messages, h->messages + 1, (HEARD_MOST - 1) * sizeof(*h->messages));
		h->nr--;
	}
	h->messages[h->nr] = strdup(message);
	h->nr += h->messages[h->nr] != NULL;
}

void heard__tell(struct heard *h)
{
	for (size_t i = 0; i < h->nr; i++) {
		fprintf(stderr, "%s\n", h->messages[i]);
		free(h->messages[i]);
	}
	h->nr = 0;
}
