/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/async_source.h"

#include <string.h>
#include "session/source.h"

static const struct async_answers *async_answers(const struct session *s)
{
	return s->inside->source->async;
}

void async_source__fs(const struct session *s, const struct async_record *r, char fs[WAIT_FS_LEN])
{
	const char *known = async_answers(s)->fs(s, r);

	memset(fs, 0, WAIT_FS_LEN);
	memcpy(fs, known, strnlen(known, WAIT_FS_LEN));
}

bool async_source__counts(const struct session *s, struct async_counts *counts)
{
	return async_answers(s)->counts(s, counts);
}

uint64_t async_source__left_out(const struct session *s)
{
	return async_answers(s)->left_out ? async_answers(s)->left_out(s) : 0;
}
