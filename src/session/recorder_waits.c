/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "session/recorder_inside.h"

#include <errno.h>

static int recorder_meet_names(struct recorder *r, const struct capture_wait *wait)
{
	const struct wait_record *call = &wait->call;
	const struct async_record *request = &wait->request;
	const bool is_call = wait->kind == CAPTURE_WAIT_CALL;
	const uint64_t cgroup = is_call ? call->cgroup : request->cgroup;
	int err = is_call ? recorder_meet_file(r, call->inode, call->dev, call->nth)
			  : recorder_meet_file(r, request->inode, request->dev, request->nth);

	return err || !cgroup ? err : recorder_meet_id(r, GLOSSARY_CGROUPS, cgroup, 0);
}

static int recorder_meet_stacks(struct recorder *r, const struct wait_record *call)
{
	int err = 0;

	for (int i = 0; i < call->nr_sleeps && i < WAIT_SLEEPS && !err; i++)
		if (call->sleeps[i].stack)
			err = recorder_meet_id(r, GLOSSARY_STACKS, call->sleeps[i].stack, 0);
	return err;
}

int recorder__waits(struct recorder *r, const struct capture_wait *waits, size_t nr)
{
	uint64_t calls = 0, requests = 0;
	int err = 0;

	if (!r->writer || !nr)
		return 0;
	for (size_t i = 0; i < nr && !err; i++) {
		if (!capture_wait__counts(&waits[i]))
			continue;
		err = recorder_meet_names(r, &waits[i]);
		if (waits[i].kind == CAPTURE_WAIT_REQUEST)
			requests++;
		else if (++calls && !err)
			err = recorder_meet_stacks(r, &waits[i].call);
	}
	if (!err || err == -ENOSPC) { /* what cannot be written is counted */
		int put_err = capture_writer__waits(r->writer, waits, nr);

		err = err ? err : put_err;
	}
	r->nr_waits += err ? 0 : calls;
	r->nr_requests += err ? 0 : requests;
	return recorder_verdict(r, err);
}
