/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * starts.c: how often does a start read the large files of the kernel? Its types take 5 MB of
 * memory, its symbols 50 ms. fanotify tells who opened them: this counts the opens of one process.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/fanotify.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tap.h"

static char program[4096];

/* A process of its own, which is quiet. */
static pid_t start(char *const argv[])
{
	pid_t pid = fork();
	int null;

	if (pid)
		return pid;
	null = open("/dev/null", O_RDWR);
	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	execv(program, argv);
	_exit(127);
}

static uint64_t count_events(int fd, pid_t pid)
{
	struct fanotify_event_metadata events[64], *e;
	ssize_t len;
	uint64_t nr = 0;

	while ((len = read(fd, events, sizeof(events))) > 0)
		for (e = events; FAN_EVENT_OK(e, len); e = FAN_EVENT_NEXT(e, len)) {
			nr += e->pid == pid;
			close(e->fd);
		}
	return nr;
}

/* Events that wait are merged: each is taken as soon as it is there. */
static int watch(int fd, pid_t pid, uint64_t *nr)
{
	struct pollfd wanted = { fd, POLLIN, 0 };
	int status = -1;

	for (*nr = 0; waitpid(pid, &status, WNOHANG) == 0; poll(&wanted, 1, 10))
		*nr += count_events(fd, pid);
	*nr += count_events(fd, pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* How often that run opens the file; UINT64_MAX: it does not start here, or nobody can tell. */
static uint64_t opens(const char *path, char *const argv[])
{
	int fd = fanotify_init(FAN_CLASS_NOTIF | FAN_NONBLOCK | FAN_CLOEXEC, O_RDONLY | O_CLOEXEC);
	uint64_t nr = UINT64_MAX;

	if (fd >= 0 && !fanotify_mark(fd, FAN_MARK_ADD, FAN_OPEN, AT_FDCWD, path) &&
	    watch(fd, start(argv), &nr))
		nr = UINT64_MAX;
	if (fd >= 0)
		close(fd);
	return nr;
}

static const struct {
	const char *path;
	uint64_t times;
	const char *words[6];
} runs[] = {
	{ "/sys/kernel/btf/vmlinux", 1, { "latency", "-t", "10ms" } },
	{ "/sys/kernel/btf/vmlinux", 1, { "layers", "-t", "10ms" } },
	{ "/sys/kernel/btf/vmlinux", 1, { "cache", "-t", "10ms" } },
	{ "/sys/kernel/btf/vmlinux", 1, { "waits", "-t", "10ms" } },
	{ "/sys/kernel/btf/vmlinux", 1, { "errors", "-t", "10ms" } },
	{ "/proc/kallsyms", 0, { "latency", "-t", "10ms" } },
	{ "/proc/kallsyms", 1, { "slow", "--stack", "none", "-t", "10ms" } },
	{ "/proc/kallsyms", 2, { "slow", "-t", "10ms" } },
};

int main(int argc, char **argv)
{
	char self[4096], *words[8];

	(void)argc;
	snprintf(self, sizeof(self), "%s", argv[0]);
	snprintf(program, sizeof(program), "%s/../iosonar", dirname(self));
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		uint64_t nr;

		words[0] = program;
		memcpy(&words[1], runs[i].words, sizeof(runs[i].words));
		words[7] = NULL;
		nr = opens(runs[i].path, words);
		if (nr == UINT64_MAX)
			ok(true, "%s # SKIP it does not start here, or no fanotify", words[1]);
		else if (!ok(nr == runs[i].times, "%s reads %s %d time%s", words[1], runs[i].path,
			     (int)runs[i].times, runs[i].times == 1 ? "" : "s"))
			printf("# %d times\n", (int)nr);
	}
	return done_testing();
}
