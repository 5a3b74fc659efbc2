/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * why_beside.h: what captures of the page cache and of waits say beside the records that `why`
 * judges. They are read at the end, once. Used only by that command; remove it with that command.
 */
#ifndef IOSONAR_VIEW_WHY_BESIDE_H
#define IOSONAR_VIEW_WHY_BESIDE_H

#include "session/session.h"
#include "view/why_whose.h"
#include "why/facts.h"

struct why_beside {
	struct pages pages;
	struct dirty *dirty;	/* NULL: no call that wrote and waited */
	const char *pages_path; /* NULL: there is no capture of it */
	const char *waits_path;
	const struct why_whose *whose;
};

/* Sets pages and dirty of the facts, if they are known. -ENOMEM, said. */
int why_beside__read(struct why_beside *beside, struct session *session,
		     const struct why_whose *whose, struct facts *facts);
void why_beside__tell(const struct why_beside *beside); /* what they lack */
void why_beside__free(struct why_beside *beside);
/* The capture that this command takes, if it is one of these. */
const char *why_beside__path(const struct why_beside *beside, const char *command);

#endif
