/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * async_live.c: requests of io_uring and libaio on this machine: programs send one record per
 * request, and the view gets them in the order of their completions on each CPU. Nothing of it is
 * kept in a capture.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "collect/cache.h"
#include "session/async_source.h"
#include "session/source.h"

static struct async *async_live(const struct session *s)
{
	return s->inside->data;
}

static int async_hand_on(void *arg, const struct async_record *record)
{
	struct session *s = arg;
	const struct session_inside *in = s->inside;

	return in->stopped || in->view_failed ? 0 : in->view->on_async(in->state, s, record);
}

static int async_open(struct session *s)
{
	struct session_inside *in = s->inside;
	const struct async_wants wants = in->view->wants_async(in->state, s->options);
	struct async *async;
	int err = async__open(&async, &wants);

	in->data = async;
	in->drains = true;
	if (!err)
		s->start_ns = async__start_ns(async);
	return err;
}

/* What is in flight at the end is counted in a table that cannot be mapped. */
static void async_needs(const struct session *s, struct privilege_needs *needs)
{
	(void)s;
	needs->reads_maps = true;
}

static int async_drain(struct session *s, enum session_drain what)
{
	(void)what;
	return async__take(async_live(s), async_hand_on, s);
}

static void async_detach(struct session *s)
{
	async__detach(async_live(s));
}

static char *async_find_text(const struct session *s, enum glossary_kind kind,
			     struct glossary_id id)
{
	if (kind == GLOSSARY_FILES)
		return async__file(async_live(s), id.words[0], id.words[1]);
	return kind == GLOSSARY_DISKS ? cache__disk((uint32_t)id.words[0]) : NULL;
}

static void async_free(struct session *s)
{
	async__free(async_live(s));
}

/* A request on a socket has no file of a disk. */
void async_source__fs(const struct session *s, const struct async_record *r, char fs[WAIT_FS_LEN])
{
	const char *known = r->inode ? async__fs(async_live(s), r->inode, r->dev) : "";

	memset(fs, 0, WAIT_FS_LEN);
	memcpy(fs, known, strnlen(known, WAIT_FS_LEN));
}

void async_source__counts(const struct session *s, struct async_counts *counts)
{
	async__counts(async_live(s), counts);
}

const struct session_source session_async_live = {
	.open = async_open,
	.needs = async_needs,
	.drain = async_drain,
	.detach = async_detach,
	.find_text = async_find_text,
	.free = async_free,
};
