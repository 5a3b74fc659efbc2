/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/renamer.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum renamer_order { RENAMER_RENAME = 'r', RENAMER_REMOVE = 'd' };

static int renamer_obey(const struct renamer *r, uint32_t order)
{
	struct stat now;

	if (lstat(r->from, &now))
		return -errno;
	if (now.st_dev != r->stat.st_dev || now.st_ino != r->stat.st_ino)
		return -ESTALE;
	return (order == RENAMER_RENAME ? rename(r->from, r->to) : unlink(r->from)) ? -errno : 0;
}

static void renamer_answer(const void *r, uint32_t order, struct deputy_answer *answer)
{
	answer->err = renamer_obey(r, order);
}

int renamer__fork(struct renamer *r)
{
	const struct deputy_work work = {
		.name = "iosonar-rename",
		.obey = renamer_answer,
		.arg = r,
	};

	return deputy__fork(&r->deputy, &work);
}

static int renamer_order(struct renamer *r, enum renamer_order order)
{
	struct deputy_answer answer;
	int err;

	if (!r->deputy.pid)
		return renamer_obey(r, order);
	err = deputy__ask(&r->deputy, order, &answer);
	deputy__end(&r->deputy);
	return err ? -EIO : answer.err;
}

int renamer__rename(struct renamer *r)
{
	return renamer_order(r, RENAMER_RENAME);
}

int renamer__remove(struct renamer *r)
{
	return renamer_order(r, RENAMER_REMOVE);
}
