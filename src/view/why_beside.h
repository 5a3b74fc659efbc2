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

struct why_beside_file {
	const char *path;
	uint16_t host;
	bool has_pages, has_waits; /* of those that are judged */
};

struct why_beside {
	struct pages pages;
	struct dirty *dirty;	       /* NULL: no call that wrote and waited */
	struct why_beside_file *files; /* by number of the capture */
	size_t nr_files;
	const char *pages_path; /* the last of them; NULL: there is none */
	const struct why_whose *whose;
};

/* Sets pages and dirty of the facts, if they are known. -ENOMEM, said. */
int why_beside__read(struct why_beside *beside, struct session *session,
		     const struct why_whose *whose, struct facts *facts);
void why_beside__tell(const struct why_beside *beside); /* what they lack */
void why_beside__free(struct why_beside *beside);
/*
 * The files of a machine, from 0 on, that this command takes, if it is one that takes no others:
 * each once. NULL: no more.
 */
const char *why_beside__path(const struct why_beside *beside, const char *command, uint16_t host,
			     size_t nr);
/* Has one of these also what the command would show of another machine? */
bool why_beside__is_shared(const struct why_beside *beside, const char *command, uint16_t host);

#endif
