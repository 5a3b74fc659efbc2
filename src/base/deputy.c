/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "base/deputy.h"

#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEPUTY_NONE = -1 };
#define DEPUTY_LEAVE UINT32_MAX /* instead of an order: the process ends */

/* ---- a descriptor beside bytes ---- */

union deputy_control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

bool deputy__send(int socket, void *bytes, size_t nr, int fd)
{
	struct iovec word = { .iov_base = bytes, .iov_len = nr };
	struct msghdr message = { .msg_iov = &word, .msg_iovlen = 1 };
	union deputy_control control = { 0 };
	struct cmsghdr *head = &control.align;

	if (fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)nr;
}

bool deputy__receive(int socket, void *bytes, size_t nr, int *fd)
{
	struct iovec word = { .iov_base = bytes, .iov_len = nr };
	union deputy_control control = { 0 };
	struct msghdr message = {
		.msg_iov = &word,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	const struct cmsghdr *head;
	ssize_t got;

	*fd = -1;
	do {
		got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got != (ssize_t)nr)
		return false;
	head = CMSG_FIRSTHDR(&message);
	if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
	    head->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fd, CMSG_DATA(head), sizeof(*fd));
	return true;
}

/* ---- in the deputy ---- */

/* The lowest descriptor >= `from` that stays open; DEPUTY_NONE: there is none. */
static int deputy_next_kept(const struct deputy_work *work, int socket, int from)
{
	int next = socket >= from ? socket : DEPUTY_NONE;

	for (size_t i = 0; i < work->nr_files; i++)
		if (work->files[i] >= from && (next < 0 || work->files[i] < next))
			next = work->files[i];
	return next;
}

/* Else a reader of our output would wait for this process, and programs would stay attached. */
static void deputy_close_others(const struct deputy_work *work, int socket)
{
	int from = 0, kept;

	while ((kept = deputy_next_kept(work, socket, from)) >= 0) {
		if (kept > from)
			syscall(SYS_close_range, from, kept - 1, 0);
		from = kept + 1;
	}
	syscall(SYS_close_range, from, ~0U, 0);
}

/* Keeps only those capabilities that let it change a directory of another user. */
static void deputy_drop(const struct deputy_work *work)
{
	const unsigned int of_files =
		CAP_TO_MASK(CAP_DAC_OVERRIDE) | CAP_TO_MASK(CAP_FOWNER) | CAP_TO_MASK(CAP_FSETID);
	const unsigned int kept = work->has_no_rights ? 0 : of_files;
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

/* recv and sendmsg: see PRIVILEGE_MAKES. The socket ends when the parent ends. */
static void deputy_serve(const struct deputy_work *work, int socket)
{
	uint32_t order;
	bool sent = true;

	while (sent && recv(socket, &order, sizeof(order), 0) == sizeof(order) &&
	       order != DEPUTY_LEAVE) {
		struct deputy_answer answer = { .fd = -1 };

		work->obey(work->arg, order, &answer);
		sent = deputy__send(socket, &answer, sizeof(answer), answer.fd);
		if (answer.fd >= 0)
			close(answer.fd);
	}
}

/* The parent handles signals. */
__attribute__((noreturn)) static void deputy_run(const struct deputy_work *work, int socket)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, work->name);
	deputy_close_others(work, socket);
	deputy_drop(work);
	if (work->confine)
		work->confine(work->arg);
	deputy_serve(work, socket);
	_exit(0);
}

/* ---- in its parent ---- */

int deputy__fork(struct deputy *deputy, const struct deputy_work *work)
{
	sigset_t all, before;
	int fds[2], err = 0;

	deputy->pid = 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return -errno;
	/* Signals are blocked, so that none ends the child between fork() and its first line. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	deputy->pid = fork();
	if (deputy->pid < 0)
		err = -errno;
	if (!deputy->pid)
		deputy_run(work, fds[0]);
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(fds[0]);
	deputy->fd = fds[1];
	if (err) {
		close(fds[1]);
		deputy->pid = 0;
	}
	return err;
}

int deputy__order(const struct deputy *deputy, uint32_t order)
{
	return write(deputy->fd, &order, sizeof(order)) == sizeof(order) ? 0 : -ECHILD;
}

int deputy__answer(const struct deputy *deputy, struct deputy_answer *answer)
{
	bool has_fd;
	int fd;

	if (!deputy__receive(deputy->fd, answer, sizeof(*answer), &fd))
		return -ECHILD;
	has_fd = answer->fd >= 0;
	answer->fd = fd;
	if (has_fd && fd < 0 && !answer->err)
		answer->err = -EMFILE; /* no free descriptor here */
	return 0;
}

int deputy__try_answer(const struct deputy *deputy, struct deputy_answer *answer)
{
	char first;

	if (recv(deputy->fd, &first, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN)
		return -EAGAIN;
	return deputy__answer(deputy, answer);
}

int deputy__ask(const struct deputy *deputy, uint32_t order, struct deputy_answer *answer)
{
	return deputy__order(deputy, order) ?: deputy__answer(deputy, answer);
}

/* Another process may have inherited our end of the socket, so the deputy is told to exit. */
void deputy__end(struct deputy *deputy)
{
	const uint32_t leave = DEPUTY_LEAVE;
	ssize_t sent;

	if (!deputy->pid)
		return;
	sent = write(deputy->fd, &leave, sizeof(leave));
	(void)sent; /* it may be gone already */
	close(deputy->fd);
	while (waitpid(deputy->pid, NULL, 0) < 0 && errno == EINTR)
		;
	deputy->pid = 0;
}
