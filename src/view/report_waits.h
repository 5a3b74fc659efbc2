/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report_waits.h: part of a report: what did calls wait for, if one of its captures is of waits?
 * For each call a row per part and the total, as `waits -r` has them. The captures are read once
 * more.
 */
#ifndef IOSONAR_VIEW_REPORT_WAITS_H
#define IOSONAR_VIEW_REPORT_WAITS_H

#include "session/session.h"

/* As JSON, into the output of the session. -ENOMEM and errors of captures, said. */
int report_waits__put(struct session *session);

#endif
