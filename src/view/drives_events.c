/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/drives_events.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "decode/nvme.h"

/* NVMe Base 2.0, "Asynchronous Event Information": type and information of completion dword 0. */
enum { ASYNC_HEALTH = 1, ASYNC_NOTICE = 2 };
enum { ASYNC_TEMPERATURE = 1 }; /* of health */
enum { ASYNC_ANA = 3 };		/* of notices: Asymmetric Namespace Access, the states of paths */

static bool drives_is_ctrl(const struct drives_ctrl *c, const char *host, int ctrl)
{
	return c->ctrl == ctrl && !strncmp(c->host, host ? host : "", sizeof(c->host) - 1);
}

/* NULL: there are too many. */
static struct drives_ctrl *drives_find_ctrl(struct drives_events *e, const char *host, int ctrl)
{
	struct drives_ctrl *c;

	for (size_t i = 0; i < e->nr; i++)
		if (drives_is_ctrl(&e->ctrls[i], host, ctrl))
			return &e->ctrls[i];
	if (e->nr == DRIVES_CTRLS)
		return NULL;
	c = &e->ctrls[e->nr++];
	*c = (struct drives_ctrl){ .ctrl = ctrl };
	snprintf(c->host, sizeof(c->host), "%s", host ? host : "");
	return c;
}

static uint64_t *drives_count_async(struct drives_ctrl *c, uint32_t dword)
{
	const uint32_t type = dword & 7, information = dword >> 8 & 0xff;

	if (type == ASYNC_HEALTH)
		return information == ASYNC_TEMPERATURE ? &c->hot : &c->sick;
	return type == ASYNC_NOTICE && information == ASYNC_ANA ? &c->paths : NULL;
}

/* What this record adds to; NULL: it explains nothing. */
static uint64_t *drives_count_of(struct drives_ctrl *c, const struct io_record *r)
{
	if (r->what == RECORD_TIMEOUT)
		return &c->timeouts;
	if (r->what == RECORD_END)
		return nvme_status__is_path(r->kind, r->status) ? &c->failovers : NULL;
	if (r->what == RECORD_EVENT && r->op == EVENT_CONNECTED)
		return &c->resets;
	return r->what == RECORD_EVENT && r->op == EVENT_ASYNC ? drives_count_async(c, r->cdw10[0])
							       : NULL;
}

void drives_events__add(struct drives_events *e, const char *host, int ctrl,
			const struct io_record *r)
{
	struct drives_ctrl none = { 0 }, *c;

	if (ctrl < 0 || !drives_count_of(&none, r))
		return;
	c = drives_find_ctrl(e, host, ctrl);
	if (c)
		++*drives_count_of(c, r);
}

char *drives_events__words(const struct drives_events *e, const char *host, int ctrl, char *buf,
			   size_t size)
{
	static const char *const words[] = {
		"its controller reported a temperature beyond a threshold",
		"its controller reported bad health",
		"its controller was reset",
		"commands of its controller timed out",
		"its controller reported a change of the states of paths (ANA)",
		"commands failed over from its path to another one",
	};
	size_t len = 0;

	buf[0] = 0;
	for (size_t i = 0; i < e->nr; i++) {
		const struct drives_ctrl *c = &e->ctrls[i];
		const uint64_t counts[] = { c->hot,	 c->sick,  c->resets,
					    c->timeouts, c->paths, c->failovers };

		for (size_t j = 0; drives_is_ctrl(c, host, ctrl) && j < sizeof(counts) / 8; j++)
			if (counts[j] && len < size)
				len += (size_t)snprintf(buf + len, size - len, "%s%s (%" PRIu64 ")",
							len ? ";" : "", words[j], counts[j]);
	}
	return buf;
}
