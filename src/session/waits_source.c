/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/waits_source.h"

#include <string.h>
#include "base/log.h"
#include "decode/op.h"
#include "session/source.h"

static const struct waits_answers *waits_answers(const struct session *s)
{
	return s->inside->source->waits;
}

const char *waits_source__stack(const struct session *s, uint32_t number)
{
	return waits_answers(s)->stack(s, number);
}

const struct wait_commands *waits_source__commands(const struct session *s,
						   const struct wait_record *record)
{
	return wait_threads__find(&waits_answers(s)->stories(s)->threads, record->tid,
				  record->start_ns);
}

const struct wait_commit_story *waits_source__commit(const struct session *s,
						     const struct wait_record *record)
{
	return wait_commits__find(&waits_answers(s)->stories(s)->commits, record->dev,
				  record->start_ns, record->end_ns);
}

void waits_source__fs(const struct session *s, const struct wait_record *record,
		      char fs[WAIT_FS_LEN])
{
	const char *known = waits_answers(s)->fs(s, record);

	memset(fs, 0, WAIT_FS_LEN);
	memcpy(fs, known, strnlen(known, WAIT_FS_LEN));
}

const char *waits_source__op(const struct session *s, uint8_t op, char *buf, size_t size)
{
	return op__word(IO_BLOCK, op, waits_answers(s)->op_names(s), buf, size);
}

bool waits_source__counts(const struct session *s, struct waits_counts *counts)
{
	return waits_answers(s)->counts(s, counts);
}

uint64_t waits_source__left_out(const struct session *s)
{
	return waits_answers(s)->left_out ? waits_answers(s)->left_out(s) : 0;
}

int waits_stories__command(struct waits_stories *stories, const struct wait_command *command,
			   const char *op)
{
	return wait_threads__add(&stories->threads, command, op) ? log_no_memory() : 0;
}

void waits_stories__commit(struct waits_stories *stories, const struct wait_commit *commit)
{
	wait_commits__add(&stories->commits, commit, &stories->threads);
}
