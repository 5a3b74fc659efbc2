/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * survey.h: finds out what is in a capture before a record is read: by its index if that is
 * trustworthy, otherwise by a walk from chunk to chunk, which also finds chunks after damage. Then
 * it counts missing and repeated records, as the numbers of neighbouring blocks tell. Cost: a
 * header for each chunk, or the index alone, and all chunks but records.
 */
#ifndef IOSONAR_CAPTURE_SURVEY_H
#define IOSONAR_CAPTURE_SURVEY_H

#include "capture/contents.h"

/*
 * contents: empty except for its source and its part. walks: ignore the index. -EINVAL: not a
 * capture; -EPROTONOSUPPORT: a later version; -EINTR: a signal came. Prints nothing.
 */
int capture_survey__make(struct capture_contents *contents, bool walks);
/* Opens the file first; prints a message on error. capture_contents__free is the caller's. */
int capture_survey__open(struct capture_contents *contents, const char *path, bool walks);

#endif
