/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/loop.h"

#include "session/source.h"

int session__watch(struct session *s, int fd, loop_fn fn, void *arg)
{
	return loop__add_fd(s->inside->loop, fd, fn, arg);
}

int session__every(struct session *s, uint64_t ns, loop_fn fn, void *arg)
{
	return loop__every(s->inside->loop, ns, fn, arg);
}

int session__on_signal(struct session *s, int signal, loop_fn fn, void *arg)
{
	return loop__on_signal(s->inside->loop, signal, fn, arg);
}

void session__stop_loop(struct session *s)
{
	loop__stop(s->inside->loop);
}
