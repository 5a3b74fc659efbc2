/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "session/recorder_inside.h"

#include <errno.h>

static int recorder_meet_wait(struct recorder *r, const struct wait_record *call)
{
	int err = recorder_meet_file(r, call->inode, call->dev, call->nth);

	if (!err && call->cgroup)
		err = recorder_meet_id(r, GLOSSARY_CGROUPS, call->cgroup, 0);
	for (int i = 0; i < call->nr_sleeps && i < WAIT_SLEEPS && !err; i++)
		if (call->sleeps[i].stack)
			err = recorder_meet_id(r, GLOSSARY_STACKS, call->sleeps[i].stack, 0);
	return err;
}

int recorder__waits(struct recorder *r, const struct capture_wait *waits, size_t nr)
{
	uint64_t calls = 0;
	int err = 0;

	if (!r->writer || !nr)
		return 0;
	for (size_t i = 0; i < nr && !err; i++) {
		if (waits[i].kind != CAPTURE_WAIT_CALL)
			continue;
		calls++;
		err = recorder_meet_wait(r, &waits[i].call);
	}
	if (!err || err == -ENOSPC) { /* what cannot be written is counted */
		int put_err = capture_writer__waits(r->writer, waits, nr);

		err = err ? err : put_err;
	}
	r->nr_waits += err ? 0 : calls;
	return recorder_verdict(r, err);
}
