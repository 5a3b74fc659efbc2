/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * survey.h: finds out what is in a capture, before a record is read: by its index if that can be
 * believed, else by a walk from chunk to chunk, which also finds what follows damage. Then it
 * counts which records are missing and which are there too often, since a block's neighbours know
 * its numbers. Cost: a header for each chunk, or the index alone, and all that is not records.
 */
#ifndef IOSONAR_CAPTURE_SURVEY_H
#define IOSONAR_CAPTURE_SURVEY_H

#include "capture/contents.h"

/*
 * contents: with its source, else empty. walks: the index is not asked. -EINVAL: not a capture;
 * -EPROTONOSUPPORT: of a later version; -EINTR: a signal came. Says nothing.
 */
int capture_survey__make(struct capture_contents *contents, bool walks);

#endif
