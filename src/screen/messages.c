/* SPDX-License-Identifier: BSD-2-Clause */
#include "screen/messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void messages__keep(struct messages *m, const char *message)
{
	if (m->nr && !strcmp(m->texts[m->nr - 1], message))
		return;
	if (m->nr == MESSAGES_MOST) {
		free(m->texts[0]);
		memmove(m->texts, m->texts + 1, (MESSAGES_MOST - 1) * sizeof(*m->texts));
		m->nr--;
	}
	m->texts[m->nr] = strdup(message);
	m->nr += m->texts[m->nr] != NULL;
}

void messages__tell(struct messages *m)
{
	for (size_t i = 0; i < m->nr; i++) {
		fprintf(stderr, "%s\n", m->texts[i]);
		free(m->texts[i]);
	}
	m->nr = 0;
}
