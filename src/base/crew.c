/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "base/crew.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/log.h"

enum { CREW_PIPE = 256 << 10 }; /* bytes that one may be ahead, where the kernel allows it */

unsigned int crew__default(void)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t ours;

	if (!sched_getaffinity(0, sizeof(ours), &ours))
		online = CPU_COUNT(&ours);
	return online < 1 ? 1 : online > CREW_MOST ? CREW_MOST : (unsigned int)online;
}

static void crew_close(struct crew_copy *copy)
{
	close(copy->from);
	close(copy->to);
	munmap(copy->places, CREW_PLACES * CREW_LENT);
}

/* In a copy: never returns. */
static void crew_work(struct crew *crew, int null, struct crew_end *end, crew_fn fn, void *arg)
{
	for (unsigned int i = 0; i < crew->nr; i++)
		crew_close(&crew->copies[i]);
	if (dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0)
		_exit(1);
	_exit(fn(arg, crew->nr, end));
}

static int crew_pipe(int ends[2])
{
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	fcntl(ends[1], F_SETPIPE_SZ, CREW_PIPE); /* less is only slower */
	return 0;
}

static void crew_close_pipe(const int ends[2])
{
	close(ends[0]);
	close(ends[1]);
}

static int crew_fork(struct crew *crew, int null, const int up[2], const int down[2], crew_fn fn,
		     void *arg)
{
	struct crew_copy *copy = &crew->copies[crew->nr];
	pid_t parent = getpid();

	copy->pid = fork();
	if (!copy->pid) {
		struct crew_end end = { up[1], down[0], copy->places, 0, CREW_PLACES };

		close(up[0]);
		close(down[1]);
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
			_exit(1);
		crew_work(crew, null, &end, fn, arg);
	}
	if (copy->pid < 0)
		return -EAGAIN;
	close(up[1]);
	close(down[0]);
	copy->from = up[0];
	copy->to = down[1];
	copy->nr_lent = 0;
	crew->nr++;
	return 0;
}

/* Memory of the places is taken when it is used. */
static int crew_add(struct crew *crew, int null, crew_fn fn, void *arg)
{
	struct crew_copy *copy = &crew->copies[crew->nr];
	int up[2], down[2];

	if (crew_pipe(up))
		return -EMFILE;
	if (crew_pipe(down)) {
		crew_close_pipe(up);
		return -EMFILE;
	}
	copy->places = mmap(NULL, CREW_PLACES * CREW_LENT, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (copy->places != MAP_FAILED && !crew_fork(crew, null, up, down, fn, arg))
		return 0;
	if (copy->places != MAP_FAILED)
		munmap(copy->places, CREW_PLACES * CREW_LENT);
	crew_close_pipe(up);
	crew_close_pipe(down);
	return -EAGAIN;
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

static int crew_write(int fd, const void *bytes, size_t nr)
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

int crew__send(struct crew_end *end, const void *bytes, size_t nr)
{
	return crew_write(end->to, bytes, nr);
}

int crew__lend(struct crew_end *end, const void *bytes, size_t nr)
{
	char returned;

	while (!end->nr_free) {
		ssize_t got = read(end->from, &returned, 1);

		if (!got || (got < 0 && errno != EINTR))
			return -EPIPE;
		end->nr_free += got > 0;
	}
	end->nr_free--;
	memcpy(end->places + end->nr_lent++ % CREW_PLACES * CREW_LENT, bytes, nr);
	return 0;
}

/* Its pipe ended, so it did; whoever closed the pipe and goes on is ended. */
static int crew_tell_dead(struct crew_copy *copy)
{
	int status = 0;

	kill(copy->pid, SIGKILL);
	while (waitpid(copy->pid, &status, 0) < 0 && errno == EINTR)
		;
	copy->pid = 0;
	if (WIFSIGNALED(status))
		return log_err(-EIO, "a process of -j was killed by signal %d (%s)",
			       WTERMSIG(status), strsignal(WTERMSIG(status)));
	return log_err(-EIO, "a process of -j ended early, with exit status %d",
		       WEXITSTATUS(status));
}

int crew__receive(struct crew *crew, unsigned int number, void *to, size_t nr)
{
	struct crew_copy *copy = &crew->copies[number];
	char *at = to;

	while (nr) {
		ssize_t got = read(copy->from, at, nr);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return log_err(-EIO, "cannot read from a process of -j: %s",
				       strerror(errno));
		if (!got)
			return crew_tell_dead(copy);
		at += got;
		nr -= (size_t)got;
	}
	return 0;
}

const uint8_t *crew__borrow(struct crew *crew, unsigned int number)
{
	struct crew_copy *copy = &crew->copies[number];

	return copy->places + copy->nr_lent++ % CREW_PLACES * CREW_LENT;
}

/* If the copy is gone, receiving says so. */
void crew__return(struct crew *crew, unsigned int number)
{
	crew_write(crew->copies[number].to, "", 1);
}

void crew__end(struct crew *crew)
{
	for (unsigned int i = 0; i < crew->nr; i++) {
		crew_close(&crew->copies[i]);
		if (crew->copies[i].pid)
			kill(crew->copies[i].pid, SIGKILL);
	}
	for (unsigned int i = 0; i < crew->nr; i++)
		while (crew->copies[i].pid && waitpid(crew->copies[i].pid, NULL, 0) < 0 &&
		       errno == EINTR)
			;
	crew->nr = 0;
}
