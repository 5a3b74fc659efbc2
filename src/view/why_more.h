/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * why_more.h: which command line shows more of a finding? It judges what `why` judged: all
 * captures, the same span, and of several disks that of the finding. Used only by that command;
 * remove it with that command.
 */
#ifndef IOSONAR_VIEW_WHY_MORE_H
#define IOSONAR_VIEW_WHY_MORE_H

#include "view/why_rows.h"

/* Allocated, for a shell: names that it would change are quoted. NULL: no memory. */
char *why_more__line(const struct why_view *view, const struct session *session,
		     const struct why_finding *finding);

#endif
