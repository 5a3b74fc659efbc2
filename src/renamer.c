/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "renamer.h"

#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum renamer_order { RENAMER_RENAME = 'r', RENAMER_REMOVE = 'd' };

/* ---- in the process ---- */

/* What it has of those that let it change a directory of another user. */
static void renamer_drop(void)
{
	const unsigned int kept =
		CAP_TO_MASK(CAP_DAC_OVERRIDE) | CAP_TO_MASK(CAP_FOWNER) | CAP_TO_MASK(CAP_FSETID);
	struct __user_cap_header_struct self = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_capget, &self, caps))
		return;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		caps[i].permitted &= i ? 0 : kept;
		caps[i].effective = caps[i].permitted;
		caps[i].inheritable = 0;
	}
	syscall(SYS_capset, &self, caps);
}

static int renamer_obey(const struct renamer *r, char order)
{
	struct stat now;

	if (lstat(r->from, &now))
		return -errno;
	if (now.st_dev != r->stat.st_dev || now.st_ino != r->stat.st_ino)
		return -ESTALE;
	return (order == RENAMER_RENAME ? rename(r->from, r->to) : unlink(r->from)) ? -errno : 0;
}

/* The end of its parent is the end of the socket. Signals are the parent's business. */
__attribute__((noreturn)) static void renamer_wait(const struct renamer *r, int fd)
{
	sigset_t all;
	char order;
	int err;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (int std = STDIN_FILENO; std <= STDERR_FILENO; std++)
		close(std); /* a reader of ours does not wait for this process */
	renamer_drop();
	if (read(fd, &order, 1) == 1) {
		err = renamer_obey(r, order);
		if (write(fd, &err, sizeof(err)) < 0)
			_exit(1);
	}
	_exit(0);
}

/* ---- in its parent ---- */

int renamer__fork(struct renamer *r)
{
	sigset_t all, before;
	int fds[2], err = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return -errno;
	/* Blocked, so that no signal ends it between fork() and its own first line. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	r->pid = fork();
	if (r->pid < 0)
		err = -errno;
	if (!r->pid) {
		close(fds[1]);
		renamer_wait(r, fds[0]);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(fds[0]);
	r->fd = fds[1];
	if (err) {
		close(fds[1]);
		r->pid = 0;
	}
	return err;
}

void renamer__end(struct renamer *r)
{
	if (!r->pid)
		return;
	close(r->fd);
	while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
		;
	r->pid = 0;
}

static int renamer_order(struct renamer *r, char order)
{
	int err = 0;

	if (!r->pid)
		return renamer_obey(r, order);
	if (write(r->fd, &order, 1) != 1 || read(r->fd, &err, sizeof(err)) != sizeof(err))
		err = -EIO;
	renamer__end(r);
	return err;
}

int renamer__rename(struct renamer *r)
{
	return renamer_order(r, RENAMER_RENAME);
}

int renamer__remove(struct renamer *r)
{
	return renamer_order(r, RENAMER_REMOVE);
}
