/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "base/crew.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/log.h"

enum { CREW_PIPE = 1 << 20 }; /* bytes that one may be ahead, where the kernel allows it */

unsigned int crew__default(void)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t ours;

	if (!sched_getaffinity(0, sizeof(ours), &ours))
		online = CPU_COUNT(&ours);
	return online < 1 ? 1 : online > CREW_MOST ? CREW_MOST : (unsigned int)online;
}

/* In a copy: never returns. */
static void crew_work(struct crew *crew, pid_t parent, int null, int to, crew_fn fn, void *arg)
{
	for (unsigned int i = 0; i < crew->nr; i++)
		close(crew->fds[i]);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(1);
	if (dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0)
		_exit(1);
	_exit(fn(arg, crew->nr, to));
}

static int crew_add(struct crew *crew, int null, crew_fn fn, void *arg)
{
	pid_t parent = getpid(), pid;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	fcntl(ends[1], F_SETPIPE_SZ, CREW_PIPE); /* less is only slower */
	pid = fork();
	if (!pid) {
		close(ends[0]);
		crew_work(crew, parent, null, ends[1], fn, arg);
	}
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return -EAGAIN;
	}
	crew->fds[crew->nr] = ends[0];
	crew->pids[crew->nr++] = pid;
	return 0;
}

void crew__start(struct crew *crew, unsigned int nr, crew_fn fn, void *arg)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	crew->nr = 0;
	while (null >= 0 && crew->nr < nr && crew->nr < CREW_MOST)
		if (crew_add(crew, null, fn, arg))
			break;
	if (null >= 0)
		close(null);
}

int crew__send(int fd, const void *bytes, size_t nr)
{
	const char *at = bytes;

	while (nr) {
		ssize_t sent = write(fd, at, nr);

		if (sent < 0 && errno != EINTR)
			return -errno;
		if (sent > 0) {
			at += sent;
			nr -= (size_t)sent;
		}
	}
	return 0;
}

/* Its pipe ended, so it did; whoever closed the pipe and goes on is ended. */
static int crew_tell_dead(struct crew *crew, unsigned int number)
{
	int status = 0;

	kill(crew->pids[number], SIGKILL);
	while (waitpid(crew->pids[number], &status, 0) < 0 && errno == EINTR)
		;
	crew->pids[number] = 0;
	if (WIFSIGNALED(status))
		return log_err(-EPIPE, "a process of -j was killed by signal %d (%s)",
			       WTERMSIG(status), strsignal(WTERMSIG(status)));
	return log_err(-EPIPE, "a process of -j ended early, with exit status %d",
		       WEXITSTATUS(status));
}

int crew__receive(struct crew *crew, unsigned int number, void *to, size_t nr)
{
	char *at = to;

	while (nr) {
		ssize_t got = read(crew->fds[number], at, nr);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return log_err(-errno, "cannot read from a process of -j: %s",
				       strerror(errno));
		if (!got)
			return crew_tell_dead(crew, number);
		at += got;
		nr -= (size_t)got;
	}
	return 0;
}

void crew__end(struct crew *crew)
{
	for (unsigned int i = 0; i < crew->nr; i++) {
		close(crew->fds[i]);
		if (crew->pids[i])
			kill(crew->pids[i], SIGKILL);
	}
	for (unsigned int i = 0; i < crew->nr; i++)
		while (crew->pids[i] && waitpid(crew->pids[i], NULL, 0) < 0 && errno == EINTR)
			;
	crew->nr = 0;
}
